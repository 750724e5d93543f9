"""A kernel with users who may do different things, over a real engine: for stepping through what each is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from broker.engine import Engine
from broker.kernel import Access, Admission, Kernel, Limits, Received, Send, Sources, User, flows, states, wires
from broker.server.replicated_state import ReplicatedState
from broker.wire import VERSION, Failure, Hello, Message, Publish, Subscribe, Welcome

Answer = TypeVar("Answer", bound=Message)
ANN, BEN, OPS = (name * 40 for name in "abo")

USERS: Mapping[str, User] = {
    ANN: User("ann", publish=("Stock",), read=("Stock", "Jumps"), subscribe=("ann.*",), declare=("Ann*",)),
    BEN: User("ben", publish=("Jumps", "Secret"), read=("*",), subscribe=("*",)),
    OPS: User("ops", admin=True),
}


class Rig:
    """A kernel over a real engine with the streams Stock and Secret, and one session for each user.

    `state`: go on with this one, as after a crash.
    """

    def __init__(
        self, users: Mapping[str, User] = USERS, state: ReplicatedState | None = None, limits: Limits | None = None
    ) -> None:
        if state is None:
            self.engine = Engine()
            self.engine.add_stream("Stock", {"price": "int"})
            self.engine.add_stream("Secret", {"price": "int"})
            sources = Sources(wires(self.engine), self.engine.subscriptions)
        else:
            self.engine, sources = state.engine, state.sources
        admission = Admission(Access(users), flows(self.engine), states(self.engine), sources)
        if state is None:
            self.kernel = Kernel(self.engine, limits, admission)
        else:
            self.kernel = Kernel(
                self.engine,
                limits,
                admission,
                receipts=state.receipts,
                durability="os",
                permanent=(),
                cursors=state.cursors,
            )
        for identity in users:
            self.answer(Welcome, identity, Hello(1, VERSION, ""))

    def say(self, identity: str, message: Message, session: bytes | None = None) -> list[Send]:
        key = identity[:1].encode() if session is None else session
        sends = self.kernel.step(Received(key, message, identity), 1_000_000).sends
        self.kernel.check_invariants()
        return sends

    def ask(self, identity: str, message: Message) -> Message:
        return self.say(identity, message)[0].message

    def answer(self, kind: type[Answer], identity: str, message: Message) -> Answer:
        """The first answer, which is of that kind."""
        answer = self.ask(identity, message)
        assert isinstance(answer, kind), answer
        return answer

    def refusal(self, identity: str, message: Message) -> str:
        before = dict(self.engine.streams), dict(self.engine.subscriptions)
        answer = self.answer(Failure, identity, message)
        assert answer.code == "permission", answer
        assert before == (dict(self.engine.streams), dict(self.engine.subscriptions))
        return answer.message


def subscribe(name: str, query: str | None) -> Subscribe:
    return Subscribe(2, name, "cayuga", query, None, None, None, 100)


def publish(stream: str, *prices: int) -> Publish:
    return Publish(3, stream, tuple(range(10, 10 + len(prices))), tuple((price,) for price in prices), None, None)
