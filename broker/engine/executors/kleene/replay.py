"""Lineage by replay: under skip till next match the events of a run follow from its first one (kleene notes, 1).

A log keeps the events of one key value that any run of the window can have taken. A match is two numbers, where its
run began in the log and where it ended; whoever reads it plays the log again between them. When the log moves on, what
has not been read keeps the old pages.

Here: the log and the matches. Not here: who writes it (columns, stacks).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Slots
from ....algebra.predicate import holds
from ....events.schema import Row
from ..expansion import Found
from ..matches import Item, Matched
from ..packed import Integers, integers, put_integer
from .tables import Tables

FEW: Final = 64  # events below which it is not worth while to turn a page


@final
class Page:
    """Events from number `base` on; `takes` those that can be taken. It only grows, at its end.

    `begun`: the numbers of those that begin runs, where somebody asks for that, from the one with number `first` on.
    """

    __slots__ = ("base", "begun", "first", "items", "rows", "takes", "times")

    def __init__(self, base: i64) -> None:
        self.base: i64 = base
        self.items: list[Item] = []
        self.rows: list[Row] = []
        self.times: Integers = integers()
        self.takes: list[bool] = []
        self.begun: Integers = integers()
        self.first: i64 = 0

    def add(self, row: Row, time: i64, item: Item, takes: bool) -> i64:
        """One more event: its number."""
        self.items.append(item)
        self.rows.append(row)
        self.times = put_integer(self.times, len(self.times), time)
        self.takes.append(takes)
        return self.base + len(self.items) - 1

    def start(self, number: i64) -> None:
        """The event that comes next begins a run."""
        self.begun = put_integer(self.begun, len(self.begun), number)

    def empty(self) -> Page:
        """A page for what comes when no run is left: the same while it is short."""
        return self if len(self.items) < FEW else Page(self.base + len(self.items))

    def turned(self, first: i64) -> Page:
        """A page without what is before `first`, if that is three quarters of it; else the same. O(1), amortised: what
        is kept is copied, but only after three times as much has come."""
        gone = first - self.base
        if gone < FEW or 4 * gone < 3 * len(self.items):
            return self
        page = Page(first)
        page.items = self.items[gone:]
        page.rows = self.rows[gone:]
        page.times = self.times[gone:]
        page.takes = self.takes[gone:]
        started: i64 = 0
        upto: i64 = len(self.begun)
        while started < upto:  # the first that is not before
            middle = (started + upto) >> 1
            if self.begun[middle] < first:
                started = middle + 1
            else:
                upto = middle
        page.begun = self.begun[started:]
        page.first = self.first + started
        return page

    def path(self, tables: Tables, first: i64, upto: i64) -> tuple[list[int], Slots]:
        """The events that the run of event `first` has before number `upto`, by their indices in the page, and what it
        remembers then."""
        edges = tables.edges[0]
        registers = tables.registers
        at = first - self.base
        slots = registers.begun(registers.fresh(), 0, self.rows[at])
        taken = [int(at)]
        i: i64
        for i in range(at + 1, upto - self.base):
            if self.takes[i] and (edges.take_rest is None or holds(edges.take_rest, self.rows[i], (), slots, 0, 0)):
                slots = registers.taken(slots, 0, self.rows[i])
                taken.append(int(i))
        return taken, slots

    def dump(self, oldest: i64) -> list[Any]:
        """What there is from that number on."""
        at = oldest - self.base
        rows, times = [list(row) for row in self.rows[at:]], [int(time) for time in self.times[at:]]
        return [int(oldest), self.items[at:], rows, times, self.takes[at:]]

    def load(self, data: Any) -> None:
        self.base, items, rows, times, takes = data
        self.items = [tuple_item(item) for item in items]
        self.rows = [tuple(row) for row in rows]
        self.takes = list(takes)
        for at, time in enumerate(times):
            self.times = put_integer(self.times, at, time)


def tuple_item(item: Any) -> Item:
    """An item as it was before it became plain values."""
    return (item[0], tuple(item[1])) if isinstance(item, list) else item


@mypyc_attr(acyclic=True)
class Played(Found):
    """Matches of one event. `upto`: they may have taken what is before that number. `row` is None where the pattern
    ends with its Kleene component, else `row`, `time` and `item` are the last event."""

    __slots__ = ("item", "page", "row", "tables", "time", "upto")

    def __init__(self, tables: Tables, page: Page, upto: i64, row: Row | None, time: i64, item: Item) -> None:
        self.tables = tables
        self.page = page
        self.upto = upto
        self.row = row
        self.time = time
        self.item = item

    def match(self, first: i64) -> Matched:
        """The match that begins with that event. O(log between its first and its last event)."""
        page = self.page
        taken, slots = page.path(self.tables, first, self.upto)
        assigned = [(0, page.items[at], int(page.times[at])) for at in taken]
        if self.row is not None:
            slots = self.tables.registers.begun(slots, 1, self.row)
            assigned.append((1, self.item, int(self.time)))
        return Matched(assigned, assigned[0][2], int(self.time), self.tables.values(slots))


@final
@mypyc_attr(acyclic=True)
class Replayed(Played):
    """By the numbers of their first events."""

    __slots__ = ("firsts",)

    def __init__(
        self, tables: Tables, page: Page, firsts: Integers, upto: i64, row: Row | None, time: i64, item: Item
    ) -> None:
        super().__init__(tables, page, upto, row, time, item)
        self.firsts = firsts

    def amount(self) -> int:
        return len(self.firsts)

    def all(self) -> Iterator[Matched]:
        for first in self.firsts:
            yield self.match(first)


@final
@mypyc_attr(acyclic=True)
class Blocks(Played):
    """By blocks of first events that have consecutive numbers among all that begin runs: in `blocks` the first such
    number of each block and the one behind its last; `number` matches in all."""

    __slots__ = ("blocks", "number")

    def __init__(
        self,
        tables: Tables,
        page: Page,
        blocks: Integers,
        number: i64,
        upto: i64,
        row: Row | None,
        time: i64,
        item: Item,
    ) -> None:
        super().__init__(tables, page, upto, row, time, item)
        self.blocks = blocks
        self.number = number

    def amount(self) -> int:
        return int(self.number)

    def all(self) -> Iterator[Matched]:
        page = self.page
        left = self.number
        for at in range(0, len(self.blocks), 2):
            for number in range(self.blocks[at], self.blocks[at + 1]):
                if left == 0:
                    return
                left -= 1
                yield self.match(page.begun[number - page.first])
