"""Clients inside the broker's process: the sessions of users who act by the console.

A request of theirs is a message as any other: it is encoded and decoded, passes the scheduler, the kernel with its
permissions, and the gate, and is answered when the journal has made it safe. Only the socket is missing. A user has one
session, which ends when it has no subscription and was not used for a while. Not here: what is asked (console_writing).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

from ..kernel.session_requests import SOFTWARE
from ..wire import (
    VERSION,
    Closing,
    Credit,
    Ended,
    Failure,
    Goodbye,
    Hello,
    Message,
    Notifications,
    Probe,
    Subscribe,
    Subscribed,
    Unsubscribe,
    decode,
    encode,
)

Asked: TypeAlias = Callable[[int], Message]
"""Makes a request with a correlation."""
Submit: TypeAlias = Callable[[bytes, Message, str, int], None]
"""Takes a session, its message, the key of its user, and the bytes of the message, as the Scheduler does."""

CALLED: Final = f"{SOFTWARE} console"
IDLE_SECONDS: Final = 30.0
"""After that a session without subscriptions ends."""
INSIDE: Final = b"console/"
"""How their keys begin; those that the socket assigns do not."""
_HELLO: Final = 1


@final
@dataclass(slots=True)
class _InsideClient:
    """`waiting`: requests without an answer. `taken`: results of each subscription since the last credit."""

    user: str
    identity: str
    used: float
    correlation: int = _HELLO
    waiting: dict[int, tuple[Message, Future[Message]]] = field(default_factory=dict)
    taken: dict[str, int] = field(default_factory=dict)


@final
class InsideClients:
    """The sessions by key. `submit` gives a message to the scheduler. Not thread-safe: all in the loop."""

    __slots__ = ("_by_user", "_opened", "_submit", "sessions")

    def __init__(self, submit: Submit) -> None:
        self._submit: Final = submit
        self._by_user: dict[str, bytes] = {}
        self._opened = 0
        self.sessions: dict[bytes, _InsideClient] = {}

    def key(self, user: str) -> bytes | None:
        """The session of a user, if there is one."""
        return self._by_user.get(user)

    def held(self, user: str) -> list[str]:
        """The subscriptions of a user's session."""
        key = self._by_user.get(user)
        return [] if key is None else list(self.sessions[key].taken)

    def begin(self, user: str, identity: str, asked: Asked) -> Future[Message]:
        """Begin a request of a user; its answer, later. Raises WireError for what no message can carry."""
        key = self._by_user.get(user)
        correlation = 1 + (_HELLO if key is None else self.sessions[key].correlation)
        frame = encode(asked(correlation))
        message = decode(frame)
        answer: Future[Message] = Future()
        if key is None:
            self._opened += 1
            key = self._by_user[user] = INSIDE + str(self._opened).encode()
            self.sessions[key] = _InsideClient(user, identity, 0.0)
            self._submit(key, Hello(_HELLO, VERSION, CALLED), identity, 0)
        client = self.sessions[key]
        client.correlation, client.used = correlation, time.monotonic()
        client.waiting[correlation] = message, answer
        self._submit(key, message, identity, len(frame))
        return answer

    def take(self, key: bytes, message: Message) -> bool:
        """Take a message to one of these sessions, which may have ended; always true, as it can be reached."""
        client = self.sessions.get(key)
        if client is None:
            return True
        match message:
            case Notifications(_, name):
                if name in client.taken:
                    client.taken[name] += len(message.results)
            case Ended(_, name):
                client.taken.pop(name, None)
            case Closing(_, reason):
                self._end(key, Failure(0, "session", reason))
            case Failure() if message.correlation == _HELLO:
                self._end(key, message)
            case Probe():
                pass
            case _ if message.correlation in client.waiting:
                request, answer = client.waiting.pop(message.correlation)
                if isinstance(message, Subscribed) and isinstance(request, Subscribe) and request.durable is None:
                    client.taken[message.name] = 0
                elif isinstance(request, Unsubscribe) and not isinstance(message, Failure):
                    client.taken.pop(request.name, None)
                answer.set_result(message)
                if isinstance(request, Goodbye):
                    del self.sessions[key]
            case _:
                pass  # the answer to HELLO
        return True

    def tick(self) -> None:
        """Ask for further results, and end the sessions that nobody uses."""
        now = time.monotonic()
        for key, client in list(self.sessions.items()):
            for name, taken in client.taken.items():
                if taken:
                    client.taken[name] = 0
                    self._submit(key, Credit(0, name, taken), client.identity, 0)
            idle = not client.taken and not client.waiting and now - client.used > IDLE_SECONDS
            if idle and self._by_user.pop(client.user, None) is not None:
                goodbye = Goodbye(client.correlation + 1)
                client.waiting[goodbye.correlation] = goodbye, Future()
                self._submit(key, goodbye, client.identity, 0)

    def _end(self, key: bytes, reason: Failure) -> None:
        client = self.sessions.pop(key)
        if self._by_user.get(client.user) == key:
            del self._by_user[client.user]
        for _, answer in client.waiting.values():
            answer.set_result(reason)

    def check_invariants(self) -> None:
        """For tests."""
        assert all(self.sessions[key].user == user for user, key in self._by_user.items())
        assert all(_HELLO < each <= own.correlation + 1 for own in self.sessions.values() for each in own.waiting)
