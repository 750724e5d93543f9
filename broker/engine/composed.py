"""What an event has for one target: matches, how many and which, or a notice, or word of a limit.

Here: what of a source is a result. Not here: sources (executors.matches), results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, final

from mypy_extensions import mypyc_attr

from .account import NOT_SUSPENDED
from .executors.matches import Matched, MatchSource
from .notices import Notice

NO_MATCH: Final = Matched([], 0, 0, ())
"""In the place of a match, where a result is none."""


@final
@mypyc_attr(acyclic=True)
class Composed:
    """A source of matches, or, with none, a notice, or that a limit was hit. `each_one`: each match is a result, not
    only one for all. `suspended`: in place of a limit, why the subscription is suspended."""

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
        """How many matches, of any size; None where a limit was hit."""
        return None if self.source is None else self.source.amount()

    def results(self) -> int:
        """How many results it makes for each subscriber. O(1), but for incomplete ones."""
        if not self.each_one:
            return 1
        count = self.count()
        return sum(1 for _ in self.each()) if count is None else count

    def each(self) -> Iterator[Matched]:
        """What is a result: all matches, made as they are asked for, or one of them."""
        if self.source is None:
            yield NO_MATCH
        elif self.each_one:
            yield from self.source.all()
        else:
            yield self.source.one()

    def expanded(self) -> Composed:
        """The same, with each match a result where they can be made."""
        source = self.source
        return self if source is None or source.arbitrary() else Composed(source, True)
