"""Where a subscription has got to, for the key of the event at hand: by its runs, or its machine.

Here: asking them. Not here: how machines count (tuples), what is made of the answer (outlook).
"""

from __future__ import annotations

from typing import cast, final

from mypy_extensions import i64

from ...events.schema import Row
from ..dispatch.lanes import Lane
from ..dispatch.matchers import Matcher
from ..executors.matches import ids
from ..executors.tuple_counts import TupleCounts
from ..executors.tuple_counts.runner import Runner
from .states import NONE, States
from .track import FOREVER, Track


@final
class Progress:
    """`left`: how many steps are left from each elementary state; `positions`: the attributes of the key. `until`: the
    last moment at which what was found last is sure to be so, if no event of the machine comes."""

    def __init__(
        self, lane: Lane, matcher: Matcher, states: States, left: list[int], positions: tuple[int, ...]
    ) -> None:
        self.lane = lane
        self.counts = cast(TupleCounts, matcher.machine)
        self.states = states
        plan = self.counts.machine.plan
        self.numbers: list[int] = [state.number for state in plan.states]  # elementary; 0: nothing waits there
        self.left = left
        # Which of the machine's variables are part of the key, and where: only runners of these values are the key's.
        self.agreed: list[tuple[int, int]] = []
        keys = self.counts.machine.keys
        for at in range(len(keys[0])):
            position = keys[0][at]
            if position in positions and all(found[at] == position for found in keys):
                self.agreed.append((at, position))
        self.alone = len(self.agreed) == len(keys[0])
        self.skips: list[bool] = [state.skips for state in plan.states]
        self.until: i64 = FOREVER

    def look(self, row: Row, time: i64) -> tuple[i64, bool]:
        """The chain's state, and whether the next event ends it whatever it is."""
        self.until = FOREVER
        runners, position = self._runners(row)
        fleeting = False
        elementary: set[int] = set()
        for runner in runners:
            for state in runner.live(time, position):
                number = self.numbers[state]
                if number != NONE:
                    elementary.add(number)
                    if not self.skips[state]:
                        fleeting = True
            self.until = min(runner.sure(), self.until)
        return self.states.of(sorted(elementary)), fleeting

    def end(self, row: Row, time: i64) -> i64:
        """The last moment at which one of the furthest partial matches can be completed."""
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

    def lineage(self, row: Row, time: i64) -> list[int] | None:
        """The ids of one of the furthest partial matches."""
        runners, position = self._runners(row)
        found, furthest = NONE, -1
        best: Runner | None = None
        for runner in runners:
            for state in runner.live(time, position):
                number = self.numbers[state]
                if number != NONE and (found == NONE or self.left[number] < self.left[found]):
                    found, furthest, best = number, state, runner
        if best is None:
            return None
        return [number for _, item, _ in best.way(furthest) for number in ids(item)]

    def forget(self, row: Row) -> None:
        """Let go of the key's partial matches."""
        gone = self._runners(row)[0]
        if len(gone) == 0:
            return
        runners = self.counts.partitioned[self._part(row)].runners
        for key in list(runners):
            if runners[key] in gone:
                del runners[key]

    def _part(self, row: Row) -> Row:
        return tuple([row[position] for position in self.counts.by])

    def _runners(self, row: Row) -> tuple[list[Runner], i64]:
        """Those of the event's key: all of its partition where operands have the variables in different attributes.

        O(1), or O(values of the variables) in that case.
        """
        position = self.lane.place(row)
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


def furthest(track: Track, states: States, time: i64) -> tuple[i64, i64]:
    """The chain's state by the runs that wait, and the last moment at which it is sure."""
    if not states.sets:
        for state in states.order:
            until = track.until(state, time)
            if until >= time:
                return state, until
        return NONE, FOREVER
    live: list[int] = []
    soonest: i64 = FOREVER
    for state in states.order:
        until = track.until(state, time)
        if until >= time:
            live.append(state)
            soonest = min(soonest, until)
    return states.of(live), soonest
