"""Cells that log the events of a window by what they may be in a match; each member's are read off when one ends it.

A log has the events of each text that may take their place for some member. An event that may be the last finds the
members whose constants it satisfies, and for which the greatest values of each log may do, too.

Here: these logs. Not here: one text's (beginnings), the matches of a member (any_match, selection).
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from .beginnings import Beginning
from .cell import GroupCell
from .members import Members
from .text_members import Text


class LoggedCell(GroupCell):
    """`logs`: by place the events of each text. The first `kept` are those that matches have, the others forbid."""

    def __init__(self, members: Members, logs: list[dict[Text, Beginning]], kept: i64) -> None:
        super().__init__(members)
        self.logs = logs
        self.kept: i64 = kept
        for each in self.each():
            each.clear()

    def each(self) -> list[Beginning]:
        """The logs of all places and texts."""
        return [beginning for log in self.logs for beginning in log.values()]

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        return all(each.first_in_time(time) == each.starts.count for each in self.each())

    def oldest(self, event: i64) -> i64:
        for each in self.each():
            event = each.starts.oldest(event)
        return event

    def used(self, events: set[int]) -> None:
        for log in self.logs[: int(self.kept)]:
            for each in log.values():
                each.starts.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        logs: list[list[Any]] = []
        for log in self.logs:
            logs.append([[text, each.starts.dump()] for text, each in log.items() if each.starts.count > 0])
        return {"logs": logs}

    def load(self, dumped: dict[str, Any]) -> None:
        for log, saved in zip(self.logs, dumped["logs"]):
            for text, starts in saved:
                log[text].load(starts)

    def check_invariants(self) -> None:
        self.members.check_invariants()
        for each in self.each():
            each.starts.check_invariants()
