"""The executable meaning of window subscriptions, on whole finite partitions: slow, obvious, and the truth.

Written straight from the definitions (semantics 5.2): which sequences of events a regular expression matches, for which
pairs of positions a formula holds, which windows of the clock have events. Not here: anything of the engine; nothing
below imports what it is the judge of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from ...events.schema import Row, Value
from ..semantics import Environment, Occurrence, holds, value
from ..terms import Term
from ..window_aggregates import ClockGrid, WindowAggregate, aggregate
from .window_expression import WindowExpression, WindowFormula, WindowRegex

Spans: TypeAlias = set[tuple[int, int]]
"""Sequences of events of a partition: the first position, and that behind the last; (i, i) is empty."""
Marks: TypeAlias = dict[int, int | frozenset[int]]
"""The position, or the set of positions, of each variable."""


@dataclass(frozen=True, slots=True)
class TimedEvent:
    id: int
    time: int
    row: Row


@dataclass(frozen=True, slots=True)
class WindowResult:
    """A window: the ids of its events, the times of the first and the last one, the values of its aggregates, and for
    a window of the clock its beginning."""

    lineage: tuple[int, ...]
    start: int
    end: int
    values: Row
    begin: int | None = None


def results(expression: WindowExpression, events: Sequence[TimedEvent]) -> list[WindowResult]:
    """All windows over the events of the stream, in the order of arrival; by partition, then by last and first event.

    Exponential in the sets of a formula, else polynomial.
    """
    found: list[WindowResult] = []
    for part in partitions(expression, events):
        if expression.clock is not None:
            found += clock_windows(expression, expression.clock, part)
            continue
        spans = kept(expression, part, windows(expression, part))
        for first, upto in sorted(spans, key=lambda span: (span[1], span[0])):
            found.append(result_of(expression, part[first:upto], None))
    return found


def partitions(expression: WindowExpression, events: Sequence[TimedEvent]) -> list[list[TimedEvent]]:
    """The events of each partition; an event with a null in its key is in none."""
    parts: dict[Row, list[TimedEvent]] = {}
    for event in events:
        key = tuple(event.row[position] for position in expression.source.key)
        if None not in key:
            parts.setdefault(key, []).append(event)
    return list(parts.values())


def windows(expression: WindowExpression, part: Sequence[TimedEvent]) -> Spans:
    """The windows of a partition before KEEP. None is empty."""
    letters = [satisfied(expression, part, at) for at in range(len(part))]
    if expression.formula is not None:
        return {
            (x, y + 1)
            for y in range(len(part))
            for x in range(y + 1)
            if true(expression.formula, letters[: y + 1], {0: x, 1: y})
        }
    found: Spans = set()
    for pair in expression.pairs:
        prefixes = {upto for first, upto in matched(pair.prefix, letters) if first == 0}
        for first, upto in matched(pair.body, letters):
            long = pair.within is not None and upto > first and part[upto - 1].time - part[first].time > pair.within
            if first in prefixes and first < upto and not long:
                found.add((first, upto))
    return found


def satisfied(expression: WindowExpression, part: Sequence[TimedEvent], at: int) -> frozenset[int]:
    """The conditions that the event at a position satisfies."""
    return frozenset(n for n, atom in enumerate(expression.atoms) if holds(atom, _environment(expression, part, at)))


def _environment(expression: WindowExpression, part: Sequence[TimedEvent], at: int) -> Environment:
    nothing: tuple[Value, ...] = (None,) * expression.width
    before: list[Value] = []
    for back in range(1, expression.back + 1):
        before += _wide(part[at - back]) if at >= back else nothing
    return Environment(Occurrence(_wide(part[at]), part[at].time, part[at].time, ()), last=tuple(before))


def _wide(event: TimedEvent) -> Row:
    return (*event.row, event.time)


# --- regular expressions ----------------------------------------------------------------------------------------


def matched(regex: WindowRegex, letters: Sequence[frozenset[int]]) -> Spans:
    """The sequences of events that an expression matches. `letters`: the conditions that each event satisfies."""
    n = len(letters)
    parts = [matched(part, letters) for part in regex.parts]
    match regex.operator:
        case "any":
            return {(i, i + 1) for i in range(n)}
        case "event":
            return {(i, i + 1) for i in range(n) if regex.atom in letters[i]}
        case "then":
            found = _empty(n)
            for part in parts:
                found = _joined(found, part)
            return found
        case "or":
            return set().union(*parts)
        case "and":
            return parts[0].intersection(*parts[1:])
        case "not":
            return {(i, j) for i in range(n) for j in range(i + 1, n + 1)} - parts[0]
        case "times":
            return _repeated(parts[0], regex.least, regex.most, n)


def _empty(n: int) -> Spans:
    return {(i, i) for i in range(n + 1)}


def _joined(left: Spans, right: Spans) -> Spans:
    return {(i, k) for i, j in left for other, k in right if j == other}


def _repeated(part: Spans, least: int, most: int | None, n: int) -> Spans:
    found: Spans = set()
    times, now = 0, _empty(n)
    while most is None or times <= most:
        if times >= least:
            found |= now
        after = _joined(now, part)
        if after == now:  # further repetitions match the same
            return found | now if times < least and (most is None or most >= least) else found
        times, now = times + 1, after
    return found


# --- formulas ---------------------------------------------------------------------------------------------------


def true(formula: WindowFormula, letters: Sequence[frozenset[int]], marks: Marks) -> bool:
    """Whether a formula holds for these marks. All positions of `letters` are quantified over, no others."""
    first, second = marks.get(formula.first), marks.get(formula.second)
    match formula.operator:
        case "holds":
            return isinstance(first, int) and formula.atom in letters[first]
        case "less":
            return first < second  # type: ignore[operator]
        case "equal":
            return first == second
        case "next":
            return isinstance(first, int) and first + 1 == second
        case "in":
            return isinstance(second, frozenset) and first in second
        case "not":
            return not true(formula.parts[0], letters, marks)
        case "and":
            return all(true(part, letters, marks) for part in formula.parts)
        case "or":
            return any(true(part, letters, marks) for part in formula.parts)
        case "exists":
            body = formula.parts[0]
            return any(true(body, letters, {**marks, formula.first: z}) for z in range(len(letters)))
        case "exists set":
            body = formula.parts[0]
            return any(true(body, letters, {**marks, formula.first: chosen}) for chosen in _sets(len(letters)))


def _sets(n: int) -> Iterator[frozenset[int]]:
    for size in range(n + 1):
        for chosen in combinations(range(n), size):
            yield frozenset(chosen)


# --- which windows are kept, and what they say ------------------------------------------------------------------


def kept(expression: WindowExpression, part: Sequence[TimedEvent], spans: Spans) -> Spans:
    """The windows of a partition that KEEP keeps."""
    match expression.keep:
        case "shortest":
            return {(i, j) for i, j in spans if j == min(k for other, k in spans if other == i)}
        case "longest":
            return {(i, j) for i, j in spans if j == max(k for other, k in spans if other == i)}
        case "earliest":
            return {(i, j) for i, j in spans if i == min(other for other, k in spans if k == j)}
        case "latest":
            return {(i, j) for i, j in spans if i == max(other for other, k in spans if k == j)}
        case "each":
            return spans


def clock_windows(expression: WindowExpression, clock: ClockGrid, part: Sequence[TimedEvent]) -> list[WindowResult]:
    """The windows of the clock that hold events of a partition, in the order of their beginnings."""
    begins = {
        k * clock.slide + clock.offset
        for event in part
        for k in range(
            (event.time - clock.offset - clock.size) // clock.slide, (event.time - clock.offset) // clock.slide + 1
        )
    }
    found: list[WindowResult] = []
    for begin in sorted(begins):
        inside = [event for event in part if begin <= event.time < begin + clock.size]
        if inside:
            found.append(result_of(expression, inside, begin))
    return found


def result_of(expression: WindowExpression, inside: Sequence[TimedEvent], begin: int | None) -> WindowResult:
    values = tuple(_value(expression, one, inside, begin) for one in expression.aggregates)
    return WindowResult(tuple(event.id for event in inside), inside[0].time, inside[-1].time, values, begin)


def _value(
    expression: WindowExpression, one: WindowAggregate, inside: Sequence[TimedEvent], begin: int | None
) -> Value:
    if one.function in ("from", "until"):
        assert begin is not None, "a bound of a window of the clock"
        return begin if one.function == "from" or expression.clock is None else begin + expression.clock.size
    if not one.arguments:
        return len(inside)
    return aggregate(one.function, one.distinct, one.share, [_column(term, inside) for term in one.arguments])


def _column(term: Term, inside: Sequence[TimedEvent]) -> list[Value]:
    return [value(term, Environment(Occurrence(_wide(each), each.time, each.time, ()))) for each in inside]
