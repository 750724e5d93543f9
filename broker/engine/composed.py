"""What an event has for one target: matches, how many and which, or a notice, or word of a limit.

Here: what of a source is a result. Not here: sources (executors.matches), results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, final

from mypy_extensions import i64, mypyc_attr

from ..events.schema import Row
from .account import NOT_SUSPENDED
from .executors.matches import Found, Item, MatchSource
from .notices import Notice
from .trace import mixed

Assigned: TypeAlias = list[tuple[int, Item, int]]
"""Operands, ascending, with the item and the time of the event that each has."""


@final
@mypyc_attr(acyclic=True)
class Composed:
    """A source of matches, or, with none, a notice, or that a limit was hit. `tuples`: each match is a result, not only
    one for all. `suspended`: in place of a limit, why the subscription is suspended."""

    __slots__ = ("notice", "source", "suspended", "tuples")

    def __init__(
        self,
        source: MatchSource | None,
        tuples: bool,
        notice: Notice | None = None,
        suspended: int = NOT_SUSPENDED,
    ) -> None:
        self.suspended = suspended
        self.source = source
        self.tuples = tuples
        self.notice = notice

    def found(self) -> Found | None:
        """The matches of a pattern, if it is of one."""
        source = self.source
        return source if isinstance(source, Found) else None

    def count(self) -> int | None:
        """How many matches, of any size; None where a limit was hit."""
        return None if self.source is None else self.source.amount()

    def binding(self) -> Row:
        """The variables' values."""
        return () if self.source is None else self.source.bound()

    def incomplete(self) -> bool:
        """Whether a limit was hit and matches may be missing."""
        return self.source is not None and self.source.doubtful()

    def results(self) -> int:
        """How many results it makes for each subscriber. O(1), but for incomplete ones."""
        if not self.tuples:
            return 1
        count = self.count()
        return sum(1 for _ in self.each()) if count is None else count

    def limited(self) -> bool:
        """Whether all that it says is that a limit was hit."""
        return self.source is None

    def each(self) -> Iterator[Any]:
        """What is a result, each an Assigned, or of a pattern a Matched: all, made as they are asked for, or one of
        them."""
        if self.source is None:
            yield []
        elif self.tuples:
            yield from self.source.all()
        else:
            yield self.source.one()


def trace_of(assigned: Assigned) -> i64:
    """The digest of a tuple."""
    trace: i64 = 0
    for operand, item, _ in assigned:
        number: i64 = item if isinstance(item, int) else item[0]
        trace = mixed(trace, number, operand)
    return trace


def start_of(assigned: Assigned) -> int:
    """The time of a tuple's first event."""
    return min([time for _, _, time in assigned])


def ids(item: Item) -> list[int]:
    """What the event adds to a lineage."""
    return [item] if isinstance(item, int) else list(item[1])
