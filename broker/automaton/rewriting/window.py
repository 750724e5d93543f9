"""window: a bound on the time from the first event of a match to its last one, which every way has, is WITHIN.

Sound for matches: times do not decrease and operands come in order, so that a run older than the bound has no match;
WITHIN only ends it earlier. The bound is measured from the first event on every way. Not where there is a WITHIN
already, beside which a closer bound stays as it is, and not beside what is forbidden at the start or behind the last
event, nor where a match waits for time: there WITHIN has a meaning of its own. The tree of machines keeps the
conditions as they were written, by which tuples are counted.
"""

from __future__ import annotations

from dataclasses import replace

from ...events.instant import format_duration
from ..automaton import TAKING, Arc, Automaton, Carry, Elapsed, EventTime
from .facts import Facts
from .rule import Rewritten


def window(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> shown(window, ptopss("FROM Stock a: price > 1.0 b: price > 2.0 MATCH a; b @(t(b) - t(a) <= 5 s)"))
    ['price > 1.0', 'price > 2.0', 'WITHIN 5 s']
    """
    ending = [arc for arc in automaton.arcs if arc.target == automaton.final]
    kinds = {arc.kind for arc in automaton.arcs}
    if automaton.within is not None or not kinds <= set(TAKING) or not ending:
        return automaton, 0
    first = _First(automaton)
    bounds = {_bound(arc, first) for arc in ending}
    within = bounds.pop()
    if bounds or within is None:
        return automaton, 0
    text = f"WITHIN {format_duration(within)}"
    arcs = tuple(
        [
            replace(arc, elapsed=tuple([_named(each, arc, first, within, text) for each in arc.elapsed]))
            if arc.elapsed
            else arc
            for arc in automaton.arcs
        ]
    )
    return replace(automaton, arcs=arcs, within=within), 1


def _bound(arc: Arc, first: _First) -> int | None:
    """The closest bound that an arc sets between its event and the first one."""
    bounds = [each.allowed[0][1] for each in arc.elapsed if _is_bound(each) and first.measures(arc, each)]
    return min(bounds, default=None)


def _is_bound(condition: Elapsed) -> bool:
    return len(condition.allowed) == 1 and condition.allowed[0][0] == 0


def _named(condition: Elapsed, arc: Arc, first: _First, within: int, text: str) -> Elapsed:
    if condition.allowed == ((0, within),) and first.measures(arc, condition):
        return replace(condition, text=text)
    return condition


class _First:
    """By state, the slots that have the time of the first event on every way there, and how many events the ways have;
    None: not all as many."""

    def __init__(self, automaton: Automaton) -> None:
        self.slots: list[set[int] | None] = [None] * automaton.final
        self.events: list[set[int]] = [set() for _ in range(automaton.final)]
        self.slots[0], self.events[0] = set(), {0}
        changed = True
        while changed:
            changed = False
            for arc in automaton.arcs:
                here = self.slots[arc.source]
                if arc.target == automaton.final or here is None:
                    continue
                found = {k for k, source in enumerate(arc.update) if _is_first(source, arc, here)}
                before = self.slots[arc.target]
                met = found if before is None else before & found
                events = self.events[arc.target] | {count + 1 for count in self.events[arc.source] if count < 64}
                if met != before or events != self.events[arc.target]:
                    self.slots[arc.target], self.events[arc.target], changed = met, events, True

    def measures(self, arc: Arc, condition: Elapsed) -> bool:
        """Whether a condition of an arc is measured from the first event of the match."""
        if condition.slot >= 0:
            return condition.slot in (self.slots[arc.source] or ())
        return self.events[arc.source] == {-condition.slot}


def _is_first(source: object, arc: Arc, here: set[int]) -> bool:
    if isinstance(source, Carry):
        return source.slot in here
    return isinstance(source, EventTime) and arc.source == 0
