"""The queue of one client for one subscription. Every dropped result is reported as part of a gap.

Encoded results are queued in order, and sent as far as the client has granted credits. The client chooses what happens
when the queue is full (`when_slow`). Dropped results become one gap: a single `incomplete` in their place, before and
after which nothing is missing. So a client that is slightly too slow gets few large gaps instead of many small ones.

- drop_newest: new results are dropped until the queue is empty. The gap stands behind the queue.
- drop_oldest: the oldest results are dropped. The gap stands before the queue and grows until it is sent.
- disconnect: all queued results are dropped together with the one that found no room, and the delivery is `over`. Its
  owner sends its `final_gap`, and nothing follows.

A share is one entry of the queue. Its results are made when the client has credits for them, a bounded number at a
time, and are sent at once; entries behind the share wait until all of its results were sent.
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
"""The estimated memory of a queued notification beside its bytes: the bytes object's header and the queue's slot."""

SHARE_BYTES: Final = 2_048
"""The estimated memory of a queued share of any size, beside what the engine keeps for it."""


DROP_NEWEST, DROP_OLDEST, DISCONNECT = WHEN_SLOW

_LIMITS: Final = ("queue_notifications", "queue_bytes")
_INCOMPLETE: Final = encode_result({"kind": "incomplete", "subscription": ""})[1:17]  # behind the number of fields


@final
@dataclass(slots=True)
class _PendingShare:
    """A queued share: `left` results are still to be made, None if they were not counted."""

    results: Iterator[EngineResult]
    time: int
    left: int | None


@final
@dataclass(slots=True)
class Delivery:
    """The queue of one (session, subscription). O(1) for each result in and out, and for each share in.

    `waiting`: the number of queued notifications, made or not; an uncounted share counts as one. `paid`: messages taken
    from the full queue because credits covered them; they are due at once. `over`: the limit that ended the delivery,
    empty while it lasts. `missed`, `missed_since`, `missed_limit`, `missed_counted`: the open gap. `missed_ever`: all
    dropped results.

    Of a resumable session: `confirmed`, how many notifications the client has confirmed by granting credits;
    `unconfirmed`, the newest ones that were sent and not confirmed, within queue_bytes, to be sent again after a loss;
    `unconfirmed_gaps`, the number and size of each gap that did not fit there.
    """

    subscription: str
    limits: Limits
    credits: int
    queue: deque[bytes | _PendingShare] = field(default_factory=deque)
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
    unconfirmed: deque[bytes] = field(default_factory=deque)
    unconfirmed_bytes: int = 0
    unconfirmed_gaps: deque[tuple[int, int | None]] = field(default_factory=deque)
    confirmed: int = 0
    when_slow: str = DROP_NEWEST
    over: str = ""
    paid: list[Notifications] = field(default_factory=list)
    missed_before: int = 0

    def offer(self, result: bytes, time: int | None) -> None:
        """Queue one result, or count it as missed. `time`: the result's own, from which a gap takes its `since`."""
        size = len(result) + NOTIFICATION_BYTES_EXTRA
        if self._has_room(size, time):
            self.queue.append(result)
            self.queued_bytes += size
            self.waiting += 1
        else:
            self._miss(1)

    def defer(self, share: Share) -> None:
        """Queue a share as one entry, or count its results as missed."""
        if self._has_room(SHARE_BYTES, share.time):
            self.queue.append(_PendingShare(iter(share.results), share.time, share.count))
            self.queued_bytes += SHARE_BYTES
            self.queued_shares += 1
            self.waiting += 1 if share.count is None else share.count
        else:
            self.missed_counted = self.missed_counted and share.count is not None
            self._miss(1 if share.count is None else share.count)

    def _has_room(self, size: int, time: int | None) -> bool:
        """Whether the queue has room for `size` bytes; with drop_oldest, after dropping the oldest. Amortised O(1)."""
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
            self.unconfirmed.clear()
            self.unconfirmed_gaps.clear()
            self.unconfirmed_bytes = 0
        if not self.missed:
            self.missed_limit, self.missed_since = limit, time
        return False

    def _full(self, size: int) -> str | None:
        """The limit that an entry of `size` bytes would exceed, or None."""
        # Entries covered by credits leave with this batch and do not wait, unless they stand behind a share.
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
        """Move the oldest entry into the gap before the queue. The results of a queued gap were counted before."""
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
        """Move all entries into one gap, together with the gap behind or before the queue."""
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

    def _forget(self, share: _PendingShare) -> None:
        """Uncount a share that has left the queue."""
        self.queued_bytes -= SHARE_BYTES
        self.queued_shares -= 1
        self.waiting -= 1 if share.left is None else share.left

    def take_dropped(self) -> int:
        """How many results were dropped since the last call."""
        dropped = self.missed_ever - self.missed_before
        self.missed_before = self.missed_ever
        return dropped

    def grant(self, credits: int) -> None:
        """Add credits; the client has read as many notifications, which confirms them."""
        if self.resumable:
            self.confirmed = min(self.confirmed + credits, self.sent)
            while self.unconfirmed and self.sent - len(self.unconfirmed) < self.confirmed:
                self.unconfirmed_bytes -= len(self.unconfirmed.popleft())
            while self.unconfirmed_gaps and self.unconfirmed_gaps[0][0] <= self.confirmed:
                self.unconfirmed_gaps.popleft()
        self.credits = min(self.credits + credits, CREDITS_MAX)

    def pause(self) -> None:
        """Stop sending: the session has no connection."""
        self.credits = 0

    def resume(self, received: int, credits: int) -> None:
        """Continue after a loss: notifications behind the first `received` are queued again, before all others.

        Those that are not kept any more become a gap. Raises WireError if fewer were sent than `received`.
        """
        if received > self.sent:
            raise WireError(f"subscription {self.subscription!r}: {self.sent} were sent, {received} cannot be received")
        gone = self.sent - received
        again = [self.unconfirmed.pop() for _ in range(min(gone, len(self.unconfirmed)))]
        self.unconfirmed_bytes -= sum(map(len, again))
        missed = gone - len(again)
        if missed:
            gaps: list[int | None] = []
            while self.unconfirmed_gaps and self.unconfirmed_gaps[-1][0] > received:
                gaps.append(self.unconfirmed_gaps.pop()[1])
            missed -= len(gaps)
            self.missed_ever += missed  # the results of earlier gaps are counted already
            counted = None if None in gaps else missed + sum(filter(None, gaps))
            again.append(incomplete(self.subscription, "queue_bytes", None, counted))
        if again and self.missed and self.when_slow == DROP_OLDEST:  # the gap belongs behind these
            again.insert(0, self._gap())
        self.queue.extendleft(again)
        self.queued_bytes += sum(map(len, again)) + NOTIFICATION_BYTES_EXTRA * len(again)
        self.waiting += len(again)
        self.sent = received
        self.confirmed = min(self.confirmed, received)
        self.credits = min(credits, CREDITS_MAX)

    def due(self) -> list[Notifications]:
        """The messages that credits allow to send now, up to the first share."""
        messages, self.paid = self.paid, []
        while self.credits and not self.over:
            if self.missed and (not self.queue or self.when_slow == DROP_OLDEST):
                messages.append(self._numbered([self._gap()]))
            elif self.queue and self._next_share() is None:
                messages.append(self._numbered(self._taken()))
            else:
                break
        return messages

    @property
    def ready(self) -> bool:
        """Whether a share is next and there are credits for its results."""
        return self.credits > 0 and self._next_share() is not None

    def make(self, at_most: int) -> list[Notifications]:
        """Make up to `at_most` results of shares, as far as credits allow; the messages due then. O(at_most)."""
        made: list[bytes] = []
        size = 0
        most = min(at_most, self.credits, NOTIFICATIONS_COUNT_MAX)
        while len(made) < most and size < NOTIFICATIONS_BYTES_TARGET:
            share = self._next_share()
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

    def final_gap(self) -> list[Notifications]:
        """Drop the queue; one `incomplete` for it, whatever the credits, or nothing if nothing was queued."""
        if self.queue:
            self._drop_all(self.over or "closing")
        return [self._numbered([self._gap()])] if self.missed else []

    def _next_share(self) -> _PendingShare | None:
        """The share at the head of the queue; None if there is none."""
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
            self.unconfirmed.extend(results)
            self.unconfirmed_bytes += sum(map(len, results))
            while self.unconfirmed_bytes > self.limits.queue_bytes:
                gone = self.unconfirmed.popleft()
                self.unconfirmed_bytes -= len(gone)
                gap = _gap_of(gone)
                if gap is not None:
                    self.unconfirmed_gaps.append((self.sent - len(self.unconfirmed), gap.get("missed")))
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
        assert len(self.unconfirmed) <= self.sent
        assert self.unconfirmed_bytes == sum(map(len, self.unconfirmed))
        assert (self.missed == 0) == (self.missed_limit == "")
        assert not self.paid, "messages covered by credits were sent"
        assert self.when_slow in WHEN_SLOW
        assert self.missed <= self.missed_ever
        if not self.over:
            assert not (self.credits and (self.queue or self.missed)) or self.ready, "all that credits allow was sent"


def encoded(result: EngineResult) -> tuple[bytes, int | None]:
    """A result's encoding and its time; an `incomplete` for one that does not fit a message."""
    line = result.line()
    time = line.get("end", line.get("time", line.get("since")))
    try:
        return encode_result(line), time
    except WireError as error:
        return incomplete(result.subscription, str(error), time, 1), time


def _gap_of(result: bytes) -> dict[str, Any] | None:
    """The line of an `incomplete` for dropped results; None for any other result."""
    line = decode_result(result) if result.startswith(_INCOMPLETE, 1) else {}
    return line if line.get("limit") in _LIMITS else None


def incomplete(subscription: str, limit: str, since: int | None, missed: int | None) -> bytes:
    """An encoded `incomplete` for missing results: the limit that was hit, since when, and how many are missing.

    `since`: microseconds. `missed` None: the number is unknown.
    """
    line: dict[str, Any] = {"kind": "incomplete", "subscription": subscription, "limit": limit}
    if since is not None:
        line["since"] = since
    if missed is not None:
        line["missed"] = missed
    return encode_result(line)
