"""Delivers a cursor's results to the one client that is attached to it.

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
from .cursors import DELIVERIES, LIMIT, RETAINED
from .delivery import Delivery, incomplete
from .limits import Limits


@final
@dataclass(slots=True)
class DurableDelivery:
    """`next`: the position that is sent next; `again`: up to which position results may have come before.

    `reached`: the last position that was sent here, or was said to have come. `uncounted`: the gap that is told next is
    one of which nobody knows how much is missing. `within`: how many microseconds what was sent may be without an
    acknowledgement; `due_since`: the first position that is, and since when that is known. `deliveries_max`: how often
    that may be delivered; `given_up`: the position of one that was too often, until that is told.
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
    deliveries_max: int | None = None
    given_up: int | None = None
    sent: int = 0
    present: bool = True
    due_since: tuple[int, int] | None = None

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
        self.present = False
        self.due_since = None

    def begin(self, request: Subscribe, journaled: bool) -> None:
        """From where this client wants it on. What it says of positions counts for the cursor that it means.

        Without a journal a client that names no incarnation may mean a cursor of an earlier broker. A position that the
        cursor cannot have given says nothing: it is behind what was lost. O(1), by a time O(kept results).
        """
        cursor = self.cursor
        self.next, self.again, self.uncounted, self.given_up = cursor.acknowledged + 1, cursor.told, False, None
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
        self.within, self.deliveries_max = request.within, request.deliveries_max
        self.begin(request, True)
        self.credits = min(request.credits, CREDITS_MAX)

    def acknowledged(self, before: int) -> None:
        """The cursor has done with more than `before`: what is done is not sent again, unless it was asked for."""
        if before < self.next <= self.cursor.acknowledged:
            self.next = self.cursor.acknowledged + 1
        self.reached = max(self.reached, self.cursor.acknowledged)

    @property
    def begins(self) -> int:
        """The first position of which something is told."""
        return self.next if self.given_up is None else self.given_up

    @property
    def exhausted(self) -> bool:
        """Whether what is sent next was delivered too often; asked where it may be sent again."""
        cursor, most = self.cursor, self.deliveries_max
        head = cursor.acknowledged + 1
        kept = cursor.first <= head <= cursor.last
        return most is not None and self.next == head and kept and cursor.deliveries(head) >= most

    def give_up(self, position: int) -> None:
        """What is sent next was set aside, which is told in its place."""
        self.given_up = position
        self.acknowledged(position - 1)

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
        while self.credits and (self.next <= cursor.last or self.given_up is not None):
            if self.given_up is not None:
                gap = incomplete(self.subscription, DELIVERIES, None, 1)
                messages.append(self._numbered([gap], self.given_up))
            elif self.next < cursor.first:
                messages.extend(self._gap())
            elif cursor.skips(self.next):
                self._go_to(self.next + 1)
            else:
                messages.append(self._numbered(self._taken(), self.next))
        return messages

    def make(self, at_most: int) -> list[Notifications]:
        """Nothing has to be made."""
        return self.due()

    def farewell(self) -> list[Notifications]:
        """Nothing is lost with the session."""
        return []

    def _gap(self) -> list[Notifications]:
        """What is not kept, but for what was set aside before that."""
        cursor = self.cursor
        missed: int | None = cursor.first - self.next
        if self.uncounted:
            missed, self.uncounted = None, False
        elif cursor.aside:
            missed = cursor.first - self.next - sum(self.next <= each < cursor.first for each in cursor.aside)
        if missed == 0:
            self._go_to(cursor.first)
            return []
        limit = RETAINED if cursor.first <= cursor.acknowledged + 1 else LIMIT
        return [self._numbered([incomplete(self.subscription, limit, None, missed)], cursor.first - 1)]

    def _go_to(self, position: int) -> None:
        self.next = position
        self.reached = max(self.reached, position - 1)

    def _taken(self) -> list[bytes]:
        cursor = self.cursor
        offset = self.next - cursor.first
        most = min(self.credits, NOTIFICATIONS_COUNT_MAX, cursor.last - self.next + 1)
        if self.next <= self.again:
            most = min(most, self.again - self.next + 1)
        results: list[bytes] = []
        size = 0
        any_aside = bool(cursor.aside or cursor.letters)
        for index in range(offset, offset + most):
            if any_aside and cursor.skips(cursor.first + index):
                break
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
        if self.given_up is not None:
            self.given_up = None
            return message
        self._go_to(position + len(results))
        self.cursor.told = max(self.cursor.told, self.next - 1)
        self.cursor.delivered(position, self.next - 1)
        return message

    def check_invariants(self) -> None:
        """For tests."""
        assert 0 <= self.credits <= CREDITS_MAX
        assert 1 <= self.next <= min(self.reached, self.cursor.last) + 1
        assert self.cursor.acknowledged <= self.reached
        pending = self.next <= self.cursor.last or self.given_up is not None
        assert not (self.credits and pending), "what may be sent has been sent"


AnyDelivery: TypeAlias = Delivery | DurableDelivery
