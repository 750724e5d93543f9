"""A SASE+ pattern as an automaton: a line of states with begin, take, ignore and proceed (SASE+ 4.1; semantics 2.2).

A positive component has a state that waits for its only or first event; a Kleene component has a second state, which
may take more; the last state is that of a complete match. begin is the FORWARD arc out of a waiting state, take the
LOOP of a second one, proceed the EPSILON arc out of it: it peeks if another component follows, otherwise a match is
complete at once. The strategy alone decides which events are ignored: it sets how a state stays.

Here: that lowering. Not here: the meaning of a match (algebra.sase.semantics).
"""

from __future__ import annotations

from typing import Final

from ...algebra.guard import Guard
from ...algebra.normal_form import ALWAYS
from ...algebra.sase.pattern import Bound, Pattern, Slot
from ...algebra.timed_stream import source_in_use
from ..automaton import (
    Accumulated,
    Arc,
    Automaton,
    Carry,
    EventRow,
    Kind,
    Report,
    SlotSource,
    State,
    Stay,
    TimeModel,
)

STAYS: Final = {
    "strict_contiguity": Stay.NONE,
    "partition_contiguity": Stay.FOREIGN,
    "skip_till_next_match": Stay.UNTAKEN,
    "skip_till_any_match": Stay.ALL,
}
REPORTS: Final = {"all": Report.EACH, "nonoverlap": Report.NONOVERLAP, "compressed": Report.COMPRESSED}


def automaton_of_pattern(pattern: Pattern) -> Automaton:
    """The automaton of a pattern, whose slots keep their numbers. O(components x slots)."""
    sources = tuple(map(source_in_use, pattern.sources))
    states: list[State] = []
    arcs: list[Arc] = []
    waiting: list[int] = []  # by component, the state that waits for it
    kept = tuple(map(Carry, range(len(pattern.slots))))
    for number, component in enumerate(pattern.components):
        here = len(states)
        waiting.append(here)
        stream, stays = sources[component.source].stream, State("", stay=STAYS[component.strategy])
        update = tuple(_first(slot, number, at) for at, slot in enumerate(pattern.slots))
        states.append(stays)
        arcs.append(_arc(component.begin, here, here + 1, update, Kind.FORWARD, stream, number))
        if component.take is not None and component.proceed is not None:
            update = tuple(_further(slot, number, at) for at, slot in enumerate(pattern.slots))
            states.append(stays)
            arcs.append(_arc(component.take, here + 1, here + 1, update, Kind.LOOP, stream, number))
            end, peeks = component.proceed, number + 1 < len(pattern.components)
            leaves = Arc(here + 1, here + 2, end.residual, kept, (), Kind.EPSILON, peeks=peeks, conjuncts=end.conjuncts)
            arcs.append(leaves)
    complete = len(states)
    items = tuple(term for _, term in pattern.items)
    done = Kind.TIMEOUT if pattern.trailing else Kind.EPSILON
    arcs.append(Arc(complete, complete + 1, ALWAYS, (), items, done))
    for number, negated in enumerate(pattern.negated):
        at, stream = [*waiting, complete][negated.place], sources[negated.source].stream
        arcs.append(_arc(negated.guard, at, at, (), Kind.KILL, stream, number))
    return Automaton(
        (*states, State("", stay=Stay.ALL)),
        tuple(arcs),
        pattern.result_schema,
        sources,
        tuple(component.name for component in pattern.components),
        pattern.within,
        TimeModel.ARRIVAL,
        REPORTS[pattern.output],
        distinct=True,
        forbidden=tuple(negated.name for negated in pattern.negated),
    )


def _arc(
    guard: Guard, source: int, target: int, update: tuple[SlotSource, ...], kind: Kind, stream: str, operand: int
) -> Arc:
    """An arc that tests an event."""
    rest, conjuncts = guard.residual, guard.conjuncts
    return Arc(source, target, guard.static, update, (), kind, stream, operand, guard.joins, rest, conjuncts=conjuncts)


def _first(slot: Slot, component: int, number: int) -> SlotSource:
    """The source of a slot when a component takes its only or first event."""
    if slot.component != component:
        return Carry(number)
    return EventRow() if isinstance(slot, Bound) else Accumulated(slot.function, slot.position, slot.type, first=True)


def _further(slot: Slot, component: int, number: int) -> SlotSource:
    """The source of a slot when a Kleene component takes a further event."""
    if slot.component != component:
        return Carry(number)
    if isinstance(slot, Bound):
        return EventRow() if slot.last else Carry(number)
    return Accumulated(slot.function, slot.position, slot.type)
