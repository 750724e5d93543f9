"""Lines: automata all of whose runs take the same arcs, one behind the other, so that an event of a run says which arc
it has taken. One state of a line may have a loop, whose events do not lead on.

Here: the arcs of lines, and the first arcs of automata that are none. Not here: the constants of arcs (constants).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from ....automaton.automaton import Arc, Automaton, Kind

ARCS_MAX: Final = 16  # behind the first that may have constants of their own
NO_LOOP: Final = -1


@final
@dataclass(frozen=True, slots=True)
class Line:
    """The numbers of arcs, from the start to the final state; and that of the loop, or NO_LOOP."""

    arcs: list[int]
    loop: int


def living(automaton: Automaton) -> list[tuple[int, Arc]]:
    """The arcs whose conditions may hold, with their numbers."""
    return [(number, arc) for number, arc in enumerate(automaton.arcs) if len(arc.guard) > 0]


def line_of(automaton: Automaton) -> Line | None:
    """The line that an automaton is; None if it is none. O(arcs squared).

    With two loops, runs of one first event may meet in a state, of which only one is kept: that is no line.
    """
    arcs = living(automaton)
    loops = [number for number, arc in arcs if arc.kind is Kind.LOOP and arc.target == arc.source != 0]
    if len(loops) > 1:
        return None
    onward = [(number, arc) for number, arc in arcs if number not in loops]
    found = first_arcs(onward)
    whole = len(found) == len(onward) > 0 and automaton.arcs[found[-1]].target == automaton.final
    reached = {0, *[automaton.arcs[number].target for number in found]}
    if not whole or any(automaton.arcs[number].source not in reached for number in loops):
        return None
    return Line(found, loops[0] if loops else NO_LOOP)


def first_arcs(arcs: list[tuple[int, Arc]]) -> list[int]:
    """The first arcs of all runs: each the only one of these out of its state, and the only one into the next."""
    state, found = 0, list[int]()
    while len(found) <= ARCS_MAX:
        out = [(number, arc) for number, arc in arcs if arc.source == state]
        into = len([arc for _, arc in arcs if arc.target == state])
        if len(out) != 1 or into != min(1, len(found)) or out[0][1].kind is Kind.EPSILON:
            break
        found.append(out[0][0])
        state = out[0][1].target
    return found
