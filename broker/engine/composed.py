"""What an event completed of a composite subscription: how many tuples, one of them, and all of them on request.

Here: one form for what machines and words complete. Not here: how they count, results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, final

from mypy_extensions import i64, mypyc_attr

from ..events.schema import Row
from .account import NOT_SUSPENDED
from .executors.kleene.found import Found
from .executors.sequence_trie.trie import Fired
from .executors.tuple_counts import Completion
from .notices import Notice
from .trace import mixed

Item: TypeAlias = Any
"""An event in a tuple: its id, or for a derived one what it adds to a trace and the ids of its lineage."""
Assigned: TypeAlias = list[tuple[int, Item, int]]
"""Operands, ascending, with the item and the time of the event that each has."""


@final
@mypyc_attr(acyclic=True)
class Composed:
    """One of both, or the matches of a SASE+ pattern, or, with none of these, a notice, or that a limit was hit.
    `tuples`: each tuple or match is a result, not only one for all. `suspended`: in place of a limit, why the
    subscription is suspended."""

    __slots__ = ("completion", "fired", "matches", "notice", "suspended", "tuples")

    def __init__(
        self,
        completion: Completion | None,
        fired: Fired | None,
        tuples: bool,
        notice: Notice | None = None,
        matches: Found | None = None,
        suspended: int = NOT_SUSPENDED,
    ) -> None:
        self.suspended = suspended
        self.completion = completion
        self.fired = fired
        self.tuples = tuples
        self.notice = notice
        self.matches = matches

    def count(self) -> int | None:
        """How many tuples, of any size; None where a limit was hit."""
        if self.completion is not None:
            return self.completion.count
        if self.matches is not None:
            return self.matches.count()
        return None if self.fired is None else self.fired.count

    def binding(self) -> Row:
        """The variables' values."""
        return () if self.completion is None else self.completion.binding

    def incomplete(self) -> bool:
        """Whether a limit was hit and tuples may be missing."""
        return self.completion is not None and self.completion.incomplete

    def results(self) -> int:
        """How many results it makes for each subscriber. O(1), but for incomplete ones."""
        if not self.tuples:
            return 1
        count = self.count()
        return sum(1 for _ in self.each()) if count is None else count

    def limited(self) -> bool:
        """Whether all that it says is that a limit was hit."""
        return self.completion is None and self.fired is None and self.matches is None

    def each(self) -> Iterator[Any]:
        """What is a result, each an Assigned, or of a pattern a Matched: all, made as they are asked for, or one of
        them."""
        if self.matches is not None:
            for matched in self.matches.each():
                yield matched
                if not self.tuples:
                    return
        elif self.completion is not None:
            if self.tuples:
                for found in self.completion.tuples():
                    yield list(found)
            else:
                yield list(self.completion.witness())
        elif self.fired is not None:
            taken: list[Any] = self.fired.witness()
            yield [(operand, item, time) for operand, (item, time) in enumerate(taken)]
        else:
            yield []


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
