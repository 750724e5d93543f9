"""Exact sums of attributes for packed partitions, and how many values they have, as numbers of all partitions.

A partition has running sums, and each of its panes notes what they were before its first event; the sum of a window is
the difference. Floats are added as exact_sums says; an int is added in two parts, so that no sum is beyond 64 bits.

Here: these numbers. Hot. Not here: panes (packed_panes), the same for one partition (measures).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import Batch, FloatColumn, IntegerColumn
from ....events.schema import Row
from ..packed import Floats, Integers, floats, integers, integers_of, roomy, roomy_floats
from .exact_sums import between
from .measures import position_of
from .packed_matches import PackedPage
from .tables import COUNT, EXACT, TOTAL, WindowTables

# The numbers of a sum: of floats the sum as two, the greatest magnitude that it had, and how many values were added; of
# ints both parts; a count. Behind them those of each pane: two of a sum, one of a count.
FLOAT: Final = 4
INT: Final = 2
ONE: Final = 1
PART_BITS: Final = 31
PART: Final = (1 << PART_BITS) - 1
NO_ROWS: Final[list[Row]] = []
NO_PARTITION: Final = -(1 << 60)  # an event without one
OPENED: Final = -1  # less this, an entry below 0 is the number of a pane among those of all partitions


def are_sums(tables: WindowTables) -> bool:
    """Whether all that measures say is sums and counts of attributes."""
    return all(
        kind in (EXACT, TOTAL, COUNT) and position_of(plan.value) >= 0
        for kind, plan in zip(tables.kinds, tables.plans)
    )


def opened(partition: i64, pane: i64, room: i64) -> i64:
    """The entry of an event of a partition, before which this pane begins there."""
    return OPENED - (partition * room + pane)


@final
class PackedSums:
    """The sums of all partitions, which are numbered, with `room` panes each.

    `exact`, `totals`, `counted`: the positions of the attributes with floats and with ints that are added up, and of
    those of which the values are counted that are not null.
    """

    def __init__(self, tables: WindowTables, room: int) -> None:
        positions = [(kind, position_of(plan.value)) for kind, plan in zip(tables.kinds, tables.plans)]
        self.kinds = tables.kinds
        self.counts_of = tables.counted
        self.exact: Integers = integers_of([position for kind, position in positions if kind == EXACT])
        self.totals: Integers = integers_of([position for kind, position in positions if kind == TOTAL])
        self.counted: Integers = integers_of(
            [position for counts, (_, position) in zip(tables.counted, positions) if counts]
        )
        self.room: i64 = room
        self.float_step: i64 = FLOAT + 2 * room  # numbers of one sum
        self.int_step: i64 = INT + 2 * room
        self.count_step: i64 = ONE + room
        self.float_count: i64 = len(self.exact)
        self.int_count: i64 = len(self.totals)
        self.count_count: i64 = len(self.counted)
        self.float_width: i64 = self.float_count * self.float_step  # of all sums of a partition
        self.int_width: i64 = self.int_count * self.int_step
        self.count_width: i64 = self.count_count * self.count_step
        self.floats: Floats = floats()
        self.ints: Integers = integers()
        self.counts: Integers = integers()

    def begin(self, partition: i64) -> None:
        """Have sums of a new partition, which are 0."""
        end = (partition + 1) * self.float_width
        if len(self.floats) < end:
            self.floats = roomy_floats(self.floats, end)
        at: i64
        for at in range(end - self.float_width, end):
            self.floats[at] = 0.0
        end = (partition + 1) * self.int_width
        if len(self.ints) < end:
            self.ints = roomy(self.ints, end)
        for at in range(end - self.int_width, end):
            self.ints[at] = 0
        end = (partition + 1) * self.count_width
        if len(self.counts) < end:
            self.counts = roomy(self.counts, end)
        for at in range(end - self.count_width, end):
            self.counts[at] = 0

    def add_each(self, entries: Integers, batch: Batch, first: i64, end: i64) -> None:
        """Add the values of the events from the index `first` to below `end`, each to the partition in `entries`, where
        the first one is entry 0. An entry may be NO_PARTITION, or what `opened` says. O(values)."""
        each: i64
        for each in range(self.float_count):
            self._add_floats(each, entries, batch, first, end)
        for each in range(self.int_count):
            self._add_ints(each, entries, batch, first, end)
        for each in range(self.count_count):
            self._add_counts(each, entries, batch, first, end)

    def _add_floats(self, each: i64, entries: Integers, batch: Batch, first: i64, end: i64) -> None:
        position = self.exact[each]
        column = batch.columns[position] if len(batch.columns) > 0 else None
        typed = isinstance(column, FloatColumn)
        values = column.numbers if isinstance(column, FloatColumn) else floats()
        rows = NO_ROWS if typed else batch.rows()
        numbers = self.floats
        room = self.room
        width = self.float_width
        own = each * self.float_step
        event: i64
        for event in range(first, end):
            partition = entries[event - first]
            if partition < 0:
                if partition == NO_PARTITION:
                    continue
                pane = (OPENED - partition) % room
                partition = (OPENED - partition) // room
                at = partition * width + own
                numbers[at + FLOAT + 2 * pane] = numbers[at]
                numbers[at + FLOAT + 2 * pane + 1] = numbers[at + 1]
            value = 0.0
            if typed:
                value = values[event]
                if value != value:
                    continue
            else:
                found: Any = rows[event][position]
                if found is None:
                    continue
                value = found
            at = partition * width + own
            high = numbers[at]
            total = high + value
            part = total - high
            rest = ((high - (total - part)) + (value - part)) + numbers[at + 1]
            high = total + rest
            numbers[at] = high
            numbers[at + 1] = rest - (high - total)
            magnitude = high if high >= 0.0 else -high
            if magnitude > numbers[at + 2]:
                numbers[at + 2] = magnitude
            numbers[at + 3] += 1.0

    def _add_ints(self, each: i64, entries: Integers, batch: Batch, first: i64, end: i64) -> None:
        position = self.totals[each]
        column = batch.columns[position] if len(batch.columns) > 0 else None
        typed = isinstance(column, IntegerColumn)
        values = column.numbers if isinstance(column, IntegerColumn) else integers()
        rows = NO_ROWS if typed else batch.rows()
        ints = self.ints
        room = self.room
        width = self.int_width
        own = each * self.int_step
        event: i64
        for event in range(first, end):
            partition = entries[event - first]
            if partition < 0:
                if partition == NO_PARTITION:
                    continue
                pane = (OPENED - partition) % room
                partition = (OPENED - partition) // room
                at = partition * width + own
                ints[at + INT + 2 * pane] = ints[at]
                ints[at + INT + 2 * pane + 1] = ints[at + 1]
            whole: i64 = 0
            if typed:
                whole = values[event]
            else:
                found: Any = rows[event][position]
                if found is not None:
                    whole = found
            at = partition * width + own
            ints[at] += whole >> PART_BITS
            ints[at + 1] += whole & PART

    def _add_counts(self, each: i64, entries: Integers, batch: Batch, first: i64, end: i64) -> None:
        position = self.counted[each]
        column = batch.columns[position] if len(batch.columns) > 0 else None
        rows = NO_ROWS if column is not None else batch.rows()
        counts = self.counts
        room = self.room
        width = self.count_width
        own = each * self.count_step
        event: i64
        for event in range(first, end):
            partition = entries[event - first]
            if partition < 0:
                if partition == NO_PARTITION:
                    continue
                pane = (OPENED - partition) % room
                partition = (OPENED - partition) // room
                counts[partition * width + own + ONE + pane] = counts[partition * width + own]
            found: Any = rows[event][position] if column is None else column.value(event)
            if found is not None:
                counts[partition * width + own] += 1

    def settle(self, partition: i64, pane: i64, page: PackedPage) -> None:
        """Write the sums since a pane began to a page."""
        numbers = self.floats
        at = partition * self.float_width
        into = page.reserve(self.float_count)
        to = page.float_count
        each: i64
        for each in range(self.float_count):
            place = at + FLOAT + 2 * pane
            into[to + each] = between(
                numbers[at], numbers[at + 1], numbers[place], numbers[place + 1], numbers[at + 3], numbers[at + 2]
            )
            at += self.float_step
        page.float_count = to + self.float_count
        for each in range(self.int_count):
            page.totals.append(self._total(partition, each) - self._total(partition, each, pane))
        counts = self.counts
        at = partition * self.count_width
        for _ in range(self.count_count):
            page.add_count(counts[at] - counts[at + ONE + pane])
            at += self.count_step

    def _total(self, partition: i64, each: i64, pane: i64 = -1) -> int:
        """A sum of ints: the running one, or what it was before a pane."""
        at = partition * self.int_width + each * self.int_step
        if pane >= 0:
            at += INT + 2 * pane
        return (int(self.ints[at]) << PART_BITS) + int(self.ints[at + 1])

    # --- state: as measures of one partition are saved (measures) ----------------------------------------------------

    def clear(self) -> None:
        self.floats = floats()
        self.ints = integers()
        self.counts = integers()

    def dump(self, partition: i64, events: i64, panes: list[int]) -> list[Any]:
        """The sums of a partition with these panes, the oldest first."""
        found: list[Any] = []
        number: i64 = 0
        whole: i64 = 0
        counted: i64 = 0
        for kind, counts in zip(self.kinds, self.counts_of):
            count, before = int(events), []
            if counts:
                at = partition * self.count_width + counted * self.count_step
                count, before = int(self.counts[at]), [int(self.counts[at + ONE + pane]) for pane in panes]
                counted += 1
            if kind == EXACT:
                at = partition * self.float_width + number * self.float_step
                own = [self.floats[at + each] for each in range(FLOAT - 1)]
                sums = [self.floats[at + FLOAT + 2 * pane + each] for pane in panes for each in range(2)]
                found.append([count, *own, before, sums])
                number += 1
            elif kind == TOTAL:
                totals = [self._total(partition, whole, pane) for pane in panes]
                now = self._total(partition, whole)
                first = totals[0] if totals else now
                found.append([count, now - first, before, [total - first for total in totals]])
                whole += 1
            else:
                found.append([count, before])
        return found

    def load(self, partition: i64, saved: Any, head: int) -> None:
        """The inverse, for a new partition without the first panes; the others are numbered from 0."""
        number: i64 = 0
        whole: i64 = 0
        counted: i64 = 0
        for kind, counts, data in zip(self.kinds, self.counts_of, saved):
            before: Any = data[1]
            if kind == EXACT:
                before = data[4]
                at = partition * self.float_width + number * self.float_step
                own: list[float] = [*data[1:4], float(data[0]), *data[5][2 * head :]]
                for each, value in enumerate(own):
                    self.floats[at + each] = value
                number += 1
            elif kind == TOTAL:
                before = data[2]
                at = partition * self.int_width + whole * self.int_step
                for each, total in enumerate([data[1], *data[3][head:]]):
                    self.ints[at + 2 * each] = total >> PART_BITS
                    self.ints[at + 2 * each + 1] = total & PART
                whole += 1
            if counts:
                at = partition * self.count_width + counted * self.count_step
                for each, count in enumerate([data[0], *before[head:]]):
                    self.counts[at + each] = count
                counted += 1
