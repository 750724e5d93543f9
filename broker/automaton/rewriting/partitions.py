"""partitions: over ARRIVAL, a part of the partition key that is one constant in every match is that condition instead.

`BY name` or `[name]` beside `name = 'S'`: all events of a match have the name 'S', so that each is asked for it, and
the partition says nothing more. Sound for matches: no match has an event without the constant, and a run of another
partition, which does not begin any more, has no effect on others. A null is in no partition and equals nothing; what is
forbidden is forbidden within the partition. Not where a run ends by an event of another partition or counts the events
of its own (`,` between operands, partition_contiguity), nor where attributes of the key have another type. There a plan
may ask its events for the constant and leave the partition (`asking_for_partition`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...algebra.normal_form import Form, narrowed, reordered
from ...algebra.partitioned_stream import PartitionedStream
from ...algebra.terms import Attribute, Comparison, Constant, Side
from ...language.literal_orders import equal
from ..automaton import TAKING, Arc, Automaton, Kind, Stay
from .facts import Facts, attribute_of
from .rule import Rewritten


def partitions(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> text = "PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) { [name] AND a.name = 'A' }"
    >>> shown(partitions, sase(text))
    ["a.name = 'A'", "name = 'A'"]
    """
    adjacent = any(state.stay is Stay.FOREIGN for state in automaton.states)
    if adjacent or any(each.slot < 0 for arc in automaton.arcs for each in arc.elapsed):
        return automaton, 0
    count = 0
    for place in reversed(range(len(automaton.sources[0].key) if automaton.sources else 0)):
        constant = _constant(automaton, place)
        if constant is not None:
            automaton = _without(_asking(automaton, place, constant), place)
            count += 1
    return automaton, count


def asking_for_partition(automaton: Automaton) -> Automaton:
    """The automaton whose events are asked for all that every match has in its key, and parted as before: of another
    partition none matters. O(parts of the key x arcs)."""
    for place in range(len(automaton.sources[0].key)):
        constant = _constant(automaton, place)
        if constant is not None:
            automaton = _asking(automaton, place, constant)
    return automaton


def _constant(automaton: Automaton, place: int) -> Constant | None:
    """What all events of any match have at a place of the key."""
    asking = {id(arc): own for arc in automaton.arcs if (own := _asked(automaton, arc, place)) is not None}
    first = next((own for arc in automaton.arcs if (own := asking.get(id(arc))) is not None), None)
    if first is None or not all(own.type == first.type and equal(own.value, first.value) for own in asking.values()):
        return None
    if any(attribute_of(source, source.key[place]).type != first.type for source in automaton.sources):
        return None
    known, waiting = {0}, [0]
    while waiting:  # along arcs that do not ask
        state = waiting.pop()
        for arc in automaton.arcs:
            if arc.source == state and arc.kind is not Kind.KILL and id(arc) not in asking and arc.target not in known:
                if arc.target == automaton.final:
                    return None
                known.add(arc.target)
                waiting.append(arc.target)
    return first


def _asked(automaton: Automaton, arc: Arc, place: int) -> Constant | None:
    """The constant that an arc that takes an event wants at a place of the key."""
    if arc.kind not in TAKING:
        return None
    position = automaton.source_of(arc).key[place]
    found = list(_equalities(arc.guard, position))
    return found[0] if found else None


def _equalities(form: Form, position: int) -> Iterator[Constant]:
    for atom in form[0] if form else ():
        match atom:
            case Comparison("=", Attribute(Side.EVENT, at), Constant() as constant) if at == position:
                if all(atom in clause for clause in form[1:]):
                    yield constant
            case _:
                pass


def _asking(automaton: Automaton, place: int, constant: Constant) -> Automaton:
    """The automaton whose events are asked for the constant at a place of the key."""

    def asking(form: Form, source: PartitionedStream) -> Form:
        position = source.key[place]
        if any(own.type == constant.type and equal(own.value, constant.value) for own in _equalities(form, position)):
            return form  # what is forbidden may ask for another one: it never comes within the partition
        return reordered(narrowed(form, (Comparison("=", attribute_of(source, position), constant),)))

    arcs = [
        replace(arc, guard=asking(arc.guard, automaton.source_of(arc)))
        if arc.kind in TAKING or arc.kind is Kind.KILL
        else arc
        for arc in automaton.arcs
    ]
    machines = automaton.machines
    if machines is not None:
        primitives = [replace(p, guard=asking(p.guard, machines.sources[p.source])) for p in machines.primitives]
        machines = replace(machines, primitives=tuple(primitives))
    return replace(automaton, arcs=tuple(arcs), machines=machines)


def _without(automaton: Automaton, place: int) -> Automaton:
    """The automaton whose events are not parted by that place of the key."""

    def parted(source: PartitionedStream) -> PartitionedStream:
        return replace(source, key=(*source.key[:place], *source.key[place + 1 :]))

    machines = automaton.machines
    if machines is not None:
        machines = replace(machines, sources=tuple(map(parted, machines.sources)))
    return replace(automaton, sources=tuple(map(parted, automaton.sources)), machines=machines)
