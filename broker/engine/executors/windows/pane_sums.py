"""Exact sums of attributes for the pane table, and how many values they have, as numbers of all partitions together.

A partition has running sums, and each of its panes notes what they were before its first event; the sum of a window is
the difference. Floats are added as exact_sums says; an int is added in two parts, so that no sum is beyond 64 bits.
Where a measure is no sum of an attribute, nothing is kept of it: it is read from the rows of the window.

Here: these numbers. Hot. Not here: panes (pane_table), the same for one partition (measures).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import Batch, FloatColumn, IntegerColumn
from ....events.schema import Row
from ..packed import Floats, Integers, floats, integers, integers_of, put_integer, roomy, roomy_floats
from .exact_sums import between
from .measures import position_of
from .tables import COUNT, EXACT, TOTAL, WindowTables
from .window_page import WindowPage

# The numbers of a sum of floats: it, as two, the greatest magnitude that it had, and how many values were added. Of a
# sum of ints, or a count: both parts. Of a pane: what the sum was, as two numbers.
FLOAT: Final = 4
INT: Final = 2
BEFORE: Final = 2
PART_BITS: Final = 31
PART: Final = (1 << PART_BITS) - 1
NO_ROWS: Final[list[Row]] = []
NO_PARTITION: Final = -(1 << 60)  # the entry of an event that is in no pane
OPENED: Final = -1  # less this, an entry below 0 is the number of a pane that begins with the event


def summed(tables: WindowTables) -> list[int]:
    """The measures that are sums or counts of attributes, in the order of their values in pages: sums of floats, those
    of ints, counts."""
    found = [at for at, plan in enumerate(tables.plans) if position_of(plan.value) >= 0]
    return [at for kind in (EXACT, TOTAL, COUNT) for at in found if tables.kinds[at] == kind]


@final
class PaneSums:
    """The sums of all partitions, by their numbers, and of all panes. `kept`: there are some; `whole`: they are
    all that measures say.

    `exact`, `whole_numbers`: the positions of the attributes with floats and with ints that are added up; behind the
    first `total_count` of the latter, those of which the values are counted that are not null. `owners`: the partition
    of each pane.
    """

    def __init__(self, tables: WindowTables) -> None:
        own = summed(tables)
        self.whole = len(own) == len(tables.kinds)
        self.kept = len(own) > 0
        by_kind: dict[str, list[int]] = {EXACT: [], TOTAL: [], COUNT: []}
        for at in own:
            by_kind[tables.kinds[at]].append(position_of(tables.plans[at].value))
        self.exact: Integers = integers_of(by_kind[EXACT])
        self.whole_numbers: Integers = integers_of([*by_kind[TOTAL], *by_kind[COUNT]])
        self.float_count: i64 = len(self.exact)
        self.total_count: i64 = len(by_kind[TOTAL])
        self.int_count: i64 = len(self.whole_numbers)
        self.floats: Floats = floats()
        self.ints: Integers = integers()
        self.owners: Integers = integers()
        self.floats_before: Floats = floats()
        self.ints_before: Integers = integers()

    def begin(self, slot: i64) -> None:
        """Have sums of a new partition, which are 0."""
        if not self.kept:
            return
        width = FLOAT * self.float_count
        at: i64
        if len(self.floats) < (slot + 1) * width:
            self.floats = roomy_floats(self.floats, (slot + 1) * width)
        for at in range(slot * width, (slot + 1) * width):
            self.floats[at] = 0.0
        width = INT * self.int_count
        if len(self.ints) < (slot + 1) * width:
            self.ints = roomy(self.ints, (slot + 1) * width)
        for at in range(slot * width, (slot + 1) * width):
            self.ints[at] = 0

    def open(self, slot: i64, pane: i64) -> i64:
        """Have a pane of a partition; returns the entry of the event that it begins with. O(1) amortised."""
        if not self.kept:
            return OPENED - pane
        self.owners = put_integer(self.owners, pane, slot)
        if len(self.floats_before) < (pane + 1) * BEFORE * self.float_count:
            self.floats_before = roomy_floats(self.floats_before, (pane + 1) * BEFORE * self.float_count)
        if len(self.ints_before) < (pane + 1) * BEFORE * self.int_count:
            self.ints_before = roomy(self.ints_before, (pane + 1) * BEFORE * self.int_count)
        return OPENED - pane

    def add_each(self, entries: Integers, batch: Batch, first: i64, end: i64) -> None:
        """Add the values of the events from the index `first` to below `end`, each to the partition in `entries`, where
        the first one is entry 0. An entry may be NO_PARTITION, or what `open` says. O(values)."""
        each: i64
        for each in range(self.float_count):
            self._add_floats(each, entries, batch, first, end)
        for each in range(self.int_count):
            self._add_ints(each, entries, batch, first, end)

    def _add_floats(self, each: i64, entries: Integers, batch: Batch, first: i64, end: i64) -> None:
        position = self.exact[each]
        column = batch.columns[position] if len(batch.columns) > 0 else None
        typed = isinstance(column, FloatColumn)
        values = column.numbers if isinstance(column, FloatColumn) else floats()
        rows = NO_ROWS if typed else batch.rows()
        numbers = self.floats
        earlier = self.floats_before
        owners = self.owners
        several = self.float_count
        event: i64
        for event in range(first, end):
            partition = entries[event - first]
            if partition < 0:
                if partition == NO_PARTITION:
                    continue
                pane = OPENED - partition
                partition = owners[pane]
                at = FLOAT * (partition * several + each)
                earlier[BEFORE * (pane * several + each)] = numbers[at]
                earlier[BEFORE * (pane * several + each) + 1] = numbers[at + 1]
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
            at = FLOAT * (partition * several + each)
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
        position = self.whole_numbers[each]
        counts = each >= self.total_count
        column = batch.columns[position] if len(batch.columns) > 0 else None
        typed = not counts and isinstance(column, IntegerColumn)
        values = column.numbers if isinstance(column, IntegerColumn) else integers()
        rows = NO_ROWS if column is not None and (typed or counts) else batch.rows()
        ints = self.ints
        earlier = self.ints_before
        owners = self.owners
        several = self.int_count
        event: i64
        for event in range(first, end):
            partition = entries[event - first]
            if partition < 0:
                if partition == NO_PARTITION:
                    continue
                pane = OPENED - partition
                partition = owners[pane]
                at = INT * (partition * several + each)
                earlier[BEFORE * (pane * several + each)] = ints[at]
                earlier[BEFORE * (pane * several + each) + 1] = ints[at + 1]
            whole: i64 = 0
            if typed:
                whole = values[event]
            else:
                found: Any = column.value(event) if counts and column is not None else rows[event][position]
                if found is not None:
                    whole = 1 if counts else found
            at = INT * (partition * several + each)
            ints[at] += whole >> PART_BITS
            ints[at + 1] += whole & PART

    def settle(self, slot: i64, pane: i64, page: WindowPage) -> None:
        """Write the sums of a partition since a pane of it began to a page."""
        numbers, earlier, values = self.floats, self.floats_before, page.values
        each: i64
        for each in range(self.float_count):
            at = FLOAT * (slot * self.float_count + each)
            place = BEFORE * (pane * self.float_count + each)
            values.append(
                between(
                    numbers[at], numbers[at + 1], earlier[place], earlier[place + 1], numbers[at + 3], numbers[at + 2]
                )
            )
        for each in range(self.int_count):
            at = INT * (slot * self.int_count + each)
            place = BEFORE * (pane * self.int_count + each)
            total = (int(self.ints[at]) << PART_BITS) + int(self.ints[at + 1])
            before = (int(self.ints_before[place]) << PART_BITS) + int(self.ints_before[place + 1])
            values.append(total - before)

    # --- state -------------------------------------------------------------------------------------------------------

    def dump(self, slot: int, panes: list[int]) -> list[Any]:
        """The sums of a partition, and of its panes."""
        exact, whole = self.float_count, self.int_count
        return [
            _floats_of(self.floats, slot, FLOAT * exact),
            _numbers_of(self.ints, slot, INT * whole),
            [_floats_of(self.floats_before, pane, BEFORE * exact) for pane in panes],
            [_numbers_of(self.ints_before, pane, BEFORE * whole) for pane in panes],
        ]

    def load(self, slot: int, panes: list[int], saved: Any) -> None:
        """The inverse."""
        own_floats, own_ints, pane_floats, pane_ints = saved
        exact, whole = int(self.float_count), int(self.int_count)
        for at, number in enumerate(own_floats, slot * FLOAT * exact):
            self.floats[at] = number
        for at, number in enumerate(own_ints, slot * INT * whole):
            self.ints[at] = number
        for pane, floats_of, ints_of in zip(panes, pane_floats, pane_ints):
            for at, number in enumerate(floats_of, pane * BEFORE * exact):
                self.floats_before[at] = number
            for at, number in enumerate(ints_of, pane * BEFORE * whole):
                self.ints_before[at] = number


def _floats_of(column: Floats, at: i64, width: i64) -> list[float]:
    """The floats of a row."""
    return [float(one) for one in column[at * width : (at + 1) * width]]


def _numbers_of(column: Integers, at: i64, width: i64) -> list[int]:
    """The numbers of a row."""
    return [int(one) for one in column[at * width : (at + 1) * width]]
