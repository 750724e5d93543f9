"""Merged runs: runs that are equal from some event on are one row, if taking asks for a new highest (or lowest) value.

All runs that take an event have it as their last and highest one; their earlier events do not matter any more (SASE+,
4.3; kleene notes, 2). So they become one row. Rows are a stack whose values do not rise, and an event takes rows off
the top and puts one there. A row's runs are consecutive: it knows the first, and the next row has the one after the
last.

Here: the stack. Hot. Not here: measures (measure_columns), the further way of runs (numbered_runs), which patterns
qualify (broker.automaton.analyses.measures).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from .measure_columns import MeasureReaders
from .numbered_matches import BLOCKS
from .numbered_runs import NumberedRuns
from .tables import Tables


@final
class Stacks(NumberedRuns):
    def __init__(self, tables: Tables, measures: MeasureReaders) -> None:
        super().__init__(tables, measures, BLOCKS)

    def leave(self, takes: bool) -> i64:
        return self._collect(self.bottom)

    def takers(self) -> i64:
        """The rows at the top that take the event. Amortised O(1)."""
        column = self.taking[0]
        values = column.values
        level = column.reader.level
        top = self.top
        while top > self.bottom and level > values[top - 1]:
            top -= 1
        return self.top - top

    def enter(self, taking: i64, begins: bool, run: i64) -> i64:
        if taking > 0:
            self.top -= taking
            run = max(self.lows[self.top], self.oldest)
        self.row(run)
        if self.tables.last != 0:
            return 0
        return self._collect(self.top - 1)

    def _collect(self, bottom: i64) -> i64:
        """Collect the rows from `bottom` on that may end, as blocks of runs; returns the number of runs."""
        top = self.top
        blocks, lows = self.found, self.lows
        last: i64 = 1
        number: i64 = 0
        g: i64
        several = len(self.leaving) != 1
        values = self.taking[0].values if several else self.leaving[0].values
        level = 0.0 if several else self.leaving[0].reader.level
        upto: i64 = -1  # end of the last block, which an adjacent row extends
        for g in range(bottom, top):
            if not self.passes(g, 0) if several else not level > values[g]:
                continue
            low = max(self.oldest, lows[g])
            high = lows[g + 1] if g + 1 < top else self.begun
            number += high - low
            if low != upto:
                blocks[last] = low
                last += 2
            blocks[last - 1] = high
            upto = high
        self.width = last
        return number

    def check_invariants(self) -> None:
        super().check_invariants()
        values = self.taking[0].values
        for g in range(self.bottom + 1, self.top):
            assert not values[g - 1] < values[g], "the stack rises"
