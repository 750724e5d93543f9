"""The windows of one partition: open starts as panes, and groups of starts that have the same future.

A pane is a start of windows that may still end; panes have ascending numbers. A group is a state of the body automaton
with the panes whose windows are in it. All events since the oldest open start are in a log.

Here: a partition, and what it remembers. Hot. Not here: the columns of panes and the log (pane_columns), groups
(pane_groups), the effect of an event (stepping), aggregates (measures).

A garbage collector looks at each list and object of each partition, and partitions are many: so there are few of them,
and numbers are packed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Slots
from ....algebra.predicate import holds
from ....events.schema import Row
from ...matches.sources import Item, tuple_item
from ..packed import Integers, integers, integers_of, put_integer
from .measures import WindowMeasure
from .pane_columns import NO_ITEMS, NO_ROWS, PaneColumns
from .pane_groups import NONE_YET, Group, oldest
from .tables import WindowTables
from .window_page import NO_CLOSINGS, MeasureClosing

TRIMMED_MIN: Final = 64  # events that must be useless before columns are moved
GIVEN_NONE: Final = -(1 << 62)

# What a query does not need are these, which stay empty.
NO_TIMES: Final[list[int | None]] = []
NO_GROUPS: Final[list[Group]] = []


@final
@mypyc_attr(acyclic=True)
class WindowCell:
    """A partition.

    `count`: how many events it has had since it has been followed; `last`: the time of the newest one. `marks`: by part
    the state of the prefix automaton; then by part, if windows are bounded, the first pane whose windows are not too
    long, and the first whose windows are too short. `before`: the rows of its newest events, the newest first, and
    `times` of them. `ends`, for windows that wait, by pane: the last event at which there was a window, or NONE_YET,
    and its time; groups know better. `given`: the event at which the newest
    start began that a limit has given up, where its windows would have been told instead of others, or GIVEN_NONE, and
    its time in `given_time`.
    `measure`: the first of its measures, which are a chain.
    """

    def __init__(self, key: Any, tables: WindowTables) -> None:
        self.key = key
        self.count: i64 = 0
        self.last: i64 = 0
        self.given: i64 = GIVEN_NONE
        self.given_time: i64 = 0
        self.columns = PaneColumns(0, integers(), 0, tables.rows)
        self.measure = tables.measures()
        self.parts: i64 = tables.parts
        self.marks: Integers = tables.marks[:]
        self.before: list[Row] = NO_ROWS
        self.times: list[int | None] = NO_TIMES
        if tables.back > 0:
            self.before = [tables.blank] * tables.back
            self.times = [None] * tables.back
        self.groups: list[Group] = [] if tables.parts > 0 else NO_GROUPS
        self.ends: Integers = integers()

    def open(self, time: i64) -> i64:
        """Begin a pane at the current event; returns its number."""
        columns = self.columns
        count = columns.count
        if count == 0:
            columns.logged = self.count
        panes = put_integer(columns.panes, 2 * count, self.count)
        columns.panes = put_integer(panes, 2 * count + 1, time)
        columns.count = count + 1
        measure = self.measure
        while measure is not None:
            measure.open(count)
            measure = measure.rest
        return columns.base + count

    def note(self, row: Row, times: Slots, item: Item) -> None:
        """Add the current event to the log, as that says, and to all measures."""
        self.columns.note(row, item)
        measure = self.measure
        while measure is not None:
            measure.push(row, times, self.count)
            measure = measure.rest

    def measures(self) -> list[WindowMeasure]:
        """All measures."""
        found: list[WindowMeasure] = []
        measure = self.measure
        while measure is not None:
            found.append(measure)
            measure = measure.rest
        return found

    def closings(self, low: i64, high: i64) -> list[MeasureClosing]:
        """What windows need of each measure that end now and begin with one of these panes."""
        measure = self.measure
        if measure is None:
            return NO_CLOSINGS
        panes, base = self.columns.panes, self.columns.base
        first, last = panes[2 * (low - base)], panes[2 * (high - base)]
        found: list[MeasureClosing] = []
        while measure is not None:
            found.append(measure.closing(first, last))
            measure = measure.rest
        return found

    def remember(self, row: Row, time: i64) -> None:
        """Keep the current event to be looked back at."""
        before, times = self.before, self.times
        at: i64 = len(before) - 1
        while at > 0:
            before[at] = before[at - 1]
            times[at] = times[at - 1]
            at -= 1
        before[0] = row
        times[0] = int(time)

    def note_ends(self, intervals: list[int], last: i64, moment: i64) -> None:
        """Note for panes that they had a window at an event. O(panes)."""
        ends = self.ends
        columns = self.columns
        count: i64 = len(ends)
        while count < 2 * columns.count:
            ends = put_integer(ends, count, NONE_YET)
            count += 1
        at: i64
        pane: i64
        for at in range(0, len(intervals), 2):
            low: i64 = intervals[at] - columns.base
            high: i64 = intervals[at + 1] - columns.base
            for pane in range(max(low, 0), high + 1):
                ends[2 * pane] = last
                ends[2 * pane + 1] = moment
        self.ends = ends

    def forget(self) -> None:
        """Drop all panes and the log: no window is open."""
        self.columns = PaneColumns(self.columns.end(), integers(), 0, self.columns.rowed)
        if len(self.ends) > 0:
            self.ends = integers()
        measure = self.measure
        while measure is not None:
            measure.reset()
            measure = measure.rest

    def trim(self, first: i64, at_once: bool = False) -> None:
        """Drop the panes below the number `first` and the events before them, if that is worth while.

        O(1) amortised.
        """
        old = self.columns
        dead = first - old.base
        if dead <= 0:
            return
        start: i64 = old.panes[2 * dead]
        events = start - old.logged  # at least as many as panes
        if not at_once and (events < TRIMMED_MIN or 2 * events < len(old.items)):
            return
        self.columns = old.behind(first, events, old.panes[2 * dead : 2 * old.count])
        if len(self.ends) > 0:
            self.ends = self.ends[2 * dead :]
        measure = self.measure
        while measure is not None:
            measure.trim(dead, start)
            measure = measure.rest

    def over(self, tables: WindowTables, time: i64) -> bool:
        """Whether no open window can end at this time or later, since all have become too long. Those that wait for
        their end are never over: they must still be told."""
        count = self.columns.count
        if count == 0:
            return True
        if tables.waits:
            return False
        newest = self.columns.panes[2 * count - 1]
        part: i64
        for part in range(tables.parts):  # noqa: SIM110  compiled code has no generators here
            if newest >= time - tables.within[part]:
                return False
        return True

    def idle(self, tables: WindowTables, time: i64) -> bool:
        """Whether it is, from this time on, as a partition that has had no event."""
        if not self.over(tables, time) or (len(self.before) > 0 and self.count > 0):
            return False
        if self.given != GIVEN_NONE and tables.reaches(self.given, self.given_time, self.count, time):
            return False
        part: i64
        for part in range(self.parts):
            if self.marks[part] != tables.initial[part]:
                return False
        gap: i64
        for gap in tables.gaps:  # noqa: SIM110  compiled code has no generators here
            if time - self.last <= gap:
                return False
        return True

    def copied(self, tables: WindowTables) -> WindowCell:
        """The same partition, which goes on by itself. O(its events and panes)."""
        copy = WindowCell(self.key, tables)
        copy.count, copy.last = self.count, self.last
        copy.given, copy.given_time = self.given, self.given_time
        copy.marks, copy.ends = self.marks[:], self.ends[:]
        if len(self.before) > 0:
            copy.before, copy.times = self.before[:], self.times[:]
        if len(self.groups) > 0:
            copy.groups = [group.copied() for group in self.groups]
        old = self.columns
        copy.columns = PaneColumns(old.base, old.begun(), old.logged, old.rowed)
        copy.columns.add_all(old.items, old.rows)
        for measure, other in zip(copy.measures(), self.measures(), strict=True):
            measure.load(other.dump())
        return copy

    # --- snapshots ---------------------------------------------------------------------------------------------------

    def dump(self) -> list[Any]:
        columns = self.columns
        numbers = [self.count, columns.base, columns.logged, self.last]
        if self.given != GIVEN_NONE:
            numbers += [self.given, self.given_time]
        return [
            list(self.key) if isinstance(self.key, tuple) else [self.key],
            [int(number) for number in numbers],
            [int(number) for number in self.marks],
            [list(row) for row in self.before],
            list(self.times),
            [[int(one.state), list(one.intervals), int(one.last), int(one.moment)] for one in self.groups],
            [[int(number) for number in column] for column in (columns.begun(), self.ends)],
            [list(columns.items), [list(row) for row in columns.rows]],
            [measure.dump() for measure in self.measures()],
        ]

    def load(self, data: Any) -> None:
        _, numbers, marks, before, times, groups, panes, log, measures = data
        self.count, base, logged, self.last = numbers[:4]
        if len(numbers) > 4:
            self.given, self.given_time = numbers[4:]
        self.marks = integers_of(marks)
        if before:
            self.before, self.times = [tuple(row) for row in before], list(times)
        if groups:
            self.groups = []
        for state, intervals, last, moment in groups:
            group = Group(state, list(intervals))
            group.last, group.moment = last, moment
            self.groups.append(group)
        self.columns = PaneColumns(base, integers_of(panes[0]), logged, self.columns.rowed)
        self.columns.add_all([tuple_item(item) for item in log[0]], [tuple(row) for row in log[1]])
        self.ends = integers_of(panes[1])
        for measure, saved in zip(self.measures(), measures, strict=True):
            measure.load(saved)

    def check_invariants(self, tables: WindowTables) -> None:
        """Raise AssertionError if its parts contradict each other."""
        assert all(len(column) == 0 for column in (NO_ITEMS, NO_ROWS, NO_TIMES, NO_GROUPS))
        columns = self.columns
        count = int(columns.count)
        positions = [int(columns.panes[2 * at]) for at in range(count)]
        assert len(columns.panes) >= 2 * count
        assert not positions or columns.logged == positions[0]
        assert all(one < other for one, other in itertools.pairwise(positions))
        assert columns.rowed == tables.rows
        assert len(columns.items) == (self.count - columns.logged if positions else 0)
        assert len(columns.rows) == len(columns.items) * tables.rows
        seen: set[int] = set()
        for group in self.groups:
            assert group.state not in seen
            seen.add(int(group.state))
            intervals = group.intervals
            assert all(low <= high for low, high in zip(intervals[::2], intervals[1::2]))
            assert all(high + 1 < low for high, low in zip(intervals[1::2], intervals[2::2]))
            assert columns.base <= intervals[0] <= intervals[-1] < columns.end()


def slots_of(tables: WindowTables, cell: WindowCell | None, time: i64) -> Slots:
    """The events before the current one, and times, as conditions read them; () if none does."""
    if not tables.looks:
        return ()
    if cell is None or len(cell.before) == 0:
        return (int(time),)
    if len(cell.before) == 1:
        return (cell.before[0], int(time), cell.times[0])
    return (*cell.before, int(time), *cell.times)


def looked(tables: WindowTables, cell: WindowCell | None, row: Row, time: i64, slots: Slots) -> i64:
    """The bits of the conditions that read earlier events, or times."""
    bit: i64 = 1 << tables.plain_bits
    found: i64 = 0
    at: i64
    for at in range(len(tables.gaps)):
        gap = tables.gaps[at]
        if gap >= 0:
            if cell is not None and cell.count > 0 and time - cell.last <= gap:
                found |= bit
        elif holds(tables.tested[at], row, (), slots, 1, 1):
            found |= bit
        bit <<= 1
    return found


def sizes(cells: Sequence[WindowCell], kind: str) -> dict[str, int]:
    """How many partitions there are, and what waits in them, without starts that are over; the names of the numbers
    begin with the `kind`."""
    starts = events = 0
    for cell in cells:
        columns = cell.columns
        first = oldest(cell.groups, columns.end())
        if first < columns.end():
            starts += int(columns.end() - first)
            events += int(cell.count - columns.panes[2 * (first - columns.base)])
    return {
        f"{kind}_keys": len(cells),
        f"{kind}_starts": starts,
        f"{kind}_groups": sum([len(cell.groups) for cell in cells]),
        f"{kind}_events": events,
    }
