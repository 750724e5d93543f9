"""Next match: two steps, of which the second waits for several constants, or for one while events take time.

A run waits for the first event that satisfies its member's second condition. All runs of a member wait for the same
events, so one number a member says which runs still wait: those that have begun since the last of these events. An
event finds the members whose second condition it satisfies, and which may have begun since; each has a match with every
start that its point dominates, from that number on.

Nothing is stored for a run; for a member its number, and for the key the events that begin something. An event costs
the members whose condition it satisfies, whether or not one of their runs waits.

Where the second condition has one constant, and as long as events are points in time, a stack of starts costs only the
members that have a match (wait). The first event that takes time makes a number a member of it.

Epochs: an event sees the runs that have begun before it has, and it ends these with its epoch. `arrival`: each event is
an epoch of its own.

Here: one key. Not here: the same at other texts at other steps (other_keys).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, NAN, Floats, filled
from .last_met import BEFORE, LastMet
from .members import Members
from .starts import NONE, Starts
from .steps import StepClause
from .wait import WaitCell
from .wait_template import WaitTemplate

SWEEP_MIN: Final = 128
BOUNDED_MAX: Final = 256  # waiting starts up to which their greatest values are looked up


@final
class NextMatchTemplate:
    """The two conditions. `window`: the coordinate of an own WITHIN. `wait`: the same for points in time."""

    def __init__(
        self, d: int, begin: StepClause, end: StepClause, *, window: int = NONE, arrival: bool = False
    ) -> None:
        self.d: i64 = d
        self.begin = begin
        self.end = end
        self.window: i64 = window
        self.arrival = arrival
        single = not arrival and window < 0 and len(end.bounds) == 1
        self.wait = WaitTemplate(d, begin, end, []) if single else None
        self.x: Floats = filled(d, INFINITY)  # scratch for one event of one cell
        self.top: Floats = filled(d, INFINITY)


@final
class NextMatchCell(GroupCell):
    """The starts of a key. Since when runs wait is the number of an event with `arrival`, and a time otherwise."""

    def __init__(self, template: NextMatchTemplate, members: Members | None = None) -> None:
        super().__init__(Members(template.d) if members is None else members)
        self.template = template
        self.starts = Starts(template.d, NONE, template.window)
        self.now: i64 = BEFORE
        self._met = LastMet()
        self._head: i64 = 0  # earlier starts are out of every window
        self._kept: i64 = 0  # starts after the last sweep
        self._last: i64 = BEFORE  # the time of the last event
        self._stack = None if template.wait is None else WaitCell(template.wait, self.members)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. O(members whose second condition it satisfies, their starts)."""
        stack = self._stack
        if stack is not None:
            if self.began == time and (time > self._last or time == self.now):
                self.now = self._last = time
                stack.take(row, time, event, out)
                if stack.noted == event:
                    self.noted = event
                return
            self._leave_stack(stack)
        template, starts = self.template, self.starts
        if time > self.now or template.arrival:
            self.now = time
            self._met.epoch += 1
        if template.window >= 0:
            self._head = starts.passed(time, self.members.root[template.window], self._head, starts.count)
        if starts.count > self._head:
            self._meet(row, time, event, out)
        at = starts.open()
        begin = template.begin
        if begin.narrows(row, time, time, starts.values, at, starts.values, at):
            if self.members.possible(starts.values, at) and begin.admits(row):
                starts.keep(time, event)
                self.noted = event
                if starts.count > 2 * self._kept + SWEEP_MIN:
                    self._sweep()

    def _leave_stack(self, stack: WaitCell) -> None:
        """Note for each member since when its runs wait, and keep no stack any more. O(members x groups)."""
        starts = stack.starts
        for handle, point, _ in self.members.each():
            first = stack.waiting_from(point[0])
            since = starts.times[first - 1] + 1 if first > 0 else BEFORE
            self._met.put(handle, since, stack.now if point[0] <= stack.peak else BEFORE)
        self.starts, self._stack, self._kept = starts, None, starts.count

    def _meet(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Write the matches of the members whose second condition the event satisfies, and note that it does."""
        template, starts, members, x = self.template, self.starts, self.members, self.template.x
        d, arrival, head = template.d, template.arrival, self._head
        j: i64
        for j in range(d):
            x[j] = INFINITY
        if not template.end.narrows(row, time, time, x, 0, x, 0) or not members.possible(x, 0):
            return
        turn = event
        upto = starts.count
        newest = starts.events[upto - 1]
        if not arrival:
            turn = self.began
            if starts.times[upto - 1] >= turn:
                upto = starts.since_time(turn, 0.0, head, upto)
            if upto == head:
                return
            newest = starts.times[upto - 1]
        if upto - head <= BOUNDED_MAX:
            top = template.top
            for j in range(d):
                top[j] = -INFINITY
            starts.raise_by_blocks(top, head, upto)
            for j in range(d):
                if top[j] < x[j]:
                    x[j] = top[j]
        if template.window >= 0:
            x[template.window] = -float(time - starts.times[upto - 1])
        if not members.possible(x, 0) or not template.end.admits(row):
            return
        found = members.find_points(NAN, x, 0, out)
        begun = out.members_upto - found
        met = self._met
        hit: i64
        for hit in range(found):
            since = met.meets(out.members[begun + hit], turn)
            if since > newest:
                continue
            first = starts.begun_since(out.hits, hit * d, since, not arrival, head, upto)
            if first == upto:
                continue
            path = out.paths_upto
            count = starts.walk(out.hits, hit * d, out.hits_since[hit], first, upto, time, out)
            if count > 0:
                out.close_one(begun + hit, path, count, 1)

    def forget(self, handle: int) -> None:
        self._met.forget(handle)

    def close_epoch(self) -> None:
        self.now = BEFORE

    def _place(self, since: i64, first: i64, upto: i64) -> i64:
        """The first start from `first` to `upto` that has begun since. O(log)."""
        if since <= BEFORE:
            return first
        starts = self.starts
        return (
            starts.since_event(since, first, upto)
            if self.template.arrival
            else starts.since_time(since, 0.0, first, upto)
        )

    # --- keeping ------------------------------------------------------------------------------------------------

    def _sweep(self) -> None:
        """Drop the starts that no window holds, or that no member waits with. O(starts), or O(starts + members log)."""
        starts = self.starts
        if self.template.window >= 0:
            self._head -= starts.drop_first(self._head)
        else:
            self._head = starts.retain(self._wanted())[int(self._head)]
        self._kept = max(starts.count - self._head, self.members.count)

    def _wanted(self) -> list[bool]:
        """Which starts the members may wait with that have met nothing since: no more than the least corner says."""
        starts, d = self.starts, self.template.d
        waiting = [(self._first(handle, since), point) for handle, point, since in self.members.each()]
        waiting.sort(key=_by_start)
        corner = [INFINITY] * d
        wanted: list[bool] = []
        upto = 0
        for at in range(starts.count):
            while upto < len(waiting) and waiting[upto][0] <= at:
                corner = list(map(min, corner, waiting[upto][1]))
                upto += 1
            wanted.append(all(corner[j] <= starts.values[at * d + j] for j in range(d)))
        return wanted

    def _first(self, handle: int, since: int) -> int:
        """The first start that a member may wait with in the next epoch. O(log)."""
        count = self.starts.count
        first = self.starts.since_event(since, self._head, count)
        return int(self._place(self._met.since(handle, False), first, count))

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def _waiting(self) -> Starts:
        return self.starts if self._stack is None else self._stack.starts

    def quiet(self, time: i64) -> bool:
        starts, template = self.starts, self.template
        if self._stack is not None:
            return self._stack.quiet(time)
        if template.window < 0:
            return starts.count == 0
        return starts.since_time(time, self.members.root[template.window], self._head, starts.count) == starts.count

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        if self._stack is not None:
            return self._stack.live(handle, point, since, time)
        starts = self.starts
        first = self._place(self._met.since(handle, True), self._head, starts.count)
        return starts.waiting(point, since, first, starts.count, time)

    def oldest(self, event: i64) -> i64:
        return self._waiting().oldest(event)

    def used(self, events: set[int]) -> None:
        self._waiting().used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {
            "now": int(self.now), "last": int(self._last), "head": int(self._head), "met": self._met.dump(),
            "starts": self.starts.dump(), "stack": None if self._stack is None else self._stack.dump(),
        }  # fmt: skip

    def load(self, dumped: dict[str, Any]) -> None:
        self.now, self._last, self._head = dumped["now"], dumped["last"], dumped["head"]
        self._met.load(list(dumped["met"]))
        self.starts.load(dumped["starts"])
        self._kept = self.starts.count
        if dumped["stack"] is None:
            self._stack = None
        elif self._stack is not None:
            self._stack.load(dumped["stack"])

    def statistics(self) -> dict[str, int]:
        return {**self.members.statistics(), "starts": int(self._waiting().count)}

    def check_invariants(self) -> None:
        self.members.check_invariants()
        self.starts.check_invariants()
        if self._stack is not None:
            self._stack.check_invariants()
        assert 0 <= self._head <= self.starts.count


def _by_start(waiting: tuple[int, list[float]]) -> int:
    return waiting[0]
