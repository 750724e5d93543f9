"""Any match: sequences in which every combination counts (skip_till_any_match; P-ToPSS's `;`), within a window.

The cost depends on the output. An event that may be the last finds the members that it completes and whose other steps
the window may satisfy. For each of these members, the events of every step are read off the window, block by block,
into lists. A match takes one event of each list, ascending. A sum of prefix counts over the lists gives their number,
so that combinations are made only when they are read. Every event is an epoch.

Here: one key. Not here: conditions between two times of a tuple, adjacency.
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import LARGE, TOO_MANY, MatchBlocks, combined
from .cell import GroupCell
from .columns import INFINITY, NAN, Floats, filled
from .members import Members
from .starts import NONE, Starts
from .steps import StepClause


@final
class AnyTemplate:
    """The steps, each with bounds of its own coordinates.

    The window is `within` for all, or each member's own `window`.
    """

    def __init__(self, d: int, steps: list[StepClause], *, within: int = NONE, window: int = NONE) -> None:
        assert within >= 0 or window >= 0, "what is kept must have an end"
        self.d: i64 = d
        self.steps = steps
        self.within: i64 = within
        self.window: i64 = window


@final
class AnyCell(GroupCell):
    """For each step but the last, the events in the window that may satisfy it for a member."""

    def __init__(self, template: AnyTemplate, members: Members | None = None) -> None:
        super().__init__(Members(template.d) if members is None else members)
        self.template = template
        before = len(template.steps) - 1
        self._logs = [Starts(template.d, NONE, template.window) for _ in range(before)]
        self._heads = [0] * before
        self._kept = [0] * before
        self._x: Floats = filled(template.d, INFINITY)
        self._top: Floats = filled(template.d, INFINITY)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. O(blocks of the window), and for each member found O(blocks and its events)."""
        template, x = self.template, self._x
        self._forget(time)
        j: i64
        for j in range(template.d):
            x[j] = INFINITY
        last = template.steps[-1]
        if last.narrows(row, time, time, x, 0, x, 0) and last.admits(row):
            if template.window >= 0:
                x[template.window] = 0.0
            self._complete(time, out)
        for log, clause in zip(self._logs, template.steps):
            at = log.open()
            if clause.narrows(row, time, time, log.values, at, log.values, at):
                if self.members.possible(log.values, at) and clause.admits(row):
                    log.keep(time, event)
                    self.noted = event

    def _complete(self, time: i64, out: MatchBlocks) -> None:
        """The members that the event and the window may satisfy, each with the events of its steps."""
        members, x, top = self.members, self._x, self._top
        d = self.template.d
        j: i64
        for step, log in enumerate(self._logs):
            for j in range(d):
                top[j] = -INFINITY
            log.raise_by_blocks(top, self._heads[step], log.count)
            for j in range(d):
                if top[j] < x[j]:
                    x[j] = top[j]
        found = members.find_points(NAN, x, 0, out)
        begun = out.members_upto - found
        hit: i64
        for hit in range(found):
            self._tell(hit, begun, time, out)

    def _tell(self, hit: i64, begun: i64, time: i64, out: MatchBlocks) -> None:
        logs = self._logs
        path = out.paths_upto
        since = out.hits_since[hit]
        at = hit * self.template.d
        if len(logs) == 1:
            count = logs[0].walk(out.hits, at, since, self._heads[0], logs[0].count, time, out)
            if count > 0:
                out.close_one(begun + hit, path, count, 1)
            return
        step: i64 = 0
        for log in logs:
            place = out.paths_upto
            out.add_number(0)
            count = log.walk(out.hits, at, since, self._heads[step], log.count, time, out)
            if count == 0:
                out.paths_upto = path
                return
            out.paths[place] = count
            step += 1
        ways = combinations(out, path, step)
        if ways == 0:
            out.paths_upto = path
        else:
            out.close_combined(begun + hit, path, step, ways)

    def _forget(self, time: i64) -> None:
        """Skip the events that no window holds; drop them when they are as many as the rest."""
        template = self.template
        longest = -float(template.within) if template.within >= 0 else self.members.root[template.window]
        for step, log in enumerate(self._logs):
            head = log.passed(time, longest, self._heads[step], log.count)
            self._heads[step] = head
            if log.count > 2 * self._kept[step] + 128:
                log.retain([i >= head for i in range(log.count)])
                self._heads[step], self._kept[step] = 0, log.count

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        self._forget(time)
        return all(self._heads[step] == log.count for step, log in enumerate(self._logs))

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        lists: list[list[int]] = []
        found: list[tuple[int, ...]] = []
        for step, log in enumerate(self._logs):
            lists.append([event for (event,) in log.waiting(point, since, self._heads[step], log.count, time)])
            found += combined(lists)
        return found

    def used(self, events: set[int]) -> None:
        for log in self._logs:
            log.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {"heads": list(self._heads), "logs": [log.dump() for log in self._logs]}

    def load(self, dumped: dict[str, Any]) -> None:
        self._heads = list(dumped["heads"])
        for step, (log, each) in enumerate(zip(self._logs, dumped["logs"])):
            log.load(each)
            self._kept[step] = int(log.count)

    def statistics(self) -> dict[str, int]:
        return {**self.members.statistics(), "events": sum(int(log.count) for log in self._logs)}

    def check_invariants(self) -> None:
        self.members.check_invariants()
        for log in self._logs:
            log.check_invariants()


def combinations(out: MatchBlocks, path: i64, steps: i64) -> i64:
    """The number of ascending combinations of the lists written behind `path`; TOO_MANY beyond 62 bits. O(lists).

    The counts are stored behind the lists, where the next numbers will be written.
    """
    paths = out.room_for_paths(out.paths_upto - path)
    ways = out.paths_upto  # for each number the count of combinations that end there
    at = path
    before: i64 = 0  # the previous list: start of its numbers, start of its counts, length
    before_ways: i64 = 0
    count: i64 = 0
    total: i64 = 0
    size = 1.0
    step: i64
    for step in range(steps):
        length = paths[at]
        size *= float(length)
        if size > LARGE:
            return TOO_MANY
        i: i64 = 0
        sum_before: i64 = 0
        total = 0
        j: i64
        for j in range(length):
            number = paths[at + 1 + j]
            if step == 0:
                sum_before = 1
            else:
                while i < count and paths[before + i] < number:
                    sum_before += paths[before_ways + i]
                    i += 1
            paths[ways + j] = sum_before
            total += sum_before
        before, before_ways, count = at + 1, ways, length
        ways += length
        at += 1 + length
    return total
