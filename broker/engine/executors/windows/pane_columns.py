"""The panes and the log of a partition, as columns that only grow.

Here: these columns. Hot. Not here: the partition (cell), who reads a log (window_matches).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64, mypyc_attr

from ....events.schema import Row
from ...matches.sources import Item
from ..packed import Integers, integers, integers_of, put_integer
from .sliding import MovingWindows
from .window_page import SharedColumns

EMPTIED_MAX: Final = 32  # numbers of panes up to which their column is used again
NO_ROW: Final[Row] = ()  # where rows are not kept

# A log that does not need them has these, which stay empty.
NO_ITEMS: Final[list[Item]] = []
NO_ROWS: Final[list[Row]] = []


@final
@mypyc_attr(acyclic=True)
class PaneColumns(SharedColumns):
    """The panes and the log of a partition, for itself and for matches that are not read yet.

    `panes` has two numbers for each: the event at which the pane with the number `base` + k began, and its time. The
    log begins with the event number `logged`, and has `size` events. Columns grow at the end; to forget something is to
    have other columns.

    Events are known by their `ids`, of which objects are made when somebody reads them; with `mixed`, some have others,
    and there are objects of all. `rowed`: rows are kept, too. The row of the first event is beside the list, which is
    made when another one comes, or somebody reads: where partitions are many, most have one event.
    """

    def __init__(self, base: i64, panes: Integers, logged: i64, rowed: bool) -> None:
        self.base = base
        self.panes = panes
        self.count: i64 = len(panes) >> 1
        self.logged = logged
        self.rowed = rowed
        self.size: i64 = 0
        self.ids: Integers = integers()
        self.mixed = False
        self._items: list[Item] = NO_ITEMS
        self.row: Row = ()
        self.rows: list[Row] = NO_ROWS
        self.moving: MovingWindows | None = None  # of the windows that were read

    def end(self) -> i64:
        """The number of the next pane."""
        return self.base + self.count

    def emptied(self) -> PaneColumns:
        """Columns without panes and events that go on behind these; these themselves where nobody refers to them."""
        if self.shared or len(self.panes) > EMPTIED_MAX:
            return PaneColumns(self.end(), integers(), 0, self.rowed)
        self.base += self.count
        self.count = 0
        self.logged = 0
        self.size = 0
        self._items = NO_ITEMS
        self.mixed = False
        self.rows = NO_ROWS
        self.row = ()
        self.moving = None
        return self

    def begun(self) -> Integers:
        """The numbers of its panes."""
        return self.panes[: 2 * self.count]

    def note(self, row: Row, item: Item) -> None:
        """Add an event to the log."""
        size = self.size
        if self.mixed:
            self._items.append(item)
        elif isinstance(item, int):
            self.ids = put_integer(self.ids, size, item)
        else:
            self._mix(item)
        if self.rowed:
            if size == 0:
                self.row = row
            else:
                if len(self.rows) == 0:
                    self.rows = [self.row]
                self.rows.append(row)
        self.size = size + 1

    def _mix(self, item: Item) -> None:
        """Add the first event that is known by something else than an id."""
        items = self.items()
        if len(items) == 0:
            items = self._items = []
        self.mixed = True
        items.append(item)

    def items(self) -> list[Item]:
        """The ids of the events of the log, or what they have instead. O(those that came since it was asked)."""
        items = self._items
        at: i64 = len(items)
        if at < self.size:
            if at == 0:
                items = self._items = []
            while at < self.size:
                items.append(int(self.ids[at]))
                at += 1
        return items

    def made(self) -> list[Row]:
        """The rows of the log, if it has any. O(1)."""
        return self.listed().rows

    def listed(self) -> PaneColumns:
        """Have the rows of the log, if there are any, in `rows`. O(1)."""
        if self.rowed and len(self.rows) == 0 and self.size > 0:
            self.rows = [self.row]
        return self

    def fill(self, items: list[Item], rows: list[Row]) -> PaneColumns:
        """Have these events in the log. O(their number)."""
        self.rows = rows
        self.size = len(items)
        if all_numbers(items):
            self.ids = integers_of(items)
        else:
            self._items = items
            self.mixed = True
        return self

    def add_all(self, items: list[Item], rows: list[Row]) -> PaneColumns:
        """Add these events to the log. O(their number)."""
        if self.size == 0:
            return self.fill(items, rows)
        for at, item in enumerate(items):
            self.note(rows[at] if self.rowed else NO_ROW, item)
        return self

    def behind(self, first: i64, events: i64, panes: Integers) -> PaneColumns:
        """Columns that begin with the pane number `first`, and the event behind so many of the log. O(what is left)."""
        rows = self.listed().rows[events:] if self.rowed else NO_ROWS
        left = PaneColumns(first, panes, self.logged + events, self.rowed)
        left.rows = rows
        left.size = self.size - events
        left.moving = self.moving
        if self.mixed:
            left._items = self._items[events:]
            left.mixed = True
        else:
            left.ids = self.ids[events : self.size]
        return left


def all_numbers(items: list[Item]) -> bool:
    """Whether all events have ids. O(their number)."""
    for item in items:  # noqa: SIM110  compiled code has no generators here
        if not isinstance(item, int):
            return False
    return True
