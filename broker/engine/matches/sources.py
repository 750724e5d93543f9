"""Match sources: the form in which every executor returns what an event, or the passing of time, completed.

A source knows how many matches it has, and makes them when they are read. It stays valid while its machine continues.

Here: that form. Not here: making it from a representation (each executor), choosing the results (composed).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias, final

from mypy_extensions import i64, mypyc_attr

from ...algebra.computation import Slots
from ...events.schema import Row, Value
from ..executors.trace import mixed

Item: TypeAlias = Any
"""An event in a match: its id; for a derived event, its contribution to a trace and the ids of its lineage."""

Assigned: TypeAlias = list[tuple[int, Item, int]]
"""Operands or components, each with the item and the time of an event."""


@final
class WaitingRun(NamedTuple):
    """A partial match for users: the values of its key, its state of the automaton, the time of its first event in
    microseconds, and its events. `state`: -1 if its events say it; it has no events then if they are not kept."""

    key: Row
    state: int
    begun: int
    assigned: Assigned


Lineage: TypeAlias = "tuple[Any, Any] | None"
"""Contributing events: a link (earlier links, item); an item is an event's id or a derived event's own links.

Linked tuples are reference counted and released without recursion, however long a FOLD runs.
"""


@mypyc_attr(acyclic=True)
class PartialMatch:
    """A run over epochs in the form that results read.

    `row` is the event that it took last, `slots` are its other registers. It began at `t0` and was `born` in the epoch
    of its first event. `trace` is the rolling 63-bit digest of the contributing events, `lineage` all of them, if a
    subscriber asks for it.
    """

    __slots__ = ("born", "lineage", "row", "slots", "t0", "trace")

    def __init__(self, row: Row, slots: Slots, t0: i64, born: i64, trace: i64, lineage: Lineage) -> None:
        self.row = row
        self.slots = slots
        self.t0 = t0
        self.born = born
        self.trace = trace
        self.lineage = lineage


Stretch: TypeAlias = "tuple[list[Item], int, int]"
"""Consecutive events: a list, the index of the first one, and that behind the last one."""


@final
@mypyc_attr(acyclic=True)
class Matched:
    """A match: its events, the times of the first and the last one, and its values.

    The events are in the order of the operands or of the stream. If they are a `stretch` of a partition, `assigned` has
    only what identifies the match. `trace`: the number by which it is known, if its events are not enough. `lifetime`:
    from when, and to when, all its events live; None for no end. `begin`: that of its window of the clock.
    """

    __slots__ = ("assigned", "begin", "end", "lifetime", "start", "stretch", "trace", "values")

    def __init__(
        self,
        assigned: Assigned,
        start: int,
        end: int,
        values: Row,
        trace: int | None = None,
        lifetime: tuple[int, int | None] | None = None,
        stretch: Stretch | None = None,
        begin: int | None = None,
    ) -> None:
        self.assigned = assigned
        self.begin = begin
        self.start = start
        self.end = end
        self.values = values
        self.trace = trace
        self.lifetime = lifetime
        self.stretch = stretch

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Matched) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((self.start, self.end, self.values))

    def _fields(self) -> tuple[Any, ...]:
        span = (self.start, self.end, self.lifetime)
        return (self.assigned, span, self.values, self.trace, self.stretch)


@mypyc_attr(allow_interpreted_subclasses=True)
class Expansion:
    """The matches of a compressed result, made on access."""

    def line(self) -> dict[str, Any] | None:
        """The matches as a JSON object; None if it would be too large."""
        raise AssertionError


class MatchColumns:
    """Matches that lie in columns, each at a place, and give their fields without being made."""

    def start(self, at: i64) -> i64:
        """The time of the first event."""
        raise AssertionError

    def end(self, at: i64) -> i64:
        """The time of the last event."""
        raise AssertionError

    def details(self, at: i64) -> dict[str, Any] | None:
        """What else the line of a result has."""
        return None

    def number(self, at: i64) -> int:
        """The number by which the match is known."""
        raise AssertionError

    def contributed(self, at: i64) -> list[int]:
        """The ids that contributed, in the order of the events."""
        raise AssertionError

    def value(self, at: i64, position: int) -> Value:
        """One of its values."""
        raise AssertionError


@mypyc_attr(acyclic=True)  # matches refer to logs and to earlier events only
class MatchSource:
    """The matches of one event, or of a moment."""

    def amount(self) -> int | None:
        """The number of matches, of any size; None if a limit was hit. O(1), except for compressed ones."""
        raise AssertionError

    def all(self) -> Iterator[Matched]:
        """All matches in a fixed order, made on demand."""
        raise AssertionError

    def one(self) -> Matched:
        """One of the matches, always the same."""
        return next(self.all())

    def arbitrary(self) -> bool:
        """Whether the executor's storage decides which match `one` returns, and some matches may be unavailable.

        One result for all matches is then identified by its event and its values.
        """
        return False

    def doubtful(self) -> bool:
        """Whether a limit was hit, so that matches may be missing."""
        return False

    def placed(self) -> tuple[MatchColumns, list[int]] | None:
        """Where the matches lie in columns, if they do: in these, at these places."""
        return None

    def detached(self) -> MatchSource:
        """The same matches, which keep nothing in memory that they share with those of other events."""
        return self

    def expansion(self, names: tuple[str, ...]) -> Expansion | None:
        """All matches in one form, for a result that stands for all; `names`: those of the components."""
        return None


@final
@mypyc_attr(acyclic=True)
class MadeMatches(MatchSource):
    """Matches that have been made."""

    __slots__ = ("made",)

    def __init__(self, made: list[Matched]) -> None:
        self.made = made

    def amount(self) -> int:
        return len(self.made)

    def all(self) -> Iterator[Matched]:
        yield from self.made


def matched_of(assigned: Assigned, values: Row) -> Matched:
    """A match whose events are in the order of the operands."""
    start = end = assigned[0][2]
    for _, _, time in assigned:
        if time < start:
            start = time
        if time > end:
            end = time
    return Matched(assigned, start, end, values)


def trace_of(matched: Matched) -> i64:
    """The digest of a match."""
    trace: i64 = 0
    known = matched.trace
    if known is not None:
        trace = known
        return trace
    for component, item, _ in matched.assigned:
        number: i64 = item if isinstance(item, int) else item[0]
        trace = mixed(trace, number, component)
    return trace


def contributed(matched: Matched) -> list[int]:
    """The ids of the events of a match, in their order. O(events)."""
    found: list[int] = []
    if matched.stretch is None:
        for _, item, _ in matched.assigned:
            if isinstance(item, int):
                found.append(item)
            else:
                found.extend(item[1])
    else:
        items, first, upto = matched.stretch
        for at in range(first, upto):
            item = items[at]
            if isinstance(item, int):
                found.append(item)
            else:
                found.extend(item[1])
    return found


def bound(matched: Matched, names: tuple[str, ...]) -> dict[str, list[int]]:
    """By the names of the components, the ids of the events that were assigned to each. O(events)."""
    found: dict[str, list[int]] = {}
    before = -1
    events: list[int] = []
    for component, item, _ in matched.assigned:
        if component != before:
            before = component
            known = found.get(names[component])
            events = [] if known is None else known
            if known is None:
                found[names[component]] = events
        if isinstance(item, int):
            events.append(item)
        else:
            events.extend(item[1])
    return found


def ids(item: Item) -> list[int]:
    """The ids that an event adds to a lineage."""
    return [item] if isinstance(item, int) else list(item[1])


def flattened(lineage: Lineage) -> list[int]:
    """The ids of the primitive events in pattern order. Linear; does not recurse."""
    found: list[int] = []
    stack: list[Any] = [lineage]
    while stack:
        item = stack.pop()
        if isinstance(item, int):
            found.append(item)
        elif item is not None:
            stack.append(item[0])
            stack.append(item[1])
    found.reverse()
    return found


def tuple_item(item: Any) -> Item:
    """An item restored from plain values."""
    return (item[0], tuple(item[1])) if isinstance(item, list) else item


def waiting_run(key: Row, assigned: Assigned) -> WaitingRun:
    """A partial match whose events say its state."""
    return WaitingRun(key, -1, min([at for _, _, at in assigned], default=0), assigned)
