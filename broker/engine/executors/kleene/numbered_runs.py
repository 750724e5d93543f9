"""Numbered runs: a leading Kleene component, under skip till next match, and at most one more component after it.

There is exactly one run for each first event, and it splits only when it ends in a match (kleene notes, 1). So a run is
the number of its first event in a log, with the numbers that levels are compared with. Runs are rows of a few columns,
in the order of their first events; those out of the window are a prefix. An event with a value that floats cannot
represent turns the cell into single runs (plain_runs).

Here: processing an event, and its completions. Hot. Not here: which rows take or end (columns, stacks), measures
(measure_columns), matches (numbered_matches).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mypy_extensions import i64

from ....events.schema import Row
from ...matches.completions import HEADER, Completions
from ...matches.sources import Assigned, Item
from ...program.account import PACKED_BITS
from ..packed import Floats, Integers, floats, integers, put, put_integer, roomy, shifted_integers
from .cell import RunCell
from .event_log import EventLog
from .measure_columns import MeasureColumn, MeasureReaders, any_failed
from .numbered_matches import BLOCKS, RUNS
from .run import Restored, RunsArchive
from .tables import BEFORE, VALUE_BYTES, Tables

FEW: Final = 64  # rows below which moving the later ones costs more than it saves
SWEPT: Final = 4  # rows up to which hopeless ones are not searched
LONG: Final = 1 << 22  # events of one window beyond which sums of integers may be inexact


class NumberedRuns(RunCell):
    """The runs from `oldest` on; `begun` runs have begun in all.

    The rows are from `bottom` to `top`, `lows` are their first runs. `kind`: the kind of numbers in matches. `start`:
    the time of the run `oldest`, or earlier. `common`: the runs are those of a group, and report nothing: the last
    event completes the runs `ended`, `reported` of them, each with the measures that the group's constants bound;
    `end`: that of the log at that event.
    """

    __slots__ = (
        "begun",
        "bottom",
        "columns",
        "common",
        "compared",
        "end",
        "ended",
        "found",
        "kind",
        "lasting",
        "leaving",
        "left",
        "log",
        "lows",
        "measures",
        "oldest",
        "registers",
        "reported",
        "start",
        "tables",
        "taking",
        "top",
        "version",
        "width",
    )

    def __init__(self, tables: Tables, measures: MeasureReaders, kind: i64) -> None:
        super().__init__([])
        self.tables = tables
        self.measures = measures
        self.kind = kind
        self.columns = [MeasureColumn(reader) for reader in measures.all]
        self.taking = self.columns[: len(measures.take)]
        self.leaving = self.columns[len(measures.take) :]
        self.lasting = any(reader.lasting for reader in measures.all)  # rows may be hopeless
        self.left: i64 = 0  # rows that the last search for these has left
        self.log = EventLog(0)
        self.lows: Integers = integers()
        self.bottom: i64 = 0
        self.top: i64 = 0
        self.oldest: i64 = 0
        self.begun: i64 = 0
        self.start: i64 = BEFORE
        self.common = False
        self.compared: list[MeasureColumn] = []
        self.ended: Integers = integers()
        self.registers: Floats = floats()
        self.reported: i64 = 0
        self.end: i64 = 0
        self.version: i64 = measures.version
        self.found: Integers = integers()  # scratch: completions of an event
        self.width: i64 = 0  # the number of these, for BLOCKS

    def leave(self, takes: bool) -> i64:
        """Write the matches that end with the event, as numbers in `found`; returns how many numbers. O(rows).

        `takes`: `takers` is called next.
        """
        raise AssertionError

    def takers(self) -> i64:
        """The number of rows that take the event; changes nothing yet."""
        raise AssertionError

    def enter(self, taking: i64, begins: bool, run: i64) -> i64:
        """Let `taking` rows take the event, or begin that run. Returns as `leave`, if the pattern ends with this."""
        raise AssertionError

    def runs(self) -> i64:
        """The number of runs."""
        return self.begun - self.oldest

    def sweep(self) -> None:
        """Drop the rows that no event can lead to a match any more. O(rows)."""
        bottom = self.bottom
        while bottom < self.top and self.hopeless(bottom):
            bottom += 1
        self.left = self.top - bottom
        if self.left == 0:
            self.drop()
        else:
            self._leave_behind(max(self.oldest, self.lows[bottom]), bottom)

    def hopeless(self, j: i64) -> bool:
        """Whether no event can lead a row to a match any more, as for single runs (tables.Edges)."""
        number = len(self.measures.begin)
        if any_failed(self.leaving, number, j):
            return True
        return any_failed(self.taking, 0, j) and (self.tables.last == 0 or not self.passes(j, number))

    def step(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item, found: Completions) -> bool:
        tables = self.tables
        if self.start < time - tables.window:
            self.expire(time - tables.window)
        takes = mask & tables.takes != 0
        ends = mask & tables.ends != 0
        begins = mask & tables.begins != 0
        if begins and self.lasting and self.top - self.bottom > min(2 * self.left + SWEPT, tables.runs_max - 1):
            self.sweep()
        log = self.log
        if self.version != self.measures.version:
            self._compare()
        if not self.measures.read(row, takes, ends) or len(log.items) >= LONG:
            return False
        if begins and self.runs() >= tables.runs_max:
            self.lost += 1
            begins = False
        leaving: i64 = 0
        taking: i64 = 0
        if self.bottom < self.top:
            tables.account.spend((self.top - self.bottom) >> PACKED_BITS)
            if ends:
                leaving = self.leave(takes)
            if takes:
                taking = self.takers()
        if (begins or taking > 0) and not self.measures.measure(row):
            return False
        if leaving > 0:
            self._report(leaving, log.end(), found)
            if tables.alone:
                return True  # a run that it begins would overlap
        if begins or taking > 0:
            if self.oldest == self.begun:
                log = self.log = log.empty()
                self.start = time
            log.add(row, time, item, takes)
            if begins:
                log.begin()
                self.begun += 1
                leaving = self.enter(taking, True, self.begun - 1)
            else:
                leaving = self.enter(taking, False, self.begun)
            if tables.last == 0 and leaving > 0:
                self._report(leaving, log.end(), found)
        return True

    def row(self, low: i64) -> None:
        """Add a row that begins with that run, for the event that was measured."""
        at = self.top
        self.lows = put_integer(self.lows, at, low)
        for column in self.columns:
            column.begin(at)
        self.top = at + 1
        if len(self.found) < 2 * self.top + 1:
            self.found = roomy(self.found, 2 * self.top + 1)

    def passes(self, j: i64, first: i64) -> bool:
        """Whether a row satisfies all measures to end, from number `first` on."""
        for at in range(first, len(self.leaving)):
            column = self.leaving[at]
            if not column.reader.level > column.values[j]:
                return False
        return True

    def _report(self, count: i64, upto: i64, found: Completions) -> None:
        tables = self.tables
        if tables.alone:
            count = 1
        elif count > tables.matches_max:
            self.lost += 1
            count = tables.matches_max
        tables.account.spend(count * tables.match_units)
        if self.common:
            self._share(count, upto)
            return
        ended = self.found
        width = count
        i: i64
        if self.kind == BLOCKS:
            ended[0] = count
            width = self.width
        numbers = found.room(width)
        at = found.upto + HEADER
        for i in range(width):
            numbers[at + i] = ended[i]
        found.close(self.log, upto, self.kind, width, 1 if tables.compressed else count)
        if tables.alone:
            self.drop()

    # --- the runs of a group ------------------------------------------------------------------------------------

    def share(self) -> None:
        """Keep what ends for a group instead of reporting it."""
        self.common = True
        self.lasting = False  # a group may come to have other constants
        self.compared = [column for column in self.columns if column.reader.asked]

    def end_all(self, time: i64) -> bool:
        """Let an event that no run takes end all runs, if they have no measures to end. O(1), but for runs that are
        out of the window."""
        tables = self.tables
        if len(self.leaving) > 0:
            return False
        oldest = time - tables.window
        if self.start < oldest:
            self.expire(oldest)
        count = self.begun - self.oldest
        if count > tables.matches_max:
            return False
        tables.account.spend(((self.top - self.bottom) >> PACKED_BITS) + count * tables.match_units)
        return True

    def _compare(self) -> None:
        """The group has other constants."""
        self.version = self.measures.version
        for column in self.compared:
            column.compare(self.bottom, self.top)

    def start_with(self, run: i64) -> None:
        """Give the first run of empty runs another number than 0."""
        self.oldest = self.begun = run
        self.log = EventLog(0, run)

    def _share(self, count: i64, upto: i64) -> None:
        """Keep the runs that end, and the measures that the group's constants bound."""
        found = self.found
        self.end = upto
        at: i64 = 0
        i: i64
        if self.kind == BLOCKS:
            if len(self.ended) < count:
                self.ended = roomy(self.ended, count)
            i = 1
            while at < count:
                for run in range(found[i], min(found[i + 1], found[i] + count - at)):
                    self.ended[at] = run
                    at += 1
                i += 2
        else:
            self.ended = found  # it is read before the next event
        self.reported = count
        if len(self.compared) == 0 or not self.compared[0].reader.several:
            return
        at = 0
        for i in range(count):
            row = self._row_of(self.ended[i])
            for column in self.compared:
                self.registers = put(self.registers, at, column.measured(row))
                at += 1

    def _row_of(self, run: i64) -> i64:
        """The row of a run. O(log rows)."""
        low, high = self.bottom, self.top
        while low < high:
            middle = (low + high) >> 1
            if self.lows[middle] <= run:
                low = middle + 1
            else:
                high = middle
        return low - 1

    def expire(self, oldest: i64) -> None:
        """Drop the runs that began before that time."""
        log = self.log
        begun, times, first = log.begun, log.times, log.first
        at = self.oldest
        while at < self.begun:
            self.start = times[begun[at - first] - log.base]
            if self.start >= oldest:
                break
            at += 1
        if at == self.oldest:
            return
        bottom = self.bottom
        lows = self.lows
        if at < self.begun:
            while bottom + 1 < self.top and lows[bottom + 1] <= at:
                bottom += 1
            if self.kind == RUNS and lows[bottom] < at:  # the runs up to the next row have ended
                bottom += 1
        if at == self.begun or bottom == self.top:
            self.drop()
        else:
            self._leave_behind(at, bottom)

    def _leave_behind(self, run: i64, bottom: i64) -> None:
        """Forget the runs and rows before these, and their events once they are most of the log."""
        self.oldest = run
        gone = self.log.begins(run) - self.log.base
        if gone >= FEW and 4 * gone >= 3 * len(self.log.items):
            self.log = self.log.turned(run)
        if bottom >= FEW and 2 * bottom >= self.top:
            shifted_integers(self.lows, bottom, self.top)
            for column in self.columns:
                column.shift(bottom, self.top)
            self.top -= bottom
            bottom = 0
        self.bottom = bottom

    def clear(self) -> None:
        """Drop all runs and events."""
        self.drop()
        self.log = EventLog(self.log.end(), self.begun)

    def drop(self) -> None:
        """Drop all runs."""
        self.bottom = self.top = 0
        self.oldest = self.begun

    # --- upkeep -------------------------------------------------------------------------------------------------

    def settle(self, time: i64, position: i64) -> i64:
        self.expire(time - self.tables.window)
        return self.top - self.bottom

    def numbers(self) -> list[int]:
        """The runs."""
        return list(range(self.oldest, self.begun))

    def bytes(self) -> i64:
        events = len(self.log.items) * self.tables.event_bytes
        return events + (self.top - self.bottom) * VALUE_BYTES * (1 + len(self.columns))

    def size(self) -> int:
        return int(self.top - self.bottom)

    def partial(self, oldest: i64) -> Iterator[Assigned]:
        log = self.log
        for number in self.numbers():
            if log.began(number) >= oldest:
                taken, _ = log.path(self.tables, number, log.end())
                yield [(0, log.items[at], int(log.times[at])) for at in taken]

    def check_invariants(self) -> None:
        assert (self.bottom == self.top) == (self.oldest == self.begun), "rows without runs, or runs without rows"
        assert self.log.first + len(self.log.begun) == self.begun
        for j in range(self.bottom, self.top):
            assert j == self.bottom or self.lows[j - 1] < self.lows[j], "a row without runs"
        if self.version == self.measures.version:  # else they are compared anew before the next event
            for column in self.columns:
                column.check_invariants(self.bottom, self.top)

    def dump(self, archive: RunsArchive) -> list[Any]:
        """The log, which restoring replays."""
        log = self.log
        firsts = [int(log.begins(number)) for number in self.numbers()]
        # Leave out earlier events: how many of them are still stored does not affect any match.
        return [False, log.dump(firsts[0] if firsts else log.end()), firsts]

    def load(self, data: Any, restored: Restored) -> None:
        old = EventLog(0)
        old.load(data[1])
        wanted = set(data[2])
        nothing = Completions()
        edges = self.tables.edges[0]
        # Events before the oldest live run began runs that are over; replaying these would make them live again.
        alive = min(wanted, default=int(old.end())) - int(old.base)
        self.log = EventLog(old.base + alive, self.begun)
        for at in range(alive, len(old.items)):
            begins = int(old.base) + at in wanted
            mask = (edges.take if old.takes[at] else 0) | (edges.begin if begins else 0)
            self.step(mask, old.rows[at], old.times[at], 0, 0, old.items[at], nothing)
