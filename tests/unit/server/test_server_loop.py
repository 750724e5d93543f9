"""What the loop does when the broker itself is at fault: whoever asked is told, and a doubtful engine serves nobody."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from doubles.small_engine import SmallEngine, SmallResult

from broker.events import ForetellError
from broker.server import Broker, receiver
from client import Client, ConnectionLost, DefinitionError, Durable

EVENTS = 5_000  # of a batch that would take two minutes
BROKEN = 1_000_000  # the time of an event


class Faulty(SmallEngine):  # type: ignore[misc]  # final for everyone but this test, which breaks it on purpose
    """Fails at batches of two, and at subscriptions called `fault`."""

    def publish(self, stream: str, times: Sequence[int], *columns: Any) -> list[SmallResult]:
        if len(times) == 2:
            raise RuntimeError("lost in the middle of a batch")
        return super().publish(stream, times, *columns)

    def subscribe(self, name: str, **options: Any) -> None:
        if name == "fault":
            raise KeyError(name)
        super().subscribe(name, **options)


class Expensive(SmallEngine):  # type: ignore[misc]  # as above
    """Takes longer for an event than a piece is to take, until it is `cheap`."""

    def __init__(self) -> None:
        super().__init__()
        self.cheap = threading.Event()
        self.pieces: list[int] = []

    def publish(self, stream: str, times: Sequence[int], *columns: Any) -> list[SmallResult]:
        self.pieces.append(len(times))
        if not self.cheap.is_set():
            time.sleep(0.025 * len(times))
        if times[-1] == BROKEN:
            raise RuntimeError("lost in the middle of a batch")
        return super().publish(stream, times, *columns)

    def wait_for_pieces(self, count: int) -> None:
        deadline = time.monotonic() + 60
        while len(self.pieces) < count:
            assert time.monotonic() < deadline
            time.sleep(0.01)


@contextmanager
def publishing(broker: Broker, count: int, last: int) -> Iterator[Future[Any]]:
    """A client that publishes a batch of so many events, in a thread of its own; its receipt."""

    def publish() -> Any:
        with Client(broker.endpoint, timeout=60) as client:  # a client belongs to its thread
            client.add_stream("S", {"x": "int"})
            return client.publish_batch("S", [*range(1, count), last], [(1,)] * count)

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(publish)


def declare(broker: Broker) -> None:
    """Declare another stream, by a client of this thread."""
    with Client(broker.endpoint, timeout=60) as client:
        client.add_stream("T", {})


@contextmanager
def running(engine: SmallEngine) -> Iterator[tuple[Broker, list[BaseException]]]:
    ended: list[BaseException] = []

    def run(broker: Broker) -> None:
        try:
            broker.run()
        except RuntimeError as error:
            ended.append(error)

    with Broker(engine, "tcp://127.0.0.1:0") as broker:
        thread = threading.Thread(target=run, args=(broker,))
        thread.start()
        try:
            yield broker, ended
        finally:
            broker.stop()
            thread.join(10)
        assert not thread.is_alive()


def test_a_fault_at_a_subscription_is_told_and_the_broker_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    with running(Faulty()) as (broker, ended), Client(broker.endpoint) as client:
        client.add_stream("S", {"x": "int"})
        with pytest.raises(ForetellError, match="a mistake in the broker: KeyError"):
            client.subscribe("fault", query="every S")
        assert client.publish("S", {"x": 1}).count == 1
        assert ended == []
    assert "KeyError" in caplog.text


def test_a_result_that_is_delivered_too_often_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", logger="foretell")
    wanted = Durable("mine", deliveries_max=1)
    with running(SmallEngine()) as (broker, ended), Client(broker.endpoint) as client:
        client.add_stream("S", {"x": "int"})
        with client.subscribe("all", query="every S", durable=wanted) as subscription:
            client.publish("S", {"x": 1})
            assert subscription.next(60) is not None
        with client.subscribe("all", durable=wanted) as subscription:
            told = subscription.next(60)
            assert told is not None
            assert told.limit == "deliveries_max"
        deadline = time.monotonic() + 60
        while "result set aside" not in caplog.text and time.monotonic() < deadline:
            time.sleep(0.05)
        assert ended == []
    assert "result set aside" in caplog.text


def test_a_fault_within_a_batch_ends_the_broker_and_tells_everyone(caplog: pytest.LogCaptureFixture) -> None:
    with running(Faulty()) as (broker, ended), Client(broker.endpoint) as client, Client(broker.endpoint) as other:
        client.add_stream("S", {"x": "int"})
        subscription = other.subscribe("all", query="every S")
        with pytest.raises(ForetellError, match="a mistake in the broker: RuntimeError"):
            client.publish_batch("S", [1, 2], [(1,), (2,)])
        with pytest.raises(ConnectionLost, match="the broker failed and is stopping"):
            subscription.next(60)
    assert [str(error) for error in ended] == ["lost in the middle of a batch"]
    assert "lost in the middle" in caplog.text


def test_others_are_served_while_an_expensive_batch_is_in_work() -> None:
    engine = Expensive()
    with (
        running(engine) as (broker, _),
        Client(broker.endpoint, timeout=60) as other,
        publishing(broker, EVENTS, EVENTS) as receipt,
        ThreadPoolExecutor(1) as pool,
    ):
        engine.wait_for_pieces(2)
        other.ping()
        assert other.statistics()["loop"]["waiting"] == 0
        waits = pool.submit(declare, broker)
        while not broker.report(60)["loop"]["waiting"]:
            time.sleep(0.01)
        assert not receipt.done()
        assert not waits.done(), "it changes the engine"
        engine.cheap.set()
        assert receipt.result(60).count == EVENTS
        waits.result(60)
    assert sum(engine.pieces) == EVENTS
    assert len(engine.pieces) > 3


def test_a_fault_within_a_piece_is_told_to_who_has_published_and_ends_the_broker() -> None:
    engine = Expensive()
    engine.cheap.set()
    with (
        running(engine) as (broker, ended),
        publishing(broker, 500, BROKEN) as receipt,
        pytest.raises(ForetellError, match="a mistake in the broker: RuntimeError"),
    ):
        receipt.result(60)
    assert [str(error) for error in ended] == ["lost in the middle of a batch"]


def test_what_is_in_work_when_the_broker_is_to_stop_is_answered() -> None:
    engine = Expensive()
    with running(engine) as (broker, _), publishing(broker, EVENTS, EVENTS) as receipt:
        engine.wait_for_pieces(2)
        broker.stop()
        engine.wait_for_pieces(len(engine.pieces) + 2)
        engine.cheap.set()
        assert receipt.result(60).count == EVENTS


def test_who_wants_it_to_stop_now_does_not_wait_for_what_is_in_work() -> None:
    engine = Expensive()
    with running(engine) as (broker, _), publishing(broker, EVENTS, EVENTS) as receipt:
        engine.wait_for_pieces(2)
        broker.stop()
        broker.stop()
        with pytest.raises(ConnectionLost):
            receipt.result(60)
    assert sum(engine.pieces) < EVENTS


def test_a_window_is_a_number_of_notifications() -> None:
    with running(SmallEngine()) as (broker, _), Client(broker.endpoint) as client:
        client.add_stream("S", {"x": "int"})
        for window in (0, 1_000_001, 2.5, True):
            with pytest.raises(DefinitionError, match="expected a window of 1 to 1,000,000"):
                client.subscribe("all", query="every S", window=window)  # type: ignore[arg-type]
        with client.subscribe("all", query="every S", window=1) as subscription:
            client.publish_batch("S", [1, 2, 3], [(1,), (2,), (3,)])
            assert [each and each.end for each in (subscription.next(60) for _ in range(3))] == [1, 2, 3]


@pytest.mark.parametrize("seconds", [0.0, 60.0])
def test_what_comes_together_is_answered_in_order_however_long_a_pass_may_take(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One message a pass, or all that are there: receipts and notifications are the same."""
    monkeypatch.setattr(receiver, "PASS_SECONDS_MAX", seconds)
    receipts: list[int] = []
    with running(SmallEngine()) as (broker, _), Client(broker.endpoint, timeout=60) as client:
        client.add_stream("S", {"x": "int"})
        with Client(broker.endpoint, timeout=60) as other, other.subscribe("all", query="every S") as subscription:
            with client.publisher("S", window=200, on_receipt=lambda batch, _: receipts.append(batch)) as publisher:
                for number in range(600):
                    publisher.publish_batch([number], [(number,)])
            found = [subscription.next(60) for _ in range(600)]
    assert receipts == list(range(600))
    assert [each.start for each in found if each is not None] == list(range(600))
