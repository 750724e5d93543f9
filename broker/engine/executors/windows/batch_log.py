"""One log for the events of all partitions of a machine, which refers to the batches that they came in.

A batch enters it at once, whatever events it has; an event costs one number, the place of the one before it in its
partition. So a partition that has few events costs no list of its own, which a garbage collector would look at again
and again. Hot. Not here: the log of a partition that has one for itself (pane_columns).
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....events.batch import Batch, batch_of_rows
from ....events.schema import Row
from ...matches.sources import Item, tuple_item
from ..event_ids import NO_IDS, EventIds
from ..packed import Integers, integers, roomy
from .pane_columns import PaneColumns
from .window_page import SharedColumns

NOTHING: Final = -1  # before the first event of a chain
ROOMY: Final = 2  # so many events of columns that go on for each of a window, until they are shortened
LOOSE_MAX: Final = 1_024  # events that come one by one, until others have lists of their own


@final
@mypyc_attr(acyclic=True)
class BatchLog(SharedColumns):
    """Events, by their places: those from `base` to below `count`.

    Stretches of them lie in batches: from the place in `begins` on, the events are those of a batch from the index in
    `firsts` on, with their `ids`; up to where the next stretch begins. Events that come one by one have `items`
    instead. `links`: by place less `base` the place of the one before in the same partition, or NOTHING; unless it is
    `linked`, all are of one partition. `rowed`: rows are kept. It only grows; to forget something is to have another
    log, so that matches which are not read yet may refer to it.
    """

    def __init__(self, base: i64, linked: bool, rowed: bool) -> None:
        self.base = base
        self.count = base
        self.linked = linked
        self.rowed = rowed
        self.links: Integers = integers()
        self.begins: list[int] = []
        self.firsts: list[int] = []
        self.batches: list[Batch | None] = []
        self.ids: list[EventIds] = []
        self.items: list[list[Item]] = []  # by stretch, of those that came one by one
        self.loose = False  # the last stretch has lists of its own, which may grow
        self.read: dict[int, PaneColumns] = {}  # columns that go on, by the places of their newest events

    def extend(self, batch: Batch, ids: EventIds, first: i64, upto: i64) -> i64:
        """Add the events from the index `first` to below `upto`, which have no links yet; returns the place of the
        first one. O(1) amortised."""
        place = self.count
        self._begin(int(place), int(first), batch if self.rowed else None, ids, False)
        self._grow(upto - first)
        return place

    def add(self, row: Row, item: Item) -> i64:
        """Add an event, which has no link yet; returns its place. O(1) amortised."""
        place = self.count
        if not self.loose or place - self.begins[-1] >= LOOSE_MAX:
            self._begin(int(place), 0, batch_of_rows([]) if self.rowed else None, NO_IDS, True)
        self.items[-1].append(item)
        batch = self.batches[-1]
        if batch is not None:
            batch.rows().append(row)
        self._grow(1)
        return place

    def _begin(self, place: int, first: int, batch: Batch | None, ids: EventIds, loose: bool) -> None:
        self.begins.append(place)
        self.firsts.append(first)
        self.batches.append(batch)
        self.ids.append(ids)
        self.items.append([])
        self.loose = loose

    def _grow(self, events: i64) -> None:
        self.count += events
        if self.linked and len(self.links) < self.count - self.base:
            self.links = roomy(self.links, self.count - self.base)

    def cut(self, count: i64) -> None:
        """Forget the events from a place on, which are in the last stretch of a batch."""
        self.count = count

    def restore(self, saved: Any) -> i64:
        """Add saved items and rows of a partition that has no events here; returns the place of the newest one, NOTHING
        if there is none. O(events)."""
        items, rows = saved
        newest: i64 = NOTHING
        for at in range(len(items)):
            place = self.add(tuple(rows[at]) if rows else (), tuple_item(items[at]))
            if self.linked:
                self.links[place - self.base] = newest
            newest = place
        return newest

    def behind(self, first: i64) -> BatchLog:
        """A log without the events before a place. O(events left)."""
        log = BatchLog(first, self.linked, self.rowed)
        log.count = self.count
        if first < self.count:
            kept = max(bisect_right(self.begins, int(first)) - 1, 0)
            log.begins, log.firsts = self.begins[kept:], self.firsts[kept:]
            log.batches, log.ids, log.items = self.batches[kept:], self.ids[kept:], self.items[kept:]
            if self.linked:
                log.links = self.links[first - self.base : self.count - self.base]
        return log

    def sifted(self, chains: list[int]) -> tuple[BatchLog, Integers]:
        """A log of the last events of some partitions only, in the same order: each has two numbers, the place of its
        newest one and how many there are. Beside it, by place less `base`, where an event is now, or NOTHING.
        O(events of this log)."""
        log = BatchLog(0, True, self.rowed)
        links, base = self.links, self.base
        where = roomy(integers(), self.count - base)
        at: i64
        for number in range(0, len(chains), 2):
            place: i64 = chains[number]
            for at in range(chains[number + 1]):  # noqa: B007  compiled, a number
                where[place - base] = 1
                place = links[place - base]
        stretch = 0
        for at in range(self.count - base):
            if where[at] == 0:
                where[at] = NOTHING
                continue
            while stretch + 1 < len(self.begins) and self.begins[stretch + 1] <= base + at:
                stretch += 1
            index = base + at - self.begins[stretch] + self.firsts[stretch]
            batch = self.batches[stretch]
            place = log.add(() if batch is None else batch.row(int(index)), self._item(stretch, index))
            log.links[place] = where[links[at] - base] if links[at] >= base else NOTHING
            where[at] = place
        return log, where

    def _item(self, stretch: int, index: i64) -> Item:
        """What an event is known by."""
        items = self.items[stretch]
        return items[index] if len(items) > 0 else self.ids[stretch].item(index)

    def places(self, newest: i64, events: i64) -> list[int]:
        """The places of so many events of a partition, the oldest first, up to the newest one. O(events)."""
        if not self.linked:
            return list(range(int(newest - events + 1), int(newest + 1)))
        found: list[int] = []
        at = newest
        while at != NOTHING and len(found) < events:
            found.append(int(at))
            at = self.links[at - self.base]
        found.reverse()
        return found

    def columns(self, newest: i64, events: i64, rows: bool) -> PaneColumns:
        """So many events of a partition, up to the newest one, as the log of a partition whose first event is the
        number 0; with `rows`, if they are kept. O(events)."""
        return self._add_places(
            PaneColumns(0, integers(), 0, rows and self.rowed), self.places(newest, events)
        )

    def going_on(self, newest: i64, events: i64, rows: bool) -> PaneColumns:
        """As `columns`, for windows that have most events of the one before: the last events of these columns, which go
        on with the next window of the partition. O(events since the window before that was read) amortised."""
        read = self.read
        place = newest
        count: i64 = 0
        while count < events and place not in read:
            count += 1
            place = self.links[place - self.base] if self.linked else place - 1
        known = read.pop(int(place), None) if count < events else None
        if known is None or len(known.items) + count < events:
            known = self.columns(newest, events, rows)
        else:
            known = self._add_places(known, self.places(newest, count))
        size: i64 = len(known.items)
        if size > ROOMY * events:
            known = known.behind(0, size - events, integers())
        read[int(newest)] = known
        return known

    def _add_places(self, columns: PaneColumns, places: list[int]) -> PaneColumns:
        """Add the events at these places, which ascend, to columns."""
        items: list[Item] = []
        made: list[Row] = []
        rows = columns.rowed
        number = bisect_right(self.begins, places[0]) - 1 if places else 0
        stretches = len(self.begins)
        for place in places:
            while number + 1 < stretches and self.begins[number + 1] <= place:
                number += 1
            at = place - self.begins[number] + self.firsts[number]
            items.append(self._item(number, at))
            batch = self.batches[number]
            if rows and batch is not None:
                made.append(batch.row(at))
        return columns.add_all(items, made)
