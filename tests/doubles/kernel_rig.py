"""A kernel with two clients, for stepping through conversations without a socket."""

from __future__ import annotations

from typing import Any, TypeVar

from doubles.small_engine import SmallEngine

from broker.kernel import Input, Kernel, Limits, Received, Record, Send
from broker.kernel.records import CursorSetAside
from broker.wire import (
    VERSION,
    AddStream,
    Failure,
    Hello,
    Message,
    Notifications,
    Publish,
    Subscribe,
    decode_result,
)

Answer = TypeVar("Answer", bound=Message)
ANN, BEN = b"ann", b"ben"
SECOND = 1_000_000


class Rig:
    """A kernel over a small engine, two clients that have said HELLO, and the stream S(x int)."""

    def __init__(self, limits: Limits | None = None, engine: SmallEngine | None = None) -> None:
        self.engine = engine or SmallEngine()
        self.kernel = Kernel(self.engine, limits)
        self.records: list[Record] = []
        self.given_up: list[CursorSetAside] = []
        self.now = 1_000 * SECOND
        for session in (ANN, BEN):
            self.say(session, Hello(1, VERSION, "test"))
        if "S" not in self.engine.streams:
            self.say(ANN, AddStream(2, "S", {"x": "int"}, None, "arrival", None, None))

    def say(self, session: bytes, message: Message) -> list[Send]:
        return self.step(Received(session, message))

    def step(self, given: Input) -> list[Send]:
        effects = self.kernel.step(given, self.now)
        self.records += effects.records
        self.given_up += effects.given_up
        self.kernel.check_invariants()
        return effects.sends

    def recorded(self) -> list[Record]:
        """The records since the last call."""
        records, self.records = self.records, []
        return records

    def ask(self, message: Message, session: bytes = ANN) -> Message:
        """The one answer to a request that has no other effect."""
        (send,) = self.say(session, message)
        assert send.session == session
        assert send.message.correlation == message.correlation
        return send.message

    def answer(self, kind: type[Answer], message: Message, session: bytes = ANN) -> Answer:
        """The one answer, which is of that kind."""
        answer = self.ask(message, session)
        assert isinstance(answer, kind), answer
        return answer

    def refusal(self, message: Message, session: bytes = ANN) -> tuple[str, str]:
        answer = self.answer(Failure, message, session)
        return answer.code, answer.message


def subscribe(name: str = "all", query: str | None = "every S", credits: int = 100, **options: Any) -> Subscribe:
    fields = {"lineage": None, "report": None, "forecast": None} | options
    return Subscribe(5, name, "cayuga", query, credits=credits, **fields)


def lines(sends: list[Send]) -> list[dict[str, Any]]:
    """Of all notifications, whoever gets them."""
    found = [send.message for send in sends if isinstance(send.message, Notifications)]
    return [decode_result(result) for message in found for result in message.results]


def publish(times: list[int] | None, xs: list[Any], ids: list[int] | None = None) -> Publish:
    rows = tuple((x,) for x in xs)
    return Publish(6, "S", None if times is None else tuple(times), rows, None if ids is None else tuple(ids), None)
