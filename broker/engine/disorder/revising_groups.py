"""A subscription that revises its results, and those that share a machine, as they begin alike.

Here: one reader, one group. Not here: all of them, and what becomes of an event (readers).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, final

from mypy_extensions import i64
from sortedcontainers import SortedDict

from ...algebra.timed_stream import untimed
from ...events.instant import FOREVER
from ...events.schema import Row
from ..executors.revising import Reviser
from ..program.account import NOT_SUSPENDED
from ..subscribing.subscriber import Subscriber
from .joined import salt_of


@final
class OpenEnds:
    """When results end that were told and are not final: how many at each time, since many end with one event."""

    def __init__(self, ends: Iterable[int] = ()) -> None:
        self._counts: Any = SortedDict(Counter(ends))

    def add(self, end: int) -> None:
        """O(log times), and O(1) where others end then."""
        self._counts[end] = self._counts.get(end, 0) + 1

    def drop(self, end: int) -> None:
        """Forget one that ends then, if there is any. O(log times)."""
        known = self._counts.get(end, 0)
        if known > 1:
            self._counts[end] = known - 1
        elif known == 1:
            del self._counts[end]

    def pass_by(self, time: int) -> bool:
        """Forget those that end before. Returns whether there were any. O(times), each once, and log of all."""
        found = False
        while self.first() < time:
            self._counts.popitem(0)
            found = True
        return found

    def first(self) -> int:
        """When the first one ends; FOREVER if there is none. O(1)."""
        return int(self._counts.peekitem(0)[0]) if self._counts else FOREVER

    def all(self) -> list[int]:
        """All of them, ascending."""
        return [end for end, count in self._counts.items() for _ in range(count)]


@final
class RevisingReader:
    """A subscription, and its `place` in the machine of its `group`. `rank`: behind those of all publishers that it
    reads from; `ends`: those of the results that were told and are not final.

    `closed`, `final`: times that promises of streams or of some of their events have given it, beyond the safe time
    (finality): no event that concerns it comes before the first, no result that ends before the second changes. `keys`:
    the first time for some of its keys alone.
    """

    def __init__(self, subscriber: Subscriber, group: RevisingGroup, place: int, number: int) -> None:
        form = subscriber.form
        self.subscriber = subscriber
        self.group = group
        self.place = place
        self.number = number
        self.streams: tuple[str, ...] = tuple([stream for stream, _ in form.sources])
        self.publish = form.publish
        self.salt = 0 if form.publish is None else salt_of(subscriber)
        self.rank = 0
        self.ends = OpenEnds()
        self.closed: int = -FOREVER
        self.final: int = -FOREVER
        self.keys: dict[Row, int] = {}
        self.suspended: int = NOT_SUSPENDED
        self.since = 0

    def has_closed(self, stream: int, time: int, row: Row) -> bool:
        """Whether an event comes too late to concern its key."""
        if len(self.keys) == 0:
            return False
        positions = self.subscriber.revised().sources[stream].key
        return time < self.keys.get(tuple([row[position] for position in positions]), -FOREVER)

    def settled_until(self) -> int:
        """The time before which no result is changed any more, whatever its key."""
        return max(self.final, max(self.keys.values(), default=-FOREVER))


@final
class RevisingGroup:
    """Readers that share a machine, by their places. `rank`: that of each; `number`: of the first; `timed`: the streams
    of which they read the times; `closed`: no event that concerns one of them comes before; `apart`: whether that is
    later for some, or for some keys; `publishes`: whether one of them publishes its results; `touched`: whether
    something has reached it that was not told yet."""

    def __init__(self, subscriber: Subscriber, reviser: Reviser, number: int) -> None:
        self.reviser = reviser
        self.number = number
        self.members: dict[int, RevisingReader] = {}
        self.timed = frozenset([untimed(stream) for stream in subscriber.form.timed_streams()])
        self.rank = 0
        self.closed: i64 = -FOREVER
        self.apart = False
        self.publishes = False
        self.touched = False
        self.suspended: int = NOT_SUSPENDED

    def has_closed(self, stream: int, time: int, row: Row) -> bool:
        """Whether an event comes too late to concern any of them."""
        moment: i64 = time  # compiled, numbers are compared faster than objects
        if moment < self.closed or not self.apart:
            return moment < self.closed
        return all(time < each.closed or each.has_closed(stream, time, row) for each in self.members.values())

    def settle(self) -> None:
        """Their times have grown, or one has gone."""
        members = self.members.values()
        self.closed = min([each.closed for each in members], default=-FOREVER)
        self.publishes = any(each.publish is not None for each in members)
        self.apart = any(each.closed > self.closed or len(each.keys) > 0 for each in members)
