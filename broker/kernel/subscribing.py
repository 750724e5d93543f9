"""Attaches sessions to subscriptions and detaches them, directly or by a durable cursor.

One session at a time is attached to a cursor. A session without a connection gives it up to a new one; a session that
may have lost its connection unnoticed is probed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, final

from ..events import DefinitionError, ForetellError, LimitExceeded, UnknownSubscription, suggestion
from ..language.subscription import SubscriptionDefinition
from ..wire import (
    WHEN_SLOW,
    Credit,
    Done,
    Ended,
    PermissionDenied,
    Subscribe,
    Subscribed,
    SubscribedMany,
    SubscribeMany,
    SubscriptionOutcome,
    Unsubscribe,
    check_when_slow,
)
from ..wire.limits import PAGE_BYTES_TARGET, SUBSCRIPTIONS_AT_ONCE_MAX
from .admission import Admission
from .answers import failure
from .attachments import Attachments
from .cursor_requests import CursorRequests
from .cursors import Cursors
from .deadlines import check_deadline
from .delivery import Delivery
from .distribution import Distribution
from .durable_delivery import AnyDelivery, DurableDelivery
from .engine_port import EnginePort, EngineResult
from .held_back import HeldBack
from .inputs_and_effects import Send
from .limits import Limits
from .permissions import User
from .receipts import Receipts
from .records import Record
from .requests import Requests
from .sessions import Session, Sessions

MEMORY: Final = "memory"
"""The durability without a journal: the events are only in the broker's memory."""

DELETED: Final = "deleted"
"""Ends a delivery in the place of a limit: its subscription was deleted."""

WARNINGS_MAX: Final = 20
"""Warnings on the text of a subscription that an answer has, the first ones."""

WARNING_CHARACTERS_MAX: Final = 500
"""Characters of such a warning; the rest is cut."""

TEXTS_WARNED_MAX: Final = 64
"""Texts of one request for several subscriptions that are looked at for warnings, a millisecond or two each."""

SLOW: Final = "slow"
"""The code of Ended for a subscription whose reader was too slow."""


@final
class Subscribing:
    """The handlers. They pass changes to `record`. `durability`: what cursors promise. `check_open` raises Busy once
    the broker is stopping."""

    __slots__ = (
        "_admission", "_attachments", "_check_open", "_cursors", "_distribution", "_durability", "_engine",
        "_held_back", "_receipts", "_sessions", "cursor_requests", "denied", "limits",
    )  # fmt: skip

    def __init__(
        self,
        engine: EnginePort,
        limits: Limits,
        admission: Admission,
        attachments: Attachments,
        distribution: Distribution,
        sessions: Sessions,
        cursors: Cursors,
        receipts: Receipts,
        held_back: HeldBack,
        durability: str,
        record: Callable[[Record], None],
        check_open: Callable[[], None],
    ) -> None:
        self.limits = limits
        self.denied = 0  # subscriptions that were not allowed, of requests for several
        self._engine = engine
        self._admission = admission
        self._attachments = attachments
        self._distribution = distribution
        self._sessions = sessions
        self._cursors = cursors
        self._receipts = receipts
        self._held_back = held_back
        self._durability = durability
        self._check_open = check_open
        self.cursor_requests = CursorRequests(
            admission, attachments, distribution, sessions, cursors, record, self.detach
        )

    # ---- attachments ----

    def requests(self) -> Requests:
        """The requests of this topic except those about cursors."""
        return {
            Subscribe: self._subscribe,
            SubscribeMany: self._subscribe_many,
            Unsubscribe: self._unsubscribe,
            Credit: self._credit,
        }

    def _subscribe(self, key: bytes, session: Session, request: Subscribe, now: int) -> list[Send]:
        """Attach or resume; the answer and the notifications due."""
        name, received = request.name, request.received
        if received is not None and (name in session.deliveries or name in session.ended):
            return self._resume(key, session, request, received, now)
        self._check_open()
        check_deadline(request.deadline, now)
        answer, *due = self._attach(key, session, request, now)
        if request.query is not None and isinstance(answer.message, Subscribed):
            answer.message = replace(answer.message, warnings=self._warnings(request, None))
        return [answer, *due]

    def _warnings(self, request: Subscribe, alike: set[Any] | None) -> tuple[str, ...]:
        """What is to be said of a subscription that is made; of its text only if it is not like those in `alike`."""
        if request.query is None:
            return ()
        found = list(self._held_back.in_words(request.name).values())
        stamped = [stream for stream in self._receipts.used if not self._receipts.clocked.get(stream)]
        found += self._engine.warnings_of_streams(request.name, stamped)
        if alike is None or len(alike) < TEXTS_WARNED_MAX:
            found += self._engine.warnings(request.query, request.language, alike)
        return tuple([warning[:WARNING_CHARACTERS_MAX] for warning in found[:WARNINGS_MAX]])

    def _subscribe_many(self, key: bytes, session: Session, request: SubscribeMany, now: int) -> list[Send]:
        """Attach to each that is allowed; the answer, and the notifications due. Nothing of one that is refused stays.
        Their records come from one step, so that they are written together. Texts that differ in values only are looked
        at for warnings once, as that takes as long as to compile them."""
        self._check_open()
        check_deadline(request.deadline, now)
        count = len(request.wanted)
        if count > SUBSCRIPTIONS_AT_ONCE_MAX:
            most = f"at most {SUBSCRIPTIONS_AT_ONCE_MAX} subscriptions in one request"
            raise LimitExceeded(f"SUBSCRIPTIONS_AT_ONCE_MAX: expected {most}, found {count}")
        outcomes: list[SubscriptionOutcome] = []
        due: list[Send] = []
        alike: set[Any] = set()
        room = PAGE_BYTES_TARGET
        for each in request.wanted:
            one = Subscribe(
                request.correlation, each.name, each.language, each.query, each.lineage, each.report, each.forecast,
                request.credits, when_slow=request.when_slow, results=each.results,
            )  # fmt: skip
            try:
                answer, *more = self._attach(key, session, one, now)
            except ForetellError as error:
                self.denied += isinstance(error, PermissionDenied)
                said = failure(request.correlation, error)
                outcomes.append(
                    SubscriptionOutcome(
                        each.name, False, said.code, said.message, said.line, said.column, said.excerpt, said.retry
                    )
                )
            else:
                assert isinstance(answer.message, Subscribed)
                warnings = self._warnings(one, alike)
                room -= sum([len(warning.encode()) for warning in warnings])
                warned = warnings if room >= 0 else ()
                outcomes.append(SubscriptionOutcome(each.name, answer.message.attached, warnings=warned))
                due += more
        return [Send(key, SubscribedMany(request.correlation, tuple(outcomes))), *due]

    def _unsubscribe(self, key: bytes, session: Session, request: Unsubscribe, now: int) -> list[Send]:
        if request.name not in session.deliveries:
            hint = suggestion(request.name, session.deliveries)
            raise UnknownSubscription(f"subscription {request.name!r}: this client has not subscribed to it{hint}")
        self.detach(key, session, request.name)
        return [Send(key, Done(request.correlation))]

    def _credit(self, key: bytes, session: Session, grant: Credit, now: int) -> list[Send]:
        delivery = session.deliveries.get(grant.name)
        if delivery is None:
            return []  # the grant crossed the end of the subscription on its way
        delivery.grant(grant.credits)
        return self._distribution.due(key, delivery)

    def _attach(self, key: bytes, session: Session, request: Subscribe, now: int) -> list[Send]:
        limit = self.limits.session_subscriptions
        if len(session.deliveries) >= limit:
            raise LimitExceeded(f"session_subscriptions: this broker accepts at most {limit:,} of one client")
        admission, account, known = self._admission, session.account, self._attachments.definitions
        existing = known.get(request.name)
        flow = admission.check_subscribe(account, request, existing, self._engine.streams, known)
        if flow is not None:
            admission.check_readers(flow, self._readers, self._attachments.awaited)
        holder: tuple[bytes, Session] | None = None
        delivery: AnyDelivery
        when_slow = _policy(request)
        if request.durable is None:
            resumable = session.token is not None
            delivery = Delivery(request.name, self.limits, request.credits, resumable=resumable, when_slow=when_slow)
        else:
            cursor = self.cursor_requests.requested(request, account.user, self.limits)
            holder = self.cursor_requests.holder(cursor)
            if holder is not None and holder[0] != key and holder[0] in self._sessions.present:
                return self.cursor_requests.refuse_busy(key, holder[0], request, cursor)
            delivery = DurableDelivery(request.name, self.limits, request.credits, cursor)
            delivery.within, delivery.deliveries_max = request.within, request.deliveries_max
        attached = self._attachments.attach(key, request, delivery)
        try:
            if isinstance(delivery, DurableDelivery):
                self.cursor_requests.check_quota(delivery.cursor, account.user)
            account.attach(admission.states(request.name))
        except LimitExceeded:
            self._attachments.detach(key, request.name)
            raise
        session.deliveries[request.name] = delivery
        session.ended.pop(request.name, None)
        if isinstance(delivery, DurableDelivery):
            if holder is not None:
                self.detach(*holder, request.name)
            self.cursor_requests.attach(delivery)
            delivery.begin(request, self._durability != MEMORY)
            self.cursor_requests.give_up(delivery, now)
        return [Send(key, self._subscribed(request, delivery, attached)), *self._distribution.due(key, delivery)]

    def _readers(self, name: str) -> list[User]:
        """The users who are attached to this subscription, or own a cursor of it."""
        attached = [self._sessions.of(key).account.user for key in self._attachments.of(name)]
        owners = [self._admission.user(cursor.owner) for cursor in self._cursors.of(name)]
        return [*attached, *(owner for owner in owners if owner is not None)]

    def _resume(self, key: bytes, session: Session, request: Subscribe, received: int, now: int) -> list[Send]:
        """Resume a subscription of a resumed session: the answer, then lost and queued notifications."""
        name = request.name
        delivery = session.deliveries[name] if name in session.deliveries else session.ended[name]
        if isinstance(delivery, DurableDelivery):
            if request.durable != delivery.cursor.name:
                raise DefinitionError(f"subscription {name!r}: this client has it with cursor {delivery.cursor.name!r}")
            delivery.resume(received, request)
            self.cursor_requests.attach(delivery)
            self.cursor_requests.give_up(delivery, now)
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
        """End the subscriptions with the policy `disconnect` whose reader was too slow; their last messages.

        A resumable session keeps its ended deliveries, without their queues: it may be away, and gets the end when it
        resumes.
        """
        sends: list[Send] = []
        for (key, name), delivery in self._distribution.over().items():
            session = self._sessions.of(key)
            self.detach(key, session, name)
            if key in self._sessions.present:
                sends += _end(key, delivery)
            self._note_end(session, delivery)
        return sends

    @property
    def known(self) -> Mapping[str, SubscriptionDefinition]:
        """Every subscription by name."""
        return self._attachments.definitions

    def delete(self, name: str) -> list[Send]:
        """Remove a subscription, and end it for all who have it. Raises DefinitionError, and then changes nothing."""
        states = self._admission.states(name)
        sends: list[Send] = []
        for key, delivery in self._attachments.delete(name).items():
            assert isinstance(delivery, Delivery), "one with a cursor stays"
            session = self._sessions.of(key)
            del session.deliveries[name]
            session.account.detach(states)
            self._distribution.forget(key, name)
            delivery.over = DELETED
            if key in self._sessions.present:
                sends += _end(key, delivery)
            self._note_end(session, delivery)
        return sends

    def replace(
        self, user: User, name: str, language: str, query: str, keep_runs: bool
    ) -> Iterable[EngineResult]:
        """Give a subscription another text, for all who have it; its last results. Raises ForetellErrors, and then
        changes nothing."""
        self._check_open()
        admission = self._admission
        admission.check_replacement(user, name, language, query, self._readers, self._attachments.awaited)
        before = admission.states(name)
        results = self._attachments.replace(name, query, language, keep_runs)
        for key in self._attachments.of(name):
            self._sessions.of(key).account.resize(before, admission.states(name))
        return results

    def _note_end(self, session: Session, delivery: Delivery) -> None:
        """Keep the end of a subscription for a session that may be away, or lose its connection now."""
        if session.token is not None:
            session.ended[delivery.subscription] = delivery
            if len(session.ended) > self.limits.session_subscriptions:
                del session.ended[next(iter(session.ended))]

    def detach(self, key: bytes, session: Session, name: str) -> None:
        """Detach a session from a subscription. A cursor stays."""
        self.cursor_requests.detach(session.deliveries.pop(name))
        session.account.detach(self._admission.states(name))
        self._distribution.forget(key, name)
        self._attachments.detach(key, name)

    def detach_all(self, key: bytes, session: Session) -> None:
        """Detach a session from all its subscriptions."""
        for name in tuple(session.deliveries):
            self.detach(key, session, name)

    def _subscribed(
        self, request: Subscribe, delivery: AnyDelivery, attached: bool, resumed: bool = False
    ) -> Subscribed:
        if isinstance(delivery, Delivery):
            return Subscribed(request.correlation, request.name, attached, resumed)
        promise, position, incarnation = self._durability, delivery.first_position, delivery.cursor.incarnation
        return Subscribed(request.correlation, request.name, attached, resumed, promise, position, incarnation)


def _policy(request: Subscribe) -> str:
    """The policy for a full queue. Raises DefinitionError."""
    check_when_slow(request.name, request.durable, request.when_slow)
    return request.when_slow or WHEN_SLOW[0]


def _end(key: bytes, delivery: Delivery) -> list[Send]:
    """The last gap, whatever the credits, and ENDED."""
    gap = [Send(key, message) for message in delivery.final_gap()]
    if delivery.over == DELETED:
        reason = "an administrator has deleted it"
        return [*gap, Send(key, Ended(0, delivery.subscription, UnknownSubscription.code, reason))]
    reason = f"{delivery.over}: the reader was too slow, so the queue was full, and when_slow is 'disconnect'"
    return [*gap, Send(key, Ended(0, delivery.subscription, SLOW, reason))]
