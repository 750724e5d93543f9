"""A negation at the end: `a, c, ~n` WITHIN w of a, all of one key.

Pairs are completed as by a wait. An n only updates suffix maxima of its value: a due pair looks up the greatest value
since its c.

Here: one key. Hot. Not here: when pairs are told (late_pairs), a text for each step (late_texts).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from .beginnings import BEFORE
from .blocks import MatchBlocks
from .columns import INFINITY, NAN, Floats, Integers, filled, floats, integers, put, put_integer
from .late_pairs import LatePairsCell
from .members import Members
from .starts import Starts
from .steps import StepClause
from .wait import WaitCell
from .wait_template import WaitTemplate


@final
class TrailingTemplate:
    """The pair as a wait of arrival with a common window, and the negation, with one bound."""

    def __init__(self, wait: WaitTemplate, kill: StepClause) -> None:
        assert wait.arrival
        assert wait.within >= 0
        assert wait.killed < 0
        self.wait = wait
        self.kill = kill
        self.killed: i64 = kill.bounds[0].coordinate
        self.pairs = MatchBlocks()  # scratch for one event of one cell
        self.x: Floats = filled(wait.d, INFINITY)


@final
class TrailingCell(LatePairsCell):
    """The pairs of a key, and the suffix maxima of the killing values."""

    def __init__(self, template: TrailingTemplate, members: Members | None = None) -> None:
        wait = WaitCell(template.wait, members)
        wait.keeps_points = True
        super().__init__(wait, template.wait.within, template.pairs)
        self.template = template
        self._wait = wait
        self._levels: Floats = floats()
        self._times: Integers = integers()
        self._height: i64 = 0
        self._asked: i64 = BEFORE  # the time since which `_greatest` is the greatest killing value; NaN for none
        self._greatest = NAN

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. As in a wait, and O(1) for each completed or due pair."""
        self.advance(time, out)
        wait, found = self._wait, self.found
        found.clear()
        wait.see(row, time, event, found)
        if found.upto > 0:
            self.hang(time, event)
            self.noted = event
        wait.start(row, time, event)
        if wait.noted > self.noted:
            self.noted = wait.noted
        if self.pending.upto > 0:
            self._kill(row, time)
        elif self._height > 0:  # no pair needs the past values any more
            self._height = 0
            self._asked = BEFORE

    def starts_of(self, handle: i64) -> Starts:
        return self._wait.starts

    def level(self, place: i64) -> float:
        """The value from which on an event kills."""
        return self._wait.points[place * self.template.wait.d + self.template.killed]

    def _kill(self, row: Row, time: i64) -> None:
        """Record the value by which an event kills."""
        kill, x, killed = self.template.kill, self.template.x, self.template.killed
        x[killed] = INFINITY
        if kill.narrows(row, time, time, x, 0, x, 0) and kill.admits(row):
            height = self._height
            while height > 0 and self._levels[height - 1] <= x[killed]:
                height -= 1
            self._levels = put(self._levels, height, x[killed])
            self._times = put_integer(self._times, height, time)
            self._height = height + 1
            self._asked = BEFORE
            self.alive = False

    def dies(self, handle: i64, level: float, completed: i64) -> bool:
        """O(log), and O(1) for the next pair that was completed at that time."""
        if completed != self._asked:
            low = self._after(completed)
            self._greatest = self._levels[low] if low < self._height else NAN
            self._asked = completed
        return level <= self._greatest

    def _after(self, time: i64) -> i64:
        """The first value that was recorded after a time. O(log)."""
        low: i64 = 0
        high = self._height
        times = self._times
        while low < high:
            middle = (low + high) >> 1
            if times[middle] <= time:
                low = middle + 1
            else:
                high = middle
        return low

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        kills = [(self._levels[i], int(self._times[i])) for i in range(self._height)]
        return {**super().dump(), "kills": kills}

    def load(self, dumped: dict[str, Any]) -> None:
        super().load(dumped)
        for i, (level, time) in enumerate(dumped["kills"]):
            self._levels, self._times = put(self._levels, i, level), put_integer(self._times, i, time)
        self._height = len(dumped["kills"])
        self._asked = BEFORE

    def check_invariants(self) -> None:
        super().check_invariants()
        for i in range(1, int(self._height)):
            assert self._levels[i - 1] > self._levels[i]
            assert self._times[i - 1] <= self._times[i]
