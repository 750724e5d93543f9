"""What an event, or time, completed for those whom one machine serves: the form in which every executor hands it on.

A source knows how many matches it has and makes them when they are read. It stays valid while its machine goes on.

Here: that form. Not here: how a representation makes its own (each executor), what becomes results (composed).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from mypy_extensions import i64, mypyc_attr

from ...events.schema import Row
from ..trace import mixed

Item: TypeAlias = Any
"""An event in a match: its id, or for a derived one what it adds to a trace and the ids of its lineage."""

Assigned: TypeAlias = list[tuple[int, Item, int]]
"""Operands or components, each with the item and the time of an event."""


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


def tuple_item(item: Any) -> Item:
    """An item as it was before it became plain values."""
    return (item[0], tuple(item[1])) if isinstance(item, list) else item
