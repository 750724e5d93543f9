"""Where the machine of a composite subscription has got to, for the key of the event at hand.

Here: asking it. Not here: how machines count (tuples), what is made of the answer (outlook).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...events.schema import Row
from ..composites.composed import ids
from ..composites.lanes import Lane, Matcher
from ..tuples.runner import Runner
from .states import NONE, States
from .track import FOREVER


@final
class Progress:
    """`numbers`: the elementary state of each state of the machine's automaton, 0 for those that nothing waits in.
    `until`: the last moment at which what was found last is sure to be so, if no event of the machine comes."""

    def __init__(self, lane: Lane, matcher: Matcher, states: States, numbers: list[int]) -> None:
        self.lane = lane
        self.matcher = matcher
        self.states = states
        self.numbers = numbers
        self.skips: list[bool] = [state.skips for state in matcher.machine.automaton.states]
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

    def lineage(self, row: Row, time: i64) -> list[int] | None:
        """The ids of one of the furthest partial matches."""
        runners, position = self._runners(row)
        found, furthest = NONE, -1
        best: Runner | None = None
        for runner in runners:
            for state in runner.live(time, position):
                number = self.numbers[state]
                if number != NONE and (found == NONE or self.states.left[number] < self.states.left[found]):
                    found, furthest, best = number, state, runner
        if best is None:
            return None
        return [number for _, item, _ in best.way(furthest) for number in ids(item)]

    def _runners(self, row: Row) -> tuple[list[Runner], i64]:
        """Those of the event's key: all of its partition where operands have the variables in different attributes.

        O(1), or O(values of the variables) in that case.
        """
        lane = self.lane
        key = tuple([row[position] for position in lane.positions])
        part = lane.parts.get(key)
        if part is None:
            return [], 0
        partition = part.partitions.get(self.matcher)
        if partition is None:
            return [], part.position
        machine = self.matcher.machine
        if machine.keyed and not machine.single:
            return list(partition.runners.values()), part.position
        binding = tuple([row[attribute] for attribute in machine.keys[0]]) if machine.keyed else ()
        runner = partition.runners.get(binding)
        return [] if runner is None else [runner], part.position
