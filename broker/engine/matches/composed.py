"""The outcome of an event for one target: matches, a notice, or a report that a limit was hit.

Here: which matches of a source are results. Not here: sources (sources), results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, final

from mypy_extensions import mypyc_attr

from ..notices import Notice
from ..program.account import NOT_SUSPENDED
from .completions import results_of
from .sources import Matched, MatchSource

NO_MATCH: Final = Matched([], 0, 0, ())
"""Stands in for the match in a result without one."""


@final
@mypyc_attr(acyclic=True)
class Composed:
    """A source of matches; or, without one, a notice or a report that a limit was hit.

    `each_one`: each match is a result; otherwise one result stands for all matches. `suspended`: instead of a limit,
    the reason for which the subscription is suspended.
    """

    __slots__ = ("each_one", "notice", "source", "suspended")

    def __init__(
        self,
        source: MatchSource | None,
        each_one: bool,
        notice: Notice | None = None,
        suspended: int = NOT_SUSPENDED,
    ) -> None:
        self.suspended = suspended
        self.source = source
        self.each_one = each_one and source is not None
        self.notice = notice

    def count(self) -> int | None:
        """The number of matches, of any size; None if a limit was hit."""
        return None if self.source is None else self.source.amount()

    def results(self) -> int:
        """The number of results for each subscriber. O(1), except for incomplete ones."""
        source = self.source
        return 1 if source is None or not self.each_one else results_of(source)

    def single(self) -> bool:
        """Whether there is one result for each subscriber, the match that its source gives as `one`. O(1)."""
        source = self.source
        return source is None or not self.each_one or (not source.arbitrary() and source.amount() == 1)

    def each(self) -> Iterator[Matched]:
        """The matches that are results: all of them, made on demand, or one."""
        if self.source is None:
            yield NO_MATCH
        elif self.each_one:
            yield from self.source.all()
        else:
            yield self.source.one()

    def detached(self) -> Composed:
        """The same, which keeps nothing in memory that it shares with other events."""
        if self.source is None:
            return self
        kept = self.source.detached()
        return self if kept is self.source else Composed(kept, self.each_one)

    def expanded(self) -> Composed:
        """A copy in which each match is a result, if the matches can be made."""
        source = self.source
        return self if source is None or source.arbitrary() else Composed(source, True)
