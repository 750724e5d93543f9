"""The panes and the log of a partition, as columns that only grow.

Here: these columns. Hot. Not here: the partition (cell), who reads a log (window_matches).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row
from ...matches.sources import Item
from ..packed import Integers
from .sliding import MovingWindows
from .window_page import SharedColumns

# A log that does not need them has these, which stay empty.
NO_ITEMS: Final[list[Item]] = []
NO_ROWS: Final[list[Row]] = []


@final
@mypyc_attr(acyclic=True)
class PaneColumns(SharedColumns):
    """The panes and the log of a partition, for itself and for matches that are not read yet.

    `panes` has two numbers for each: the event at which the pane with the number `base` + k began, and its time. The
    log begins with the event number `logged`; it has the `items` that its events are known by and, if it is `rowed`,
    their `rows`. Columns grow at the end; to forget something is to have other columns.
    """

    def __init__(self, base: i64, panes: Integers, logged: i64, rowed: bool) -> None:
        self.base = base
        self.panes = panes
        self.count: i64 = len(panes) >> 1
        self.logged = logged
        self.rowed = rowed
        self.items: list[Item] = NO_ITEMS
        self.rows: list[Row] = NO_ROWS
        self.moving: MovingWindows | None = None  # of the windows that were read

    def end(self) -> i64:
        """The number of the next pane."""
        return self.base + self.count

    def begun(self) -> Integers:
        """The numbers of its panes."""
        return self.panes[: 2 * self.count]

    def note(self, row: Row, item: Item) -> None:
        """Add an event to the log."""
        if len(self.items) == 0:
            self.items = [item]
            if self.rowed:
                self.rows = [row]
            return
        self.items.append(item)
        if self.rowed:
            self.rows.append(row)

    def add_all(self, items: list[Item], rows: list[Row]) -> PaneColumns:
        """Add these events to the log. O(their number)."""
        if len(self.items) == 0:
            self.items, self.rows = items[:], rows[:]
        else:
            self.items.extend(items)
            self.rows.extend(rows)
        return self

    def behind(self, first: i64, events: i64, panes: Integers) -> PaneColumns:
        """Columns that begin with the pane number `first`, and the event behind so many of the log. O(what is left)."""
        left = PaneColumns(first, panes, self.logged + events, self.rowed)
        left.items = self.items[events:]
        left.rows = self.rows[events:]
        left.moving = self.moving
        return left
