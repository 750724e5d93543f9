"""One measure of all runs of a cell, as columns: what levels are compared with, and what that is made of.

Here: beginning and taking. Not here: which runs there are (columns).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ..packed import Floats, Integers, floats, put, shifted
from .gauges import AVERAGE, COUNT, FIRST, LAST, MAX, MIN, SUM, Gauge


@final
class Track:
    """`values` by run; behind them, of aggregates, `totals`, and of an average `numbers`."""

    def __init__(self, gauge: Gauge) -> None:
        self.gauge = gauge
        self.values: Floats = floats()
        self.totals: Floats = floats()
        self.numbers: Floats = floats()

    def begin(self, at: i64) -> None:
        """A run of the event that the gauge has measured."""
        gauge = self.gauge
        if gauge.kind <= LAST:
            self.values = put(self.values, at, gauge.value)
            return
        self.values = put(self.values, at, gauge.compared(gauge.value))
        self.totals = put(self.totals, at, gauge.value)
        if gauge.kind == AVERAGE:
            self.numbers = put(self.numbers, at, 1.0)

    def take(self, takers: Integers, count: i64) -> None:
        """The event that the gauge has measured is taken by the runs at these indices. O(count)."""
        gauge = self.gauge
        kind = gauge.kind
        if kind == FIRST:
            return
        values = self.values
        value = gauge.value
        i: i64
        j: i64
        if kind == LAST:
            for i in range(count):
                values[takers[i]] = value
            return
        totals = self.totals
        if kind == AVERAGE:
            numbers = self.numbers
            if gauge.scaled or gauge.raw or gauge.sign < 0.0:
                for i in range(count):
                    j = takers[i]
                    totals[j] += value
                    numbers[j] += 1.0
                    values[j] = gauge.compared(totals[j] / numbers[j])
            else:
                for i in range(count):
                    j = takers[i]
                    total = totals[j] + value
                    number = numbers[j] + 1.0
                    totals[j] = total
                    numbers[j] = number
                    values[j] = total / number if total - total == 0.0 else gauge.compared(total)
            return
        for i in range(count):
            j = takers[i]
            total = totals[j]
            if kind in (SUM, COUNT):
                total += value
            elif kind == MIN:
                if value < total:
                    total = value
            elif kind == MAX and value > total:
                total = value
            totals[j] = total
            values[j] = gauge.compared(total)

    def shift(self, first: i64, upto: i64) -> None:
        """Runs from `first` on become the first ones."""
        shifted(self.values, first, upto)
        if self.gauge.kind > LAST:
            shifted(self.totals, first, upto)
        if self.gauge.kind == AVERAGE:
            shifted(self.numbers, first, upto)

    def check_invariants(self, head: i64, upto: i64) -> None:
        assert len(self.values) >= upto
        for j in range(head, upto):
            total = self.totals[j] if self.gauge.kind > LAST else self.values[j]
            if self.gauge.kind == AVERAGE:
                total = total / self.numbers[j]
            if self.gauge.kind > LAST:
                value, found = self.gauge.compared(total), self.values[j]
                assert value == found or (value != value and found != found)
