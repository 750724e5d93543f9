"""Law: what of a cursor may be sent to the one client that is attached to it; what is kept is the cursor's.

Nothing waits here and nothing is missed here: each result is taken from the cursor when there is a credit for it, and
positions that the cursor has dropped are told as one `incomplete` in their place. It stands where a Delivery can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias, final

from ..engine.shares import Share
from ..wire import Notifications, WireError
from ..wire.limits import CREDITS_MAX, NOTIFICATIONS_BYTES_TARGET, NOTIFICATIONS_COUNT_MAX
from .cursors import LIMIT, Cursor
from .delivery import Delivery, incomplete
from .limits import Limits


@final
@dataclass(slots=True)
class DurableDelivery:
    """`next`: the position that is sent next; `again`: up to which position results may have come before."""

    subscription: str
    limits: Limits
    credits: int
    cursor: Cursor
    next: int
    again: int
    sent: int = 0

    # What a Delivery counts, and a cursor keeps.
    queued_bytes: ClassVar[int] = 0
    waiting: ClassVar[int] = 0
    missed: ClassVar[int] = 0
    ready: ClassVar[bool] = False
    over: ClassVar[str] = ""

    def offer(self, result: bytes, time: int | None) -> None:
        """The cursor has it already."""

    def defer(self, share: Share) -> None:
        """The cursor has it already."""

    def grant(self, credits: int) -> None:
        """The client asks for so many more."""
        self.credits = min(self.credits + credits, CREDITS_MAX)

    def pause(self) -> None:
        """There is nobody to send to."""
        self.credits = 0

    def resume(self, received: int, credits: int, after: int | None = None) -> None:
        """There is somebody again, to whom so many had come, the last with this position. Raises WireError."""
        if received > self.sent:
            raise WireError(f"subscription {self.subscription!r}: {self.sent} were sent, {received} cannot have come")
        self.sent = received
        self.next = begin(self.cursor, after)
        self.again = self.cursor.told
        self.credits = min(credits, CREDITS_MAX)

    def drops(self) -> int:
        """What a cursor drops is counted there."""
        return 0

    def due(self) -> list[Notifications]:
        """What the credits allow to send now. O(what is sent)."""
        messages: list[Notifications] = []
        cursor = self.cursor
        while self.credits and self.next <= cursor.last:
            if self.next < cursor.first:
                missed = cursor.first - self.next
                self.next = cursor.first
                gap = incomplete(self.subscription, LIMIT, None, missed)
                messages.append(self._numbered([gap], cursor.first - 1))
            else:
                messages.append(self._numbered(self._taken(), self.next))
        return messages

    def make(self, at_most: int) -> list[Notifications]:
        """Nothing has to be made."""
        return self.due()

    def farewell(self) -> list[Notifications]:
        """Nothing is lost with the session."""
        return []

    def _taken(self) -> list[bytes]:
        cursor = self.cursor
        offset = self.next - cursor.first
        most = min(self.credits, NOTIFICATIONS_COUNT_MAX, cursor.last - self.next + 1)
        if self.next <= self.again:
            most = min(most, self.again - self.next + 1)
        results: list[bytes] = []
        size = 0
        for index in range(offset, offset + most):
            results.append(cursor.results[index])
            size += len(results[-1])
            if size >= NOTIFICATIONS_BYTES_TARGET:
                break
        return results

    def _numbered(self, results: list[bytes], position: int) -> Notifications:
        redelivered = position <= self.again
        message = Notifications(0, self.subscription, self.sent + 1, tuple(results), position, redelivered)
        self.sent += len(results)
        self.credits -= len(results)
        self.next = position + len(results)
        self.cursor.told = max(self.cursor.told, self.next - 1)
        return message

    def check_invariants(self) -> None:
        """For tests."""
        assert 0 <= self.credits <= CREDITS_MAX
        assert self.cursor.acknowledged < self.next <= self.cursor.last + 1
        assert not (self.credits and self.next <= self.cursor.last), "what may be sent has been sent"


AnyDelivery: TypeAlias = Delivery | DurableDelivery


def begin(cursor: Cursor, after: int | None) -> int:
    """The position to go on with. One that the cursor cannot have given says nothing: it is behind what was lost."""
    if after is None or not cursor.acknowledged <= after <= cursor.last:
        return cursor.acknowledged + 1
    return after + 1
