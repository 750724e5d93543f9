"""Runners: the partial matches of one key value in one partition, in any method.

Here: their common form. Not here: a method (cell_counting, window_counting).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row
from .arcs import NEVER, Recents
from .tables import CountingTables
from .tuples import Completion, Tuple


@mypyc_attr(acyclic=True)  # partial matches lead to tables and to earlier events only
class Runner:
    """Partial matches of one key value. Positions count the events of a stream or partition, also those not taken.

    An event moves what is in late states first, so that it does not extend what it has just made. Completions up to
    the time `doubtful` may lack tuples, because a limit was hit.
    """

    __slots__ = ("doubtful", "losses", "recents", "tables")

    def __init__(self, tables: CountingTables) -> None:
        self.tables = tables
        self.recents = Recents(tables.depth)
        self.doubtful: i64 = NEVER
        self.losses: i64 = 0  # how often a limit was hit

    def lose(self, time: i64) -> None:
        """A limit was hit: as long as what was forgotten could have been of use, tuples may be missing."""
        self.doubtful = self.tables.until(time)
        self.losses += 1

    def take(self, mask: int, row: Row, time: i64, position: i64, item: object, found: list[Completion]) -> None:
        """An event that satisfies the operands in `mask`; appends what it completes."""
        raise AssertionError

    def empty(self, time: i64, position: i64) -> bool:
        """Whether nothing would be lost without it, before an event at that time and position or later."""
        return time > self.doubtful and len(self.live(time, position - 1)) == 0

    def live(self, time: i64, position: i64) -> list[int]:
        """The states, ascending and without the start, that hold something for an event from that time on which is
        the next after this position. O(what is kept in them that time has settled + states)."""
        raise AssertionError

    def sure(self) -> i64:
        """The last moment up to which time alone cannot change what is live."""
        raise AssertionError

    def end(self, state: i64) -> i64:
        """The last moment at which what the state holds can still be completed, as far as that is known."""
        raise AssertionError

    def ways(self, state: i64) -> Iterator[Tuple]:
        """The ways to a state, as far as they are kept; those that time rules out may still be among them."""
        raise AssertionError

    def partial(self, position: i64) -> Iterator[Tuple]:
        """The tuples begun that an event after this position can go on with, for users: `ways` of what is there."""
        raise AssertionError

    def tally(self, figures: dict[str, int]) -> None:
        """Add its figures."""
        raise AssertionError

    def check_invariants(self) -> None:
        raise AssertionError

    def dump(self) -> list[Any]:
        """All of it as plain values."""
        return [*self.content(), [int(self.recents.last), self.recents.times], int(self.doubtful)]

    def content(self) -> list[Any]:
        """What its method keeps."""
        raise AssertionError

    def load(self, data: Any) -> None:
        """The inverse of `dump`, into a new one."""
        *content, (self.recents.last, times), self.doubtful = data
        self.recents.times = list(times)
        self.restore(content)

    def restore(self, content: Any) -> None:
        """The inverse of `content`."""
        raise AssertionError
