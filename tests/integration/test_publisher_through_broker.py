"""A publisher with many batches under way: the broker takes all in order; if it ends, it is known how far it got."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import pytest
from doubles.broker_process import broker_process

from client import Client, ConnectionLost, DefinitionError, EventError, Receipt, RequestTimeout, UnknownStream

BATCH = 200


def rows_of(batch: int) -> tuple[range, list[tuple[int]]]:
    begin = batch * BATCH
    return range(begin, begin + BATCH), [(number,) for number in range(begin, begin + BATCH)]


@pytest.mark.parametrize("message_events", [0, 3 * BATCH])
def test_everything_arrives_once_and_in_order_with_other_calls_in_between(message_events: int) -> None:
    told: list[tuple[int, Receipt]] = []

    def note(batch: int, receipt: Receipt) -> None:
        together = max(1, message_events // BATCH)  # the newest time is that of the whole message
        newest = (batch // together + 1) * together * BATCH - 1
        told.append((batch, receipt))
        assert receipt == Receipt(BATCH, newest, batch * BATCH + 1)

    with broker_process() as broker, Client(broker.address) as client, Client(broker.address) as reader:
        client.add_stream("S", {"x": "int"})
        with reader.subscribe("all", query="SELECT * FROM S", window=50) as subscription:
            with client.publisher("S", on_receipt=note, message_events=message_events) as publisher:
                for batch in range(60):
                    publisher.publish_batch(*rows_of(batch))
                    if batch % 20 == 7:
                        client.ping()
                        with pytest.raises(EventError, match="expected int, found string 'y'"):
                            publisher.publish_batch([2**40], [("y",)])
            assert [batch for batch, _ in told] == list(range(60))
            assert (publisher.sent, publisher.taken, publisher.count, publisher.late) == (60, 60, 60 * BATCH, 0)
            for number in range(60 * BATCH):
                match = subscription.next(60)
                assert match is not None
                assert (match.end, match.data) == (number, {"x": number})
            assert subscription.poll() is None


def test_a_client_reads_its_own_subscription_while_it_publishes() -> None:
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("S", {"x": "int"})
        found: list[int | None] = []
        with client.subscribe("all", query="SELECT * FROM S", window=10) as subscription:
            with client.publisher("S", window=3) as publisher:
                for batch in range(20):
                    publisher.publish_batch(*rows_of(batch))
                    match = subscription.poll()
                    found += [match.end] if match is not None else []
            while len(found) < 20 * BATCH:
                match = subscription.next(60)
                assert match is not None
                found.append(match.end)
        assert found == list(range(20 * BATCH))


@pytest.mark.parametrize(
    ("end", "kind", "reason"),
    [
        (signal.SIGKILL, ConnectionLost, "has ended: connect again"),
        (signal.SIGTERM, ConnectionLost, "has ended"),
        (signal.SIGSTOP, RequestTimeout, "no answer from"),
    ],
)
def test_a_broker_that_ends_leaves_no_doubt_about_what_was_answered(
    end: signal.Signals, kind: type[Exception], reason: str
) -> None:
    told: list[int] = []
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("S", {"x": "int"})
        publisher = client.publisher("S", window=8, on_receipt=lambda batch, _: told.append(batch))
        for batch in range(20):
            publisher.publish_batch(*rows_of(batch))
        publisher.flush()
        client._connection._timeout = 2
        broker.process.send_signal(signal.SIGSTOP)
        for batch in range(20, 24):
            publisher.publish_batch(*rows_of(batch))
        broker.process.send_signal(end)
        if end == signal.SIGTERM:
            broker.process.send_signal(signal.SIGKILL)  # it was to stop in order, and did not come to it
        _raises(kind, reason + r".*; the outcome of batches 20 to 23 is unknown$", publisher.flush)
        assert told == list(range(20))
        assert (publisher.sent, publisher.taken, publisher.count) == (24, 20, 20 * BATCH)
        _raises(kind, "batches 20 to 23", lambda: publisher.publish_batch(*rows_of(24)))


def test_a_broker_that_is_stopped_in_order_has_taken_what_was_answered() -> None:
    """However far it gets: those with a receipt are the first ones, and a later one is at most a window behind."""
    told: list[int] = []
    with broker_process() as broker, Client(broker.address, timeout=60) as client:
        client.add_stream("S", {"x": "int"})
        publisher = client.publisher("S", window=4, on_receipt=lambda batch, _: told.append(batch))
        deadline = time.monotonic() + 60
        with pytest.raises(ConnectionLost):  # noqa: PT012  # whichever call it is that notices
            while time.monotonic() < deadline:
                publisher.publish_batch(*rows_of(publisher.sent))
                if publisher.sent == 10:
                    broker.process.send_signal(signal.SIGTERM)
        assert told == list(range(publisher.taken))
        assert publisher.taken <= publisher.sent <= publisher.taken + 4
        assert broker.process.wait(60) == 0


def _raises(kind: type[Exception], text: str, call: Callable[[], None]) -> None:
    with pytest.raises(kind, match=text) as caught:
        call()
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)


def test_a_window_is_a_number_of_messages() -> None:
    with broker_process() as broker, Client(broker.address) as client:
        client.add_stream("S", {"x": "int"})
        for window in (0, 513, 2.5, True):
            with pytest.raises(DefinitionError, match="expected a window of 1 to 512 messages"):
                client.publisher("S", window=window)  # type: ignore[arg-type]
        with pytest.raises(UnknownStream, match="did you mean 'S'"):
            client.publisher("s")
