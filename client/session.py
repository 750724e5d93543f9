"""The client's half of the protocol without a socket: requests, answers, inboxes and credits.

The owner of a socket sends the frames that `request` and `take` return, passes incoming frames to `receive`, and
fetches answers with `answer`. The session has no clock and never waits. The blocking and the asyncio client are shells
around it.

After a loss the same Session can begin anew (session_renewal.py), because it remembers its declarations and its
subscriptions. If the broker still has the session, it sends unconfirmed notifications again and nothing is missing.
Otherwise the reader gets the notifications received before the loss, then an `incomplete` with the limit `connection`,
because nobody knows what is missing, and then the new ones.

Credits. A subscription begins with a window of credits, and each notification uses one. When the reader has taken half
a window out of the inbox, the client grants half a window again. So this side never holds more than one window for each
subscription, and the notifications of a reader that stops reading stay in the broker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple, final

from broker.wire import (
    Acknowledge,
    AddStream,
    Closing,
    Credit,
    Ended,
    Failure,
    Message,
    Notifications,
    Numbered,
    Probe,
    Refuse,
    Subscribe,
    Subscribed,
    SubscribedMany,
    Welcome,
    WireError,
    decode,
    decode_result,
    encode,
    encode_result,
)
from broker.wire.limits import CREDITS_MAX

from .deadlines import Deadlines
from .errors import ConnectionLost, ForetellError, LimitExceeded, ProtocolError, remote_error
from .flow import FlowEvent, Happening
from .later import LaterAcknowledgements
from .notification import Notification

WINDOW_NOTIFICATIONS: Final = 1_000

CONNECTION: Final = "connection"
"""The limit of an `incomplete` that the client inserts for results missed while it was not connected."""

FLOW_EVENTS_MAX: Final = 1_000
"""Without a callback the oldest events are dropped."""


class Arrival(NamedTuple):
    """An encoded result; with a cursor also its position and the cursor's incarnation."""

    result: bytes
    position: int | None = None
    redelivered: bool = False
    incarnation: int | None = None


@final
class Inbox:
    """Notifications of one subscription that were received and not yet taken.

    `request`: the accepted request to subscribe, None before. `answered`: the broker has accepted it. `refused`: why
    the broker ended the subscription or refused to renew it. `renewing`: it was requested again after a loss, and the
    answer is outstanding. `token`: the session that numbers its notifications; a failed attempt may have begun another
    session. `expected`: the number of the next notification. `taken`: notifications read since the last grant of
    credits.

    With a cursor: `position` is that of the last notification received, `read` the position and incarnation of the last
    one handed out, `incarnation` the cursor's present one. `replays`: the request asked for acknowledged positions.
    `held`: how often a renewal found the cursor in use by another client.
    """

    __slots__ = (
        "answered", "expected", "held", "incarnation", "notifications", "position", "read", "refused", "renewing",
        "replays", "request", "taken", "token", "window",
    )  # fmt: skip

    def __init__(self, window: int) -> None:
        self.notifications: deque[Arrival] = deque()
        self.position: int | None = None
        self.read: tuple[int, int | None] | None = None
        self.incarnation: int | None = None
        self.replays = False
        self.held = 0
        self.window = window
        self.taken = 0
        self.expected = 1
        self.request: Subscribe | None = None
        self.refused: ForetellError | None = None
        self.renewing = False
        self.answered = False
        self.token: bytes | None = None


@final
class Session:
    """The state of one session. `lost`: why it ended, None while it lasts. `flow_events`: not yet reported events.

    `declared` and the requests of `inboxes` were accepted by the broker and are requested again after a loss.
    `dropped`: subscriptions whose end could not be sent. `token`: the broker's name for a resumable session, empty
    before the first Welcome, None if the session is not resumable. `later`: acknowledgements without waiting.
    `begun`: how often the session has begun. `batches`: how many batches may be in flight. With a `publisher`, a
    unique name, every batch has a number and can be sent again when its answer was lost: the broker accepts it
    once. Numbers start from the broker's clock, above those of earlier publishers.
    """

    __slots__ = (
        "_answers", "_correlation", "_deadlines", "_numbers_from", "_repeatable", "_waiting", "batches", "begun",
        "declared", "dropped", "flow_events", "inboxes", "later", "lost", "publisher", "timed", "token",
        "warned",
    )  # fmt: skip

    def __init__(
        self, resumable: bool = False, publisher: str | None = None, deadlines: Deadlines | None = None
    ) -> None:
        self.token: bytes | None = b"" if resumable else None
        self.publisher = publisher
        self.batches = CREDITS_MAX  # until the broker has said how many
        self.begun = 0
        self.dropped: dict[str, None] = {}
        self.lost: ForetellError | None = None
        self.flow_events: deque[FlowEvent] = deque(maxlen=FLOW_EVENTS_MAX)
        self.declared: dict[str, AddStream] = {}
        self.inboxes: dict[str, Inbox] = {}
        self.later = LaterAcknowledgements()
        self.timed: set[str] = set()  # streams for which a time was published, whose unit is plausible
        self.warned: set[str] = set()  # streams of which the program was warned that a whole batch was refused
        self._correlation = 0
        self._numbers_from = 0
        self._deadlines = deadlines or Deadlines()
        self._waiting: set[int] = set()
        self._repeatable: set[int] = set()
        self._answers: dict[int, Message] = {}

    def request(self, make: Callable[[int], Message], waits: int = 1) -> tuple[int, bytes]:
        """Number a request, encode it, and expect its answer from now on.

        `waits`: its deadline in multiples of the client's timeout; 0: no deadline.

        Raises LimitExceeded for a message that is too large, and leaves the session unchanged.
        """
        correlation = self._correlation + 1
        message = make(correlation)
        deadline = self._deadlines.of(message, waits)
        given: dict[str, Any] = {} if deadline is None else {"deadline": deadline}
        numbered = self.publisher is not None and isinstance(message, Numbered)
        if numbered:
            given["publisher"], given["number"] = self.publisher, self._numbers_from + correlation
        repeatable = numbered or isinstance(message, (Acknowledge, Refuse))
        try:
            frame = encode(message, given)
        except WireError as error:
            raise LimitExceeded(str(error)) from None
        self._correlation = correlation
        self._waiting.add(correlation)
        if repeatable:
            self._repeatable.add(correlation)
        return correlation, frame

    def repeatable(self, correlation: int) -> bool:
        """Whether this unanswered request may be sent again in another session."""
        return correlation in self._repeatable

    def expect(self, correlation: int) -> None:
        """Expect the answer to this request, even if the session has begun anew since the request was made."""
        self._waiting.add(correlation)

    def answer(self, correlation: int) -> Message | None:
        """Hand out the answer if it was received, which may be a Failure, once."""
        found = self._answers.pop(correlation, None)
        if found is not None:
            self._repeatable.discard(correlation)
        return found

    def answered(self) -> tuple[int, ...]:
        """The requests whose answers were received and not handed out."""
        return tuple(self._answers)

    def abandon(self, correlation: int) -> None:
        """Stop expecting an answer; one that arrives later is dropped."""
        self._waiting.discard(correlation)
        self._repeatable.discard(correlation)
        self._answers.pop(correlation, None)

    def lose(self, error: ForetellError) -> ForetellError:
        """End the session and return the reason. The first reason stays, because later errors only follow from it."""
        if self.lost is None:
            self.lost = error
        return self.lost

    def receive(self, frame: bytes) -> None:
        """Process one frame. An error in it, or the end of the session, sets `lost`."""
        try:
            message = decode(frame)
        except WireError as error:
            self.lose(ProtocolError(f"the broker sent a frame that cannot be decoded: {error}"))
            return
        match message:
            case Notifications():
                self._notify(message)
            case Probe():
                pass
            case Ended(_, name, code, reason):
                ended = self.inboxes.get(name)
                if ended is not None and ended.answered and not ended.renewing:  # else: an earlier one of that name
                    ended.refused = remote_error(Failure(0, code, f"subscription {name!r}: {reason}"))
                    self.flow_events.append(FlowEvent(Happening.ENDED, reason, name))
            case Closing(_, reason):
                self.lose(ConnectionLost(f"the broker has ended the session: {reason}"))
            case Failure(correlation, "session"):
                self.lose(remote_error(message))
                self._waiting.discard(correlation)
            case Failure(0):
                self.lose(remote_error(message))
            case Welcome(session=token, batches=batches, clock=clock):
                # A broker that has forgotten a publisher refuses numbers which that publisher may have used.
                self._numbers_from = self._numbers_from or clock
                self.batches = max(1, batches)  # with 0 the client could never publish
                if self.token is not None:
                    self.token = token
                self._answered(message)
            case Subscribed(correlation, name=name):
                # After an abandoned request the name may belong to another subscription by now.
                if name in self.inboxes and correlation in self._waiting:
                    self._subscribed(self.inboxes[name], message)
                self._answered(message)
            case SubscribedMany(correlation, outcomes):
                for each in outcomes if correlation in self._waiting else ():
                    if each.code is None and each.name in self.inboxes:
                        self._subscribed(self.inboxes[each.name], Subscribed(correlation, each.name, each.attached))
                self._answered(message)
            case _:
                self._answered(message)

    def _subscribed(self, inbox: Inbox, answer: Subscribed) -> None:
        if inbox.renewing and not (answer.resumed and inbox.token == self.token):
            inbox.expected = 1
            # A cursor continues behind the last position received, unless it was forgotten and created anew.
            goes_on = inbox.position is not None and answer.position == inbox.position + 1
            if not goes_on or answer.incarnation != inbox.incarnation:
                inbox.notifications.append(_gap(answer.name))  # before the notifications of the new session
                inbox.position = None
        if inbox.position is None and answer.position is not None:
            inbox.position = answer.position - 1
        inbox.incarnation = answer.incarnation
        inbox.renewing = False
        inbox.answered = True
        inbox.held = 0
        inbox.token = self.token

    def _answered(self, message: Message) -> None:
        self._deadlines.observe(message)
        refused = self.later.settle(message)
        if refused is not None:
            self.flow_events.append(FlowEvent(Happening.UNACKNOWLEDGED, str(refused[1]), refused[0]))
        if message.correlation in self._waiting:
            self._waiting.discard(message.correlation)
            self._answers[message.correlation] = message

    # ---- renewal ----

    def begin_anew(self) -> None:
        """Drop outstanding answers, and mark every subscription for renewal."""
        self.lost = None
        self.begun += 1
        self._waiting.clear()
        self._answers.clear()
        self._deadlines.forget()
        self.later.begin_anew({name for name, inbox in self.inboxes.items() if inbox.request is not None})
        for inbox in self.inboxes.values():
            inbox.renewing = inbox.request is not None
            inbox.taken = 0

    # ---- subscriptions ----

    def open_inbox(self, name: str, window: int) -> None:
        """Open an inbox before the request to subscribe is sent: notifications follow its answer immediately.

        The name must be free.
        """
        self.inboxes[name] = Inbox(window)

    def close_inbox(self, name: str) -> None:
        """Drop the notifications that were not taken, and those that still arrive."""
        self.inboxes.pop(name, None)

    def has_inbox(self, name: str) -> bool:
        """Whether this session has subscribed to the name."""
        return name in self.inboxes

    def take(self, name: str) -> tuple[Notification | None, bytes | None]:
        """The next notification if there is one, and a frame to send if credits are to be granted.

        Raises the error with which the broker ended or refused the subscription, after its last notification.
        """
        inbox = self.inboxes[name]
        if not inbox.notifications:
            if inbox.refused is not None:
                raise inbox.refused
            return None, None
        arrival = inbox.notifications.popleft()
        try:
            line = _line(arrival)
        except WireError as error:
            raise ProtocolError(str(error)) from None
        notification = Notification(line, arrival.incarnation)
        if arrival.position is not None:
            inbox.read = arrival.position, arrival.incarnation
        if line["kind"] == "incomplete":
            limit = notification.limit or ""
            self.flow_events.append(FlowEvent(Happening.GAP, limit, name, missed=notification.missed))
            if limit == CONNECTION:
                return notification, None  # the client inserted it, so it used no credit
        inbox.taken += 1
        if inbox.taken * 2 < inbox.window:
            return notification, None
        grant = encode(Credit(0, name, inbox.taken))
        inbox.taken = 0
        return notification, grant

    def _notify(self, message: Notifications) -> None:
        inbox = self.inboxes.get(message.subscription)
        if inbox is None or not inbox.answered:
            return  # it belongs to a subscription that was dropped, perhaps one of the same name
        if message.first != inbox.expected:
            reason = f"expected notification {inbox.expected}, found {message.first}"
            self.lose(ProtocolError(f"subscription {message.subscription!r}: {reason}"))
            return
        inbox.expected += len(message.results)
        position = message.position
        if position is None:
            inbox.notifications.extend(map(Arrival, message.results))
            return
        for at, result in enumerate(message.results, position):
            inbox.notifications.append(Arrival(result, at, message.redelivered, inbox.incarnation))
        inbox.position = position + len(message.results) - 1


def _line(arrival: Arrival) -> dict[str, Any]:
    line = decode_result(arrival.result)
    if arrival.position is not None:
        line["position"] = arrival.position
        if arrival.redelivered:
            line["redelivered"] = True
    return line


def _gap(name: str) -> Arrival:
    return Arrival(encode_result({"kind": "incomplete", "subscription": name, "limit": CONNECTION}))
