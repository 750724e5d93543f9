"""The executable meaning of P-ToPSS subscriptions, on whole finite lists of events: slow, obvious, and the truth.

Written straight from the definitions (P-ToPSS 3.1, 3.2; semantics 3.1): the matches are all assignments of events to
operands that have the structure, satisfy guards and joins, conditions and WITHIN. Here: nothing that is fast. Not here:
anything of the engine or of machines; nothing below imports what it is the judge of.

Positions count the events of one partition, in order of arrival, which also decides between equal times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ...events.schema import Row, Value
from ..functions import compare
from ..semantics import Environment, Occurrence, holds
from ..structure import Both, Chain, Condition, Either, Primitive, Structure, order
from .composite import Composite

Event: TypeAlias = tuple[str, int, Row]
"""Stream, time and attributes, also of other streams; times do not fall from one event to the next."""
Assignment: TypeAlias = tuple[int | None, ...]
"""The index of the event of each operand, None for those of branches that are not taken."""

Placed: TypeAlias = dict[int, int]
"""Operand to position, for operands that have an event."""


def tuples(composite: Composite, events: Sequence[Event]) -> set[Assignment]:
    """All matches of a subscription. Exponential in its operands."""
    found: set[Assignment] = set()
    for indices in partitions(composite, events):
        part = [events[index] for index in indices]
        for placed in arrangements(composite, composite.structure, part):
            if accepted(composite, placed, part):
                operands = range(len(composite.primitives))
                found.add(tuple(indices[placed[o]] if o in placed else None for o in operands))
    return found


def partitions(composite: Composite, events: Sequence[Event]) -> list[list[int]]:
    """The indices of the events of each partition; an event with a null key, or of another stream, is
    in none."""
    keyed: dict[Row, list[int]] = {}
    keys = {source.stream: source.key for source in composite.sources}
    for index, (stream, _, row) in enumerate(events):
        key = tuple(row[position] for position in keys.get(stream, ()))
        if stream in keys and None not in key:
            keyed.setdefault(key, []).append(index)
    return list(keyed.values())


def arrangements(composite: Composite, structure: Structure, events: Sequence[Event]) -> list[Placed]:
    """All ways to place the operands of a structure, by guards, order, adjacency and distinctness alone."""
    match structure:
        case int():
            fits = composite.primitives[structure]
            return [{structure: at} for at, event in enumerate(events) if satisfies(composite, fits, event)]
        case Either(parts):
            return [placed for part in parts for placed in arrangements(composite, part, events)]
        case Both(parts):
            found: list[Placed] = [{}]
            for part in parts:
                others = arrangements(composite, part, events)
                found = [one | other for one in found for other in others if distinct(one, other)]
            return found
        case Chain(parts, separators):
            found = arrangements(composite, parts[0], events)
            for separator, part in zip(separators, parts[1:]):
                others = arrangements(composite, part, events)
                found = [one | other for one in found for other in others if follows(one, separator, other)]
            return found


def satisfies(composite: Composite, primitive: Primitive, event: Event) -> bool:
    """Whether the event alone can be the operand's: it is of its stream, its guard holds, and no attribute that joins
    is null."""
    (stream, time, row), source = event, composite.sources[primitive.source]
    if stream != source.stream:
        return False
    if source.timed:
        row = (*row, time)
    environment = Environment(Occurrence(row, time, time, ()))
    guard = any(all(holds(atom, environment) for atom in clause) for clause in primitive.guard)
    return guard and all(row[position] is not None for position, _ in primitive.variables)


def distinct(one: Placed, other: Placed) -> bool:
    """No event serves two operands."""
    return not set(one.values()) & set(other.values())


def follows(before: Placed, separator: str, after: Placed) -> bool:
    """The earliest event of the one after the latest of the other; after a comma, the very next one."""
    last, first = max(before.values()), min(after.values())
    return first == last + 1 if separator == "," else first > last


def accepted(composite: Composite, placed: Placed, events: Sequence[Event]) -> bool:
    """Joins, conditions and WITHIN."""
    times = {operand: events[at][1] for operand, at in placed.items()}
    if composite.within is not None and max(times.values()) - min(times.values()) > composite.within:
        return False
    if not all(satisfied(composite, condition, times) for condition in composite.conditions):
        return False
    values: dict[int, Value] = {}
    for operand, at in placed.items():
        for position, variable in composite.primitives[operand].variables:
            value = events[at][2][position]
            if values.setdefault(variable, value) != value:
                return False
    return True


def satisfied(composite: Composite, condition: Condition, times: dict[int, int]) -> bool:
    """A condition: on the absolute difference between parts of an AND; it holds where an operand has no event."""
    if condition.minuend not in times or condition.subtrahend not in times:
        return True
    difference = times[condition.minuend] - times[condition.subtrahend]
    if order(composite.structure, condition.minuend, condition.subtrahend) == "unordered":
        difference = abs(difference)
    return compare(condition.operator, difference, condition.duration)


def binding(composite: Composite, assignment: Assignment, events: Sequence[Event]) -> Row:
    """The values of the variables in a match, in the schema of the results; null for what the match does not bind."""
    values: list[Value] = [None] * len(composite.variables)
    for primitive, index in zip(composite.primitives, assignment):
        if index is not None:
            for position, variable in primitive.variables:
                values[variable] = events[index][2][position]
    types = [attribute.type for attribute in composite.result_schema.attributes]
    return tuple(float(v) if type_ == "float" and isinstance(v, int) else v for type_, v in zip(types, values))
