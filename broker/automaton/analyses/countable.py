"""How the paths of an automaton can be counted: which of its times are windows, and how many are keys.

If each state keeps the time of at most one event, no arc before the arcs that test that time tests it, and these
require it to be within one bound, a window over the event's time counts exactly without a key. Where one state keeps
it, it may also have to be some time ago. Otherwise partial
matches differ by the times that they keep; the number of times that vary independently is the width.

Here: these facts. Not here: windows and cells themselves (engine).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..automaton import Arc, Automaton, Stay
from ..distances import ANY, FOREVER, Distances, common
from .kept_times import KeptTime

SPAN_STATES_MAX: Final = 24  # with more, a matrix of all pairs of states costs more than keys


@dataclass(frozen=True, slots=True)
class Span:
    """Conditions from one event on that can be counted over a window, without a key.

    `states`: those that keep only the time of that event, ascending; no arc between them tests it, and each arc that
    leaves them requires it to be between `nearest` and `bound` ago. `ordered`: each state is entered from one other, so
    that its contents are in the order of the spans' first events.
    """

    states: tuple[int, ...]
    nearest: int
    bound: int
    ordered: bool


def spans_of(automaton: Automaton, times: list[dict[int, KeptTime]]) -> tuple[Span, ...] | None:
    """The automaton's conditions as windows; None if that is impossible, () if it has no time conditions.

    `times`: those that it keeps (kept_times). Runs must be partitioned by all values that they keep.
    """
    stays = [state.stay is Stay.ALL for state in automaton.states]
    kept = [next(iter(own.values())) if own else None for own in times]
    if any(len(own) > 1 for own in times):
        return None
    # Within a term one position determines all times, so there are few cells; windows are for states that wait.
    if any(kept) and not any(stay for one, stay in zip(kept, stays) if one is not None):
        return None
    found = []
    for since in sorted({one.since for one in kept if one is not None}):
        members = [n for n, one in enumerate(kept) if one is not None and one.since == since]
        inside = set(members)
        entering = [arc for arc in automaton.arcs if arc.target in inside]
        inner = [arc for arc in entering if arc.source in inside]
        if len(members) > SPAN_STATES_MAX or any(elapsed.slot >= 0 for arc in inner for elapsed in arc.elapsed):
            return None
        allowed = {_allowed(arc) for arc in automaton.arcs if arc.source in inside and arc.target not in inside}
        if len(allowed) > 1 or len(min(allowed)) != 1:
            return None
        ((nearest, bound),) = allowed.pop()
        if bound == FOREVER or (nearest > 0 and not (len(members) == 1 and stays[members[0]])):
            return None
        feeds = {(arc.source if arc.source in inside else -1, arc.target) for arc in entering}
        found.append(Span(tuple(members), nearest, bound, len(feeds) == len(members)))
    return tuple(found)


def _allowed(arc: Arc) -> Distances:
    allowed = ANY
    for elapsed in arc.elapsed:
        if elapsed.slot >= 0:
            allowed = common(allowed, elapsed.allowed)
    return allowed


def width(automaton: Automaton, times: list[dict[int, KeptTime]]) -> int:
    """The largest number of times that a state keeps and that vary independently.

    The events of a contiguous run count as one, because no other event of the partition lies between them.
    """
    if max(map(len, times)) < 2:
        return max(map(len, times))
    begun = _runs(automaton)
    groups = [{begun[min(one.operands)] if len(one.operands) == 1 else -1 for one in own.values()} for own in times]
    return max(map(len, groups))


def _runs(automaton: Automaton) -> list[int]:
    """For each operand the first operand of its contiguous run."""
    entered: list[set[int]] = [set() for _ in range(automaton.final + 1)]
    for arc in automaton.arcs:
        entered[arc.target].add(arc.operand)
    before: list[set[int]] = [set() for _ in automaton.operands]
    for arc in automaton.arcs:
        adjacent = automaton.states[arc.source].stay is Stay.FOREIGN
        before[arc.operand] |= entered[arc.source] if adjacent else {-1}
    first = list(range(len(automaton.operands)))
    for operand, previous in enumerate(before):
        if len(previous) == 1 and min(previous) >= 0:
            first[operand] = first[min(previous)]
    return first
