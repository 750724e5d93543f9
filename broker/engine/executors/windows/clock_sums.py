"""Exact sums of attributes for windows of the clock, and how many values they have, as numbers of all partitions.

A partition has running sums, and each of its panes notes what they were before its first event; the sum of a window is
the difference. Floats are added as exact_sums says; an int is added in two parts, so that no sum is beyond 64 bits.

Here: these numbers. Hot. Not here: panes (packed_panes), the same for one partition (measures).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import Batch, Column, FloatColumn, IntegerColumn
from ....events.schema import Row
from ..packed import Floats, Integers, floats, integers, integers_of, roomy, roomy_floats
from .clock_matches import ClockPage
from .exact_sums import between
from .measures import position_of
from .tables import COUNT, EXACT, TOTAL, WindowTables

# The numbers of a sum: of floats the sum as two, the greatest magnitude that it had, and how many values were added; of
# ints both parts; a count. Behind them those of each pane: two of a sum, one of a count.
FLOAT: Final = 4
INT: Final = 2
ONE: Final = 1
PART_BITS: Final = 31
PART: Final = (1 << PART_BITS) - 1
NO_ROWS: Final[list[Row]] = []


def are_sums(tables: WindowTables) -> bool:
    """Whether all that measures say is sums and counts of attributes."""
    return all(
        kind in (EXACT, TOTAL, COUNT) and position_of(plan.value) >= 0
        for kind, plan in zip(tables.kinds, tables.plans)
    )


@final
class ClockSums:
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
        self.float_columns: list[FloatColumn] = []
        self.int_columns: list[IntegerColumn] = []
        self.count_columns: list[Column] = []

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

    def open(self, partition: i64, pane: i64) -> None:
        """Begin a pane."""
        numbers = self.floats
        at = partition * self.float_width
        _: i64
        for _ in range(self.float_count):
            numbers[at + FLOAT + 2 * pane] = numbers[at]
            numbers[at + FLOAT + 2 * pane + 1] = numbers[at + 1]
            at += self.float_step
        ints = self.ints
        at = partition * self.int_width
        for _ in range(self.int_count):
            ints[at + INT + 2 * pane] = ints[at]
            ints[at + INT + 2 * pane + 1] = ints[at + 1]
            at += self.int_step
        counts = self.counts
        at = partition * self.count_width
        for _ in range(self.count_count):
            counts[at + ONE + pane] = counts[at]
            at += self.count_step

    def read(self, batch: Batch) -> None:
        """Add values of this batch from now on, if it has no rows."""
        self.float_columns = []
        self.int_columns = []
        self.count_columns = []
        if batch.made is not None:
            return
        position: i64
        for position in self.exact:
            column = batch.columns[position]
            if isinstance(column, FloatColumn):
                self.float_columns.append(column)
        for position in self.totals:
            column = batch.columns[position]
            if isinstance(column, IntegerColumn):
                self.int_columns.append(column)
        for position in self.counted:
            self.count_columns.append(batch.columns[position])
        if len(self.float_columns) < self.float_count or len(self.int_columns) < self.int_count:
            batch.rows()

    def add(self, partition: i64, rows: list[Row], event: i64) -> None:
        """Add the values of an event: of rows if there are any, else of the columns that are read."""
        given = len(rows) > 0
        numbers = self.floats
        at = partition * self.float_width
        each: i64
        for each in range(self.float_count):
            value = 0.0
            if given:
                found: Any = rows[event][self.exact[each]]
                if found is not None:
                    value = found
            else:
                value = self.float_columns[each].numbers[event]
                if value != value:
                    value = 0.0
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
            at += self.float_step
        if self.int_count > 0:
            self._add_ints(partition, rows, event)
        if self.count_count > 0:
            self._add_counts(partition, rows, event)

    def _add_ints(self, partition: i64, rows: list[Row], event: i64) -> None:
        ints = self.ints
        at = partition * self.int_width
        each: i64
        for each in range(self.int_count):
            whole: i64 = 0
            if len(rows) > 0:
                found: Any = rows[event][self.totals[each]]
                if found is not None:
                    whole = found
            else:
                whole = self.int_columns[each].numbers[event]
            ints[at] += whole >> PART_BITS
            ints[at + 1] += whole & PART
            at += self.int_step

    def _add_counts(self, partition: i64, rows: list[Row], event: i64) -> None:
        counts = self.counts
        at = partition * self.count_width
        each: i64
        for each in range(self.count_count):
            found: Any = None
            if len(rows) > 0:
                found = rows[event][self.counted[each]]
            else:
                found = self.count_columns[each].value(event)
            if found is not None:
                counts[at] += 1
            at += self.count_step

    def add_all(self, partition: i64, batch: Batch, first: i64, end: i64) -> None:
        """Add the values of the events from the index `first` to below `end`. O(events)."""
        at = partition * self.float_width
        each: i64
        for each in range(self.float_count):
            column = batch.columns[self.exact[each]] if len(batch.columns) > 0 else None
            if isinstance(column, FloatColumn):
                self._add_floats(at, column.numbers, NO_ROWS, 0, first, end)
            else:
                self._add_floats(at, floats(), batch.rows(), self.exact[each], first, end)
            at += self.float_step
        if self.int_count == 0 and self.count_count == 0:
            return
        self.read(batch)
        made = batch.made
        rows = NO_ROWS if made is None else made
        event: i64
        for event in range(first, end):
            self._add_ints(partition, rows, event)
            self._add_counts(partition, rows, event)

    def _add_floats(self, at: i64, column: Floats, rows: list[Row], position: i64, first: i64, end: i64) -> None:
        numbers = self.floats
        high, low, greatest, added = numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]
        typed = len(rows) == 0
        event: i64
        for event in range(first, end):
            value = 0.0
            if typed:
                value = column[event]
                if value != value:
                    continue
            else:
                found: Any = rows[event][position]
                if found is None:
                    continue
                value = found
            total = high + value
            part = total - high
            rest = ((high - (total - part)) + (value - part)) + low
            high = total + rest
            low = rest - (high - total)
            magnitude = high if high >= 0.0 else -high
            if magnitude > greatest:
                greatest = magnitude
            added += 1.0
        numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3] = high, low, greatest, added

    def settle(self, partition: i64, pane: i64, page: ClockPage) -> None:
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
