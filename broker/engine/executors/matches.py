"""What an event, or time, completed for those whom one machine serves: the form in which every executor hands it on.

A source knows how many matches it has and makes them when they are read. It stays valid while its machine goes on.

Here: that form, and that of matches of patterns. Not here: how a representation makes its own (each executor), results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from mypy_extensions import mypyc_attr

from ...events.schema import Row

Item: TypeAlias = Any
"""An event in a match: its id, or for a derived one what it adds to a trace and the ids of its lineage."""


class Matched(NamedTuple):
    """A match of a pattern: components with the item and the time of each of their events, in the order of the stream;
    the times of the first and the last one; the values of RETURN."""

    assigned: list[tuple[int, Item, int]]
    start: int
    end: int
    values: Row


@mypyc_attr(acyclic=True)  # matches lead to logs and to earlier events only
class MatchSource:
    """Matches of one event. Each is a Matched, or of tuples a list of operand, item and time, operands ascending."""

    def amount(self) -> int | None:
        """How many, of any size; None where a limit was hit. O(1), but for compressed ones."""
        raise AssertionError

    def all(self) -> Iterator[Any]:
        """They themselves, in a fixed order, made as they are asked for."""
        raise AssertionError

    def one(self) -> Any:
        """One of them, always the same."""
        raise AssertionError

    def bound(self) -> Row:
        """The values of the variables that all of them share."""
        return ()

    def doubtful(self) -> bool:
        """Whether a limit was hit and matches may be missing."""
        return False


@mypyc_attr(acyclic=True)
class Found(MatchSource):
    """Matches of a pattern that one event completed, or that time did."""

    def count(self) -> int:
        """How many. O(1), but for compressed ones."""
        raise AssertionError

    def each(self) -> Iterator[Matched]:
        """They themselves, in a fixed order."""
        raise AssertionError

    def amount(self) -> int | None:
        return self.count()

    def all(self) -> Iterator[Any]:
        return self.each()

    def one(self) -> Any:
        return next(self.each())
