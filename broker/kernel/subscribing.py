"""Law: how a session comes to a subscription and leaves it, as an attachment of its own or by a durable cursor.

A cursor belongs to the user who has made it. One session at a time is attached to it; one without a connection gives
way, and one that may have lost its connection without anybody's notice is probed. A cursor holds its subscription: that
stays, with or without clients, until the cursor is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from ..events import DefinitionError, LimitExceeded, UnknownSubscription, checked_subscription_name, suggestion
from ..wire import (
    WHEN_SLOW,
    Acknowledge,
    Busy,
    Done,
    Ended,
    Forget,
    PermissionDenied,
    Probe,
    Subscribe,
    Subscribed,
    WireError,
    check_when_slow,
)
from .admission import Admission
from .attachments import Attachments
from .boundary import Send
from .cursors import Cursor, Cursors
from .delivery import Delivery
from .distribution import Distribution
from .durable_delivery import AnyDelivery, DurableDelivery, begin
from .limits import Limits
from .listing import failure
from .matcher import Matcher
from .permissions import User
from .records import CursorAdded, CursorMoved, Record
from .sessions import Session, Sessions

MEMORY: Final = "memory"
"""What a receipt promises without a journal: that the events are in the broker's memory."""

SLOW: Final = "slow"
"""The code of the end of a subscription whose reader was too slow."""

ATTACHED_RETRY_MICROSECONDS: Final = 250_000
"""When to ask again for a cursor that somebody is attached to, who has been probed."""


@final
class Subscribing:
    """Carries requests out; what is told to `record` has happened. `durability`: what is promised of cursors."""

    __slots__ = (
        "_admission", "_attachments", "_cursors", "_distribution", "_durability", "_matcher", "_record", "_sessions",
        "limits",
    )  # fmt: skip

    def __init__(
        self,
        matcher: Matcher,
        limits: Limits,
        admission: Admission,
        attachments: Attachments,
        distribution: Distribution,
        sessions: Sessions,
        cursors: Cursors,
        durability: str,
        record: Callable[[Record], None],
    ) -> None:
        self.limits = limits
        self._matcher = matcher
        self._admission = admission
        self._attachments = attachments
        self._distribution = distribution
        self._sessions = sessions
        self._cursors = cursors
        self._durability = durability
        self._record = record
        cursors.restarted()

    # ---- attachments ----

    def subscribe(self, key: bytes, session: Session, request: Subscribe) -> list[Send]:
        """Attach; the answer, and what is due. Raises ForetellErrors, having changed nothing."""
        limit = self.limits.session_subscriptions
        if len(session.deliveries) >= limit:
            raise LimitExceeded(f"session_subscriptions: this broker takes {limit:,} subscriptions of one client")
        admission, account, known = self._admission, session.account, self._attachments.definitions
        existing = known.get(request.name)
        flow = admission.check_subscribe(account, request, existing, self._matcher.streams, known)
        if flow is not None:
            readers = ((name, each.account.user) for _, each in self._sessions.everybody() for name in each.deliveries)
            admission.check_readers(flow, readers)
        holder: tuple[bytes, Session] | None = None
        delivery: AnyDelivery
        when_slow = _policy(request)
        if request.durable is None:
            resumable = session.token is not None
            delivery = Delivery(request.name, self.limits, request.credits, resumable=resumable, when_slow=when_slow)
        else:
            cursor = self._cursor(request.durable, request.name, account.user)
            holder = self._holder(cursor)
            if holder is not None and holder[0] != key and holder[0] in self._sessions.present:
                return _held(key, holder[0], request, cursor)
            # In memory it may be another one of the same name, whose positions say nothing of what has come.
            first = begin(cursor, None if self._durability == MEMORY else request.after)
            delivery = DurableDelivery(request.name, self.limits, request.credits, cursor, first, cursor.told)
        attached = self._attachments.attach(key, request, delivery, flow)
        try:
            if isinstance(delivery, DurableDelivery):
                self._check_quota(delivery.cursor, account.user)
            account.attach(admission.states(request.name))
        except LimitExceeded:
            self._attachments.detach(key, request.name)
            raise
        session.deliveries[request.name] = delivery
        session.ended.pop(request.name, None)
        if isinstance(delivery, DurableDelivery):
            if holder is not None:
                self.detach(*holder, request.name)
            if self._cursors.find(delivery.cursor.name) is None:
                added = _added(delivery.cursor)
                delivery.cursor = self._cursors.add(added)
                self._record(added)
        return [Send(key, self._subscribed(request, delivery, attached)), *self._distribution.due(key, delivery)]

    def go_on(self, key: bytes, session: Session, request: Subscribe, received: int) -> list[Send]:
        """A subscription of a session that was resumed: its answer, then what has not come, and what has waited."""
        name = request.name
        delivery = session.deliveries[name] if name in session.deliveries else session.ended[name]
        if isinstance(delivery, DurableDelivery):
            if request.durable != delivery.cursor.name:
                raise DefinitionError(f"subscription {name!r}: this client has it by {delivery.cursor.name!r}")
            delivery.resume(received, request.credits, request.after)
        elif request.durable is not None:
            raise DefinitionError(f"subscription {name!r}: this client has it without a cursor")
        elif _policy(request) != delivery.when_slow:
            raise DefinitionError(f"subscription {name!r}: this client has it with when_slow {delivery.when_slow!r}")
        else:
            delivery.resume(received, request.credits)
        answer = Send(key, self._subscribed(request, delivery, True, True))
        if isinstance(delivery, Delivery) and name in session.ended:
            return [answer, *_end(key, delivery)]
        return [answer, *self._distribution.due(key, delivery)]

    def end_slow(self) -> list[Send]:
        """End the subscriptions whose reader was too slow and has asked for that: what they say last.

        Of a session that can be resumed it is kept, without what has waited, as it may be away and has to be told.
        """
        sends: list[Send] = []
        for (key, name), delivery in self._distribution.over().items():
            session = self._sessions.of(key)
            self.detach(key, session, name)
            if key in self._sessions.present:
                sends += _end(key, delivery)
            if session.token is not None:
                session.ended[name] = delivery
                if len(session.ended) > self.limits.session_subscriptions:
                    del session.ended[next(iter(session.ended))]
        return sends

    def detach(self, key: bytes, session: Session, name: str) -> None:
        """The session has it no more. A cursor stays."""
        del session.deliveries[name]
        session.account.detach(self._admission.states(name))
        self._distribution.forget(key, name)
        self._attachments.detach(key, name)

    def _subscribed(
        self, request: Subscribe, delivery: AnyDelivery, attached: bool, resumed: bool = False
    ) -> Subscribed:
        if isinstance(delivery, Delivery):
            return Subscribed(request.correlation, request.name, attached, resumed)
        promise, position = self._durability, delivery.next
        return Subscribed(request.correlation, request.name, attached, resumed, promise, position)

    # ---- cursors ----

    def acknowledge(self, session: Session, request: Acknowledge) -> None:
        """Everything up to a position is done. Raises ForetellErrors."""
        delivery = session.deliveries.get(request.name)
        if not isinstance(delivery, DurableDelivery):
            raise UnknownSubscription(f"subscription {request.name!r}: this client is attached to no cursor of it")
        if request.position >= delivery.next:
            raise WireError(
                f"subscription {request.name!r}: {delivery.next - 1} is the last position that was sent, "
                f"found {request.position}"
            )
        if request.position > delivery.cursor.acknowledged:
            self._move(CursorMoved(delivery.cursor.name, request.position))

    def forget(self, key: bytes, session: Session, request: Forget) -> list[Send]:
        """A cursor goes, with what it keeps; and its subscription, if nobody else has it. Raises ForetellErrors."""
        user = session.account.user
        cursor = self._cursors.find(request.cursor)
        if cursor is None:
            mine = [each.name for each in self._cursors if each.owner == user.name]
            raise UnknownSubscription(f"cursor {request.cursor!r} is not known{suggestion(request.cursor, mine)}")
        if not user.admin:
            _check_owner(cursor, user)
        holder = self._holder(cursor)
        if holder is not None and holder[0] != key and holder[0] in self._sessions.present:
            return _held(key, holder[0], request, cursor)
        self._move(CursorMoved(cursor.name, None))
        if holder is not None:
            self.detach(*holder, cursor.subscription)
        self._attachments.release(cursor.subscription)
        return [Send(key, Done(request.correlation))]

    def kept(self, user: User, subscription: str) -> dict[str, int]:
        """The cursors of a subscription that this user may see, each with how many results it keeps."""
        cursors = self._cursors.of(subscription)
        return {each.name: len(each.results) for each in cursors if user.admin or each.owner == user.name}

    def _cursor(self, name: str, subscription: str, user: User) -> Cursor:
        """The cursor of this name, or one that may be added. Raises ForetellErrors."""
        checked_subscription_name(name)
        known = self._cursors.find(name)
        if known is None:
            limit = self.limits.durable_cursors
            if len(self._cursors) >= limit:
                raise LimitExceeded(f"durable_cursors: this broker keeps {limit:,} cursors")
            limits = self.limits
            return Cursor(name, subscription, user.name, limits.durable_notifications, limits.durable_bytes)
        _check_owner(known, user)
        if known.subscription != subscription:
            raise DefinitionError(f"cursor {name!r} is one of subscription {known.subscription!r}")
        return known

    def _holder(self, cursor: Cursor) -> tuple[bytes, Session] | None:
        """Who is attached to it. O(attachments of the subscription)."""
        for key, delivery in self._attachments.of(cursor.subscription).items():
            if isinstance(delivery, DurableDelivery) and delivery.cursor is cursor:
                return key, self._sessions.of(key)
        return None

    def _check_quota(self, cursor: Cursor, user: User) -> None:
        """What is kept without clients counts, too. Raises LimitExceeded."""
        quota, states = user.quota, self._admission.states
        owned = {each.name: each.subscription for each in self._cursors if each.owner == user.name}
        owned[cursor.name] = cursor.subscription
        if quota.subscriptions is not None and len(owned) > quota.subscriptions:
            raise LimitExceeded(f"quota subscriptions: user {user.name!r} may have {quota.subscriptions:,} cursors")
        if quota.states is not None and sum(map(states, dict.fromkeys(owned.values()))) > quota.states:
            raise LimitExceeded(f"quota states: the cursors of user {user.name!r} may hold {quota.states:,} states")

    def _move(self, record: CursorMoved) -> None:
        self._cursors.move(record)
        self._record(record)


def _policy(request: Subscribe) -> str:
    """What is to become of a queue that is full. Raises DefinitionError."""
    check_when_slow(request.name, request.durable, request.when_slow)
    return request.when_slow or WHEN_SLOW[0]


def _end(key: bytes, delivery: Delivery) -> list[Send]:
    """The gap at the end, without regard to credits, and that it is the end."""
    gap = [Send(key, message) for message in delivery.farewell()]
    reason = f"{delivery.over}: more waited for its reader than the queue takes, and it was asked to end then"
    return [*gap, Send(key, Ended(0, delivery.subscription, SLOW, reason))]


def _added(cursor: Cursor) -> CursorAdded:
    return CursorAdded(cursor.name, cursor.subscription, cursor.owner, cursor.notifications, cursor.size)


def _held(key: bytes, holder: bytes, request: Subscribe | Forget, cursor: Cursor) -> list[Send]:
    """Not now; and look whether the other one is still there."""
    busy = Busy(f"cursor {cursor.name!r}: another client is attached to it", ATTACHED_RETRY_MICROSECONDS)
    return [Send(holder, Probe(0)), Send(key, failure(request.correlation, busy))]


def _check_owner(cursor: Cursor, user: User) -> None:
    if cursor.owner != user.name:
        raise PermissionDenied(f"cursor {cursor.name!r}: user {user.name!r} has no permission to use it")
