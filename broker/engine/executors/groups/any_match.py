"""Any match: events in which every combination counts (skip_till_any_match; P-ToPSS's `;`, AND, OR), within a window.

The steps of a match have an order, or one of several: `a AND b` is `a; b` and `b; a`, and `a OR b` is either alone.
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
from ..matches import Assigned
from .any_template import AnyTemplate, LastStep
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, NAN, Floats, filled
from .kept_events import KeptEvents
from .members import Members
from .starts import NONE, Starts
from .tuples import tell_tuples


@final
class AnyCell(GroupCell):
    """For each step behind which a match may go on, the events in the window that may satisfy it for a member.

    `events`: those that the group keeps, if matches have several orders.
    """

    def __init__(
        self, template: AnyTemplate, members: Members | None = None, events: KeptEvents | None = None
    ) -> None:
        super().__init__(Members(template.d) if members is None else members)
        self.template = template
        self._events = events
        before = len(template.logged)
        self._logs = [Starts(template.d, NONE, template.window) for _ in range(before)]
        self._kept = [0] * before
        self._x: Floats = filled(template.d, INFINITY)
        self._top: Floats = filled(template.d, INFINITY)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. O(blocks of the window), and for each member found O(blocks and its events)."""
        template, x = self.template, self._x
        self._forget(time)
        j: i64
        for last in template.lasts:
            clause = last.clause
            for j in range(template.d):
                x[j] = INFINITY
            if clause.narrows(row, time, time, x, 0, x, 0) and clause.admits(row):
                if template.window >= 0:
                    x[template.window] = 0.0
                if len(last.others) > 0:
                    self._complete(last, time, out)
                    continue
                begun = out.members_upto
                if self.members.find(x, 0, event, out) > 0:
                    out.order = last.numbers[0]
                    out.close_alone(begun)
        for log, clause in zip(self._logs, template.logged):
            at = log.open()
            if clause.narrows(row, time, time, log.values, at, log.values, at):
                if self.members.possible(log.values, at) and clause.admits(row):
                    log.keep(time, event)
                    self.noted = event

    def _complete(self, last: LastStep, time: i64, out: MatchBlocks) -> None:
        """The members that the event and the window may satisfy, each with the events of its steps."""
        members, x, top = self.members, self._x, self._top
        d = self.template.d
        j: i64
        for number in last.others:
            log = self._logs[number]
            for j in range(d):
                top[j] = -INFINITY
            log.raise_by_blocks(top, log.head, log.count)
            for j in range(d):
                if top[j] < x[j]:
                    x[j] = top[j]
        found = members.find_points(NAN, x, 0, out)
        begun = out.members_upto - found
        if found == 0:
            return
        hit: i64
        for order, number in zip(last.orders, last.numbers):
            out.order = number
            for hit in range(found):
                since = out.hits_since[hit]
                tell_tuples(self._logs, order, begun + hit, out.hits, hit * d, since, since, time, out)

    def _forget(self, time: i64) -> None:
        """Skip the events that no window holds; drop them when they are as many as the rest."""
        template = self.template
        if len(self._logs) == 0:
            return
        longest = -float(template.within) if template.within >= 0 else self.members.root[template.window]
        for number, log in enumerate(self._logs):
            log.head = log.passed(time, longest, log.head, log.count)
            if log.count > 2 * self._kept[number] + 128:
                log.head -= log.drop_first(log.head)
                self._kept[number] = log.count - log.head

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        self._forget(time)
        return all(log.head == log.count for log in self._logs)

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        return self.template.live(self._logs, point, since, time)

    def assigned(self, handle: int, point: list[float], since: int, time: i64) -> list[Assigned] | None:
        return self.template.assigned(self._logs, self._events, point, since, time)

    def oldest(self, event: i64) -> i64:
        for log in self._logs:
            event = log.oldest(event)
        return event

    def used(self, events: set[int]) -> None:
        for log in self._logs:
            log.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {"heads": [int(log.head) for log in self._logs], "logs": [log.dump() for log in self._logs]}

    def load(self, dumped: dict[str, Any]) -> None:
        for number, (log, head, each) in enumerate(zip(self._logs, dumped["heads"], dumped["logs"])):
            log.load(each)
            log.head = head
            self._kept[number] = int(log.count)

    def statistics(self) -> dict[str, int]:
        return {**self.members.statistics(), "events": sum(int(log.count) for log in self._logs)}

    def check_invariants(self) -> None:
        self.members.check_invariants()
        for log in self._logs:
            log.check_invariants()
