"""Cells that log the events of a window by what they may be in a match; each member's are read off when one ends it.

A log has the events of each text that may take their place for some member. An event that may be the last finds the
members whose constants it satisfies, and for which the greatest values of each log may do, too.

Here: what such cells do for their hosts. Not here: logs (beginnings), the matches of a member (any_match, selection).
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from .beginnings import TextLog
from .cell import GroupCell
from .members import Members


class LoggedCell(GroupCell):
    """`logs`: the events of each place. The first `kept` are those that matches have, the others forbid."""

    def __init__(self, members: Members, logs: list[TextLog], kept: i64) -> None:
        super().__init__(members)
        self.logs = logs
        self.kept: i64 = kept
        for log in logs:
            log.clear()

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        return not any(log.waits(time) for log in self.logs)

    def oldest(self, event: i64) -> i64:
        for log in self.logs:
            event = log.oldest(event)
        return event

    def used(self, events: set[int]) -> None:
        for log in self.logs[: int(self.kept)]:
            log.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {"logs": [log.dump() for log in self.logs]}

    def load(self, dumped: dict[str, Any]) -> None:
        for log, saved in zip(self.logs, dumped["logs"]):
            log.load(saved)

    def check_invariants(self) -> None:
        self.members.check_invariants()
        for log in self.logs:
            log.check_invariants(self.members)
