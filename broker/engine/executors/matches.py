"""What an event, or time, completed for those whom one machine serves: the form in which every executor hands it on.

A source knows how many matches it has and makes them when they are read. It stays valid while its machine goes on.

Here: that form. Not here: how a representation makes its own (each executor), what becomes results (composed).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from mypy_extensions import i64, mypyc_attr

from ...algebra.computation import Slots
from ...events.schema import Row
from ..trace import mixed

Item: TypeAlias = Any
"""An event in a match: its id, or for a derived one what it adds to a trace and the ids of its lineage."""

Assigned: TypeAlias = list[tuple[int, Item, int]]
"""Operands or components, each with the item and the time of an event."""


Lineage: TypeAlias = "tuple[Any, Any] | None"
"""What contributed: a link (earlier links, item), an item being an event's id or a derived event's own links. Linked
tuples are reference counted and released without recursion, however long a FOLD runs."""


@mypyc_attr(acyclic=True)
class PartialMatch:
    """A run over epochs as results read it: `row` is the event that it took last, `slots` are its other registers. It
    began at `t0` and was `born` in the epoch of its first event. `trace` is the rolling 63-bit digest of what
    contributed, `lineage` the same in full where somebody wants it."""

    __slots__ = ("born", "lineage", "row", "slots", "t0", "trace")

    def __init__(self, row: Row, slots: Slots, t0: i64, born: i64, trace: i64, lineage: Lineage) -> None:
        self.row = row
        self.slots = slots
        self.t0 = t0
        self.born = born
        self.trace = trace
        self.lineage = lineage


class Matched(NamedTuple):
    """A match: its events, in the order of the operands, or of the stream; the times of the first and the last one; the
    values that it has."""

    assigned: Assigned
    start: int
    end: int
    values: Row


@mypyc_attr(allow_interpreted_subclasses=True)
class Expansion:
    """A compressed result told in full, made when somebody asks."""

    def line(self) -> dict[str, Any] | None:
        """As a JSON object; None where it would be too large."""
        raise AssertionError


@mypyc_attr(acyclic=True)  # matches lead to logs and to earlier events only
class MatchSource:
    """Matches of one event, or of a moment."""

    def amount(self) -> int | None:
        """How many, of any size; None where a limit was hit. O(1), but for compressed ones."""
        raise AssertionError

    def all(self) -> Iterator[Matched]:
        """They themselves, in a fixed order, made as they are asked for."""
        raise AssertionError

    def one(self) -> Matched:
        """One of them, always the same."""
        return next(self.all())

    def arbitrary(self) -> bool:
        """Whether which match is the one depends on how they are kept, and all need not be there: one result for all of
        them is then known by its event and its values."""
        return False

    def doubtful(self) -> bool:
        """Whether a limit was hit and matches may be missing."""
        return False

    def expansion(self, names: tuple[str, ...]) -> Expansion | None:
        """All of them in one form, for a result that stands for all; `names`: of the components."""
        return None


def matched_of(assigned: Assigned, values: Row) -> Matched:
    """A match whose events are in the order of the operands."""
    times = [time for _, _, time in assigned]
    return Matched(assigned, min(times), max(times), values)


def trace_of(assigned: Assigned) -> i64:
    """The digest of a match."""
    trace: i64 = 0
    for component, item, _ in assigned:
        number: i64 = item if isinstance(item, int) else item[0]
        trace = mixed(trace, number, component)
    return trace


def ids(item: Item) -> list[int]:
    """What an event adds to a lineage."""
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
    """An item as it was before it became plain values."""
    return (item[0], tuple(item[1])) if isinstance(item, list) else item
