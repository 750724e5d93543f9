"""Carries out requests about cursors (acknowledge, refuse, forget, settle), and decides who may attach to one.

A cursor belongs to the user who created it, and other users cannot see it; an administrator names it by its user and
its name, `ann/orders`. Its subscription stays, with or without clients, until the cursor is forgotten. If the client
set a time within which it acknowledges, and it does not, the results are sent again from the first unacknowledged one
on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, final

from ..events import DefinitionError, LimitExceeded, UnknownSubscription, checked_subscription_name, suggestion
from ..wire import (
    Acknowledge,
    Administer,
    Busy,
    Done,
    Forget,
    ListDeadLetters,
    Probe,
    Refuse,
    Settle,
    Subscribe,
    WireError,
)
from .admission import Admission
from .answers import dead_letters_page, failure
from .attachments import Attachments
from .cursor import Cursor
from .cursors import DELIVERIES, Cursors
from .distribution import Distribution
from .durable_delivery import AnyDelivery, DurableDelivery
from .inputs_and_effects import Send
from .limits import Limits
from .permissions import ANYBODY, User
from .records import CursorAdded, CursorMoved, CursorPlaced, CursorSetAside, DeadLettersSettled, Record
from .requests import Requests
from .sessions import Session, Sessions

ATTACHED_RETRY_MICROSECONDS: Final = 250_000
"""When to retry attaching to a cursor that is in use; meanwhile the broker probes the attached client."""


@final
class CursorRequests:
    """The handlers. They pass each change of a cursor to `record`; `leave` ends an attachment."""

    __slots__ = (
        "_admission", "_attached", "_attachments", "_cursors", "_distribution", "_given_up", "_leave",
        "_record", "_sessions", "delivered_too_often", "refused",
    )  # fmt: skip

    def __init__(
        self,
        admission: Admission,
        attachments: Attachments,
        distribution: Distribution,
        sessions: Sessions,
        cursors: Cursors,
        record: Callable[[Record], None],
        leave: Callable[[bytes, Session, str], None],
    ) -> None:
        self._admission = admission
        self._attachments = attachments
        self._distribution = distribution
        self._sessions = sessions
        self._cursors = cursors
        self._record = record
        self._leave = leave
        self._attached: dict[str, DurableDelivery] = {}  # by cursor, those with a time to acknowledge within
        self._given_up: list[CursorSetAside] = []
        self.refused = 0
        self.delivered_too_often = 0
        cursors.forget_deliveries()

    # ---- attaching ----

    def requested(self, request: Subscribe, user: User, limits: Limits) -> Cursor:
        """The requested cursor, or a new one that `attach` will add. Raises ForetellErrors."""
        name = request.durable or ""
        checked_subscription_name(name)
        known = self._cursors.find(name, user.name)
        if known is None:
            mine = sum(cursor.owner == user.name for cursor in self._cursors)
            if user.name != ANYBODY and mine >= limits.durable_cursors_user:
                most = f"at most {limits.durable_cursors_user:,} cursors of a user"
                raise LimitExceeded(f"durable_cursors_user: this broker keeps {most}")
            if len(self._cursors) >= limits.durable_cursors:
                raise LimitExceeded(f"durable_cursors: this broker keeps at most {limits.durable_cursors:,} cursors")
            retain = request.retain or 0
            if retain > limits.durable_retained:
                most = f"{limits.durable_retained:,} acknowledged results of a cursor"
                raise LimitExceeded(f"durable_retained: this broker keeps at most {most}, found {retain:,}")
            bounds = limits.durable_notifications, limits.durable_bytes, retain, limits.durable_dead_letters
            return Cursor(name, request.name, user.name, *bounds)
        if known.subscription != request.name:
            raise DefinitionError(f"cursor {name!r} belongs to subscription {known.subscription!r}")
        if request.retain is not None and request.retain != known.retain:
            raise DefinitionError(f"cursor {name!r}: it retains {known.retain:,} results, found {request.retain:,}")
        return known

    def attach(self, delivery: DurableDelivery) -> None:
        """Note an attached client, and create the cursor if it is new."""
        cursor = delivery.cursor
        if self._cursors.find(cursor.name, cursor.owner) is None:
            bounds = cursor.notifications, cursor.size, cursor.retain, cursor.letters_max
            added = CursorAdded(cursor.name, cursor.subscription, cursor.owner, *bounds)
            delivery.cursor = self._cursors.add(added)
            self._record(added)
        if delivery.within is None:
            self._attached.pop(cursor.key, None)
        else:
            self._attached[cursor.key] = delivery

    def detach(self, delivery: AnyDelivery) -> None:
        """Note that the client has left. The cursor stays."""
        if isinstance(delivery, DurableDelivery) and self._attached.get(delivery.cursor.key) is delivery:
            del self._attached[delivery.cursor.key]

    def holder(self, cursor: Cursor) -> tuple[bytes, Session] | None:
        """The session that is attached to a cursor; None if there is none. O(attachments of the subscription)."""
        for key, delivery in self._attachments.of(cursor.subscription).items():
            if isinstance(delivery, DurableDelivery) and delivery.cursor is cursor:
                return key, self._sessions.of(key)
        return None

    def refuse_busy(
        self, key: bytes, holder: bytes, request: Subscribe | Forget | Administer, cursor: Cursor
    ) -> list[Send]:
        """Refuse a request for a cursor in use, and probe the attached client."""
        busy = Busy(f"cursor {cursor.name!r}: another client is attached to it", ATTACHED_RETRY_MICROSECONDS)
        return [Send(holder, Probe(0)), Send(key, failure(request.correlation, busy))]

    def check_quota(self, cursor: Cursor, user: User) -> None:
        """Check a user's quota with this cursor: cursors without clients count, too. Raises LimitExceeded."""
        quota, states = user.quota, self._admission.states
        owned = {each.name: each.subscription for each in self._cursors if each.owner == user.name}
        owned[cursor.name] = cursor.subscription
        if quota.subscriptions is not None and len(owned) > quota.subscriptions:
            raise LimitExceeded(f"quota subscriptions: user {user.name!r} may have {quota.subscriptions:,} cursors")
        if quota.states is not None and sum(map(states, dict.fromkeys(owned.values()))) > quota.states:
            raise LimitExceeded(f"quota states: the cursors of user {user.name!r} may hold {quota.states:,} states")

    # ---- requests ----

    def requests(self) -> Requests:
        """The requests of this topic."""
        return {
            Acknowledge: self._acknowledge,
            Forget: self._forget,
            Refuse: self._refuse,
            ListDeadLetters: self._dead_letters,
            Settle: self._settle,
        }

    def _dead_letters(self, key: bytes, session: Session, request: ListDeadLetters, now: int) -> list[Send]:
        cursor = self._owned(request.cursor, session.account.user)
        self._admission.check_values(session.account.user, cursor.subscription)
        return [Send(key, dead_letters_page(cursor.letters, request))]

    def _acknowledge(self, key: bytes, session: Session, request: Acknowledge, now: int) -> list[Send]:
        delivery = self._delivery_of(session, request)
        cursor = delivery.cursor
        if request.position > cursor.acknowledged:
            before = cursor.acknowledged
            self._move(CursorMoved(cursor.key, request.position))
            cursor.count_reached()
            delivery.acknowledged(before)
        return [Send(key, Done(request.correlation))]

    def _refuse(self, key: bytes, session: Session, request: Refuse, now: int) -> list[Send]:
        delivery = self._delivery_of(session, request)
        cursor, position = delivery.cursor, request.position
        if not cursor.skips(position):
            before, deliveries = cursor.acknowledged, max(1, cursor.deliveries(position))
            self._set_aside(CursorSetAside(cursor.key, position, request.reason, now, deliveries))
            self.refused += 1
            if cursor.acknowledged > before:
                cursor.count_reached()
                delivery.acknowledged(before)
        return [Send(key, Done(request.correlation))]

    def give_up(self, delivery: DurableDelivery, now: int) -> None:
        """Set the next result aside if it was delivered too often. O(1)."""
        if delivery.exhausted:
            cursor, head = delivery.cursor, delivery.next
            record = CursorSetAside(cursor.key, head, DELIVERIES, now, cursor.deliveries(head))
            self._set_aside(record)
            self.delivered_too_often += 1
            self._given_up.append(record)
            delivery.give_up(head)

    def _set_aside(self, record: CursorSetAside) -> None:
        self._cursors.set_aside(record)
        self._record(record)

    def _settle(self, key: bytes, session: Session, request: Settle, now: int) -> list[Send]:
        cursor = self._owned(request.cursor, session.account.user)
        if request.again and not cursor.has_room(request.positions):
            raise LimitExceeded(f"cursor {cursor.name!r}: it has no room for so many results beside those it keeps")
        settled = DeadLettersSettled(cursor.key, list(request.positions), request.again)
        self._cursors.settle(settled)
        self._record(settled)
        holder = self.holder(cursor)
        due = [] if holder is None else self._distribution.due(holder[0], holder[1].deliveries[cursor.subscription])
        return [Send(key, Done(request.correlation)), *due]

    def _delivery_of(self, session: Session, request: Acknowledge | Refuse) -> DurableDelivery:
        """The delivery that a request refers to. Raises if it has another cursor, or has not reached the position."""
        delivery = session.deliveries.get(request.name)
        if not isinstance(delivery, DurableDelivery):
            raise UnknownSubscription(f"subscription {request.name!r}: this client is not attached to a cursor of it")
        cursor = delivery.cursor
        if request.incarnation is not None and request.incarnation != cursor.incarnation:
            raise UnknownSubscription(
                f"cursor {cursor.name!r} was forgotten and created anew: position {request.position} belongs to the "
                "earlier one"
            )
        if request.position > delivery.reached:
            raise WireError(
                f"subscription {request.name!r}: {delivery.reached} is the last position that was sent, "
                f"found {request.position}"
            )
        return delivery

    def _forget(self, key: bytes, session: Session, request: Forget, now: int) -> list[Send]:
        """Delete a cursor with its results, and its subscription if nothing else needs it."""
        cursor = self._owned(request.cursor, session.account.user)
        holder = self.holder(cursor)
        if holder is not None and holder[0] != key and holder[0] in self._sessions.present:
            return self.refuse_busy(key, holder[0], request, cursor)
        self._move(CursorMoved(cursor.key, None))
        if holder is not None:
            self._leave(*holder, cursor.subscription)
        self._attachments.release(cursor.subscription)
        return [Send(key, Done(request.correlation))]

    def place(self, key: bytes, user: User, request: Administer, position: int) -> list[Send]:
        """Move a cursor to which no client is attached, forwards or backwards over the results that it keeps."""
        cursor = self._owned(request.name, user)
        holder = self.holder(cursor)
        if holder is not None and holder[0] in self._sessions.present:
            return self.refuse_busy(key, holder[0], request, cursor)
        record = CursorPlaced(cursor.key, position)
        self._cursors.place(record)
        self._record(record)
        if holder is not None:
            self._leave(*holder, cursor.subscription)
        return [Send(key, Done(request.correlation))]

    def entries(self, user: User) -> Iterator[tuple[str, dict[str, Any]]]:
        """The cursors that this user may see, by name. O(cursors log cursors)."""
        visible = [each for each in self._cursors if user.admin or each.owner == user.name]
        for cursor in sorted(visible, key=lambda each: _name_for(each, user)):
            holder = self.holder(cursor)
            yield (
                _name_for(cursor, user),
                {
                    "subscription": cursor.subscription,
                    "acknowledged": cursor.acknowledged,
                    "last": cursor.last,
                    "first": cursor.first,
                    "backlog": cursor.backlog,
                    "kept_bytes": cursor.size_kept,
                    "dead_letters": len(cursor.letters),
                    "attached": holder is not None and holder[0] in self._sessions.present,
                },
            )

    def _owned(self, name: str, user: User) -> Cursor:
        """A cursor that this user owns, or any as an administrator. Raises UnknownSubscription."""
        cursor = self._cursors.find(name, user.name)
        if cursor is None and user.admin:
            cursor = self._cursors.find(name)
        if cursor is None:
            mine = [_name_for(each, user) for each in self._cursors if user.admin or each.owner == user.name]
            raise UnknownSubscription(f"cursor {name!r} is not known{suggestion(name, mine)}")
        return cursor

    def kept(self, user: User, subscription: str) -> dict[str, int]:
        """The cursors of a subscription that this user may see, with their numbers of unacknowledged results."""
        cursors = self._cursors.of(subscription)
        return {_name_for(each, user): each.backlog for each in cursors if user.admin or each.owner == user.name}

    # ---- time ----

    def tick(self, now: int) -> list[Send]:
        """Send results again that were not acknowledged in time. O(cursors with a time to acknowledge within)."""
        sends: list[Send] = []
        for delivery in tuple(self._attached.values()):
            if delivery.overdue(now):
                holder = self.holder(delivery.cursor)
                assert holder is not None
                delivery.rewind()
                self.give_up(delivery, now)
                sends += self._distribution.due(holder[0], delivery)
        return sends

    def take_given_up(self) -> Sequence[CursorSetAside]:
        """The results that were delivered too often since the last call."""
        if not self._given_up:
            return ()
        given_up, self._given_up = self._given_up, []
        return given_up

    def statistics(self) -> dict[str, int]:
        """How many results were set aside, by reason."""
        return {"results_refused": self.refused, "results_given_up": self.delivered_too_often}

    def _move(self, record: CursorMoved) -> None:
        self._cursors.move(record)
        self._record(record)


def _name_for(cursor: Cursor, user: User) -> str:
    """The name by which this user refers to a cursor."""
    return cursor.name if cursor.owner == user.name else cursor.key
