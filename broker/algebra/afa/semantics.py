"""The executable meaning of AFA subscriptions, on whole finite sets of events: slow, obvious, and the truth.

Written straight from the definitions (AFA, 3.1 and 3.2; semantics 4.1): a result is a register, and the lifetime that
all events of one contiguous sub-sequence have in common, of an accepting run over it. Here: nothing that is fast, and
nothing of the order in which the events arrived, which must not matter. Not here: anything of the engine; nothing below
imports what it is the judge of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...events.schema import Row, Value
from ..semantics import Environment, Occurrence, holds, value
from ..terms import Term
from .register_automaton import NEVER_ENDED, RegisterArc, RegisterAutomaton


@dataclass(frozen=True, slots=True)
class LivingEvent:
    """An event of the automaton's stream with the index `stream`."""

    id: int
    time: int
    stream: int
    row: Row


@dataclass(frozen=True, slots=True)
class Result:
    """What one accepting run found: the final state, its registers, and the lifetime [begin, end); `lineage` are the
    ids of the events that it took: the first one, the last one, and of those between them all that it did not
    ignore."""

    state: int
    registers: Row
    begin: int
    end: int
    lineage: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Configuration:
    """Where a run is. Two runs over one sub-sequence that come to the same state and registers are one run: its lineage
    is that of the first of them, in the order of the arcs."""

    state: int
    registers: Row
    lineage: tuple[int, ...]


def results(automaton: RegisterAutomaton, events: Sequence[LivingEvent]) -> list[Result]:
    """All results over a set of events, whose order in time is that of (time, id); in the order of their last event,
    then of their first. O(events squared) steps."""
    found: list[tuple[int, int, Result]] = []
    for part in partitions(automaton, sorted(events, key=lambda event: (event.time, event.id))):
        for first in range(len(part)):
            for last, configurations in runs(automaton, part, first):
                begin, end = part[last].time, lifetime_end(automaton, part[first])
                for one in configurations:
                    if one.state in automaton.finals:
                        lineage = one.lineage if one.lineage[-1] == part[last].id else (*one.lineage, part[last].id)
                        result = Result(one.state, one.registers, begin, end, lineage)
                        found.append((begin, part[first].time, result))
    return [result for _, _, result in sorted(found, key=lambda each: each[:2])]


def partitions(automaton: RegisterAutomaton, events: Sequence[LivingEvent]) -> list[list[LivingEvent]]:
    """The events of each partition, in their order; an event with a null key is in none."""
    keyed: dict[Row, list[LivingEvent]] = {}
    for event in events:
        key = tuple(event.row[position] for position in automaton.sources[event.stream].key)
        if None not in key:
            keyed.setdefault(key, []).append(event)
    return list(keyed.values())


def lifetime_end(automaton: RegisterAutomaton, event: LivingEvent) -> int:
    """When an event that begins a run ceases to live."""
    return NEVER_ENDED if automaton.within is None else event.time + automaton.within


def runs(
    automaton: RegisterAutomaton, events: Sequence[LivingEvent], first: int
) -> Iterator[tuple[int, list[Configuration]]]:
    """The last event of each contiguous sub-sequence that begins at `first`, and the runs over it."""
    begun = Configuration(automaton.start, automaton.initial, ())
    configurations = list(closure(automaton, begun, events[first].time))
    for last in range(first, len(events)):
        event = events[last]
        if not event.time < lifetime_end(automaton, events[first]):
            return
        taken = (after for before in configurations for after in step(automaton, before, event))
        configurations = distinct(taken)
        if not configurations:
            return
        yield last, configurations


def step(automaton: RegisterAutomaton, before: Configuration, event: LivingEvent) -> Iterator[Configuration]:
    """Where one event leads a run."""
    for arc in automaton.arcs:
        if arc.source == before.state and arc.stream == event.stream and arc.exists(event.time):
            if condition(automaton, arc, before, event):
                ignored = arc.ignores and before.lineage != ()
                lineage = before.lineage if ignored else (*before.lineage, event.id)
                after = Configuration(arc.target, updated(automaton, arc, before, event), lineage)
                yield from closure(automaton, after, event.time)


def closure(automaton: RegisterAutomaton, reached: Configuration, time: int) -> Iterator[Configuration]:
    """A run, and where it comes by arcs that take no event."""
    waiting, known = [reached], set()
    while waiting:
        one = waiting.pop(0)
        if (one.state, one.registers) in known:
            continue
        known.add((one.state, one.registers))
        yield one
        for arc in automaton.arcs:
            if arc.source == one.state and not arc.takes and arc.exists(time) and condition(automaton, arc, one, None):
                waiting.append(Configuration(arc.target, updated(automaton, arc, one, None), one.lineage))


def condition(
    automaton: RegisterAutomaton, arc: RegisterArc, before: Configuration, event: LivingEvent | None
) -> bool:
    """Whether the arc's condition holds."""
    return holds(arc.condition, environment(automaton, before, event))


def updated(automaton: RegisterAutomaton, arc: RegisterArc, before: Configuration, event: LivingEvent | None) -> Row:
    """The registers after an arc; all are computed from those before it."""
    if not arc.updates:
        return before.registers
    read = environment(automaton, before, event)
    types = [attribute.type for attribute in automaton.registers.attributes]
    return tuple([stored(term, read, type_) for term, type_ in zip(arc.updates, types)])


def stored(term: Term, read: Environment, type_: str) -> Value:
    """The value of a term as the type of its register: an integer becomes a float there."""
    found = value(term, read)
    return float(found) if type_ == "float" and isinstance(found, int) else found


def environment(automaton: RegisterAutomaton, before: Configuration, event: LivingEvent | None) -> Environment:
    """What terms can read: the event, if one is taken, with its time behind its attributes, and the registers."""
    if event is None:
        return Environment(Occurrence((), 0, 0, ()), last=before.registers)
    row = (*event.row, event.time) if automaton.sources[event.stream].timed else event.row
    return Environment(Occurrence(row, event.time, event.time, ()), last=before.registers)


def distinct(configurations: Iterator[Configuration]) -> list[Configuration]:
    """The first of those that have one state and equal registers."""
    found: dict[tuple[int, Row], Configuration] = {}
    for one in configurations:
        found.setdefault((one.state, one.registers), one)
    return list(found.values())
