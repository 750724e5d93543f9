"""The executable meaning of SASE+ patterns, on whole finite lists of events: slow, obvious, and the truth.

Written straight from the definitions (SASE+ 2 and 3.1; semantics 2.1-2.4; design 2.6, 2.7): the matches are all ways to
give events to components that satisfy every condition, of which no event in between says that the run would not have
come so far, and that no negated component forbids. Here: nothing that is fast. Not here: anything of the engine or of
runs; nothing below imports what it is the judge of.

What an event between two events of a match says is decided by the component that the run waits for there:

- behind an event of a Kleene component that takes another one later: that component, with its `take`;
- behind a single component: the next one, with its `begin`;
- behind the last event of a Kleene component: that component, as long as it can ignore what comes. The first event that
  it can neither take nor ignore ends it; from that event on, that one included, the next component decides. The event
  with which the next component begins ends it too, whatever it would have said.

A pattern whose elements may be absent has the matches of its variants (variants).

A component ignores an event by its strategy: strict contiguity never; partition contiguity where it is not of the
match's partition; skip till next match where it does not fit; skip till any match always.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, cast

from ...events.schema import Row, Value
from ..functions import Number, bounded
from ..guard import Guard
from ..semantics import Environment, Occurrence, holds, value
from ..terms import Constant, Register, Term, replace
from .pattern import Aggregate, Bound, Component, Negated, Pattern, Variants

Event: TypeAlias = tuple[str, int, Row]
"""Stream, time and attributes; times do not fall from one event to the next."""
Assignment: TypeAlias = tuple[tuple[int, ...], ...]
"""For each positive component the indices of its events, ascending."""
Found: TypeAlias = tuple[Pattern, Assignment]
"""A match, and the variant whose match it is."""


def matches_of_variants(variants: Variants, events: Sequence[Event]) -> list[Found]:
    """All results of a pattern when the events are all there ever is, in the order in which they are reported.

    Exponential in the events. Compressed output stands for all results; nonoverlapping ones are chosen among those of
    all variants.
    """
    found = [
        (pattern, assignment)
        for pattern in variants
        for assignment in candidates(pattern, events)
        if uninterrupted(pattern, events, assignment) and not forbidden(pattern, events, assignment)
    ]
    ordered = sorted(found, key=lambda each: reporting(each[0], spread(*each)))
    return apart(events, ordered) if variants[0].output == "nonoverlap" else ordered


def matches(pattern: Pattern, events: Sequence[Event]) -> list[Assignment]:
    """All results of a pattern whose elements cannot be absent."""
    return [assignment for _, assignment in matches_of_variants((pattern,), events)]


def spread(pattern: Pattern, assignment: Assignment) -> Assignment:
    """The events by variable of all variants; () for those that are absent."""
    found: list[tuple[int, ...]] = [()] * len(pattern.names)
    for operand, indices in zip(pattern.operands, assignment):
        found[operand] = indices
    return tuple(found)


def candidates(pattern: Pattern, events: Sequence[Event]) -> Iterator[Assignment]:
    """All assignments in which each event fits its place and the whole is inside the window."""

    def extended(done: Assignment) -> Iterator[Assignment]:
        """All complete assignments that begin with these events, none of which is to get more but the last."""
        current = len(done) - 1
        component = pattern.components[current]
        if component.proceed is None or satisfied(pattern, events, component.proceed, done):
            if current + 1 == len(pattern.components):
                yield done
            else:
                for index in range(done[-1][-1] + 1, len(events)):
                    if begins(pattern, events, current + 1, done, index):
                        yield from extended((*done, (index,)))
        if component.kleene:
            for index in range(done[-1][-1] + 1, len(events)):
                if takes(pattern, events, done, index):
                    yield from extended((*done[:-1], (*done[-1], index)))

    for index in range(len(events)):
        if begins(pattern, events, 0, (), index):
            yield from extended(((index,),))


def begins(pattern: Pattern, events: Sequence[Event], number: int, done: Assignment, index: int) -> bool:
    """Whether the event can be the first of a component, after what is done."""
    component = pattern.components[number]
    return fits(pattern, events, component.source, component.begin, done, index)


def takes(pattern: Pattern, events: Sequence[Event], done: Assignment, index: int) -> bool:
    """Whether the event can be a further one of the Kleene component that has the last event of what is done."""
    component = pattern.components[len(done) - 1]
    return component.take is not None and fits(pattern, events, component.source, component.take, done, index)


def fits(pattern: Pattern, events: Sequence[Event], source: int, guard: Guard, done: Assignment, index: int) -> bool:
    """Stream, partition, window and conditions."""
    stream, time, _ = events[index]
    if stream != pattern.sources[source].stream or not same_partition(pattern, events, done, index):
        return False
    if done and pattern.within is not None and time - events[done[0][0]][1] > pattern.within:
        return False
    return satisfied(pattern, events, guard, done, index)


def key(pattern: Pattern, event: Event) -> Row | None:
    """The partition of an event; None where it is in none."""
    stream, _, row = event
    for source in pattern.sources:
        if source.stream == stream:
            values = tuple(row[position] for position in source.key)
            return None if None in values else values
    return None


def same_partition(pattern: Pattern, events: Sequence[Event], done: Assignment, index: int) -> bool:
    """Whether the event is in a partition and, if there are events already, in theirs."""
    own = key(pattern, events[index])
    return own is not None and (not done or own == key(pattern, events[done[0][0]]))


def satisfied(
    pattern: Pattern, events: Sequence[Event], guard: Guard, done: Assignment, index: int | None = None
) -> bool:
    """Whether the conditions hold, for the event at `index` if there is one, after what is done."""
    return all(holds(remembered(pattern, events, term, done), environment(events, index)) for term in guard.conjuncts)


def environment(events: Sequence[Event], index: int | None) -> Environment:
    if index is None:
        return Environment(Occurrence((), 0, 0, ()))
    return Environment(Occurrence(wide(events[index]), events[index][1], events[index][1], ()))


def wide(event: Event) -> Row:
    """The attributes of an event, and its time."""
    _, time, row = event
    return (*row, time)


def remembered(pattern: Pattern, events: Sequence[Event], term: Term, done: Assignment) -> Term:
    """The term with the values of what is done in the place of its registers."""

    def leaf(part: Term) -> Term:
        if not isinstance(part, Register):
            return part
        match pattern.slots[part.slot]:
            case Bound(component, last):
                row = wide(events[done[component][-1 if last else 0]])
                return Constant(row[part.position], part.type)
            case Aggregate() as aggregate:
                rows = [wide(events[index]) for index in done[aggregate.component]]
                return Constant(aggregated(aggregate, rows), part.type)

    return replace(term, leaf)


def aggregated(aggregate: Aggregate, rows: Sequence[Row]) -> Value:
    """The aggregate over the rows of all events, at least one."""
    if aggregate.function == "len":
        return len(rows)
    present = [row[aggregate.position] for row in rows if row[aggregate.position] is not None]
    if aggregate.function == "count":
        return len(present)
    if not present:
        return None
    numbers = cast("list[Number]", present)
    match aggregate.function:
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
        case "sum":
            return bounded(added(numbers))
        case "avg":
            return bounded(added(numbers) / len(numbers))


def added(numbers: Sequence[Number]) -> Number:
    """From left to right, which the built-in sum of floats is not in every Python."""
    total = numbers[0]
    for number in numbers[1:]:
        total = total + number
    return total


def uninterrupted(pattern: Pattern, events: Sequence[Event], assignment: Assignment) -> bool:
    """Whether every event in between, of the streams that are named, could be passed by."""
    streams = {source.stream for source in pattern.sources}
    for number, indices in enumerate(assignment):
        for place in range(len(indices)):
            done = (*assignment[:number], indices[: place + 1])
            more = place + 1 < len(indices)
            if not more and number + 1 == len(assignment):
                return True
            following = indices[place + 1] if more else assignment[number + 1][0]
            between = [x for x in range(indices[place] + 1, following) if events[x][0] in streams]
            if not passed(pattern, events, done, between, more):
                return False
    raise AssertionError("an assignment without events")


def passed(pattern: Pattern, events: Sequence[Event], done: Assignment, between: Sequence[int], more: bool) -> bool:
    """Whether a run that has done this passes by these events, to take `more` of the same component or to go on."""
    component = pattern.components[len(done) - 1]
    waits = component.kleene  # whether it is still that component that is asked
    for index in between:
        if waits:
            fit = takes(pattern, events, done, index)
            if ignores(pattern, events, component, done, index, fit):
                continue
            if fit or more:
                return False
            waits = False
        fit = begins(pattern, events, len(done), done, index)
        if not ignores(pattern, events, pattern.components[len(done)], done, index, fit):
            return False
    return True


def ignores(
    pattern: Pattern, events: Sequence[Event], component: Component, done: Assignment, index: int, fit: bool
) -> bool:
    """Whether a component passes by an event, which does or does not fit it."""
    match component.strategy:
        case "strict_contiguity":
            return False
        case "partition_contiguity":
            return not same_partition(pattern, events, done, index)
        case "skip_till_next_match":
            return not fit
        case "skip_till_any_match":
            return True


def forbidden(pattern: Pattern, events: Sequence[Event], assignment: Assignment) -> bool:
    """Whether some negated component has an event."""
    return any(
        events[index][0] == pattern.sources[negated.source].stream
        and same_partition(pattern, events, assignment, index)
        and stands(pattern, events, negated, assignment, index)
        and satisfied(pattern, events, negated.guard, assignment, index)
        for negated in pattern.negated
        for index in range(len(events))
    )


def stands(pattern: Pattern, events: Sequence[Event], negated: Negated, assignment: Assignment, index: int) -> bool:
    """Whether the event is where the negated component forbids one: by place in the middle, by time at the ends."""
    if 0 < negated.place < len(assignment):
        return assignment[negated.place - 1][-1] < index < assignment[negated.place][0]
    time, first, last = (events[x][1] for x in (index, assignment[0][0], assignment[-1][-1]))
    if pattern.within is None:
        raise AssertionError("a negation at an end has a window")
    if negated.place == 0:
        return last - pattern.within < time < first
    return last < time <= first + pattern.within


def reporting(pattern: Pattern, assignment: Assignment) -> tuple[object, ...]:
    """What orders results: when they are known, then, of those known at once, the earlier events, the longer parts.

    A match with a trailing negation is known when time has passed t(first) + within, any other one with its last event.
    """
    places = tuple(index for indices in assignment for index in indices)
    parts = tuple(-len(indices) for indices in assignment)
    return (places[0], places[-1], places, parts) if pattern.trailing else (places[-1], places, parts)


def apart(events: Sequence[Event], ordered: Sequence[Found]) -> list[Found]:
    """Nonoverlapping output: in each partition each result begins after the end of the one reported before it."""
    ends: dict[Row, int] = {}
    found: list[Found] = []
    for pattern, assignment in ordered:
        partition = key(pattern, events[assignment[0][0]])
        if partition is not None and assignment[0][0] > ends.get(partition, -1):
            ends[partition] = assignment[-1][-1]
            found.append((pattern, assignment))
    return found


def known_after(pattern: Pattern, events: Sequence[Event], assignment: Assignment) -> int:
    """A result with a trailing negation is reported when time is above this; any other one at this time."""
    first, last = events[assignment[0][0]][1], events[assignment[-1][-1]][1]
    return first + (pattern.within or 0) if pattern.trailing else last


def returned(pattern: Pattern, events: Sequence[Event], assignment: Assignment) -> Row:
    """The values of RETURN."""
    none = environment(events, None)
    return tuple(value(remembered(pattern, events, term, assignment), none) for _, term in pattern.items)
