"""Tells the watchers of a chain's members where their runs wait, for those that ask for it, as forecasts do.

A cohort stands for a run of each member that its values dominate, so one lookup finds whom a cohort concerns: when it
begins to wait, when an event affects it, and where it ends. O(members whose runs move).

Here: these lookups. Hot. Not here: when a cohort begins and ends (chain), what a watcher makes of it (broker.engine
.forecasts).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...program.watcher import Watcher
from .blocks import MatchBlocks
from .columns import Floats, Integers
from .members import Members


@final
class MemberWatch:
    """The watchers of a group's members, by handle, each with the numbers that it gives to the steps."""

    def __init__(self, members: Members) -> None:
        self.members = members
        self._watchers: list[Watcher | None] = []
        self._states: list[list[int]] = []
        self._found = MatchBlocks()

    def watch(self, handle: int, watcher: Watcher, states: list[int]) -> None:
        """Tell a watcher of a member's runs from now on. `states`: its numbers of the states, by steps taken. O(1)."""
        while len(self._watchers) <= handle:
            self._watchers.append(None)
            self._states.append([])
        self._watchers[handle], self._states[handle] = watcher, states

    def unwatch(self, handle: int) -> None:
        """Undo one `watch`. O(1)."""
        self._watchers[handle], self._states[handle] = None, []

    def entered(self, depth: i64, born: i64, start: i64, x: Floats, at: i64, first: i64) -> None:
        """A cohort with the values from `at` on, whose first event is `first`, waits after `depth` steps."""
        self._tell(True, depth, born, start, x, at, first)

    def left(self, depth: i64, born: i64, start: i64, x: Floats, at: i64, first: i64) -> None:
        """Such a cohort waits no longer: an event has affected it."""
        self._tell(False, depth, born, start, x, at, first)

    def _tell(self, enters: bool, depth: i64, born: i64, start: i64, x: Floats, at: i64, first: i64) -> None:
        """Tell the watchers of the members of a cohort."""
        found = self._found
        found.members_upto = 0
        j: i64
        for j in range(self.members.find(x, at, first, found)):
            handle = found.members[j]
            watcher = self._watchers[handle]
            if watcher is None:
                continue
            page = watcher.page
            if page is not None and page.key is page.stream.current:
                if enters:
                    page.entered(watcher.slot, page.form.numbers[depth], born)
                else:
                    page.left(watcher.slot, page.form.numbers[depth], born)
                continue
            state = self._states[handle][depth]
            if enters:
                watcher.entered(state, born, start, None)
            else:
                watcher.left(state, born, start, None)

    def matched(self, born: i64, handles: Integers, first: i64, upto: i64) -> None:
        """Runs of these members have matched."""
        j: i64
        for j in range(first, upto):
            watcher = self._watchers[handles[j]]
            if watcher is not None:
                watcher.matched(born)
