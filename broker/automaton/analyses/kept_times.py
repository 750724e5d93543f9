"""Which times a run keeps in its slots, which time conditions test them, and how long events can still contribute to a
match by them.

Here: this, by state and slot. Not here: counting by such times (countable), the duration of a match (window).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..automaton import Automaton, Carry, EventTime, Stay
from ..distances import FOREVER


@dataclass(slots=True)
class KeptTime:
    """A slot with the time of an event of operand `since`; below zero: of the first event, whatever its operand.

    `open`: the numbers of the conditions that may still test it; `must`: those that every path to the end tests;
    `operands`: those that may have filled it.
    """

    since: int = -1
    open: set[int] = field(default_factory=set)
    must: set[int] = field(default_factory=set)
    operands: set[int] = field(default_factory=set)


def kept_times(automaton: Automaton) -> list[dict[int, KeptTime]]:
    """For each state the times that it keeps, by slot, ascending. O(arcs * slots). For acyclic automata, whose states
    are in topological order and whose arcs in that of their sources."""
    found: list[dict[int, KeptTime]] = [{} for _ in automaton.states]
    for arc in automaton.arcs:
        if arc.target == automaton.final:
            continue
        for slot, source in enumerate(arc.update):
            match source:
                case EventTime():
                    found[arc.target].setdefault(slot, KeptTime()).operands.add(arc.operand)
                case Carry(before) if before in found[arc.source]:
                    carried = found[arc.source][before]
                    found[arc.target].setdefault(slot, KeptTime()).operands |= carried.operands
    left = [False] * len(found)  # whether an arc that leaves the state was seen
    for arc in reversed(automaton.arcs):
        own = found[arc.source]
        if not own:
            continue
        always: dict[int, set[int]] = {}  # the conditions that this path to the end tests, by slot
        if arc.target != automaton.final:
            for slot, later in found[arc.target].items():
                match arc.update[slot]:
                    case Carry(before):
                        own[before].open |= later.open
                        own[before].since = later.since
                        always[before] = set(later.must)
        for elapsed in arc.elapsed:
            if elapsed.slot >= 0:
                own[elapsed.slot].open.add(elapsed.number)
                own[elapsed.slot].since = elapsed.since
                always.setdefault(elapsed.slot, set()).add(elapsed.number)
        for slot, kept in own.items():
            asked = always.get(slot, set())
            kept.must = kept.must & asked if left[arc.source] else asked
        left[arc.source] = True
    return found


def horizon(automaton: Automaton, times: list[dict[int, KeptTime]]) -> int | None:
    """The longest time after its last event in which a partial match can be completed, in microseconds; None: no bound.

    `times`: those that it keeps.
    """
    highest = {e.number: e.allowed[-1][1] for arc in automaton.arcs for e in arc.elapsed}
    longest = 0
    for state, own in zip(automaton.states[1:], times[1:]):
        if state.stay is not Stay.ALL:
            continue
        bounds = [highest[number] for kept in own.values() for number in kept.must]
        if not bounds or min(bounds) == FOREVER:
            return None
        longest = max(longest, min(bounds))
    return longest
