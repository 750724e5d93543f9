"""One log for the events of all partitions of a machine: each event knows the one before it in its chain.

So a partition that has few events costs no list of its own, which a garbage collector would look at again and again.
Hot. Not here: what a chain is (sessions), the log of a partition that has one for itself (cell).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row
from ..matches import Item
from ..packed import Integers, integers, put_integer
from .pane_columns import PaneColumns

NOTHING: Final = -1  # before the first event of a chain


@final
@mypyc_attr(acyclic=True)
class LinkedLog:
    """Events, the newest one last, and to each the index of the one before it in its chain, or NOTHING.

    It only grows; to forget something is to have another log, so that matches which are not read yet may refer to it.
    """

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.rows: list[Row] = []  # empty, unless somebody asks for values
        self.links: Integers = integers()
        self.count: i64 = 0

    def add(self, row: Row, item: Item, rows: bool, before: i64) -> i64:
        """Add an event behind another one of its chain; returns its index. O(1) amortised."""
        at = self.count
        self.items.append(item)
        if rows:
            self.rows.append(row)
        self.links = put_integer(self.links, at, before)
        self.count = at + 1
        return at

    def chain(self, newest: i64) -> list[int]:
        """The indexes of a chain, the oldest event first. O(its events)."""
        found: list[int] = []
        at = newest
        while at != NOTHING:
            found.append(int(at))
            at = self.links[at]
        found.reverse()
        return found

    def columns(self, newest: i64) -> PaneColumns:
        """A chain as the log of a partition, whose first event is the number 0. O(its events)."""
        chain = self.chain(newest)
        items = [self.items[at] for at in chain]
        rows = [self.rows[at] for at in chain] if len(self.rows) > 0 else []
        return PaneColumns(0, integers(), 0, len(rows) > 0).fill(items, rows)

    def copy(self, chain: PaneColumns, rows: bool) -> i64:
        """Add all events of a chain; returns the index of the newest one. O(its events)."""
        newest: i64 = NOTHING
        at: i64
        for at in range(len(chain.items)):
            newest = self.add(chain.rows[at] if rows else (), chain.items[at], rows, newest)
        return newest
