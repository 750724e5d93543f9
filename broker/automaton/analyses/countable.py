"""How the paths of an automaton can be counted: which of its times are windows, and how many are keys.

Where each state keeps the time of at most one event, and nothing between that event and the arcs that ask for it asks,
a window over that event's time counts exactly without a key. Else partial matches are told apart by the times they
keep; the number of those that vary independently is the automaton's width.

Here: these questions. Not here: windows and cells themselves (engine).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..automaton import Arc, Automaton, Stay
from ..distances import ANY, FOREVER, Distances, common
from .kept_times import KeptTime

SPAN_STATES_MAX: Final = 24  # beyond, a matrix of all pairs of states costs more than keys do


@dataclass(frozen=True, slots=True)
class Span:
    """Conditions from one event on that can be counted over a window, without a key.

    `states`, ascending, are those which keep the time of that one event and nothing else; no arc between them asks for
    it. `exits` are the arcs that leave them, with the distances that each allows. `stacked`: it has a state that lets
    nothing pass, so that an event cannot be taken out again. `ordered`: each state is fed from one other, so that what
    it holds is in the order of the spans' first events.
    """

    states: tuple[int, ...]
    exits: tuple[tuple[int, Distances], ...]
    stacked: bool
    ordered: bool


def spans_of(automaton: Automaton, times: list[dict[int, KeptTime]]) -> tuple[Span, ...] | None:
    """The automaton's conditions as windows; None where that cannot be. No spans: nothing is asked of time. `times`:
    those that it keeps (kept_times). Runs must be apart from each other in all values that they keep."""
    arcs, stays = automaton.arcs, [state.stay is Stay.ALL for state in automaton.states]
    kept = [next(iter(own.values())) if own else None for own in times]
    if any(len(own) > 1 for own in times):
        return None
    # Within a term one position gives all times, so the cells are few; windows are for what waits.
    if any(kept) and not any(stay for one, stay in zip(kept, stays) if one is not None):
        return None
    found = []
    for since in sorted({one.since for one in kept if one is not None}):
        members = [n for n, one in enumerate(kept) if one is not None and one.since == since]
        inside = set(members)
        leaving = [(n, arc) for n, arc in enumerate(arcs) if arc.source in inside and arc.target not in inside]
        exits = tuple((n, _allowed(arc)) for n, arc in leaving)
        stacked = not all(stays[n] for n in members)
        entering = [arc for arc in arcs if arc.target in inside]
        inner = [arc for arc in entering if arc.source in inside]
        if len(members) > SPAN_STATES_MAX or any(elapsed.slot >= 0 for arc in inner for elapsed in arc.elapsed):
            return None
        if not _one_kind([allowed for _, allowed in exits], stacked):
            return None
        feeds = {(arc.source if arc.source in inside else -1, arc.target) for arc in entering}
        ordered = len(feeds) == len(members) and all(_is_upper(a) and a != ANY for _, a in exits)
        found.append(Span(tuple(members), exits, stacked, ordered))
    return tuple(found)


def _allowed(arc: Arc) -> Distances:
    allowed = ANY
    for elapsed in arc.elapsed:
        if elapsed.slot >= 0:
            allowed = common(allowed, elapsed.allowed)
    return allowed


def _one_kind(exits: list[Distances], stacked: bool) -> bool:
    """Whether one witness is enough for all exits (the latest, or the earliest), or each can be searched for."""
    if all(map(_is_upper, exits)):
        return True
    if stacked or any(len(allowed) != 1 for allowed in exits):
        return False
    return all(allowed[0][1] == FOREVER for allowed in exits) or all(allowed[0][1] < FOREVER for allowed in exits)


def _is_upper(allowed: Distances) -> bool:
    return len(allowed) == 1 and allowed[0][0] == 0


def width(automaton: Automaton, times: list[dict[int, KeptTime]]) -> int:
    """The largest number of times that a state keeps and that vary independently. The events of one contiguous run are
    one, since between two of them there is no other event of the partition."""
    if max(map(len, times)) < 2:
        return max(map(len, times))
    begun = _runs(automaton)
    groups = [{begun[min(one.operands)] if len(one.operands) == 1 else -1 for one in own.values()} for own in times]
    return max(map(len, groups))


def _runs(automaton: Automaton) -> list[int]:
    """For each operand the first one of its contiguous run: of those that always follow each other at once."""
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
