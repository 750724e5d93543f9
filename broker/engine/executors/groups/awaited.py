"""What waits for the events of a text at a step: since when, for whom, and the runs behind a second event.

Here: one text. Hot. Not here: what an event does with it (text_chain), the starts of a text (beginnings).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from .beginnings import BEFORE
from .columns import Integers, integers, integers_from, put_integer
from .members import Members


@final
class Awaited:
    """What waits for the events of a text at a step. What has come before `ended` does no more. `users`: the members
    with this text at this step.

    `members`: those of the second step. Behind it, runs as rows of `handles`, `times` and the `width` numbers of their
    `events`, in the order of time, from `head` to below `count`.
    """

    def __init__(self, d: i64, step: int) -> None:
        self.users: i64 = 0
        self.ended: i64 = BEFORE
        self.members = Members(int(d))
        self.width: i64 = step
        self.head: i64 = 0
        self.count: i64 = 0
        self.handles: Integers = integers()
        self.times: Integers = integers()
        self.events: Integers = integers()
        self._next: i64 = BEFORE  # `ended` after the epoch `_epoch`
        self._epoch: i64 = -1

    def meets(self, turn: i64, epoch: i64) -> i64:
        """Note an event with the text that has begun at `turn`; returns since when what it may see has waited. O(1)."""
        if self._epoch != epoch:
            self.ended = max(self.ended, self._next)
            self._next, self._epoch = turn, epoch
        elif turn > self._next:
            self._next = turn
        return self.ended

    def since(self) -> i64:
        """`ended`, once the epoch has ended."""
        return max(self.ended, self._next)

    def add(self, handle: i64, time: i64) -> i64:
        """Add a run; returns where its events begin, which the caller writes. Amortised O(1)."""
        at = self.count
        self.handles, self.times = put_integer(self.handles, at, handle), put_integer(self.times, at, time)
        self.count = at + 1
        j: i64
        for j in range(at * self.width, (at + 1) * self.width):
            self.events = put_integer(self.events, j, 0)
        return at * self.width

    def drop(self) -> None:
        """Drop the runs that have ended. Amortised O(1)."""
        while self.head < self.count and self.times[self.head] < self.ended:
            self.head += 1
        if 2 * self.head > self.count:
            self.retain([True] * int(self.count - self.head))

    def retain(self, wanted: list[bool]) -> None:
        """Keep some of the runs from `head` on. O(runs)."""
        width, to = self.width, 0
        for number, want in enumerate(wanted):
            if want:
                at = self.head + number
                self.handles[to], self.times[to] = self.handles[at], self.times[at]
                for j in range(width):
                    self.events[to * width + j] = self.events[at * width + j]
                to += 1
        self.head, self.count = 0, to

    def forget(self, handle: int) -> None:
        """Drop the runs of a member."""
        self.retain([self.handles[at] != handle for at in range(self.head, self.count)])

    def runs_of(self, handle: int) -> list[tuple[int, ...]]:
        """The events of a member's runs, for users."""
        width = self.width
        return [
            tuple([int(self.events[at * width + j]) for j in range(width)])
            for at in range(self.head, self.count)
            if self.handles[at] == handle and self.times[at] >= self.since()
        ]

    def dump(self) -> list[Any]:
        width = self.width
        rows = range(self.head, self.count)
        events = [int(self.events[at * width + j]) for at in rows for j in range(width)]
        kept = [int(self.handles[at]) for at in rows], [int(self.times[at]) for at in rows], events
        return [int(self.ended), int(self._next), int(self._epoch), *kept]

    def load(self, dumped: list[Any]) -> None:
        self.ended, self._next, self._epoch, handles, times, events = dumped
        self.handles, self.times = integers_from(list(handles)), integers_from(list(times))
        self.events = integers_from(list(events))
        self.head, self.count = 0, len(times)

    def clear(self) -> None:
        self.ended, self._next, self._epoch = BEFORE, BEFORE, -1
        self.head = self.count = 0
