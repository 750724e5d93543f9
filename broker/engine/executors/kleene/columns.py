"""Runs as rows of a few columns, in the order of their first events (see numbers; kleene notes, 1).

An event is one pass over the rows, and what has left the window is a prefix. Here: the pass. Hot. Not here: measures
(gauges, track), lineage (replay).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from ...account import PACKED_BITS
from ..completions import HEADER, Completions
from ..matches import Item
from ..packed import Integers, integers, put_integer, shifted_integers
from .audience import FIRSTS, RANGES
from .family import FactorFamily
from .numbers import FEW, Gauges, Numbers
from .pending import Pending
from .shadows import Shadow
from .tables import Tables
from .track import Track


@final
class RunColumns(Numbers):
    """The runs from `head` to `upper`; `starts` the times of their first events, `firsts` these events' numbers."""

    __slots__ = (
        "firsts",
        "found",
        "head",
        "highs",
        "leaving",
        "lows",
        "paired",
        "starts",
        "takers",
        "taking",
        "taking_now",
        "tracks",
        "upper",
    )

    def __init__(
        self, tables: Tables, gauges: Gauges, family: FactorFamily | None, shadows: list[Shadow], pending: Pending
    ) -> None:
        super().__init__(tables, gauges, family, shadows, pending)
        self.tracks = [Track(gauge) for gauge in gauges.all]
        number = len(gauges.take)
        self.taking = self.tracks[:number]
        self.leaving = self.tracks[number:]
        # The usual case: one measure to go on, one to end, and both can be asked in one pass.
        self.paired = number == 1 and len(self.leaving) == 1 and tables.last > 0 and family is None
        self.taking_now: i64 = 0
        self.starts: Integers = integers()
        self.firsts: Integers = integers()
        self.takers: Integers = integers()
        self.found: Integers = integers()
        self.lows: Integers = integers()  # with a family, of what is in `found`
        self.highs: Integers = integers()
        self.head: i64 = 0
        self.upper: i64 = 0

    def move(self, takes: bool, begins: bool, ends: bool, row: Row, time: i64, item: Item, found: Completions) -> bool:
        """O(live runs)."""
        tables = self.tables
        leaving: i64 = 0
        taking: i64 = 0
        if begins and self.upper - self.head >= tables.runs_max:
            self.lost += 1
            begins = False
        if self.head < self.upper:
            tables.account.spend((self.upper - self.head) >> PACKED_BITS)
            if ends and takes and self.paired:
                leaving = self._pair()
                taking = self.taking_now
            elif ends:
                leaving = self._passing(self.leaving, True) if self.family is None else self._ranging(self.family)
            if takes and not (ends and self.paired):
                taking = self._passing(self.taking, False)
        upto = self.page.base + len(self.page.items)
        if begins or taking > 0:
            if not self.measure(row):
                return False
            if self.head == self.upper:
                self.page = self.page.empty()
            self.page.add(row, time, item, takes)
            for track in self.tracks:
                track.take(self.takers, taking)
            if begins:
                self._begin(time, upto)
                if tables.last == 0:
                    self.takers[taking] = self.upper - 1
                    taking += 1
        if tables.last == 0 and taking > 0:
            leaving = self._complete(taking)
            upto += 1
        if leaving > 0:
            self._report(leaving, upto, found)
        return True

    def _pair(self) -> i64:
        """How many runs may end with the event, their indices in `found`, and in the same pass how many take it:
        `taking_now`, in `takers`."""
        out, into = self.found, self.takers
        endings, values = self.leaving[0].values, self.taking[0].values
        end, level = self.leaving[0].gauge.level, self.taking[0].gauge.level
        leaving: i64 = 0
        taking: i64 = 0
        j: i64
        for j in range(self.head, self.upper):
            if end > endings[j]:
                out[leaving] = j
                leaving += 1
            if level > values[j]:
                into[taking] = j
                taking += 1
        self.taking_now = taking
        return leaving

    def _passing(self, tracks: list[Track], ends: bool) -> i64:
        """How many runs the event satisfies all these measures of; their indices are in `found` or `takers`."""
        out = self.found if ends else self.takers
        count: i64 = 0
        j: i64
        i: i64
        if len(tracks) == 0:
            for j in range(self.head, self.upper):
                out[count] = j
                count += 1
            return count
        values = tracks[0].values
        level = tracks[0].gauge.level
        for j in range(self.head, self.upper):
            if level > values[j]:
                out[count] = j
                count += 1
        for number in range(1, len(tracks)):
            values = tracks[number].values
            level = tracks[number].gauge.level
            kept: i64 = 0
            for i in range(count):
                j = out[i]
                if level > values[j]:
                    out[kept] = j
                    kept += 1
            count = kept
        return count

    def _ranging(self, family: FactorFamily) -> i64:
        """How many runs the event satisfies the measures of for any member; which, in `found`, `lows` and `highs`."""
        track = self.leaving[0]
        values = track.values
        level = track.gauge.level
        sign = track.gauge.sign
        count: i64 = 0
        j: i64
        if level != level:
            return 0
        several = len(self.leaving) > 1
        known = 0.0
        family.low = family.high = 0
        fresh = True
        for j in range(self.head, self.upper):
            value = values[j]
            if value != value:
                continue
            if fresh or value != known:
                known = value
                fresh = False
                family.search(level, sign, value)
            if family.low < family.high and (not several or self._ended(j)):
                self.found[count] = j
                self.lows[count] = family.low
                self.highs[count] = family.high
                count += 1
        return count

    def _ended(self, j: i64) -> bool:
        """Whether a run satisfies all measures but the first."""
        for at in range(1, len(self.leaving)):
            track = self.leaving[at]
            if not track.gauge.level > track.values[j]:
                return False
        return True

    def _complete(self, taking: i64) -> i64:
        """Of the runs that have taken the event, those that may end with it."""
        count: i64 = 0
        i: i64
        for i in range(taking):
            j = self.takers[i]
            passes = True
            for track in self.leaving:
                if not track.gauge.level > track.values[j]:
                    passes = False
            if passes:
                self.found[count] = j
                count += 1
        return count

    def _begin(self, time: i64, number: i64) -> None:
        at = self.upper
        self.starts = put_integer(self.starts, at, time)
        self.firsts = put_integer(self.firsts, at, number)
        for track in self.tracks:
            track.begin(at)
        self.upper += 1
        if len(self.found) < self.upper:  # room for the indices of all runs
            self.found = put_integer(self.found, len(self.found), 0)
            self.takers = put_integer(self.takers, len(self.takers), 0)
            self.lows = put_integer(self.lows, len(self.lows), 0)
            self.highs = put_integer(self.highs, len(self.highs), 0)

    def _report(self, count: i64, upto: i64, found: Completions) -> None:
        tables = self.tables
        if tables.alone:
            count = 1
        elif count > tables.matches_max:
            self.lost += 1
            count = tables.matches_max
        tables.account.spend(count * tables.match_units)
        firsts, ended = self.firsts, self.found
        i: i64
        if self.family is None:
            numbers = found.room(count)
            at = found.upto + HEADER
            for i in range(count):
                numbers[at + i] = firsts[ended[i]]
            found.close(self.page, upto, FIRSTS, count)
        else:
            lows, highs = self.lows, self.highs
            numbers = found.room(3 * count)
            at = found.upto + HEADER
            low, high = lows[0], highs[0]
            for i in range(count):
                low = min(low, lows[i])
                high = max(high, highs[i])
                numbers[at] = firsts[ended[i]]
                numbers[at + 1] = lows[i]
                numbers[at + 2] = highs[i]
                at += 3
            found.entries += high - low - 1  # nearly always one end is that of all members
            found.close(self.page, upto, RANGES, 3 * count)
        if tables.alone:
            self.head = self.upper

    def expire(self, oldest: i64) -> None:
        """Let go of runs that began before that time."""
        while self.head < self.upper and self.starts[self.head] < oldest:
            self.head += 1
        head = self.head
        if head < FEW or 2 * head < self.upper:
            return
        if head < self.upper:
            self.page = self.page.turned(self.firsts[head])
        shifted_integers(self.starts, head, self.upper)
        shifted_integers(self.firsts, head, self.upper)
        for track in self.tracks:
            track.shift(head, self.upper)
        self.upper -= head
        self.head = 0

    def firsts_alive(self) -> list[int]:
        return [int(self.firsts[j]) for j in range(self.head, self.upper)]

    def drop(self) -> None:
        self.head = self.upper = 0

    def kept(self) -> int:
        return int(self.upper - self.head)

    def check_invariants(self) -> None:
        if len(self.plain) > 0:
            for plain in self.plain:
                plain.check_invariants()
            assert self.head == self.upper
            return
        page = self.page
        for j in range(self.head, self.upper):
            at = self.firsts[j] - page.base
            assert 0 <= at < len(page.items), "a run whose first event is not in the log"
            assert page.times[at] == self.starts[j]
            assert j == self.head or self.firsts[j - 1] < self.firsts[j]
        for track in self.tracks:
            track.check_invariants(self.head, self.upper)
