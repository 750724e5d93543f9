"""Law: what of a cursor may be sent to the one client that is attached to it; what is kept is the cursor's.

Nothing waits here and nothing is missed here: each result is taken from the cursor when there is a credit for it, and
positions that the cursor has dropped are told as one `incomplete` in their place. It stands where a Delivery can.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias, final

from ..engine.shares import Share
from ..wire import Notifications, Subscribe, WireError
from ..wire.limits import CREDITS_MAX, NOTIFICATIONS_BYTES_TARGET, NOTIFICATIONS_COUNT_MAX
from .cursor import Cursor
from .cursors import LIMIT, RETAINED
from .delivery import Delivery, incomplete
from .limits import Limits


@final
@dataclass(slots=True)
class DurableDelivery:
    """`next`: the position that is sent next; `again`: up to which position results may have come before.

    `reached`: the last position that was sent here, or was said to have come. `uncounted`: the gap that is told next is
    one of which nobody knows how much is missing. `within`: how many microseconds what was sent may be without an
    acknowledgement; `due_since`: the first position that is, and since when that is known.
    """

    subscription: str
    limits: Limits
    credits: int
    cursor: Cursor
    next: int = 1
    again: int = 0
    reached: int = 0
    uncounted: bool = False
    within: int | None = None
    sent: int = 0
    present: bool = True
    due_since: tuple[int, int] | None = None

    # What a Delivery counts, and a cursor keeps.
    queued_bytes: ClassVar[int] = 0
    waiting: ClassVar[int] = 0
    missed: ClassVar[int] = 0
    missed_ever: ClassVar[int] = 0
    ready: ClassVar[bool] = False

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
        self.present = False
        self.due_since = None

    def begin(self, request: Subscribe, journaled: bool) -> None:
        """From where this client wants it on. What it says of positions counts for the cursor that it means.

        Without a journal a client that names no incarnation may mean a cursor of an earlier broker. A position that the
        cursor cannot have given says nothing: it is behind what was lost. O(1), by a time O(kept results).
        """
        cursor = self.cursor
        self.next, self.again, self.uncounted = cursor.acknowledged + 1, cursor.told, False
        meant = request.incarnation == cursor.incarnation or (request.incarnation is None and journaled)
        if request.since is not None:
            self.next = cursor.since(request.since)
            if self.next == cursor.first > 1:  # what is gone may have been of that time, too
                self.next, self.uncounted = cursor.first - 1, True
        elif request.replay is not None and (meant or request.incarnation is None):
            self.next = min(max(1, request.replay), cursor.last + 1)
        elif request.after is not None and meant and cursor.acknowledged <= request.after <= cursor.last:
            self.next = request.after + 1
        self.reached = max(cursor.acknowledged, self.next - 1)

    def resume(self, received: int, request: Subscribe) -> None:
        """There is somebody again, to whom so many had come. Raises WireError."""
        if received > self.sent:
            raise WireError(f"subscription {self.subscription!r}: {self.sent} were sent, {received} cannot have come")
        self.sent = received
        self.present = True
        self.within = request.within
        self.begin(request, True)
        self.credits = min(request.credits, CREDITS_MAX)

    def acknowledged(self, before: int) -> None:
        """The cursor has done with more than `before`: what is done is not sent again, unless it was asked for."""
        if before < self.next <= self.cursor.acknowledged:
            self.next = self.cursor.acknowledged + 1

    def overdue(self, now: int) -> bool:
        """Whether nothing was acknowledged of what was sent for too long; asked from time to time."""
        head = self.cursor.acknowledged + 1
        if self.within is None or not self.present or self.next <= head:
            self.due_since = None
            return False
        if self.due_since is None or self.due_since[0] != head or now < self.due_since[1]:
            self.due_since = head, now
        return now - self.due_since[1] >= self.within

    def go_back(self) -> None:
        """Everything that is not acknowledged is sent again, as there are credits."""
        self.next, self.again = self.cursor.acknowledged + 1, max(self.again, self.reached)
        self.due_since = None

    def due(self) -> list[Notifications]:
        """What the credits allow to send now. O(what is sent)."""
        messages: list[Notifications] = []
        cursor = self.cursor
        while self.credits and self.next <= cursor.last:
            if self.next < cursor.first:
                missed = None if self.uncounted else cursor.first - self.next
                limit = RETAINED if cursor.first <= cursor.acknowledged + 1 else LIMIT
                self.uncounted = False
                gap = incomplete(self.subscription, limit, None, missed)
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
        self.reached = max(self.reached, self.next - 1)
        self.cursor.told = max(self.cursor.told, self.next - 1)
        return message

    def check_invariants(self) -> None:
        """For tests."""
        assert 0 <= self.credits <= CREDITS_MAX
        assert 1 <= self.next <= min(self.reached, self.cursor.last) + 1
        assert self.cursor.acknowledged <= self.reached
        assert not (self.credits and self.next <= self.cursor.last), "what may be sent has been sent"


AnyDelivery: TypeAlias = Delivery | DurableDelivery
