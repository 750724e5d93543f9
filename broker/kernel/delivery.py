"""The queue of one client on one subscription: what waits, and what may be sent now. It drops nothing in silence.

Results go in encoded and come out in order, as many as there are credits. What becomes of a queue that is full, the
client has chosen (`when_slow`); each time the gap is one `incomplete` in its place, and before and after it nothing is
missing. So a client which is a little too slow hears of few large gaps instead of many small ones.

- drop_newest: the results that follow are missed, until the queue has been emptied. The gap stands behind the queue.
- drop_oldest: those that wait longest give way. The gap stands before the queue and grows, until it is told.
- disconnect: all that wait are missed with the one that found no room, at once, and the delivery is `over`: whoever
  owns it asks for its `farewell`, and it gets nothing more.

A share waits in the same queue as one entry. Its results are made when the client has credits for them, a bounded
number at a time, and go out at once: they never wait themselves, and what stands behind them comes after them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, final

from ..engine.shares import Share
from ..wire import WHEN_SLOW, Notifications, WireError, decode_result, encode_result
from ..wire.limits import CREDITS_MAX, NOTIFICATIONS_BYTES_TARGET, NOTIFICATIONS_COUNT_MAX
from .engine_port import EngineResult
from .limits import Limits

NOTIFICATION_BYTES_EXTRA: Final = 48
"""What a waiting notification takes beside its bytes: the bytes object's head and the queue's slot."""

SHARE_BYTES: Final = 2_048
"""What a waiting share takes, whatever its size, beside what the engine keeps for it."""


DROP_NEWEST, DROP_OLDEST, DISCONNECT = WHEN_SLOW

_LIMITS: Final = ("queue_notifications", "queue_bytes")
_INCOMPLETE: Final = encode_result({"kind": "incomplete", "subscription": ""})[1:17]  # behind the number of fields


@final
@dataclass(slots=True)
class _Unmade:
    """A share on its way: `left` results are still to be made, None where nobody has counted them."""

    results: Iterator[EngineResult]
    time: int
    left: int | None


@final
@dataclass(slots=True)
class Delivery:
    """The queue of one (session, subscription). O(1) for each result in and out, and for each share in.

    `waiting` counts the notifications of the queue, made or not; those of a share that nobody has counted are one.
    `unsettled`: of a session that may be resumed, the last of those sent of which it has not said by credits that they
    were taken, which are the first `settled`; within queue_bytes. `unsettled_gaps`: the numbers of gaps that were not
    kept there, and how much each stands for. `paid`: what the credits have paid for while the queue was full, which is
    due at once. `over`: the limit that has ended it.
    """

    subscription: str
    limits: Limits
    credits: int
    queue: deque[bytes | _Unmade] = field(default_factory=deque)
    queued_bytes: int = 0
    queued_shares: int = 0
    waiting: int = 0
    sent: int = 0
    missed: int = 0
    missed_since: int | None = None
    missed_limit: str = ""
    missed_counted: bool = True
    missed_ever: int = 0
    resumable: bool = False
    unsettled: deque[bytes] = field(default_factory=deque)
    unsettled_bytes: int = 0
    unsettled_gaps: deque[tuple[int, int | None]] = field(default_factory=deque)
    settled: int = 0
    when_slow: str = DROP_NEWEST
    over: str = ""
    paid: list[Notifications] = field(default_factory=list)
    dropped_before: int = 0

    def offer(self, result: bytes, time: int | None) -> None:
        """Queue one result; `time` is the result's own, and tells since when results are missed."""
        size = len(result) + NOTIFICATION_BYTES_EXTRA
        if self._has_room(size, time):
            self.queue.append(result)
            self.queued_bytes += size
            self.waiting += 1
        else:
            self._miss(1)

    def defer(self, share: Share) -> None:
        """Queue a share: one entry, however many results it stands for."""
        if self._has_room(SHARE_BYTES, share.time):
            self.queue.append(_Unmade(iter(share.results), share.time, share.count))
            self.queued_bytes += SHARE_BYTES
            self.queued_shares += 1
            self.waiting += 1 if share.count is None else share.count
        else:
            self.missed_counted = self.missed_counted and share.count is not None
            self._miss(1 if share.count is None else share.count)

    def _has_room(self, size: int, time: int | None) -> bool:
        """Whether there is room for so much; made, where the oldest give way. Amortised O(1)."""
        oldest = self.when_slow == DROP_OLDEST
        if self.missed and not oldest:
            return False
        limit = self._full(size)
        if limit is None:
            return True
        if oldest:
            self.paid = self.due()
            while self.queue and (reason := self._full(size)) is not None:
                self._drop(reason)
            if self._full(size) is None:
                return True
        elif self.when_slow == DISCONNECT:
            self.paid = self.due()
            self._drop_all(limit)
            self.over = limit
            self.unsettled.clear()
            self.unsettled_gaps.clear()
            self.unsettled_bytes = 0
        if not self.missed:
            self.missed_limit, self.missed_since = limit, time
        return False

    def _full(self, size: int) -> str | None:
        """The limit that would be exceeded."""
        # What the credits pay for is on its way with this batch, and does not wait; unless it waits behind a share.
        entries = len(self.queue) - (0 if self.queued_shares else self.credits)
        if entries >= self.limits.queue_notifications:
            return "queue_notifications"
        if entries >= 0 and self.queued_bytes + size > self.limits.queue_bytes:
            return "queue_bytes"
        return None

    def _miss(self, count: int) -> None:
        self.missed += count
        self.missed_ever += count

    def _drop(self, limit: str) -> None:
        """The oldest that waits becomes part of the gap before it. A gap that waits was counted before."""
        entry = self.queue.popleft()
        if not isinstance(entry, bytes):
            self._forget(entry)
            if entry.left != 0:
                self._begin_gap(limit, entry.time)
                self.missed_counted = self.missed_counted and entry.left is not None
                self._miss(1 if entry.left is None else entry.left)
            return
        self.queued_bytes -= len(entry) + NOTIFICATION_BYTES_EXTRA
        self.waiting -= 1
        gap = _gap_of(entry)
        if not self.missed:
            line = decode_result(entry)
            self._begin_gap(limit, line.get("end", line.get("time", line.get("since"))))
        if gap is None:
            self._miss(1)
        else:
            self.missed += gap.get("missed", 1)
            self.missed_counted = self.missed_counted and "missed" in gap

    def _drop_all(self, limit: str) -> None:
        """All that waits becomes part of one gap, together with that which stands behind it or before it."""
        behind, counted = 0, True
        if self.queue and self.when_slow != DROP_OLDEST:
            behind, counted, self.missed, self.missed_counted = self.missed, self.missed_counted, 0, True
        while self.queue:
            self._drop(limit)
        if behind:
            self.missed += behind
            self.missed_counted = self.missed_counted and counted
        if self.missed:
            self.missed_limit = limit

    def _begin_gap(self, limit: str, since: int | None) -> None:
        if not self.missed:
            self.missed_limit, self.missed_since = limit, since

    def _forget(self, share: _Unmade) -> None:
        """A share is not in the queue any more."""
        self.queued_bytes -= SHARE_BYTES
        self.queued_shares -= 1
        self.waiting -= 1 if share.left is None else share.left

    def drops(self) -> int:
        """How many were dropped since this was asked last."""
        dropped = self.missed_ever - self.dropped_before
        self.dropped_before = self.missed_ever
        return dropped

    def grant(self, credits: int) -> None:
        """The client asks for so many more, as it has taken so many."""
        if self.resumable:
            self.settled = min(self.settled + credits, self.sent)
            while self.unsettled and self.sent - len(self.unsettled) < self.settled:
                self.unsettled_bytes -= len(self.unsettled.popleft())
            while self.unsettled_gaps and self.unsettled_gaps[0][0] <= self.settled:
                self.unsettled_gaps.popleft()
        self.credits = min(self.credits + credits, CREDITS_MAX)

    def pause(self) -> None:
        """There is nobody to send to."""
        self.credits = 0

    def resume(self, received: int, credits: int) -> None:
        """There is somebody again, to whom so many had come: what has not come waits again, before everything else.

        Of what is not kept any more the number is told. Raises WireError for a number that cannot be.
        """
        if received > self.sent:
            raise WireError(f"subscription {self.subscription!r}: {self.sent} were sent, {received} cannot have come")
        gone = self.sent - received
        again = [self.unsettled.pop() for _ in range(min(gone, len(self.unsettled)))]
        self.unsettled_bytes -= sum(map(len, again))
        missed = gone - len(again)
        if missed:
            gaps: list[int | None] = []
            while self.unsettled_gaps and self.unsettled_gaps[-1][0] > received:
                gaps.append(self.unsettled_gaps.pop()[1])
            missed -= len(gaps)
            self.missed_ever += missed  # those of a gap have been counted
            counted = None if None in gaps else missed + sum(filter(None, gaps))
            again.append(incomplete(self.subscription, "queue_bytes", None, counted))
        if again and self.missed and self.when_slow == DROP_OLDEST:  # the gap was behind these
            again.insert(0, self._gap())
        self.queue.extendleft(again)
        self.queued_bytes += sum(map(len, again)) + NOTIFICATION_BYTES_EXTRA * len(again)
        self.waiting += len(again)
        self.sent = received
        self.settled = min(self.settled, received)
        self.credits = min(credits, CREDITS_MAX)

    def due(self) -> list[Notifications]:
        """What the credits allow to send now, up to the first result that has to be made."""
        messages, self.paid = self.paid, []
        while self.credits and not self.over:
            if self.missed and (not self.queue or self.when_slow == DROP_OLDEST):
                messages.append(self._numbered([self._gap()]))
            elif self.queue and self._unmade() is None:
                messages.append(self._numbered(self._taken()))
            else:
                break
        return messages

    @property
    def ready(self) -> bool:
        """Whether there are credits for results that have to be made first."""
        return self.credits > 0 and self._unmade() is not None

    def make(self, at_most: int) -> list[Notifications]:
        """Make so many results as far as the credits allow it; they, and what is due then. O(at_most)."""
        made: list[bytes] = []
        size = 0
        most = min(at_most, self.credits, NOTIFICATIONS_COUNT_MAX)
        while len(made) < most and size < NOTIFICATIONS_BYTES_TARGET:
            share = self._unmade()
            if share is None:
                break
            result = next(share.results, None)
            if result is not None:
                made.append(encoded(result)[0])
                size += len(made[-1])
                if share.left is not None:
                    share.left -= 1
                    self.waiting -= 1
            if result is None or share.left == 0:
                self.queue.popleft()
                self._forget(share)
        return [*([self._numbered(made)] if made else []), *self.due()]

    def farewell(self) -> list[Notifications]:
        """One `incomplete` for all that will not be sent any more, without regard to credits; else nothing."""
        if self.queue:
            self._drop_all(self.over or "closing")
        return [self._numbered([self._gap()])] if self.missed else []

    def _unmade(self) -> _Unmade | None:
        """The share that is next."""
        if not self.queued_shares:
            return None
        first = self.queue[0]
        return None if isinstance(first, bytes) else first

    def _taken(self) -> list[bytes]:
        queue = self.queue
        results: list[bytes] = []
        size = 0
        for _ in range(min(self.credits, len(queue), NOTIFICATIONS_COUNT_MAX)):
            result = queue[0]
            if not isinstance(result, bytes):
                break
            queue.popleft()
            results.append(result)
            size += len(result)
            if size >= NOTIFICATIONS_BYTES_TARGET:
                break
        self.queued_bytes -= size + NOTIFICATION_BYTES_EXTRA * len(results)
        self.waiting -= len(results)
        return results

    def _numbered(self, results: list[bytes]) -> Notifications:
        message = Notifications(0, self.subscription, self.sent + 1, tuple(results))
        self.sent += len(results)
        self.credits = max(0, self.credits - len(results))
        if self.resumable:
            self.unsettled.extend(results)
            self.unsettled_bytes += sum(map(len, results))
            while self.unsettled_bytes > self.limits.queue_bytes:
                gone = self.unsettled.popleft()
                self.unsettled_bytes -= len(gone)
                gap = _gap_of(gone)
                if gap is not None:
                    self.unsettled_gaps.append((self.sent - len(self.unsettled), gap.get("missed")))
        return message

    def _gap(self) -> bytes:
        missed = self.missed if self.missed_counted else None
        result = incomplete(self.subscription, self.missed_limit, self.missed_since, missed)
        self.missed, self.missed_since, self.missed_limit, self.missed_counted = 0, None, "", True
        return result

    def check_invariants(self) -> None:
        """For tests."""
        made = [entry for entry in self.queue if isinstance(entry, bytes)]
        shares = [entry for entry in self.queue if not isinstance(entry, bytes)]
        expected = sum(map(len, made)) + NOTIFICATION_BYTES_EXTRA * len(made) + SHARE_BYTES * len(shares)
        assert self.queued_bytes == expected
        assert self.queued_shares == len(shares)
        assert self.waiting == len(made) + sum(1 if share.left is None else share.left for share in shares)
        assert 0 <= self.credits <= CREDITS_MAX
        assert len(self.unsettled) <= self.sent
        assert self.unsettled_bytes == sum(map(len, self.unsettled))
        assert (self.missed == 0) == (self.missed_limit == "")
        assert not self.paid, "what is paid for has been sent"
        assert self.when_slow in WHEN_SLOW
        assert self.missed <= self.missed_ever
        if not self.over:
            assert not (self.credits and (self.queue or self.missed)) or self.ready, "what may be sent has been sent"


def encoded(result: EngineResult) -> tuple[bytes, int | None]:
    """A result as it travels, and its time; an `incomplete` for one that fits no message."""
    line = result.line()
    time = line.get("end", line.get("time", line.get("since")))
    try:
        return encode_result(line), time
    except WireError as error:
        return incomplete(result.subscription, str(error), time, 1), time


def _gap_of(result: bytes) -> dict[str, Any] | None:
    """The line of a result that stands for others, which had no room; None for any other."""
    line = decode_result(result) if result.startswith(_INCOMPLETE, 1) else {}
    return line if line.get("limit") in _LIMITS else None


def incomplete(subscription: str, limit: str, since: int | None, missed: int | None) -> bytes:
    """The result that stands for results which are not there: which limit was hit, since when, how many are missing.

    `missed` None: more than were counted.
    """
    line: dict[str, Any] = {"kind": "incomplete", "subscription": subscription, "limit": limit}
    if since is not None:
        line["since"] = since
    if missed is not None:
        line["missed"] = missed
    return encode_result(line)
