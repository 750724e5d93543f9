"""Runs that all members of a group have in common: the interface between a group and who keeps such runs.

A group knows members and their constants, an executor of patterns knows runs. The planner gives the one to the other,
because no executor knows another.

Here: that interface. Not here: members (groups), runs (kleene).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from mypy_extensions import i64

from ...automaton.analyses.template import CommonLine
from ...events.instant import FOREVER
from ...events.schema import Row
from ..matches.match_graph import Found
from ..matches.sources import Assigned, Item
from ..options import Options
from ..program.account import Account
from .contract import KeptState
from .packed import Floats, Integers, floats, integers


class CommonMatches:
    """The matches of common runs, by number, for unread results."""

    def of(self, numbers: Integers, upto: i64, row: Row, time: i64, item: Item) -> Found:
        """The matches with these numbers. `upto`: the runs' own when the event with these values completed them."""
        raise AssertionError


class CommonRuns(KeptState):
    """The runs of one key.

    After each event: `begun`: whether it began a run; `ended`: the numbers of the matches that it completed, `count` of
    them, oldest runs first; `starts`: for each the number of its run's start. The first event for which `begun` was set
    is start 0, and so on. What the constants of a whole match bound: with `rows` false `registers`, as many for each
    match as the pattern has; otherwise `values`, those of its results and all compared ones. `lost`: how often a limit
    was hit since it was last set to 0.
    """

    def __init__(self) -> None:
        self.begun = False
        self.rows = False
        self.count: i64 = 0
        self.low: i64 = 0
        self.upto: i64 = 0
        self.lost: i64 = 0
        self.ended: Integers = integers()
        self.starts: Integers = integers()
        self.registers: Floats = floats()
        self.values: list[Row] = []
        self.matches = CommonMatches()

    def take(self, mask: i64, row: Row, time: i64, position: i64, place: i64, item: Item) -> None:
        """Process an event of the key. `mask`: that of the pattern, without `begins` or `ends` if the constants of no
        member allow it to be the first event of a match, or its last one."""
        raise AssertionError

    def end(self, time: i64) -> bool:
        """Let an event that no run takes end all runs, if nothing but time decides that: `low` is then the first of
        them, of which each has one match with its own number, and `ended` and `starts` are not set. If False, the event
        has to be taken."""
        return False

    def live(self, time: i64) -> Iterator[tuple[int, Assigned, Row]]:
        """The start and the events of each run, and its compared values if it has met any constant; for users."""
        raise AssertionError

    def settle(self, time: i64, position: i64) -> i64:
        """Drop what no event from this one on can continue; returns the remaining size."""
        raise AssertionError

    def oldest(self) -> int:
        """The number of the first start that still has runs, or of the next one. O(runs and their events)."""
        raise AssertionError


class CommonPattern:
    """The runs of a template, for one group. `registers`: by constant of a whole match which register of runs without
    `rows` it bounds, -1 for none. `begins`, `ends`: what a mask has of an event that may be the first of a match, or a
    last single one; 0 if the last one is not single. `window`: how long a run lasts."""

    def __init__(self) -> None:
        self.registers: list[int] = []
        self.begins: i64 = 0
        self.ends: i64 = 0
        self.window: i64 = FOREVER

    def mask(self, row: Row) -> i64:
        """What an event may be in a match, but for constants that differ; 0 for nothing."""
        raise AssertionError

    def afford(self, texts: int) -> None:
        """Let runs of so many texts spend what those of one may."""
        raise AssertionError

    def bound(self, least: Floats, single: bool) -> None:
        """Set the least coordinates of all members, which runs may use to report fewer matches. `single`: they are the
        constants of the only member, so that runs report what matches these and no more, if `rows` is false."""
        raise AssertionError

    def runs(self) -> CommonRuns:
        """The runs of a key, none so far."""
        raise AssertionError


Keeper: TypeAlias = Callable[[CommonLine, Sequence[int], Account, Options], CommonPattern]
"""Makes the runs of a template for a group. The numbers: which coordinate each constant of a whole match is."""
