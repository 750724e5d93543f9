"""Run columns: a row for each run; an event is one pass over the rows (see numbered_runs; kleene notes, 1).

Here: the pass. Hot. Not here: measures (measure_columns), using the result of a pass (numbered_runs).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ..packed import Integers, integers, put_integer
from .measure_columns import MeasureColumn, MeasureReaders
from .numbered_matches import RUNS
from .numbered_runs import NumberedRuns
from .tables import Tables


@final
class RunColumns(NumberedRuns):
    """Runs as rows."""

    __slots__ = ("indices", "paired", "taking_now")

    def __init__(self, tables: Tables, measures: MeasureReaders) -> None:
        super().__init__(tables, measures, RUNS)
        self.indices: Integers = integers()  # scratch: rows that take the event
        # The usual case: one measure to take and one to end, which one pass can test together.
        self.paired = len(self.taking) == len(self.leaving) == 1 and tables.last > 0
        self.taking_now: i64 = -1  # number of rows that take the event, if known

    def runs(self) -> i64:
        return self.top - self.bottom

    def numbers(self) -> list[int]:
        return [int(self.lows[j]) for j in range(self.bottom, self.top)]

    def sweep(self) -> None:
        kept = self.bottom
        j: i64
        for j in range(self.bottom, self.top):
            if self.hopeless(j):
                continue
            if kept < j:
                self.lows[kept] = self.lows[j]
                for column in self.columns:
                    column.move(j, kept)
            kept += 1
        self.top = kept
        super().sweep()

    def leave(self, takes: bool) -> i64:
        if takes and self.paired:
            return self._pair()
        count = self._passing(self.leaving, self.found)
        found, lows = self.found, self.lows
        i: i64
        for i in range(count):
            found[i] = lows[found[i]]
        return count

    def takers(self) -> i64:
        taking = self.taking_now
        self.taking_now = -1
        return self._passing(self.taking, self.indices) if taking < 0 else taking

    def enter(self, taking: i64, begins: bool, run: i64) -> i64:
        for column in self.columns:
            column.take(self.indices, taking)
        if begins:
            self.row(run)
            self.indices = put_integer(self.indices, len(self.indices), 0)
        if self.tables.last > 0:
            return 0
        if begins:
            self.indices[taking] = self.top - 1
            taking += 1
        count: i64 = 0
        i: i64
        for i in range(taking):
            if self.passes(self.indices[i], 0):
                self.found[count] = self.lows[self.indices[i]]
                count += 1
        return count

    def _pair(self) -> i64:
        """Find both the runs that end with the event and the rows that take it."""
        found, indices, lows = self.found, self.indices, self.lows
        endings, values = self.leaving[0].values, self.taking[0].values
        end, level = self.leaving[0].reader.level, self.taking[0].reader.level
        leaving: i64 = 0
        taking: i64 = 0
        j: i64
        for j in range(self.bottom, self.top):
            if end > endings[j]:
                found[leaving] = lows[j]
                leaving += 1
            if level > values[j]:
                indices[taking] = j
                taking += 1
        self.taking_now = taking
        return leaving

    def _passing(self, columns: list[MeasureColumn], out: Integers) -> i64:
        """Write to `out` the rows whose measures the event satisfies all; returns their number."""
        count: i64 = 0
        j: i64
        i: i64
        if len(columns) == 0:
            for j in range(self.bottom, self.top):
                out[count] = j
                count += 1
            return count
        values = columns[0].values
        level = columns[0].reader.level
        for j in range(self.bottom, self.top):
            if level > values[j]:
                out[count] = j
                count += 1
        for number in range(1, len(columns)):
            values = columns[number].values
            level = columns[number].reader.level
            kept: i64 = 0
            for i in range(count):
                j = out[i]
                if level > values[j]:
                    out[kept] = j
                    kept += 1
            count = kept
        return count
