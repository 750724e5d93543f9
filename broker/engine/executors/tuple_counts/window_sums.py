"""Ways through a span of states, counted for all its first events within a window, whatever the window holds.

An event moves ways from state to state: a matrix. While every state skips it is unipotent, hence invertible, so the
oldest event can be taken out of the product of all in the window, and its own ways be subtracted: O(states^2) an event.

Here: windows whose states all skip, and those that lose nothing. Not here: others (window_stacks), witnesses but for a
search among the events of a window.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from .archive import chain, linked, packed, unpacked
from .completion import EventLink
from .runner import NEVER

UNCHANGING: Final = (1 << 63) - 1
FEW: Final = 32  # entries gone before the log is cut
NOTHING: Final[list[int]] = []


@mypyc_attr(acyclic=True)
class Window:
    """`ways[q]`: how many are in the span's state q with a first event no longer ago than `bound`; `live` of these
    there are. From `due` on the oldest is too old."""

    __slots__ = ("bound", "due", "live", "ways")

    def __init__(self, bound: i64, size: i64) -> None:
        self.bound = bound
        self.ways: list[int] = [0] * size
        self.live: i64 = 0
        self.due: i64 = UNCHANGING

    def value(self, at: i64, position: i64) -> int:
        """Ways in a state, as the event at that position finds them."""
        return self.ways[at]

    def take(self, inner: list[int], entries: list[int], weights: list[int], time: i64, position: i64) -> None:
        """An event that moves ways along the arcs `inner`, (from, to, operand), late states first, and begins
        `weights` ways in the states `entries`. Without due entries."""
        raise AssertionError

    def expire(self, time: i64) -> None:
        """Take out what is too old at that time."""
        raise AssertionError

    def size(self) -> int:
        """Entries kept."""
        return 0

    def check_invariants(self) -> None:
        assert all(way >= 0 for way in self.ways)
        assert self.live or not any(self.ways)

    def dump(self) -> list[Any]:
        return [[packed(way) for way in self.ways], int(self.live)]

    def load(self, data: Any) -> None:
        ways, self.live = data
        self.ways = [unpacked(way) for way in ways]


@final
@mypyc_attr(acyclic=True)
class Lasting(Window):
    """A window that loses nothing. `skips` by state."""

    __slots__ = ("last", "skips")

    def __init__(self, bound: i64, skips: list[bool]) -> None:
        super().__init__(bound, len(skips))
        self.skips = skips
        self.last: i64 = NEVER

    def value(self, at: i64, position: i64) -> int:
        return self.ways[at] if self.skips[at] or self.last == position - 1 else 0

    def take(self, inner: list[int], entries: list[int], weights: list[int], time: i64, position: i64) -> None:
        self.ways = moved(self.ways, self.skips, position != self.last + 1, inner)
        self.last = position
        for i in range(len(entries)):
            self.ways[entries[i]] += weights[i]
            self.live += 1

    def dump(self) -> list[Any]:
        return [*super().dump(), int(self.last)]

    def load(self, data: Any) -> None:
        ways, live, self.last = data
        super().load((ways, live))


@final
@mypyc_attr(acyclic=True)
class Table(Window):
    """A window over a log of the events that concern it. `between[i][j]`: ways from state i to state j with all of
    them; empty where no arc stays within the span. `items` and `links` are there if they are noted."""

    __slots__ = ("arcs", "between", "entries", "head", "items", "links", "times", "weights")

    def __init__(self, bound: i64, size: i64, inner: bool) -> None:
        super().__init__(bound, size)
        self.between: list[list[int]] = identity(size) if inner else []
        self.times: list[int] = []
        self.arcs: list[list[int]] = []
        self.entries: list[int] = []  # -1: the event begins nothing
        self.weights: list[int] = []
        self.items: list[object] = []
        self.links: list[EventLink | None] = []
        self.head = 0

    def take(self, inner: list[int], entries: list[int], weights: list[int], time: i64, position: i64) -> None:
        moved = NOTHING
        if self.live > 0 and inner:
            moved = inner
            ways, between = self.ways, self.between
            for i in range(0, len(inner), 3):
                source, target = inner[i], inner[i + 1]
                ways[target] += ways[source]
                for start in range(source + 1):
                    between[start][target] += between[start][source]
            if not entries:
                self._log(time, moved, -1, 0)
        for i in range(len(entries)):
            entry = entries[i]
            self.ways[entry] += weights[i]
            self._log(time, moved, entry, weights[i])
            self.live += 1
            moved = NOTHING  # further ways begin with the same event, which has moved the others already

    def _log(self, time: i64, moved: list[int], entry: int, weight: int) -> None:
        if not self.times:
            self.due = time + self.bound + 1
        self.times.append(time)
        self.arcs.append(moved)
        self.entries.append(entry)
        self.weights.append(weight)

    def note(self, item: object, links: list[EventLink]) -> None:
        """For a later search: the event taken last, and for each of its entries a way that begins with it."""
        first = len(self.items)
        for at in range(first, len(self.times)):
            self.items.append(item)
            self.links.append(links[at - first] if links else None)

    def expire(self, time: i64) -> None:
        limit = time - self.bound
        at = self.head
        while self.live > 0 and (self.entries[at] < 0 or self.times[at] < limit):
            between = self.between
            moved = self.arcs[at]
            for i in range(0, len(moved), 3):
                row, other = between[moved[i]], between[moved[i + 1]]
                for j in range(moved[i + 1], len(row)):
                    row[j] -= other[j]
            entry, weight = self.entries[at], self.weights[at]
            at += 1
            if entry < 0:
                continue
            self.live -= 1
            if between:
                row = between[entry]
                for j in range(entry, len(row)):
                    self.ways[j] -= weight * row[j]
            else:
                self.ways[entry] -= weight
        self.head = at
        if self.live == 0:
            self._reset()
            return
        self.due = self.times[at] + self.bound + 1
        if at > FEW and 2 * at > len(self.times):
            del self.times[:at], self.arcs[:at], self.entries[:at], self.weights[:at]
            del self.items[:at], self.links[:at]
            self.head = 0

    def _reset(self) -> None:
        self.due = UNCHANGING
        self.head = 0
        for log in (self.times, self.entries, self.weights, self.items):
            log.clear()
        self.arcs.clear()
        self.links.clear()
        if self.between:
            self.between = identity(len(self.ways))

    def search(self, at: i64, earliest: i64, latest: i64) -> EventLink | None:
        """A way to state `at` whose first event was between two times, from the window's events backwards.

        O(events in the window); without inner arcs O(log) where each event begins ways to one state."""
        reached = [False] * len(self.ways)
        after: list[EventLink | None] = [None] * len(self.ways)  # what follows, in order, so linked the other way round
        reached[at] = True
        newest = len(self.times) if self.between else bisect_right(self.times, latest, self.head)
        for i in range(newest - 1, self.head - 1, -1):
            entry, time = self.entries[i], self.times[i]
            if entry >= 0 and reached[entry] and earliest <= time <= latest:
                link, rest = self.links[i], after[entry]
                while rest is not None:
                    link = EventLink(rest.operand, rest.item, rest.time, link)
                    rest = rest.before
                return link
            moved = self.arcs[i]
            for j in range(len(moved) - 3, -1, -3):  # early states first: an event moves a way once
                source, target = moved[j], moved[j + 1]
                if reached[target] and not reached[source]:
                    reached[source] = True
                    after[source] = EventLink(moved[j + 2], self.items[i], time, after[target])
        return None

    def size(self) -> int:
        return len(self.times) - self.head

    def check_invariants(self) -> None:
        super().check_invariants()
        again = Table(self.bound, len(self.ways), bool(self.between))
        for i in range(self.head, len(self.times)):
            begun = self.entries[i] >= 0
            again.live += 1  # so that it moves and logs also what begins nothing
            again.take(self.arcs[i], [self.entries[i]] if begun else [], [self.weights[i]] if begun else [], 0, 0)
            again.live -= 1
        assert again.ways == self.ways
        assert again.between == self.between
        assert again.live == self.live
        assert self.times == sorted(self.times)

    def dump(self) -> list[Any]:
        kept = slice(self.head, None)
        log = [self.times[kept], self.arcs[kept], self.entries[kept], [packed(n) for n in self.weights[kept]]]
        marks = [self.items[kept], [chain(link) for link in self.links[kept]]]
        return [*super().dump(), [[packed(n) for n in row] for row in self.between], log, marks]

    def load(self, data: Any) -> None:
        ways, live, between, (times, arcs, entries, weights), (items, links) = data
        super().load((ways, live))
        self.between = [[unpacked(n) for n in row] for row in between]
        self.times, self.arcs, self.entries = list(times), [list(moved) for moved in arcs], list(entries)
        self.weights, self.items = [unpacked(n) for n in weights], list(items)
        self.links = [linked(events) for events in links]
        if self.times:
            self.due = self.times[0] + self.bound + 1


def moved(ways: list[int], skips: list[bool], gap: bool, inner: list[int]) -> list[int]:
    """Ways after an event, from before it. What does not skip is gone, already before where there was a `gap`."""
    after = [ways[i] if skips[i] else 0 for i in range(len(ways))]
    for i in range(0, len(inner), 3):
        if not gap or skips[inner[i]]:
            after[inner[i + 1]] += ways[inner[i]]
    return after


def identity(size: int) -> list[list[int]]:
    return [[int(i == j) for j in range(size)] for i in range(size)]
