"""The progress of a composite subscription for the key of the current event, for its forecast.

Here: asking the runners of the key. Not here: how they count (runner), using the answer (broker.forecast).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.instant import FOREVER
from ....events.schema import Row
from ....forecast.key_state import KeyState
from ....forecast.progress import Progress
from ....forecast.states import NONE, States
from ...matches.sources import ids
from ..contract import EventPlaces
from .machine import TupleCounts
from .runner import Runner


@final
class CountedProgress(Progress):
    """By the tuples begun. `left`: how many steps are left from each elementary state; `positions`: the key's
    attributes, `by` those of the partition, in rows of the first stream."""

    def __init__(
        self,
        counts: TupleCounts,
        places: EventPlaces,
        states: States,
        left: list[int],
        positions: tuple[int, ...],
        by: tuple[int, ...],
    ) -> None:
        super().__init__(0)
        self.counts = counts
        self.by = by
        self.places = places
        self.states = states
        plan = self.counts.tables.plan
        self.numbers: list[int] = [state.number for state in plan.states]  # elementary; 0: nothing waits there
        self.left = left
        # Which of the automaton's variables are part of the key, and where: only runners of these values are the key's.
        self.agreed: list[tuple[int, int]] = []
        keys = self.counts.tables.keys
        for at in range(len(keys[0])):
            position = keys[0][at]
            if position in positions and all(found[at] == position for found in keys):
                self.agreed.append((at, position))
        self.alone = len(self.agreed) == len(keys[0])
        self.skips: list[bool] = [state.skips for state in plan.states]

    def look(self, state: KeyState, row: Row, time: i64) -> tuple[i64, bool]:
        self.until = FOREVER
        runners, position = self._runners(row)
        fleeting = False
        elementary: set[int] = set()
        for runner in runners:
            for at in runner.live(time, position):
                number = self.numbers[at]
                if number != NONE:
                    elementary.add(number)
                    if not self.skips[at]:
                        fleeting = True
            self.until = min(runner.sure(), self.until)
        return self.states.of(sorted(elementary)), fleeting

    def end(self, row: Row, time: i64, until: i64) -> i64:
        runners, position = self._runners(row)
        fewest = -1
        latest: i64 = FOREVER
        for runner in runners:
            for state in runner.live(time, position):
                number = self.numbers[state]
                if number != NONE and (fewest < 0 or self.left[number] <= fewest):
                    own = min(runner.end(state), FOREVER)
                    latest = own if fewest != self.left[number] else max(latest, own)
                    fewest = self.left[number]
        return latest

    def lineage(self, state: KeyState, row: Row, time: i64) -> list[int] | None:
        runners, position = self._runners(row)
        found, furthest = NONE, -1
        best: Runner | None = None
        for runner in runners:
            for at in runner.live(time, position):
                number = self.numbers[at]
                if number != NONE and (found == NONE or self.left[number] < self.left[found]):
                    found, furthest, best = number, at, runner
        if best is None:
            return None
        return [number for _, item, _ in next(best.ways(furthest)) for number in ids(item)]

    def forget(self, row: Row) -> None:
        gone = self._runners(row)[0]
        if len(gone) == 0:
            return
        runners = self.counts.partitioned[self._part(row)].runners
        for key in list(runners):
            if runners[key] in gone:
                del runners[key]

    def _part(self, row: Row) -> Row:
        return tuple([row[position] for position in self.by])

    def _runners(self, row: Row) -> tuple[list[Runner], i64]:
        """Those of the event's key: all of its partition where operands have the variables in different attributes.

        O(1), or O(values of the variables) in that case.
        """
        position = self.places.place(row)
        partition = self.counts.partitioned.get(self._part(row))
        if partition is None:
            return [], position
        if self.alone:
            runner = partition.runners.get(tuple([row[at] for _, at in self.agreed]))
            return [] if runner is None else [runner], position
        if len(self.agreed) == 0:
            return list(partition.runners.values()), position
        found: list[Runner] = []
        for key, runner in partition.runners.items():
            own = True
            for variable, at in self.agreed:
                own = own and key[variable] == row[at]
            if own:
                found.append(runner)
        return found, position

    def label(self, state: int) -> str:
        return self.states.label(state)
