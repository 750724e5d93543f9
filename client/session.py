"""Law: the client's half of the protocol without a socket: requests to frames, frames to answers, inboxes and credits.

Whoever owns a socket sends what `request` and `taken` return, feeds what comes to `receive`, and looks for the answer.
There is no clock here and nothing waits; the blocking client is one shell around this, an asyncio client another. A
client that reconnects would make a new Session from the subscriptions of the old one.

Credits. A subscription begins with a window of credits, each notification uses one, and half a window is granted again
as soon as half a window has been taken out of the inbox by the reader. So at most a window of notifications of each
subscription is ever on this side, and a reader that stops reading leaves the others in the broker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, final

from broker.wire import (
    Closing,
    Credit,
    Failure,
    Message,
    Notifications,
    Probe,
    WireError,
    decode,
    decode_result,
    encode,
)

from .errors import ConnectionLost, ForetellError, LimitExceeded, ProtocolError, remote_error
from .notification import Notification

WINDOW_NOTIFICATIONS: Final = 1_000


@final
class Inbox:
    """What has come for one subscription and was not taken yet."""

    __slots__ = ("expected", "notifications", "taken", "window")

    def __init__(self, window: int) -> None:
        self.notifications: deque[bytes] = deque()
        self.window = window
        self.taken = 0
        self.expected = 1


@final
class Session:
    """One session's state. `lost` is why it has ended, as far as it has."""

    __slots__ = ("_answers", "_correlation", "_inboxes", "_waiting", "lost")

    def __init__(self) -> None:
        self.lost: ForetellError | None = None
        self._correlation = 0
        self._waiting: set[int] = set()
        self._answers: dict[int, Message] = {}
        self._inboxes: dict[str, Inbox] = {}

    def request(self, make: Callable[[int], Message]) -> tuple[int, bytes]:
        """Number a request and encode it; its answer is awaited from now on.

        Raises LimitExceeded for one that is too large, and then nothing has happened.
        """
        correlation = self._correlation + 1
        try:
            frame = encode(make(correlation))
        except WireError as error:
            raise LimitExceeded(str(error)) from None
        self._correlation = correlation
        self._waiting.add(correlation)
        return correlation, frame

    def answer(self, correlation: int) -> Message | None:
        """The answer if it has come, which may be a Failure; it is handed out once."""
        return self._answers.pop(correlation, None)

    def abandon(self, correlation: int) -> None:
        """Nobody waits any more: an answer that still comes is dropped."""
        self._waiting.discard(correlation)
        self._answers.pop(correlation, None)

    def receive(self, frame: bytes) -> None:
        """Take one frame. What is wrong with it or with the session is kept in `lost`."""
        try:
            message = decode(frame)
        except WireError as error:
            self.lost = ProtocolError(f"the broker sent what is no message: {error}")
            return
        match message:
            case Notifications():
                self._notify(message)
            case Probe():
                pass
            case Closing(_, reason):
                self.lost = ConnectionLost(f"the broker has ended the session: {reason}")
            case Failure(correlation, "session"):
                self.lost = remote_error(message)
                self._waiting.discard(correlation)
            case Failure(0):
                self.lost = remote_error(message)
            case _:
                if message.correlation in self._waiting:
                    self._waiting.discard(message.correlation)
                    self._answers[message.correlation] = message

    # ---- subscriptions ----

    def open_inbox(self, name: str, window: int) -> None:
        """Before the request to subscribe: notifications follow its answer immediately. The name must be free."""
        self._inboxes[name] = Inbox(window)

    def close_inbox(self, name: str) -> None:
        """What has not been taken is dropped, and so is what still comes."""
        self._inboxes.pop(name, None)

    def has_inbox(self, name: str) -> bool:
        """Whether this session has subscribed to the name."""
        return name in self._inboxes

    def take(self, name: str) -> tuple[Notification | None, bytes | None]:
        """The next notification if there is one, and a frame to send if it is time to grant credits again."""
        inbox = self._inboxes[name]
        if not inbox.notifications:
            return None, None
        try:
            notification = Notification(decode_result(inbox.notifications.popleft()))
        except WireError as error:
            raise ProtocolError(str(error)) from None
        inbox.taken += 1
        if inbox.taken * 2 < inbox.window:
            return notification, None
        grant = encode(Credit(0, name, inbox.taken))
        inbox.taken = 0
        return notification, grant

    def _notify(self, message: Notifications) -> None:
        inbox = self._inboxes.get(message.subscription)
        if inbox is None:
            return
        if message.first != inbox.expected:
            self.lost = ProtocolError(
                f"subscription {message.subscription!r}: expected notification {inbox.expected}, found {message.first}"
            )
            return
        inbox.expected += len(message.results)
        inbox.notifications.extend(message.results)
