"""What a kernel does with the subscriptions that a crash has left without clients."""

from __future__ import annotations

from doubles.kernel_rig import ANN, SECOND, publish, subscribe
from doubles.small_engine import SmallEngine

from broker.kernel import Gone, Kernel, Limits, Received, Send, Tick
from broker.kernel.records import BatchTaken, StreamDeclared, SubscriptionRemoved
from broker.wire import VERSION, AddStream, Hello, Message, Subscribed

LIMITS = Limits(resume_seconds=60)


def recovered() -> tuple[SmallEngine, Kernel]:
    """An engine as it was: one subscription of the configuration, two of clients."""
    engine = SmallEngine()
    engine.add_stream("S", {"x": "int"})
    for name in ("configured", "mine", "yours"):
        engine.subscribe(name, language="cayuga", query="every S", lineage=None, report=None, forecast=None)
    kernel = Kernel(engine, LIMITS, durability="always", permanent=("configured",))
    say(kernel, Hello(1, VERSION, "test"))
    return engine, kernel


def say(kernel: Kernel, message: Message, now: int = 0) -> list[Send]:
    sends = kernel.step(Received(ANN, message), now)
    kernel.check_invariants()
    return sends


def tick(kernel: Kernel, seconds: int) -> None:
    kernel.step(Tick(), seconds * SECOND)
    kernel.check_invariants()


def test_who_comes_back_in_time_finds_the_subscription_and_the_others_go() -> None:
    engine, kernel = recovered()
    tick(kernel, 1)
    tick(kernel, 60)
    assert set(engine.subscriptions) == {"configured", "mine", "yours"}
    (answer,) = say(kernel, subscribe("mine"))
    assert isinstance(answer.message, Subscribed)
    assert answer.message.attached
    tick(kernel, 61)
    assert set(engine.subscriptions) == {"configured", "mine"}
    assert kernel.records() == [SubscriptionRemoved("yours")]
    kernel.step(Gone(ANN), 62 * SECOND)
    assert set(engine.subscriptions) == {"configured"}
    assert kernel.records() == [SubscriptionRemoved("mine")]


def test_what_has_happened_is_recorded_once_and_in_order() -> None:
    _, kernel = recovered()
    say(kernel, AddStream(2, "T", {"x": "int"}, None, "arrival", None, None))
    say(kernel, AddStream(2, "T", {"x": "int"}, None, "arrival", None, None))
    say(kernel, publish([1], [1]))
    first, second = kernel.records()
    assert isinstance(first, StreamDeclared)
    assert isinstance(second, BatchTaken)
    assert kernel.records() == []
