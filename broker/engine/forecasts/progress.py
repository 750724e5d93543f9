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
        runner, position = self._runner(row)
        if runner is None:
            return NONE, False
        live = runner.live(time, position)
        self.until = min(runner.sure(), FOREVER)
        fleeting = False
        elementary: list[int] = []
        for state in live:
            number = self.numbers[state]
            if number != NONE:
                elementary.append(number)
                if not self.skips[state]:
                    fleeting = True
        return self.states.of(elementary), fleeting

    def lineage(self, row: Row, time: i64) -> list[int] | None:
        """The ids of one of the furthest partial matches."""
        runner, position = self._runner(row)
        if runner is None:
            return None
        found = NONE
        furthest = -1
        for state in runner.live(time, position):
            number = self.numbers[state]
            if number != NONE and (found == NONE or self.states.left[number] < self.states.left[found]):
                found, furthest = number, state
        if furthest < 0:
            return None
        assigned = runner.way(furthest)
        return [number for _, item, _ in assigned for number in ids(item)]

    def _runner(self, row: Row) -> tuple[Runner | None, i64]:
        lane = self.lane
        key = tuple([row[position] for position in lane.positions])
        part = lane.parts.get(key)
        if part is None:
            return None, 0
        partition = part.partitions.get(self.matcher)
        if partition is None:
            return None, part.position
        machine = self.matcher.machine
        binding = tuple([row[attribute] for attribute in machine.keys[0]]) if machine.keyed else ()
        return partition.runners.get(binding), part.position
