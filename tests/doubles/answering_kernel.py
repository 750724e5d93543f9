"""A kernel at the other end of a client's session, without a socket: it answers what the client says at once."""

from __future__ import annotations

from functools import partial

from doubles.small_engine import SmallEngine

from broker.kernel import Kernel, Limits, Received
from broker.kernel.records import Record
from broker.wire import Message, decode, encode
from client.calls import hello
from client.session import Session
from client.session_renewal import Renewal


class AnsweringKernel:
    """It knows the session as `it`; `heard` is what that has said, `records` what a journal would have of it."""

    def __init__(self, session: Session, kernel: Kernel | None = None, now: int = 0) -> None:
        self.session = session
        self.kernel = kernel or Kernel(SmallEngine())
        self.now = now
        self.heard: list[Message] = []
        self.records: list[Record] = []

    def replace(self, limits: Limits | None = None) -> None:
        """By another broker, which knows nothing."""
        self.kernel = Kernel(SmallEngine(), limits)

    def send(self, frame: bytes) -> bool:
        self.heard.append(decode(frame))
        effects = self.kernel.step(Received(b"it", self.heard[-1]), self.now)
        self.records += effects.records
        for effect in effects.sends:
            if effect.session == b"it":
                self.session.receive(encode(effect.message))
        return True

    def exchange(self, correlation: int, frame: bytes) -> Message:
        self.send(frame)
        answer = self.session.answer(correlation)
        assert answer is not None
        return answer

    def renew(self) -> Renewal:
        """An attempt to come back, of which everything was answered."""
        renewal = Renewal(self.session, partial(hello, self.session))
        for frame in renewal.frames:
            self.send(frame)
        return renewal
