"""Cells that log the events of a window by what they may be in a match; each member's are read off when one ends it.

A log has a row for each event that may take its place for some member. An event that may be the last finds the members
whose constants it satisfies, and for which the greatest values of each log may do, too.

Here: these logs. Not here: the matches of a member (selection).
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from ....events.schema import Row
from .cell import GroupCell
from .columns import INFINITY, Floats, Integers, filled, integers_from
from .kept_events import KeptEvents
from .members import Members
from .starts import NONE, Starts
from .steps import StepClause


class LoggedCell(GroupCell):
    """`logged`: what the events of each log are asked, by the place of a coordinate in the log's `axes`. `window`: the
    coordinate of WITHIN. `events`: those that the group keeps."""

    def __init__(
        self, d: int, logged: list[StepClause], axes: list[list[int]], window: int, members: Members, events: KeptEvents
    ) -> None:
        super().__init__(members)
        self.d: i64 = d
        self.logged = logged
        self.events = events
        self.axes: list[Integers] = [integers_from(each) for each in axes]
        self.logs = [Starts(len(each), each.index(window) if window in each else NONE) for each in axes]
        self.x: Floats = filled(d, INFINITY)
        self._top: Floats = filled(d, INFINITY)
        self._window: i64 = window
        self._kept = [0] * len(logged)

    def keep(self, row: Row, time: i64, event: i64) -> None:
        """Add an event to the logs."""
        root = self.members.root
        for log, clause, axes in zip(self.logs, self.logged, self.axes):
            at = log.open()
            values = log.values
            if clause.narrows(row, time, time, values, at, values, at):
                d: i64 = len(axes)
                j: i64 = 0
                while j < d and root[axes[j]] <= values[at + j]:
                    j += 1
                if j == d and clause.admits(row):
                    log.keep(time, event)
                    self.noted = event

    def lower(self, number: int) -> None:
        """Lower `x` to the greatest values of a log, or above. O(blocks)."""
        x, top, log, axes = self.x, self._top, self.logs[number], self.axes[number]
        d: i64 = len(axes)
        j: i64
        for j in range(d):
            top[j] = -INFINITY
        log.raise_by_blocks(top, log.head, log.count)
        for j in range(d):
            if top[j] < x[axes[j]]:
                x[axes[j]] = top[j]

    def drop(self, time: i64) -> None:
        """Skip the events that no window holds; drop them when they are as many as the rest."""
        longest = self.members.root[self._window]
        for number, log in enumerate(self.logs):
            log.head = log.passed(time, longest, log.head, log.count)
            if log.count > 2 * self._kept[number] + 128:
                log.head -= log.drop_first(log.head)
                self._kept[number] = log.count - log.head

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        self.drop(time)
        return all(log.head == log.count for log in self.logs)

    def oldest(self, event: i64) -> i64:
        for log in self.logs:
            event = log.oldest(event)
        return event

    def used(self, events: set[int]) -> None:
        for log in self.logs:
            log.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {"heads": [int(log.head) for log in self.logs], "logs": [log.dump() for log in self.logs]}

    def load(self, dumped: dict[str, Any]) -> None:
        for number, (log, head, each) in enumerate(zip(self.logs, dumped["heads"], dumped["logs"])):
            log.load(each)
            log.head = head
            self._kept[number] = int(log.count)

    def check_invariants(self) -> None:
        self.members.check_invariants()
        for log in self.logs:
            log.check_invariants()
