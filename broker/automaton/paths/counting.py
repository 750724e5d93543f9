"""How the paths of an automaton are to be counted: which conditions are windows, which need keys, what bounds memory.

Where each state keeps the time of at most one event, and nothing between that event and the arcs that ask for it asks,
a window over that event's time counts exactly without a key. Else partial matches are told apart by the times they
keep; the number of those that vary independently is the automaton's width.

Here: these questions of the finished tables. Not here: windows and cells themselves (engine).
"""

from __future__ import annotations

from typing import Final

from .conditions import ANY, FOREVER, START, Distances, common
from .path_automaton import PathArc, PathAutomaton, Span

SPAN_STATES_MAX: Final = 24  # beyond, a matrix of all pairs of states costs more than keys do
WIDTH_EXACT: Final = 2  # independent times in a key; the cells of wider ones are limited in number


def spans(automaton: PathAutomaton) -> tuple[Span, ...] | None:
    """The automaton's conditions as windows; None where that cannot be. No spans: nothing is asked of time."""
    states, arcs = automaton.states, automaton.arcs
    if any(state.variables or len(state.slots) > 1 for state in states):
        return None
    # Within a term one position gives all times, so the cells are few; windows are for what waits.
    if all(not state.skips for state in states if state.slots) and any(state.slots for state in states):
        return None
    found = []
    for operand in sorted({slot.operand for state in states for slot in state.slots}):
        members = [n for n, state in enumerate(states) if state.slots and state.slots[0].operand == operand]
        inside = set(members)
        inner = [arc for arc in arcs if arc.source in inside and arc.target in inside]
        leaving = [(n, arc) for n, arc in enumerate(arcs) if arc.source in inside and arc.target not in inside]
        exits = tuple((n, _allowed(automaton, arc)) for n, arc in leaving)
        stacked = any(not states[n].skips for n in members)
        if len(members) > SPAN_STATES_MAX or any(arc.checks for arc in inner):
            return None
        if not _one_kind([allowed for _, allowed in exits], stacked):
            return None
        feeds = {(arc.source if arc.source in inside else -1, arc.target) for arc in arcs if arc.target in inside}
        ordered = len(feeds) == len(members) and all(_is_upper(a) and a != ANY for _, a in exits)
        found.append(Span(tuple(members), exits, stacked, ordered))
    return tuple(found)


def _allowed(automaton: PathAutomaton, arc: PathArc) -> Distances:
    allowed = ANY
    for _, number in arc.checks:
        allowed = common(allowed, automaton.limits[number].allowed)
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


def width(automaton: PathAutomaton, run_of: dict[int, tuple[int, int]]) -> int:
    """The largest number of times in a state's key that vary independently.

    The events of one contiguous run are one; so are the first event and that of an operand, where every way to the
    state begins with it.
    """
    first: list[set[int]] = [set() for _ in automaton.states]
    for arc in automaton.arcs:
        first[arc.target] |= first[arc.source] if arc.source else {arc.operand}
    widest = 0
    for state, begun in zip(automaton.states, first):
        groups = set()
        for slot in state.slots:
            operand = slot.operand
            if operand == START and len(begun) == 1:
                operand = min(begun)
            groups.add(operand if operand == START else run_of[operand][0])
        widest = max(widest, len(groups))
    return widest


def horizon(automaton: PathAutomaton) -> int | None:
    """How long after its last event a match can be of any use at most, in microseconds; None: no bound."""
    longest = 0
    for state in automaton.states[1:]:
        if state.final or not state.skips:
            continue
        bounds = [automaton.limits[n].allowed[-1][1] for slot in state.slots for n in slot.must]
        if not bounds or min(bounds) == FOREVER:
            return None
        longest = max(longest, min(bounds))
    return longest


def uses_windows(automaton: PathAutomaton, tuples: bool) -> bool:
    """Whether the spans serve: tuples can be handed out one by one only where each state holds them in order."""
    return automaton.spans is not None and (not tuples or all(span.ordered for span in automaton.spans))


def method(automaton: PathAutomaton, windows: bool) -> str:
    """How its tuples are counted, by windows or by cells, for people."""
    if windows and automaton.spans:
        stacked = any(span.stacked for span in automaton.spans)
        return "windows by two stacks" if stacked else "windows by a table"
    if automaton.width == 0:
        return "one total a state" + (" and binding" if any(state.variables for state in automaton.states) else "")
    keys = f"cells keyed by {automaton.width} time{'s' if automaton.width > 1 else ''}"
    return keys if automaton.width <= WIDTH_EXACT else f"{keys}, limited in number"
