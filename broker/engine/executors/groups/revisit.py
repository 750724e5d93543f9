"""Revisiting: a run waits until a guard with several constants holds (skip-till NEXT, two steps of next match).

A box without an orthant would be many boxes, so the waiting members have no groups here. Instead each member knows
since when it waits: since the last event whose values satisfied its guard. An event finds the members whose guard holds
and that have a start which may count. Each of them matches with its starts since then, and then counts starts from this
event on, which is the member's new `since`. O(members whose guard holds), with or without matches.

Here: one key, with epochs or `arrival`. Not here: a guard with one constant (wait).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, NAN, Floats, filled
from .coordinates import narrowed
from .members import Members
from .starts import NONE, Starts
from .steps import StepClause

SWEEP_MIN: Final = 128


@final
class RevisitTemplate:
    """The conditions on a start, and the guard; windows as in a wait."""

    def __init__(
        self, d: int, begin: StepClause, wait: StepClause, *, window: int = NONE, extra: int = 0, within: int = NONE,
        arrival: bool = False,
    ) -> None:  # fmt: skip
        self.d: i64 = d
        self.begin = begin
        self.wait = wait
        self.window: i64 = window
        self.extra: i64 = extra
        self.within: i64 = within
        self.arrival = arrival


@final
class RevisitCell(GroupCell):
    """The starts of a key.

    `_touched`: members whose guard an event of `now` satisfied. They wait again from the next epoch on.
    """

    def __init__(self, template: RevisitTemplate, members: Members | None = None) -> None:
        super().__init__(Members(template.d) if members is None else members)
        self.template = template
        self.starts = Starts(template.d, NONE, template.window, template.extra)
        self.now: i64 = -(1 << 62)
        self._fresh: i64 = 0  # where the starts of `now` begin, and the number of its first event
        self._first: i64 = 0
        self._head: i64 = 0
        self._kept: i64 = 0
        self._touched: list[tuple[int, list[float]]] = []
        self._x: Floats = filled(template.d, INFINITY)
        self._top: Floats = filled(template.d, INFINITY)

    def forget(self, handle: int) -> None:
        self._touched = [each for each in self._touched if each[0] != handle]

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """An event of the key."""
        template, x, starts = self.template, self._x, self.starts
        if time > self.now or template.arrival:
            self._settle(time, event)
        j: i64
        for j in range(template.d):
            x[j] = INFINITY
        if narrowed(template.wait.bounds, row, time, time, x, 0, x, 0) and template.wait.admits(row):
            self._revisit(time, out)
        at = starts.open()
        values = starts.values
        if narrowed(template.begin.bounds, row, time, time, values, at, values, at):
            if self.members.possible(values, at) and template.begin.admits(row):
                starts.keep(time, event)
                self.noted = event

    def _revisit(self, time: i64, out: MatchBlocks) -> None:
        template, x, top, starts, members = self.template, self._x, self._top, self.starts, self.members
        d = template.d
        j: i64
        for j in range(d):
            top[j] = -INFINITY
        starts.raise_by_blocks(top, self._head, self._fresh)
        for j in range(d):
            if top[j] < x[j]:
                x[j] = top[j]
        if template.window >= 0:
            x[template.window] = -float(template.extra)
        found = members.find_points(NAN, x, 0, out)
        begun = out.members_upto - found
        hit: i64
        for hit in range(found):
            path = out.paths_upto
            at = hit * d
            since = members.hits_since[hit]
            count = starts.walk(members.hits, at, since, self._head, self._fresh, time, out)
            if count > 0:
                out.close_one(begun + hit, path, count, 1)
            point = [0.0] * d
            for j in range(d):
                point[j] = members.hits[at + j]
            self._touched.append((int(out.members[begun + hit]), point))

    def _settle(self, time: i64, event: i64) -> None:
        """End the epoch: members whose guard it satisfied count starts from its first event on."""
        for handle, point in self._touched:
            self.members.wait_since(handle, point, self._first)
        self._touched = []
        self.now, self._first, self._fresh = time, event, self.starts.count
        template = self.template
        if template.within >= 0:
            self._head = self.starts.since_time(time, -float(template.within), self._head, self._fresh)
        elif template.window >= 0:
            longest = self.members.root[template.window]
            self._head = self.starts.since_time(time + template.extra, longest, self._head, self._fresh)
        if self._fresh > 2 * self._kept + SWEEP_MIN:
            self._sweep()

    def _sweep(self) -> None:
        """Drop starts out of every window, and those before all starts that a member waits for. O(members + starts)."""
        oldest = min((since for _, _, since in self.members.each()), default=1 << 60)
        head = max(int(self._head), int(self.starts.since_event(oldest, 0, self.starts.count)))
        self.starts.retain([i >= head for i in range(self.starts.count)])
        self._head, self._fresh, self._kept = 0, self.starts.count, self.starts.count

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        """Of members that wait for nothing any more it knows nothing: only windows and sweeps drop starts."""
        template, starts = self.template, self.starts
        longest = -float(template.within) if template.within >= 0 else -INFINITY
        if template.window >= 0:
            longest = self.members.root[template.window]
        done = starts.since_time(time + template.extra, longest, 0, starts.count) == starts.count
        return done and len(self._touched) == 0

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        if any(touched == handle for touched, _ in self._touched):
            since = int(self._first)
        begins = [bound.coordinate for bound in self.template.begin.bounds]
        asked = [value if j in begins or j == self.template.window else -INFINITY for j, value in enumerate(point)]
        return self.starts.waiting(asked, since, self._head, self.starts.count, time)

    def used(self, events: set[int]) -> None:
        self.starts.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members and their `since`, which the host saves."""
        return {
            "now": int(self.now), "first": int(self._first), "fresh": int(self._fresh), "head": int(self._head),
            "touched": list(self._touched), "starts": self.starts.dump(),
        }  # fmt: skip

    def load(self, dumped: dict[str, Any]) -> None:
        self.now, self._first = dumped["now"], dumped["first"]
        self._fresh, self._head = dumped["fresh"], dumped["head"]
        self._touched = [(handle, list(point)) for handle, point in dumped["touched"]]
        self.starts.load(dumped["starts"])
        self._kept = self.starts.count

    def statistics(self) -> dict[str, int]:
        return {**self.members.statistics(), "starts": int(self.starts.count)}

    def check_invariants(self) -> None:
        self.members.check_invariants()
        self.starts.check_invariants()
