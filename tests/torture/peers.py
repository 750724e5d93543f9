"""Clients without the SDK, so that hundreds cost little and each may behave as badly as it is told to."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, final

import zmq

from broker.wire import (
    VERSION,
    Credit,
    Ended,
    Failure,
    Hello,
    Message,
    Notifications,
    Probe,
    Subscribe,
    Unsubscribe,
    decode,
    decode_result,
    encode,
)

PATIENCE_MILLISECONDS: Final = 60_000
Context: TypeAlias = "zmq.Context[zmq.Socket[bytes]]"


@contextmanager
def sockets(count: int) -> Iterator[Context]:
    """A context for so many peers, which are closed with the block."""
    context: Context = zmq.Context()
    context.max_sockets = count + 10
    try:
        yield context
    finally:
        context.destroy(0)


@final
class Peer:
    """One session, with one subscription of its own, that the broker may have `ended`. `found`: results that came;
    `missed`: what gaps told of.
    """

    def __init__(self, context: Context, address: str, unread: int = 0) -> None:
        """`unread`: how many messages the socket takes that nobody reads; 0: as many as come."""
        self.socket = context.socket(zmq.DEALER)
        self.socket.linger = 0
        self.socket.rcvhwm = unread
        self.socket.connect(address)
        self.name = ""
        self.found = 0
        self.missed = 0
        self.ended = False
        self._expected: dict[str, int] = {}
        self._answers: deque[Message] = deque()
        self.ask(Hello(1, VERSION, "torture"))

    def ask(self, message: Message) -> Message:
        """Its answer, which is not a Failure."""
        self.socket.send(encode(message))
        answer = self.answer()
        assert not isinstance(answer, Failure), answer
        return answer

    def answer(self) -> Message:
        """The next answer to what was sent."""
        while not self._answers:
            assert self.socket.poll(PATIENCE_MILLISECONDS), "no answer"
            self.read()
        return self._answers.popleft()

    def subscribe(self, name: str, query: str, credits: int, when_slow: str | None = None) -> None:
        """The subscription, with so many credits."""
        self.name = name
        self.ended = False
        self.ask(Subscribe(2, name, "cayuga", query, None, None, None, credits, when_slow=when_slow))

    def unsubscribe(self) -> None:
        """And wait until nothing comes any more."""
        self.ask(Unsubscribe(3, self.name))

    def forget(self) -> None:
        """What was subscribed to is over, and a name may begin anew."""
        self._expected.clear()

    def grant(self, credits: int) -> None:
        """Ask for so many more."""
        self.socket.send(encode(Credit(0, self.name, credits)))

    def read(self) -> list[dict[str, Any]]:
        """The results that are there, without waiting; they must be numbered without a gap."""
        results: list[dict[str, Any]] = []
        while True:
            try:
                message = decode(self.socket.recv(zmq.NOBLOCK))
            except zmq.Again:
                return results
            match message:
                case Notifications(_, name, first, encoded):
                    expected = self._expected.get(name, 1)
                    assert first == expected, f"{name}: expected {expected}, found {first}"
                    self._expected[name] = expected + len(encoded)
                    found = list(map(decode_result, encoded))
                    told = [each["missed"] for each in found if each["kind"] == "incomplete"]
                    self.missed += sum(told)
                    self.found += len(found) - len(told)
                    results += found
                case Ended():
                    self.ended = True
                case Probe():
                    pass
                case _:
                    self._answers.append(message)
