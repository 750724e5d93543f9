"""The client's half of the protocol without a socket: requests, answers, inboxes and credits.

Whoever owns a socket sends what `request` and `taken` return, feeds what comes to `receive`, and looks for the answer.
There is no clock here and nothing waits; the blocking client is one shell around this, the asyncio client another.

After a loss the same Session can begin anew (renewal), as it knows what it has declared and subscribed to. Where the
broker still has the session, what was on the way comes again and nothing is missed. Otherwise what came before is still
read, then an `incomplete` with the limit `connection`, as nobody knows what was missed, and then what comes.

Credits. A subscription begins with a window of credits, each notification uses one, and half a window is granted again
as soon as half a window has been taken out of the inbox by the reader. So at most a window of notifications of each
subscription is ever on this side, and a reader that stops reading leaves the others in the broker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
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
    Probe,
    Publish,
    Refuse,
    Subscribe,
    Subscribed,
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
from .notification import Notification

WINDOW_NOTIFICATIONS: Final = 1_000

CONNECTION: Final = "connection"
"""The limit of an `incomplete` that the client itself puts in the place of what it was not connected for."""

FLOW_EVENTS_MAX: Final = 1_000
"""What is told to nobody is forgotten at some time."""


class Arrival(NamedTuple):
    """An encoded result, and where a cursor has it."""

    result: bytes
    position: int | None = None
    redelivered: bool = False
    incarnation: int | None = None


@final
class Inbox:
    """What has come for one subscription and was not taken yet. `request`: how it was subscribed to, once it is.

    `answered`: the broker has it. `refused`: why it has ended it, or not taken it again. `asked`: it was lost, and
    asked for again. `token`: of the session in which its notifications are numbered; an attempt that failed half-way
    may have begun another one. `position`: of a cursor, that of the last which has come; `read`: of the last that was
    handed out, with the incarnation of its cursor, where `incarnation` is that of the cursor now. `replays`: positions
    before the acknowledged ones were asked for. `held`: how often somebody else had the cursor.
    """

    __slots__ = (
        "answered", "asked", "expected", "held", "incarnation", "notifications", "position", "read", "refused",
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
        self.expected = 1  # the number of the next
        self.request: Subscribe | None = None
        self.refused: ForetellError | None = None
        self.asked = False
        self.answered = False
        self.token: bytes | None = None


@final
class Session:
    """One session's state. `lost` is why it has ended, as far as it has; `happened` what is to be told of it.

    `declared` and the requests of `inboxes` are what the broker has taken and would be asked for again, `dropped` what
    it could not be told to give up. `token`: what the broker calls a session that can be resumed, empty before it has.
    `begun`: how often it has begun. With a `publisher`, a name that nobody else has, each batch is numbered, and may be
    said again when its answer was lost: the broker takes it once. Numbers begin with the broker's clock, behind those
    of earlier publishers. `batches`: how many may be under way.
    """

    __slots__ = (
        "_answers", "_correlation", "_deadlines", "_numbers_from", "_repeatable", "_waiting", "batches", "begun",
        "declared", "dropped", "happened", "inboxes", "lost", "publisher", "token",
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
        self.happened: deque[FlowEvent] = deque(maxlen=FLOW_EVENTS_MAX)
        self.declared: dict[str, AddStream] = {}
        self.inboxes: dict[str, Inbox] = {}
        self._correlation = 0
        self._numbers_from = 0
        self._deadlines = deadlines or Deadlines()
        self._waiting: set[int] = set()
        self._repeatable: set[int] = set()
        self._answers: dict[int, Message] = {}

    def request(self, make: Callable[[int], Message], waits: int = 1) -> tuple[int, bytes]:
        """Number a request and encode it; its answer is awaited from now on.

        `waits`: how often this end's patience it may take until nobody waits any more; 0: however long.

        Raises LimitExceeded for one that is too large, and then nothing has happened.
        """
        correlation = self._correlation + 1
        message = make(correlation)
        deadline = self._deadlines.of(message, waits)
        numbered = isinstance(message, Publish) and self.publisher is not None
        if isinstance(message, Publish) and numbered:
            number = self._numbers_from + correlation
            message = replace(message, publisher=self.publisher, number=number, deadline=deadline)
        elif deadline is not None and isinstance(message, Publish | Subscribe):
            message = replace(message, deadline=deadline)
        repeatable = numbered or isinstance(message, (Acknowledge, Refuse))
        try:
            frame = encode(message)
        except WireError as error:
            raise LimitExceeded(str(error)) from None
        self._correlation = correlation
        self._waiting.add(correlation)
        if repeatable:
            self._repeatable.add(correlation)
        return correlation, frame

    def repeatable(self, correlation: int) -> bool:
        """Whether this request, which has not been answered, may be sent again in another session."""
        return correlation in self._repeatable

    def expect(self, correlation: int) -> None:
        """The answer to this request is awaited, also after the session has begun anew since it was made."""
        self._waiting.add(correlation)

    def answer(self, correlation: int) -> Message | None:
        """The answer if it has come, which may be a Failure; it is handed out once."""
        found = self._answers.pop(correlation, None)
        if found is not None:
            self._repeatable.discard(correlation)
        return found

    def answered(self) -> tuple[int, ...]:
        """The requests whose answers have come and were not handed out."""
        return tuple(self._answers)

    def abandon(self, correlation: int) -> None:
        """Nobody waits any more: an answer that still comes is dropped."""
        self._waiting.discard(correlation)
        self._repeatable.discard(correlation)
        self._answers.pop(correlation, None)

    def lose(self, error: ForetellError) -> ForetellError:
        """The session has ended; why it has. The first reason stays: what follows from it says less."""
        if self.lost is None:
            self.lost = error
        return self.lost

    def receive(self, frame: bytes) -> None:
        """Take one frame. What is wrong with it or with the session is kept in `lost`."""
        try:
            message = decode(frame)
        except WireError as error:
            self.lose(ProtocolError(f"the broker sent what is no message: {error}"))
            return
        match message:
            case Notifications():
                self._notify(message)
            case Probe():
                pass
            case Ended(_, name, code, reason):
                ended = self.inboxes.get(name)
                if ended is not None and ended.answered and not ended.asked:  # else it is one of that name before
                    ended.refused = remote_error(Failure(0, code, f"subscription {name!r}: {reason}"))
                    self.happened.append(FlowEvent(Happening.ENDED, reason, name))
            case Closing(_, reason):
                self.lose(ConnectionLost(f"the broker has ended the session: {reason}"))
            case Failure(correlation, "session"):
                self.lose(remote_error(message))
                self._waiting.discard(correlation)
            case Failure(0):
                self.lose(remote_error(message))
            case Welcome(session=token, batches=batches, clock=clock):
                # A broker that has forgotten publishers refuses the numbers that they may have had.
                self._numbers_from = self._numbers_from or clock
                self.batches = max(1, batches)  # a broker that says none could not be published to
                if self.token is not None:
                    self.token = token
                self._answered(message)
            case Subscribed(correlation, name=name):
                # Of one that nobody waits for any more, the name may be another's by now.
                if name in self.inboxes and correlation in self._waiting:
                    self._subscribed(self.inboxes[name], message)
                self._answered(message)
            case _:
                self._answered(message)

    def _subscribed(self, inbox: Inbox, answer: Subscribed) -> None:
        if inbox.asked and not (answer.resumed and inbox.token == self.token):
            inbox.expected = 1
            # What a cursor has kept goes on where it has stopped, unless it is another one of that name.
            goes_on = inbox.position is not None and answer.position == inbox.position + 1
            if not goes_on or answer.incarnation != inbox.incarnation:
                inbox.notifications.append(_gap(answer.name))  # now, as notifications of the other session follow
                inbox.position = None
        if inbox.position is None and answer.position is not None:
            inbox.position = answer.position - 1
        inbox.incarnation = answer.incarnation
        inbox.asked = False
        inbox.answered = True
        inbox.held = 0
        inbox.token = self.token

    def _answered(self, message: Message) -> None:
        self._deadlines.heard(message)
        if message.correlation in self._waiting:
            self._waiting.discard(message.correlation)
            self._answers[message.correlation] = message

    # ---- coming back ----

    def begin_anew(self) -> None:
        """Nothing is awaited any more; every inbox is about to be asked for again."""
        self.lost = None
        self.begun += 1
        self._waiting.clear()
        self._answers.clear()
        self._deadlines.forget()
        for inbox in self.inboxes.values():
            inbox.asked = inbox.request is not None
            inbox.taken = 0

    # ---- subscriptions ----

    def open_inbox(self, name: str, window: int) -> None:
        """Before the request to subscribe: notifications follow its answer immediately. The name must be free."""
        self.inboxes[name] = Inbox(window)

    def close_inbox(self, name: str) -> None:
        """What has not been taken is dropped, and so is what still comes."""
        self.inboxes.pop(name, None)

    def has_inbox(self, name: str) -> bool:
        """Whether this session has subscribed to the name."""
        return name in self.inboxes

    def take(self, name: str) -> tuple[Notification | None, bytes | None]:
        """The next notification if there is one, and a frame to send if it is time to grant credits again.

        Raises why the broker has ended the subscription or not taken it again, after all that came before.
        """
        inbox = self.inboxes[name]
        if not inbox.notifications:
            if inbox.refused is not None:
                raise inbox.refused
            return None, None
        arrival = inbox.notifications.popleft()
        try:
            notification = Notification(_line(arrival), arrival.incarnation)
        except WireError as error:
            raise ProtocolError(str(error)) from None
        if arrival.position is not None:
            inbox.read = arrival.position, arrival.incarnation
        if notification.kind == "incomplete":
            limit = notification.limit or ""
            self.happened.append(FlowEvent(Happening.GAP, limit, name, missed=notification.missed))
            if limit == CONNECTION:
                return notification, None  # our own, for which nobody has used a credit
        inbox.taken += 1
        if inbox.taken * 2 < inbox.window:
            return notification, None
        grant = encode(Credit(0, name, inbox.taken))
        inbox.taken = 0
        return notification, grant

    def _notify(self, message: Notifications) -> None:
        inbox = self.inboxes.get(message.subscription)
        if inbox is None or not inbox.answered:
            return  # of what was given up, and may have been subscribed to again since
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
