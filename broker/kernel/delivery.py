"""Law: what waits for one client on one subscription, and what of it may be sent now. Nothing is dropped in silence.

Results go in encoded and come out in order, as many as there are credits. When the queue is full, the results that
follow are missed, not those that wait: so what the client gets is complete up to the gap, the gap is one `incomplete`
in its place, and then it is complete again. The gap ends when the queue has been emptied, so that a client which is a
little too slow hears of few large gaps instead of many small ones.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final, final

from ..wire import Notifications, decode_result, encode_result
from ..wire.limits import CREDITS_MAX, NOTIFICATIONS_BYTES_TARGET, NOTIFICATIONS_COUNT_MAX
from .limits import Limits

NOTIFICATION_BYTES_EXTRA: Final = 48
"""What a waiting notification takes beside its bytes: the bytes object's head and the queue's slot."""


@final
@dataclass(slots=True)
class Delivery:
    """The queue of one (session, subscription). O(1) for each result in and out."""

    subscription: str
    limits: Limits
    credits: int
    queue: deque[bytes] = field(default_factory=deque)
    queued_bytes: int = 0
    sent: int = 0
    missed: int = 0
    missed_since: int | None = None
    missed_limit: str = ""
    missed_ever: int = 0

    def offer(self, result: bytes, time: int | None) -> None:
        """Queue one result; `time` is the result's own, and tells since when results are missed."""
        if self.missed == 0:
            # What the credits pay for is on its way with this batch, and does not wait.
            waiting = len(self.queue) - self.credits
            size = self.queued_bytes + len(result) + NOTIFICATION_BYTES_EXTRA
            if waiting >= self.limits.queue_notifications:
                self.missed_limit, self.missed_since = "queue_notifications", time
            elif waiting >= 0 and size > self.limits.queue_bytes:
                self.missed_limit, self.missed_since = "queue_bytes", time
            else:
                self.queue.append(result)
                self.queued_bytes = size
                return
        self.missed += 1
        self.missed_ever += 1

    def grant(self, credits: int) -> None:
        """The client asks for so many more."""
        self.credits = min(self.credits + credits, CREDITS_MAX)

    def due(self) -> list[Notifications]:
        """What the credits allow to send now."""
        messages: list[Notifications] = []
        while self.credits and (self.queue or self.missed):
            results = self._taken() if self.queue else [self._gap()]
            messages.append(Notifications(0, self.subscription, self.sent + 1, tuple(results)))
            self.sent += len(results)
            self.credits -= len(results)
        return messages

    def farewell(self) -> list[Notifications]:
        """One `incomplete` for all that will not be sent any more, without regard to credits; else nothing."""
        if self.queue:
            line = decode_result(self.queue[0])
            self.missed_since = line.get("end", line.get("time", line.get("since")))
            self.missed_limit = "closing"
            self.missed += len(self.queue)
            self.missed_ever += len(self.queue)
            self.queue.clear()
            self.queued_bytes = 0
        if not self.missed:
            return []
        return [Notifications(0, self.subscription, self.sent + 1, (self._gap(),))]

    def _taken(self) -> list[bytes]:
        queue = self.queue
        results: list[bytes] = []
        size = 0
        for _ in range(min(self.credits, len(queue), NOTIFICATIONS_COUNT_MAX)):
            result = queue.popleft()
            results.append(result)
            size += len(result)
            if size >= NOTIFICATIONS_BYTES_TARGET:
                break
        self.queued_bytes -= size + NOTIFICATION_BYTES_EXTRA * len(results)
        return results

    def _gap(self) -> bytes:
        result = incomplete(self.subscription, self.missed_limit, self.missed_since, self.missed)
        self.missed, self.missed_since, self.missed_limit = 0, None, ""
        return result

    def check_invariants(self) -> None:
        """For tests."""
        assert self.queued_bytes == sum(map(len, self.queue)) + NOTIFICATION_BYTES_EXTRA * len(self.queue)
        assert 0 <= self.credits <= CREDITS_MAX
        assert (self.missed == 0) == (self.missed_limit == "")
        assert self.missed <= self.missed_ever
        assert not (self.credits and (self.queue or self.missed)), "what may be sent has been sent"


def incomplete(subscription: str, limit: str, since: int | None, missed: int) -> bytes:
    """The result that stands for results which are not there: which limit was hit, since when, how many are missing."""
    line: dict[str, Any] = {"kind": "incomplete", "subscription": subscription, "limit": limit}
    if since is not None:
        line["since"] = since
    line["missed"] = missed
    return encode_result(line)
