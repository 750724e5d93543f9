"""What a kernel does with the subscriptions that a crash has left without clients."""

from __future__ import annotations

from doubles.kernel_rig import ANN, SECOND, publish, subscribe
from doubles.small_engine import SmallEngine

from broker.kernel import Effects, Gone, Kernel, Limits, Received, Tick
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


def say(kernel: Kernel, message: Message, now: int = 0) -> Effects:
    effects = kernel.step(Received(ANN, message), now)
    kernel.check_invariants()
    return effects


def tick(kernel: Kernel, seconds: int) -> Effects:
    effects = kernel.step(Tick(), seconds * SECOND)
    kernel.check_invariants()
    return effects


def test_who_comes_back_in_time_finds_the_subscription_and_the_others_go() -> None:
    engine, kernel = recovered()
    tick(kernel, 1)
    tick(kernel, 60)
    assert set(engine.subscriptions) == {"configured", "mine", "yours"}
    (answer,) = say(kernel, subscribe("mine")).sends
    assert isinstance(answer.message, Subscribed)
    assert answer.message.attached
    assert tick(kernel, 61).records == [SubscriptionRemoved("yours")]
    assert set(engine.subscriptions) == {"configured", "mine"}
    gone = kernel.step(Gone(ANN), 62 * SECOND)
    assert set(engine.subscriptions) == {"configured"}
    assert gone.records == [SubscriptionRemoved("mine")]


def test_what_has_happened_is_recorded_once_and_in_order() -> None:
    _, kernel = recovered()
    (first,) = say(kernel, AddStream(2, "T", {"x": "int"}, None, "arrival", None, None)).records
    assert isinstance(first, StreamDeclared)
    assert say(kernel, AddStream(2, "T", {"x": "int"}, None, "arrival", None, None)).records == ()
    (second,) = say(kernel, publish([1], [1])).records
    assert isinstance(second, BatchTaken)
