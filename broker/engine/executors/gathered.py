"""What an event, or time, completed for those who are served by one machine: what results are made of.

Here: one form for matches and for word of a limit, whoever they are for. Not here: how matches are made (matches),
results themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

from mypy_extensions import i64, mypyc_attr

from ..account import NOT_SUSPENDED
from ..target import Target
from ..trace import mixed
from .matches import Found, Matched, MatchSource


@mypyc_attr(acyclic=True)
class Served(Found):
    """Matches of several subscriptions."""

    def parts(self) -> Iterator[tuple[Target, Found]]:
        """By whom they are for."""
        raise AssertionError

    def count(self) -> int:
        return sum(found.count() for _, found in self.parts())

    def each(self) -> Iterator[Matched]:
        for _, found in self.parts():
            yield from found.each()


@final
class Gathered:
    """`found` is None where all that it says is that a limit was hit. `compressed`: its matches are one result, whose
    count is told and which is expanded when somebody asks. Of a family, `targets` are all its members'; else the only
    one. `suspended`: with the limit, why they are suspended."""

    __slots__ = ("compressed", "found", "suspended", "targets")

    def __init__(
        self, targets: list[Target], found: MatchSource | None, compressed: bool, suspended: int = NOT_SUSPENDED
    ) -> None:
        self.suspended = suspended
        self.targets = targets
        self.found = found
        self.compressed = compressed

    def parts(self) -> Iterator[tuple[Target, MatchSource | None]]:
        """Whom it is for, and what of it; None where it says that a limit was hit."""
        found = self.found
        if isinstance(found, Served):
            yield from found.parts()
        else:
            for target in self.targets:
                yield target, found

    def results(self, found: MatchSource | None) -> int:
        """How many results a part makes for each subscriber. O(1), but where a limit was hit."""
        if found is None or self.compressed:
            return 1
        amount = found.amount()
        return sum(1 for _ in found.all()) if amount is None else amount

    def total(self) -> int:
        """How many results it makes for all subscribers."""
        return sum(self.results(found) * len(target.subscribers()) for target, found in self.parts())

    def each(self, found: MatchSource) -> Iterator[Any]:
        """The matches of a part that are results of their own: all, or of compressed ones the first; made as they are
        asked for."""
        if self.compressed:
            yield found.one()
        else:
            yield from found.all()


def trace_of(matched: Matched) -> i64:
    """The digest of a match."""
    trace: i64 = 0
    for component, item, _ in matched.assigned:
        number: i64 = item if isinstance(item, int) else item[0]
        trace = mixed(trace, number, component)
    return trace
