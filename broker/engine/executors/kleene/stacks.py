"""Runs that are equal from some event on, as one: where taking asks for a new highest (or lowest) value so far.

All runs that take an event have it as their last and highest; what they took before does not matter any more (SASE+,
4.3; kleene notes, 2). So they are a group, groups are a stack whose values do not rise, and an event takes groups off
its top and puts one there. A group's first events are consecutive among all first events: two numbers, of which expiry
moves one for all.

Here: the stack. Hot. Not here: measures (gauges, track), lineage (replay), which patterns these are (measures).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.schema import Row
from ...account import PACKED_BITS
from ..completions import HEADER, Completions
from ..matches import Item
from ..packed import Integers, integers, put_integer, roomy, shifted_integers
from .audience import BLOCKS
from .family import FactorFamily
from .numbers import FEW, Gauges, Numbers
from .pending import Pending
from .shadows import Shadow
from .tables import BEFORE, Tables
from .track import Track


@final
class Stacks(Numbers):
    """The groups from `bottom` to `top`; `lows` their first first events, by number among all such events. `oldest` is
    the first of these that is still in the window, `begun` how many there were."""

    __slots__ = ("begun", "blocks", "bottom", "last", "leaving", "lows", "oldest", "start", "taking", "top", "tracks")

    def __init__(
        self, tables: Tables, gauges: Gauges, family: FactorFamily | None, shadows: list[Shadow], pending: Pending
    ) -> None:
        super().__init__(tables, gauges, family, shadows, pending)
        self.tracks = [Track(gauge) for gauge in gauges.all]
        self.taking = self.tracks[0]
        self.leaving = self.tracks[1:]
        self.lows: Integers = integers()
        self.bottom: i64 = 0
        self.top: i64 = 0
        self.oldest: i64 = 0
        self.begun: i64 = 0
        self.blocks: Integers = integers()  # scratch, up to `last`
        self.last: i64 = 0
        self.start: i64 = BEFORE  # the time of the first event `oldest`, or earlier than that

    def move(self, takes: bool, begins: bool, ends: bool, row: Row, time: i64, item: Item, found: Completions) -> bool:
        """O(groups) where the event can end runs, else O(1), amortised."""
        if (takes or begins) and not self.measure(row):
            return False
        upto = self.page.base + len(self.page.items)
        if ends:
            number = self._collect(self.bottom)
            if number > 0:
                self._report(number, upto, found)
                if self.tables.alone:
                    return True  # what it begins would overlap
        if begins and self.begun - self.oldest >= self.tables.runs_max:
            self.lost += 1
            begins = False
        if not (takes or begins):
            return True
        low = self.begun
        if takes:
            values = self.taking.values
            level = self.taking.gauge.level
            top = self.top
            while top > self.bottom and level > values[top - 1]:
                top -= 1
            if top < self.top:
                low = max(self.lows[top], self.oldest)
                self.top = top
        if low == self.begun and not begins:
            return True
        if self.oldest == self.begun:
            self.page = self.page.empty()
            if len(self.page.items) == 0:
                self.page.first = self.begun
            self.start = time
        self.page.add(row, time, item, takes)
        if begins:
            self.page.start(upto)
            self.begun += 1
        self.lows = put_integer(self.lows, self.top, low)
        for track in self.tracks:
            track.begin(self.top)
        self.top += 1
        if self.tables.last == 0:
            number = self._collect(self.top - 1)
            if number > 0:
                self._report(number, upto + 1, found)
        return True

    def _collect(self, bottom: i64) -> i64:
        """The groups from `bottom` on that may end, as blocks of first events: how many these are."""
        top = self.top
        self.tables.account.spend((top - bottom) >> PACKED_BITS)
        if len(self.blocks) < 2 * (top - bottom):
            self.blocks = roomy(self.blocks, 2 * (top - bottom))
        blocks, lows = self.blocks, self.lows
        last: i64 = 0
        number: i64 = 0
        g: i64
        several = len(self.leaving) != 1
        values = self.taking.values if several else self.leaving[0].values
        level = 0.0 if several else self.leaving[0].gauge.level
        upto: i64 = -1  # where the last block ends: what goes on from there makes it longer
        for g in range(bottom, top):
            if not self._passes(g) if several else not level > values[g]:
                continue
            low = max(self.oldest, lows[g])
            high = lows[g + 1] if g + 1 < top else self.begun
            number += high - low
            if low != upto:
                blocks[last] = low
                last += 2
            blocks[last - 1] = high
            upto = high
        self.last = last
        return number

    def _passes(self, g: i64) -> bool:
        """Whether a group satisfies all measures."""
        for at in range(len(self.leaving)):
            track = self.leaving[at]
            if not track.gauge.level > track.values[g]:
                return False
        return True

    def _report(self, number: i64, upto: i64, found: Completions) -> None:
        tables = self.tables
        if tables.alone:
            number = 1
        elif number > tables.matches_max:
            number = tables.matches_max
            self.lost += 1
        tables.account.spend(number * tables.match_units)
        blocks = self.blocks
        numbers = found.room(self.last + 1)
        at = found.upto + HEADER
        numbers[at] = number
        i: i64
        for i in range(self.last):
            numbers[at + 1 + i] = blocks[i]
        found.close(self.page, upto, BLOCKS, self.last + 1)
        if tables.alone:
            self.drop()

    def expire(self, oldest: i64) -> None:
        if self.start >= oldest or self.oldest == self.begun:
            return
        page = self.page
        at = self.oldest
        while at < self.begun:
            self.start = page.times[page.begun[at - page.first] - page.base]
            if self.start >= oldest:
                break
            at += 1
        if at == self.oldest:
            return
        self.oldest = at
        while (
            self.bottom < self.top and (self.lows[self.bottom + 1] if self.bottom + 1 < self.top else self.begun) <= at
        ):
            self.bottom += 1
        if at < self.begun:
            self.page = page.turned(page.begun[at - page.first])
        bottom = self.bottom
        if bottom >= FEW and 2 * bottom >= self.top:
            shifted_integers(self.lows, bottom, self.top)
            for track in self.tracks:
                track.shift(bottom, self.top)
            self.top -= bottom
            self.bottom = 0

    def firsts_alive(self) -> list[int]:
        page = self.page
        return [int(page.begun[at - page.first]) for at in range(self.oldest, self.begun)]

    def drop(self) -> None:
        self.bottom = self.top = 0
        self.oldest = self.begun

    def kept(self) -> int:
        """The groups."""
        return int(self.top - self.bottom)

    def check_invariants(self) -> None:
        if len(self.plain) > 0:
            for plain in self.plain:
                plain.check_invariants()
            assert self.bottom == self.top
            return
        assert (self.bottom == self.top) == (self.oldest == self.begun), "groups without runs, or runs without groups"
        assert self.page.first + len(self.page.begun) == self.begun
        values = self.taking.values
        for g in range(self.bottom, self.top):
            assert g == self.bottom or self.lows[g - 1] < self.lows[g], "a group without runs"
            assert g == self.bottom or not values[g - 1] < values[g], "the stack rises"
        for track in self.tracks:
            track.check_invariants(self.bottom, self.top)
