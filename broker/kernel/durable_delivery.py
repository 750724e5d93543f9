"""Delivers a cursor's results to the one client that is attached to it.

It has no queue: it reads each result from the cursor when there is a credit for it, and reports positions that the
cursor has dropped as one `incomplete` in their place. It has the interface of a Delivery.
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
    """`next`: the position that is sent next. `possibly_delivered`: the last one that may have been delivered before.

    `reached`: the last position that was sent here, or that the client says it has. `uncounted`: the next gap has an
    unknown size. `within`: how many microseconds a sent result may stay unacknowledged; `due_since`: the first such
    position, and when it was first noticed. `deliveries_max`: how often a result may be delivered; `given_up`: the
    position of a result that exceeded this, until an `incomplete` reports it.
    """

    subscription: str
    limits: Limits
    credits: int
    cursor: Cursor
    next: int = 1
    possibly_delivered: int = 0
    reached: int = 0
    uncounted: bool = False
    within: int | None = None
    deliveries_max: int | None = None
    given_up: int | None = None
    sent: int = 0
    present: bool = True
    due_since: tuple[int, int] | None = None

    # A Delivery counts these; here the cursor keeps the results.
    queued_bytes: ClassVar[int] = 0
    waiting: ClassVar[int] = 0
    missed: ClassVar[int] = 0
    ready: ClassVar[bool] = False
    over: ClassVar[str] = ""

    def offer(self, result: bytes, time: int | None) -> None:
        """Do nothing: the cursor keeps the result."""

    def defer(self, share: Share) -> None:
        """Do nothing: the cursor keeps the result."""

    def grant(self, credits: int) -> None:
        """Add credits."""
        self.credits = min(self.credits + credits, CREDITS_MAX)

    def pause(self) -> None:
        """Stop sending: the session has no connection."""
        self.credits = 0
        self.present = False
        self.due_since = None

    def begin(self, request: Subscribe, journaled: bool) -> None:
        """Set the position to start from. Positions in the request count only for the incarnation that it names.

        Without a journal, a client that names no incarnation may mean a cursor of an earlier broker. A position beyond
        the cursor's last one is ignored: its results were lost. O(1); with `since` O(kept results).
        """
        cursor = self.cursor
        self.next, self.possibly_delivered = cursor.acknowledged + 1, cursor.possibly_delivered
        self.uncounted, self.given_up = False, None
        meant = request.incarnation == cursor.incarnation or (request.incarnation is None and journaled)
        if request.since is not None:
            self.next = cursor.since(request.since)
            if self.next == cursor.first > 1:  # dropped results may have been of that time, too
                self.next, self.uncounted = cursor.first - 1, True
        elif request.replay is not None and (meant or request.incarnation is None):
            self.next = min(max(1, request.replay), cursor.last + 1)
        elif request.after is not None and meant and cursor.acknowledged <= request.after <= cursor.last:
            self.next = request.after + 1
        self.reached = max(cursor.acknowledged, self.next - 1)

    def resume(self, received: int, request: Subscribe) -> None:
        """Continue after a loss; the client has `received` notifications. Raises WireError if fewer were sent."""
        if received > self.sent:
            raise WireError(f"subscription {self.subscription!r}: {self.sent} were sent, {received} cannot be received")
        self.sent = received
        self.present = True
        self.within, self.deliveries_max = request.within, request.deliveries_max
        self.begin(request, True)
        self.credits = min(request.credits, CREDITS_MAX)

    def acknowledged(self, before: int) -> None:
        """Skip newly acknowledged results, unless a replay asked for them.

        `before`: the acknowledged position until now.
        """
        if before < self.next <= self.cursor.acknowledged:
            self.next = self.cursor.acknowledged + 1
        self.reached = max(self.reached, self.cursor.acknowledged)

    @property
    def first_position(self) -> int:
        """The first position that is sent or reported as missing."""
        return self.next if self.given_up is None else self.given_up

    @property
    def exhausted(self) -> bool:
        """Whether the next result was delivered too often; checked before it may be sent again."""
        cursor, most = self.cursor, self.deliveries_max
        head = cursor.acknowledged + 1
        kept = cursor.first <= head <= cursor.last
        return most is not None and self.next == head and kept and cursor.deliveries(head) >= most

    def give_up(self, position: int) -> None:
        """Report the next result as missing, because it was set aside."""
        self.given_up = position
        self.acknowledged(position - 1)

    def overdue(self, now: int) -> bool:
        """Whether sent results stayed unacknowledged for too long. `now`: microseconds; called at each tick."""
        head = self.cursor.acknowledged + 1
        if self.within is None or not self.present or self.next <= head:
            self.due_since = None
            return False
        if self.due_since is None or self.due_since[0] != head or now < self.due_since[1]:
            self.due_since = head, now
        return now - self.due_since[1] >= self.within

    def rewind(self) -> None:
        """Send all unacknowledged results again, as far as credits allow."""
        self.next, self.possibly_delivered = self.cursor.acknowledged + 1, max(self.possibly_delivered, self.reached)
        self.due_since = None

    def due(self) -> list[Notifications]:
        """The messages that credits allow to send now. O(results sent)."""
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
        """The messages due; a cursor has no shares to make."""
        return self.due()

    def final_gap(self) -> list[Notifications]:
        """Nothing: the cursor keeps its results when the session ends."""
        return []

    def _gap(self) -> list[Notifications]:
        """The `incomplete` for dropped results; results that were set aside before do not count."""
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
        if self.next <= self.possibly_delivered:
            most = min(most, self.possibly_delivered - self.next + 1)
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
        redelivered = position <= self.possibly_delivered
        message = Notifications(0, self.subscription, self.sent + 1, tuple(results), position, redelivered)
        self.sent += len(results)
        self.credits -= len(results)
        if self.given_up is not None:
            self.given_up = None
            return message
        self._go_to(position + len(results))
        self.cursor.possibly_delivered = max(self.cursor.possibly_delivered, self.next - 1)
        self.cursor.count_delivery(position, self.next - 1)
        return message

    def check_invariants(self) -> None:
        """For tests."""
        assert 0 <= self.credits <= CREDITS_MAX
        assert 1 <= self.next <= min(self.reached, self.cursor.last) + 1
        assert self.cursor.acknowledged <= self.reached
        pending = self.next <= self.cursor.last or self.given_up is not None
        assert not (self.credits and pending), "all that credits allow was sent"


AnyDelivery: TypeAlias = Delivery | DurableDelivery
