"""Waiting starts: the values, time and event of each, oldest first; and the greatest values of every 16.

A row has one value for each of some coordinates, infinite if the start does not bound it.

Here: the columns, and walks over them. Hot. Not here: the members that wait (next_match, any_match).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ..packed import shifted, shifted_integers
from .blocks import MatchBlocks
from .columns import (
    INFINITY,
    Floats,
    Integers,
    filled_integers,
    floats,
    floats_from,
    integers,
    integers_from,
    roomy,
    with_room,
)

SHIFT: Final = 4  # of the size of a block
MASK: Final = 15
ROOMY: Final = 8  # columns that are so much longer than the starts are cut
NONE: Final = -1
NEAR: Final = 16  # starts that are looked at one by one


@final
class Starts:
    """`d` coordinates from `low` on. `window`: the coordinate of an own WITHIN, NONE for none. `head`: the first start
    that a window may still hold, where somebody keeps count of that."""

    def __init__(self, d: i64, window: i64 = NONE, low: i64 = 0) -> None:
        self.d: i64 = d
        self.low: i64 = low
        self.window: i64 = window
        self.count: i64 = 0
        self.head: i64 = 0
        self.values: Floats = floats()
        self.times: Integers = integers()
        self.events: Integers = integers()
        self._greatest: Floats = floats()

    def clear(self) -> None:
        """Drop all starts."""
        self.count = self.head = 0
        self._trim()

    def open(self) -> i64:
        """Room for another row, all infinite; returns where its coordinate 0 would be. The row counts after `keep`."""
        d, n = self.d, self.count
        if len(self.values) < (n + 1) * d:
            self.values = with_room(self.values, (n + 1) * d)
        values, at = self.values, n * d
        j: i64
        for j in range(at, at + d):
            values[j] = INFINITY
        return at - self.low

    def keep(self, time: i64, event: i64) -> None:
        """Make the row that was opened and filled the newest start."""
        d, n = self.d, self.count
        if len(self.times) <= n:
            self.times, self.events = roomy(self.times, n + 1), roomy(self.events, n + 1)
        self.times[n] = time
        self.events[n] = event
        block, at, first = (n >> SHIFT) * d, n * d, n & MASK == 0
        if first and len(self._greatest) < block + d:
            self._greatest = with_room(self._greatest, block + d)
        greatest, values = self._greatest, self.values
        j: i64
        for j in range(d):
            value = values[at + j]
            if first or value > greatest[block + j]:
                greatest[block + j] = value
        self.count = n + 1

    def raise_by_blocks(self, top: Floats, first: i64, upto: i64) -> None:
        """Raise values to the greatest of the starts from `first` to `upto`; many by whole blocks: they may be too
        high. O(blocks)."""
        d, low, greatest = self.d, self.low, self._greatest
        i: i64 = (first >> SHIFT) * d
        end: i64 = ((upto + MASK) >> SHIFT) * d
        if upto - first <= NEAR:
            greatest, i, end = self.values, first * d, upto * d
        j: i64
        while i < end:
            for j in range(d):
                if greatest[i + j] > top[low + j]:
                    top[low + j] = greatest[i + j]
            i += d

    # --- places -------------------------------------------------------------------------------------------------

    def since_time(self, now: i64, bound: float, first: i64, upto: i64) -> i64:
        """The first start from `first` to `upto` whose time, less now, is at least a bound. O(log).

        The difference is taken of integers: adding a time to a bound such as `next(-w)` would round it away.
        """
        times = self.times
        while first < upto:
            middle = (first + upto) >> 1
            if float(times[middle] - now) < bound:
                first = middle + 1
            else:
                upto = middle
        return first

    def passed(self, now: i64, bound: float, first: i64, upto: i64) -> i64:
        """The same by steps, for a place that only goes on. Amortised O(1)."""
        times = self.times
        while first < upto and float(times[first] - now) < bound:
            first += 1
        return first

    def since_event(self, event: i64, first: i64, upto: i64) -> i64:
        """The first start from `first` to `upto` that is not before an event. O(log)."""
        events = self.events
        while first < upto:
            middle = (first + upto) >> 1
            if events[middle] < event:
                first = middle + 1
            else:
                upto = middle
        return first

    def begun_since(self, points: Floats, at: i64, since: i64, timed: bool, first: i64, upto: i64) -> i64:
        """Where to walk from `first` to `upto` for a member's starts of a time or an event and later; `upto` if it has
        none, or it may have none if it has to walk far. `at`: where its point begins. O(log)."""
        numbers = self.times if timed else self.events
        d, values, window = self.d, self.values, self.window - self.low
        at += self.low
        last = upto - NEAR if upto - first > NEAR else first
        found = upto
        i = upto - 1
        j: i64
        while i >= last and numbers[i] >= since:
            base = i * d
            j = 0
            while j < d and (j == window or points[at + j] <= values[base + j]):
                j += 1
            if j == d:
                found = i
            i -= 1
        if i >= last or last == first:
            return found
        return self.since_time(since, 0.0, first, upto) if timed else self.since_event(since, first, upto)

    def newest_for(self, points: Floats, at: i64, since: i64, timed: bool) -> i64:
        """The event, or the time, of the newest start for a member whose point is at `at`; `since` if it has none of a
        later one. O(blocks since then)."""
        numbers = self.times if timed else self.events
        d, values, greatest = self.d, self.values, self._greatest
        at += self.low
        i = self.count - 1
        j: i64
        while i >= 0 and numbers[i] > since:
            base = (i >> SHIFT) * d
            j = 0
            while j < d and points[at + j] <= greatest[base + j]:
                j += 1
            if j < d:
                i = (i & ~MASK) - 1
                continue
            base = i * d
            j = 0
            while j < d and points[at + j] <= values[base + j]:
                j += 1
            if j == d:
                return numbers[i]
            i -= 1
        return since

    def next_for(self, points: Floats, at: i64, event: i64) -> i64:
        """The first start behind an event for a member whose point is at `at`; NONE if it has none there. O(log, and
        blocks between)."""
        d, count, values, greatest = self.d, self.count, self.values, self._greatest
        at += self.low
        i = self.since_event(event + 1, self.head, count)
        j: i64
        while i < count:
            base = (i >> SHIFT) * d
            j = 0
            while j < d and points[at + j] <= greatest[base + j]:
                j += 1
            if j < d:
                i = (i | MASK) + 1
                continue
            base = i * d
            j = 0
            while j < d and points[at + j] <= values[base + j]:
                j += 1
            if j == d:
                return self.events[i]
            i += 1
        return NONE

    def times_of(self, events: Integers, first: i64, count: i64) -> Integers:
        """The times of so many starts, whose events are there from `first` on, ascending. O(log) for each."""
        found = filled_integers(count, 0)
        at: i64 = 0
        i: i64
        for i in range(count):
            at = self.since_event(events[first + i], at, self.count)
            found[i] = self.times[at]
        return found

    # --- walks --------------------------------------------------------------------------------------------------

    def walk(self, points: Floats, at: i64, since: i64, first: i64, upto: i64, time: i64, out: MatchBlocks) -> i64:
        """Write the starts of a member from `first` to `upto`, oldest first; returns their number.

        The member's point is at `at`; meanwhile it changes. O(blocks and starts).
        """
        window = self.window
        if window < 0:
            return self._walk(points, at, since, first, upto, out)
        bound = points[at + window]  # own window: -w <= -(time - start)
        if first < upto and float(self.times[first] - time) < bound:
            first = self.since_time(time, bound, first + 1, upto)
        points[at + window] = -INFINITY
        count = self._walk(points, at, since, first, upto, out)
        points[at + window] = bound
        return count

    def _walk(self, points: Floats, at: i64, since: i64, first: i64, upto: i64, out: MatchBlocks) -> i64:
        """The same without a window of the member's own."""
        d = self.d
        if first < upto and self.events[first] < since:
            first = self.since_event(since, first, upto)
        j: i64
        values, greatest, events = self.values, self._greatest, self.events
        at += self.low
        several = d > 1  # the first two are compared without a loop
        p0 = points[at]
        p1 = points[at + 1] if several else p0
        path = out.paths_upto
        place = path
        i = first
        while i < upto:
            end = (i | MASK) + 1
            if end > upto:
                end = upto
            base = (i >> SHIFT) * d
            j = 0
            while j < d and points[at + j] <= greatest[base + j]:
                j += 1
            if j < d:
                i = end
                continue
            out.paths_upto = place
            paths = out.room_for_paths(end - i)
            base = i * d
            while i < end:
                if p0 <= values[base] and (not several or p1 <= values[base + 1]):
                    j = 2
                    while j < d and points[at + j] <= values[base + j]:
                        j += 1
                    if j >= d:
                        paths[place] = events[i]
                        place += 1
                i += 1
                base += d
        out.paths_upto = place
        return place - path

    # --- keeping ------------------------------------------------------------------------------------------------

    def retain(self, wanted: list[bool]) -> list[int]:
        """Keep only some starts; returns the new position of each old position, and of the end."""
        moved: list[int] = []
        values, n, d = self.values, self.count, self.d
        self.count = 0
        i: i64
        j: i64
        for i in range(n):
            moved.append(int(self.count))
            if wanted[i]:
                at = self.count * d
                for j in range(d):
                    values[at + j] = values[i * d + j]
                self.keep(self.times[i], self.events[i])
        moved.append(int(self.count))
        if len(self.times) > ROOMY * (self.count + MASK):
            self._trim()
        return moved

    def drop_first(self, count: i64) -> i64:
        """Drop the first starts, as many whole blocks of them as `count` has; returns how many. O(starts that stay)."""
        n, d = self.count, self.d
        cut = count & ~MASK
        if cut > 0:
            shifted(self.values, cut * d, n * d)
            shifted_integers(self.times, cut, n)
            shifted_integers(self.events, cut, n)
            shifted(self._greatest, (cut >> SHIFT) * d, ((n + MASK) >> SHIFT) * d)
            self.count = n - cut
            if len(self.times) > ROOMY * (self.count + MASK):
                self._trim()
        return cut

    def oldest(self, event: i64) -> i64:
        """The event of the oldest start, at most `event`."""
        return min(event, self.events[0]) if self.count > 0 else event

    def _trim(self) -> None:
        """Give back room. O(starts)."""
        n, d = self.count, self.d
        self.values = self.values[: n * d]
        self.times, self.events = self.times[:n], self.events[:n]
        self._greatest = self._greatest[: ((n + MASK) >> SHIFT) * d]

    def waiting(self, point: list[float], since: i64, first: i64, upto: i64, time: i64) -> list[tuple[int, ...]]:
        """The events of a member's starts from `first` to `upto`. O(those)."""
        out = MatchBlocks()
        self.walk(floats_from(point), 0, since, first, upto, time, out)
        return [(int(out.paths[i]),) for i in range(out.paths_upto)]

    def used(self, events: set[int]) -> None:
        """Add the events of all starts."""
        events.update(int(self.events[i]) for i in range(self.count))

    def dump(self) -> dict[str, object]:
        n = self.count
        return {
            "values": [self.values[i] for i in range(n * self.d)],
            "times": [int(self.times[i]) for i in range(n)],
            "events": [int(self.events[i]) for i in range(n)],
        }

    def load(self, dumped: dict[str, Any]) -> None:
        times = list(dumped["times"])  # values that were written and read come as tuples
        self.values, self.times = floats_from(list(dumped["values"])), integers_from(times)
        self.events, self.count = integers_from(list(dumped["events"])), len(times)
        self.retain([True] * len(times))  # computes the blocks

    def bytes(self) -> int:
        return 8 * (len(self.values) + len(self.times) + len(self.events) + len(self._greatest))

    def check_invariants(self) -> None:
        d = self.d
        for i in range(self.count):
            assert i == 0 or self.events[i - 1] < self.events[i]
            for j in range(d):
                assert self.values[i * d + j] <= self._greatest[(i >> SHIFT) * d + j], "a block knows its greatest"
