"""Waiting: a run stays until its own guard holds (CEL's skip-till NEXT, a step of SASE+ with skip_till_next_match).

The guard has one constant, coordinate 0 (q). A member waits since a start s if no event since had a value of q or more:
if q is above the *peak*, the greatest value since s. Peaks fall towards the newest start, so starts are a stack of
groups of equal peak. An event merges the groups that it surpasses: amortised O(1). In each group of peak < y, an event
of value y completes exactly the members with peak < q <= min(y, peak of the group before), with the starts of this
group and of all newer ones whose values dominate them.

With a negation between start and end (`a, ~n, c`), the walk over starts goes back from the newest, and stops at the
first event that kills the member. Steps after the wait (`later`) make cohorts instead of matches, as in a chain. The
members of such a cohort are those of a range: `above < q <= y`; the starts are looked up when the last step ends.

Epochs: peaks and starts of a time count from the key's next later event on (`arrival`: from its next event on).

Here: the stack of one key. Not here: the columns of starts (starts), the conditions (wait_template).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from ..packed import shifted
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, Integers, filled_integers, floats, integers, put, put_integer, with_room
from .members import Members
from .starts import Starts
from .steps import Stretch
from .wait_template import WaitTemplate

# The integers of a cohort after the wait; its events follow.
DEPTH: Final = 0
BEGIN: Final = 1
END: Final = 2
EVENTS: Final = 3
SWEEP_MIN: Final = 32


@final
class WaitCell(GroupCell):
    """The stack of groups: `_peaks`, `_begins` (their first start), from `_bottom` to below `_height`."""

    def __init__(self, template: WaitTemplate, members: Members | None = None) -> None:
        super().__init__(Members(template.d) if members is None else members)
        self.template = template
        self.now: i64 = -(1 << 62)
        d = template.d
        self.starts = Starts(d, template.killed, template.window, template.extra)
        self.keeps_points = False  # whether `points` has the points of all members found since the matches were cleared
        self.points: Floats = floats()
        self._fresh: i64 = 0  # where the starts of `now` begin
        self.peak = -INFINITY  # the greatest value of `now`
        self._peaks: Floats = floats()
        self._begins: Integers = integers()
        self._tops: Floats = floats()  # the greatest values of each group, perhaps too high
        self._head: i64 = 0  # earlier starts are out of every window
        self._bottom: i64 = 0
        self._height: i64 = 0
        self._kept: i64 = 0  # starts after the last sweep
        each: i64 = len(template.later)
        self._waiting = Stretch(d + 1, EVENTS + each + 1)  # the value at index `d` is `above`
        self._new = Stretch(d + 1, EVENTS + each + 1)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. Amortised O(1), and for each surpassed group a lookup and the members found."""
        self.see(row, time, event, out)
        self.start(row, time, event)

    def see(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Write the completions of the event."""
        template = self.template
        if time > self.now or template.arrival:
            self.settle(time)
        if template.goes_on and self._waiting.count > 0:
            self._go_on(row, time, event, out)
        y = template.y
        y[0] = INFINITY
        wait = template.wait
        if wait.narrows(row, time, time, y, 0, y, 0) and wait.admits(row):
            if self._height > self._bottom:
                self._surpass(y[0], time, event, out)
            if y[0] > self.peak:
                self.peak = y[0]

    def start(self, row: Row, time: i64, event: i64) -> None:
        """Record that the event begins runs, or kills."""
        template, starts, members = self.template, self.starts, self.members
        d = template.d
        at = starts.open()
        values = starts.values
        begins = template.begin.narrows(row, time, time, values, at, values, at)
        begins = begins and members.possible(values, at) and template.begin.admits(row)
        kill, killed = template.kill, template.killed
        if kill is not None:
            j: i64
            if not begins:
                for j in range(at, at + d):
                    values[j] = -INFINITY
            values[at + killed] = INFINITY
            kills = kill.narrows(row, time, time, values, at, values, at) and kill.admits(row)
            kills = kills and values[at + killed] >= members.root[killed]
            if not kills:
                values[at + killed] = -INFINITY
            begins = begins or kills
        if begins:
            starts.keep(time, event)
            self.noted = event

    def _surpass(self, y: float, time: i64, event: i64, out: MatchBlocks) -> None:
        """Complete, in each group of a lower peak, the members that the value reaches."""
        template, members, peaks, tops = self.template, self.members, self._peaks, self._tops
        d, top, killed, window, fresh = template.d, template.top, template.killed, template.window, self._fresh
        j: i64
        for j in range(d):
            top[j] = -INFINITY
        group, bottom = self._height - 1, self._bottom
        while group >= bottom and peaks[group] < y:
            base = group * d
            for j in range(d):
                if tops[base + j] > top[j]:
                    top[j] = tops[base + j]
            above = peaks[group]
            top[0] = peaks[group - 1] if group > bottom and peaks[group - 1] < y else y
            if killed >= 0:
                top[killed] = INFINITY
            if window >= 0:
                top[window] = -float(template.extra)
            if above < members.top:  # otherwise nobody waits there
                begin = max(self._begins[group], self._head)
                if not template.goes_on:
                    self._complete(above, top, 0, begin, fresh, time, integers(), out)
                elif members.possible(top, 0):
                    self._promise(above, top, begin, fresh, event)
            group -= 1

    def _complete(
        self, above: float, x: Floats, at: i64, begin: i64, end: i64, time: i64, suffix: Integers, out: MatchBlocks
    ) -> None:
        """Write the members of a range that values dominate, each with its starts from `begin` to `end`."""
        begun = out.members_upto
        found = self.members.find_points(above, x, at, out)
        if found == 0:
            return
        d, starts = self.template.d, self.starts
        hit: i64
        if self.keeps_points:
            self.points = with_room(self.points, (begun + found) * d)
            for hit in range(found * d):
                self.points[begun * d + hit] = out.hits[hit]
        width: i64 = len(suffix) + 1
        for hit in range(found):
            path = out.paths_upto
            count = starts.walk(out.hits, hit * d, out.hits_since[hit], begin, end, time, out)
            if count > 0:
                out.extend(path, count, suffix)
                out.close_one(begun + hit, path, count, width)

    # --- steps behind the wait ----------------------------------------------------------------------------------

    def _promise(self, above: float, top: Floats, begin: i64, end: i64, event: i64) -> None:
        """Add a cohort: members of a range, with the starts from `begin` to `end`, wait for the next event."""
        new, d = self._new, self.template.d
        at = new.open(d)
        j: i64
        for j in range(d):
            new.floats[at + j] = top[j]
        new.floats[at + d] = above
        place = new.count * new.integers_each
        new.integers[place + DEPTH], new.integers[place + BEGIN], new.integers[place + END] = 0, begin, end
        new.integers[place + EVENTS] = event
        new.count += 1
        self.noted = event

    def _go_on(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Move each cohort one step on, or complete it."""
        template, waiting, new = self.template, self._waiting, self._new
        last: i64 = len(template.later) - 1
        numbers, each = waiting.integers, waiting.integers_each
        i: i64
        j: i64
        for i in range(waiting.count):
            old = i * each
            depth = numbers[old + DEPTH]
            clause = template.later[depth]
            at = new.copy(waiting, i)
            if not clause.admits(row):
                continue
            if not clause.narrows(row, time, time, new.floats, at, new.floats, at):
                continue
            if not self.members.possible(new.floats, at):
                continue
            if depth < last:
                place = new.count * each
                for j in range(EVENTS + depth + 1):
                    new.integers[place + j] = numbers[old + j]
                new.integers[place + DEPTH] = depth + 1
                new.integers[place + EVENTS + depth + 1] = event
                new.count += 1
                self.noted = event
            else:
                suffix = filled_integers(depth + 1, 0)
                for j in range(depth + 1):
                    suffix[j] = numbers[old + EVENTS + j]
                above = new.floats[at + template.d]
                begin, end = numbers[old + BEGIN], numbers[old + END]
                self._complete(above, new.floats, at, begin, end, time, suffix, out)

    # --- the stack ----------------------------------------------------------------------------------------------

    def settle(self, time: i64) -> None:
        """End the epoch: its peak surpasses groups, and its starts become a new group."""
        if self.template.goes_on and (self._waiting.count > 0 or self._new.count > 0):
            self._waiting, self._new = self._new, self._waiting
            self._new.count = 0
        self.now = time
        peak, count = self.peak, self.starts.count
        merged: i64 = self._height
        peaks = self._peaks
        while merged > self._bottom and peaks[merged - 1] <= peak:
            merged -= 1
        if merged < self._height:  # the oldest surpassed group stands for all
            peaks[merged] = peak
            d, tops = self.template.d, self._tops
            i = (merged + 1) * d
            while i < self._height * d:
                j: i64
                for j in range(d):
                    if tops[i + j] > tops[merged * d + j]:
                        tops[merged * d + j] = tops[i + j]
                i += d
            self._height = merged + 1
        if count > self._fresh:
            if self._height > self._bottom and peaks[self._height - 1] == -INFINITY:  # nothing surpassed it
                self.starts.raise_to(self._tops, (self._height - 1) * self.template.d, self._fresh, count)
            else:
                self._push(-INFINITY, self._fresh, count)
        self._fresh = count
        self.peak = -INFINITY
        if self._bottom < self._height:
            self._let_go(time)
        if count > 2 * self._kept + SWEEP_MIN:
            if 2 * self._head > count and self._waiting.count == 0:
                self._drop_passed()
            else:
                self._sweep()

    def _let_go(self, time: i64) -> None:
        """Drop the oldest groups if they are out of every window, or no member waits in them any more."""
        template = self.template
        if template.within >= 0 or template.window >= 0:
            longest = -float(template.within) if template.within >= 0 else self.members.root[template.window]
            self._head = self.starts.passed(time + template.extra, longest, self._head, self._fresh)
        greatest = self.members.top if self._peaks[self._bottom] > -INFINITY else INFINITY
        while self._bottom < self._height:
            end = self._begins[self._bottom + 1] if self._bottom + 1 < self._height else self._fresh
            if self._peaks[self._bottom] < greatest and end > self._head:
                break
            self._bottom += 1

    def _push(self, peak: float, begin: i64, end: i64) -> None:
        """Make a group of the starts from `begin` to `end`."""
        height, d = self._height, self.template.d
        self._peaks = put(self._peaks, height, peak)
        self._begins = put_integer(self._begins, height, begin)
        self._tops = tops = with_room(self._tops, (height + 1) * d)
        j: i64
        for j in range(height * d, (height + 1) * d):
            tops[j] = -INFINITY
        self.starts.raise_to(tops, height * d, begin, end)
        self._height = height + 1

    def _drop_passed(self) -> None:
        """Drop the starts that are out of every window. O(starts that stay)."""
        bottom, d = self._bottom, self.template.d
        cut = self.starts.drop_first(self._head)
        self._head -= cut
        self._fresh -= cut
        i: i64
        for i in range(bottom, self._height):
            self._peaks[i - bottom] = self._peaks[i]
            self._begins[i - bottom] = max(0, self._begins[i] - cut)
        shifted(self._tops, bottom * d, self._height * d)
        self._bottom, self._height = 0, self._height - bottom
        self._kept = self.starts.count - self._head

    def _sweep(self) -> None:
        """Keep the starts that a member may need. O(groups * members + starts)."""
        starts, waiting, d = self.starts, self._waiting, self.template.d
        head = int(self._head)
        wanted = [False] * int(starts.count)
        pinned = int(starts.count)  # from here on cohorts need the starts of members above `least`
        least = INFINITY
        for i in range(waiting.count):
            pinned = min(pinned, int(waiting.integers[i * waiting.integers_each + BEGIN]))
            least = min(least, waiting.floats[i * waiting.floats_each + d])
        begins = [int(self._begins[at]) for at in range(self._bottom, self._height)]
        peaks = [self._peaks[at] for at in range(self._bottom, self._height)]
        ends = [*begins[1:], int(starts.count)] if begins else []
        for begin, end, peak in zip(begins, ends, peaks):
            self._want(wanted, max(begin, head), end, min(peak, least) if end > pinned else peak)
        if waiting.count:
            self._want(wanted, pinned, begins[0] if begins else int(starts.count), least)
        moved = starts.retain(wanted)
        self._head = moved[int(self._head)]
        self._bottom = self._height = 0
        for begin, end, peak in zip(begins, ends, peaks):
            if moved[end] > moved[begin]:
                self._push(peak, moved[begin], moved[end])
        for i in range(waiting.count):
            for field in (BEGIN, END):
                place = i * waiting.integers_each + field
                waiting.integers[place] = moved[int(waiting.integers[place])]
        self._fresh = self._kept = starts.count

    def _want(self, wanted: list[bool], begin: int, end: int, peak: float) -> None:
        """Mark the starts from `begin` to `end` that a member above the peak may need, and those that kill."""
        starts, d, killed = self.starts, self.template.d, self.template.killed
        corner = self.members.least_above(peak)
        asked = [j for j in range(1, d) if j not in (killed, self.template.window)]
        for i in range(begin, end):
            values = starts.values
            wanted[i] = all(corner[j] <= values[i * d + j] for j in asked) or (
                killed >= 0 and values[i * d + killed] >= self.members.root[killed]
            )

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        template, starts = self.template, self.starts
        if self._waiting.count > 0 or self._new.count > 0:
            return False
        if self._height == self._bottom and starts.count == self._fresh:
            return True
        longest = -float(template.within) if template.within >= 0 else -INFINITY
        if template.window >= 0:
            longest = self.members.root[template.window]
        return starts.since_time(time + template.extra, longest, 0, starts.count) == starts.count

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        """Starts that wait; cohorts after the wait are not included."""
        first = self.waiting_from(point[0]) if self.peak < point[0] else self._fresh
        return self.starts.waiting(point, since, max(first, self._head), self.starts.count, time)

    def waiting_from(self, q: float) -> i64:
        """The first start with which members of that constant wait, but for what events of `now` have ended."""
        begin, group = self._fresh, self._height - 1
        while group >= self._bottom and self._peaks[group] < q:
            begin = self._begins[group]
            group -= 1
        return begin

    def oldest(self, event: i64) -> i64:
        event = self.starts.oldest(event)
        for stretch in (self._waiting, self._new):
            i: i64
            for i in range(stretch.count):
                event = min(event, stretch.integers[i * stretch.integers_each + EVENTS])
        return event

    def used(self, events: set[int]) -> None:
        self.starts.used(events)
        for stretch in (self._waiting, self._new):
            for i in range(stretch.count):
                place = i * stretch.integers_each
                depth = int(stretch.integers[place + DEPTH])
                events.update(int(stretch.integers[place + EVENTS + j]) for j in range(depth + 1))

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        stack = [(self._peaks[i], int(self._begins[i])) for i in range(self._bottom, self._height)]
        return {
            "now": int(self.now), "fresh": int(self._fresh), "peak": self.peak, "head": int(self._head),
            "stack": stack, "starts": self.starts.dump(), "waiting": self._waiting.dump(), "new": self._new.dump(),
        }  # fmt: skip

    def load(self, dumped: dict[str, Any]) -> None:
        self.now, self._fresh, self.peak, self._head = dumped["now"], dumped["fresh"], dumped["peak"], dumped["head"]
        self.starts.load(dumped["starts"])
        self._bottom = self._height = 0
        stack = dumped["stack"]
        for i, (peak, begin) in enumerate(stack):
            self._push(peak, begin, stack[i + 1][1] if i + 1 < len(stack) else self._fresh)
        self._waiting.load(dumped["waiting"])
        self._new.load(dumped["new"])
        self._kept = self.starts.count

    def statistics(self) -> dict[str, int]:
        groups = int(self._height - self._bottom)
        return {**self.members.statistics(), "groups": groups, "starts": int(self.starts.count)}

    def check_invariants(self) -> None:
        self.members.check_invariants()
        self.starts.check_invariants()
        for i in range(self._bottom + 1, self._height):
            assert self._peaks[i - 1] > self._peaks[i], "peaks fall towards the newest"
            assert self._begins[i - 1] < self._begins[i]
        assert 0 <= self._fresh <= self.starts.count
