"""Whether an automaton is a line: one operand after another, each with one event or with one or more.

Here: that, and the arcs of each operand. Not here: how an executor uses a line.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..automaton import Accumulated, Arc, Automaton, Carry, EventRow, Kind


@dataclass(frozen=True, slots=True)
class LineOperand:
    """An operand. `begin` takes its only or first event; if it may have more, `take` takes them, and `proceed` leads on
    without an event."""

    begin: Arc
    take: Arc | None
    proceed: Arc | None


def line_of(automaton: Automaton) -> tuple[LineOperand, ...]:
    """The operands of a line in order; () if the automaton is not a line. O(arcs).

    The last event leads to the final state, or a further arc that takes none does.
    """
    arcs = [arc for arc in automaton.arcs if arc.kind != Kind.KILL]
    links: list[LineOperand] = []
    here = at = 0
    for operand in range(len(automaton.operands)):
        if at == len(arcs):
            return ()  # no arc takes the operand: its branch can never match
        begin, *more = arcs[at : at + 3]
        if (begin.kind, begin.source, begin.target, begin.operand) != (Kind.FORWARD, here, here + 1, operand):
            return ()
        here, at = here + 1, at + 1
        if more and more[0].kind == Kind.LOOP:
            take, proceed = more
            if (take.source, take.operand, proceed.kind, proceed.source) != (here, operand, Kind.EPSILON, here):
                return ()
            links.append(LineOperand(begin, take, proceed))
            here, at = here + 1, at + 2
        else:
            links.append(LineOperand(begin, None, None))
    rest = len(arcs) - at
    return tuple(links) if rest <= 1 and here + rest == automaton.final else ()


def place_of(line: tuple[LineOperand, ...], arc: Arc) -> int:
    """How many operands of a line precede the event that an arc forbids."""
    return next((number for number, link in enumerate(line) if link.begin.source == arc.source), len(line))


def is_plain_line(automaton: Automaton) -> bool:
    """Whether it is a line whose slots hold only rows and their aggregates, and whose only time condition is the
    window. O(arcs)."""
    kinds = (Carry, EventRow, Accumulated)
    plain = all(isinstance(source, kinds) for arc in automaton.arcs for source in arc.update)
    return automaton.distinct and plain and len(line_of(automaton)) > 0
