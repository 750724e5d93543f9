"""Spans of publishing: when they begin and end, what their messages carry, and what an error leaves on them.

A tracer stands in for OpenTelemetry's, and two names for its package; the SDK's own, and a broker whose spans are
children of these, are tested where the extra is installed (tests/packaging).
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from broker.engine import Engine
from broker.server import Broker
from broker.server.tracing import BatchTraces, TraceSettings
from broker.wire import Publish, decode
from client import Client, DefinitionError, LateEvent, aio
from client.session import Session

PATIENCE = 60


@dataclass
class NotedSpan:
    """`number` identifies it; `ended` counts how often it was."""

    name: str
    number: int
    kind: Any
    attributes: dict[str, Any]
    sampled: bool
    ended: int = 0
    errors: list[BaseException] = field(default_factory=list)
    status: tuple[Any, str] | None = None

    def get_span_context(self) -> SimpleNamespace:
        return SimpleNamespace(is_valid=True, trace_id=2**100 + 5, span_id=self.number, trace_flags=int(self.sampled))

    def record_exception(self, error: BaseException) -> None:
        self.errors.append(error)

    def set_status(self, status: Any, description: str) -> None:
        self.status = status, description

    def end(self) -> None:
        self.ended += 1


@dataclass
class NotingTracer:
    sampled: bool = True
    spans: list[NotedSpan] = field(default_factory=list)

    def start_span(self, name: str, kind: Any, attributes: dict[str, Any]) -> NotedSpan:
        self.spans.append(NotedSpan(name, len(self.spans) + 1, kind, attributes, self.sampled))
        return self.spans[-1]


@pytest.fixture(autouse=True)
def opentelemetry(monkeypatch: pytest.MonkeyPatch) -> None:
    words = SimpleNamespace(
        SpanKind=SimpleNamespace(PRODUCER="producer"), StatusCode=SimpleNamespace(ERROR="error")
    )
    monkeypatch.setitem(sys.modules, "opentelemetry", SimpleNamespace(trace=words))
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", words)


@pytest.fixture
def carried() -> list[str | None]:
    """What the messages carried that the broker has taken, in their order."""
    return []


@pytest.fixture
def address(carried: list[str | None], monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A broker in a thread."""
    begin = BatchTraces.begin

    def noting(self: BatchTraces, stream: str, events: int, size: int, named: str | None = None) -> Any:
        carried.append(named)
        return begin(self, stream, events, size, named)

    monkeypatch.setattr(BatchTraces, "begin", noting)
    traces = BatchTraces(None, lambda span: span, TraceSettings(1 << 60), False)
    traces._rest = 1 << 60  # none is traced by the broker itself
    with Broker(Engine(), "tcp://127.0.0.1:0", traces=traces) as broker:
        thread = threading.Thread(target=broker.run)
        thread.start()
        try:
            yield broker.endpoint
        finally:
            broker.stop()
            thread.join(PATIENCE)


def context(number: int) -> str:
    return f"00-{2**100 + 5:032x}-{number:016x}-01"


def test_a_batch_is_a_span_whose_context_goes_with_it(address: str, carried: list[str | None]) -> None:
    tracer = NotingTracer()
    with Client(address, PATIENCE, tracer=tracer) as client:
        client.add_stream("S", {"x": "int"})
        assert tracer.spans == []
        client.publish("S", {"x": 1}, time=1)
        client.publish_batch("S", [2, 3], [(2,), (3,)])
    assert [(each.name, each.kind, each.ended, each.errors) for each in tracer.spans] == [
        ("publish", "producer", 1, [])
    ] * 2
    assert [each.attributes for each in tracer.spans] == [
        {"foretell.stream": "S", "foretell.events": 1}, {"foretell.stream": "S", "foretell.events": 2}
    ]  # fmt: skip
    assert carried == [context(1), context(2)]


def test_all_messages_of_a_batch_carry_it(address: str, carried: list[str | None]) -> None:
    tracer = NotingTracer()
    with Client(address, PATIENCE, tracer=tracer) as client:
        client.add_stream("S", {"x": "int"})
        client.publish_batch("S", [1] * 10_000, [(1,)] * 10_000)
    assert carried == [context(1)] * 2


def test_an_error_is_on_its_span(address: str, carried: list[str | None]) -> None:
    tracer = NotingTracer()
    with Client(address, PATIENCE, tracer=tracer) as client:
        client.add_stream("S", {"x": "int"})
        client.publish("S", {"x": 1}, time=5)
        with pytest.raises(LateEvent) as raised:
            client.publish("S", {"x": 1}, time=4)
    assert [each.ended for each in tracer.spans] == [1, 1]
    assert tracer.spans[0].status is None
    assert (tracer.spans[1].status, tracer.spans[1].errors) == (("error", str(raised.value)), [raised.value])


def test_an_exchange_that_fails_is_on_its_span(address: str) -> None:
    tracer = NotingTracer()
    with Client(address, PATIENCE, tracer=tracer) as client, Client(address, PATIENCE) as other:
        client.add_stream("S", {"x": "int"})
        client.publish("S", {"x": 1}, time=5)
        other.delete_stream("S")
        with pytest.raises(Exception, match="S") as raised:
            client.publish_batch("S", [6], [(1,)])
    assert tracer.spans[1].errors == [raised.value]
    assert tracer.spans[1].status == ("error", str(raised.value))
    assert tracer.spans[1].ended == 1


def test_a_publisher_ends_each_span_with_its_receipt(address: str, carried: list[str | None]) -> None:
    tracer = NotingTracer()
    ended: list[list[int]] = []
    with Client(address, PATIENCE, tracer=tracer) as client:
        client.add_stream("S", {"x": "int"})
        with client.publisher(
            "S", window=3, on_receipt=lambda *_: ended.append([each.ended for each in tracer.spans])
        ) as publisher:
            for time in range(8):
                publisher.publish_batch([time], [(time,)])
    assert len(ended) == 8
    for at, each in enumerate(ended):  # those behind it have no receipt yet
        assert each == [1] * (at + 1) + [0] * (len(each) - at - 1)
    assert [each.ended for each in tracer.spans] == [1] * 8
    assert carried == [context(number) for number in range(1, 9)]


def test_a_publisher_that_fails_ends_all_spans(address: str) -> None:
    tracer = NotingTracer()
    with Client(address, PATIENCE, tracer=tracer) as client, Client(address, PATIENCE) as other:
        client.add_stream("S", {"x": "int"})
        publisher = client.publisher("S", window=8)
        other.delete_stream("S")

        def publish() -> None:
            for time in range(20):
                publisher.publish_batch([time], [(time,)])
            publisher.flush()

        with pytest.raises(Exception, match="batch 0"):
            publish()
    assert {each.ended for each in tracer.spans} == {1}
    assert tracer.spans[0].errors
    assert tracer.spans[0].status is not None


def test_the_asyncio_client_makes_the_same(address: str, carried: list[str | None]) -> None:
    tracer = NotingTracer()

    async def play() -> None:
        async with aio.Client(address, PATIENCE, tracer=tracer) as client:
            await client.add_stream("S", {"x": "int"})
            await client.publish("S", {"x": 1}, time=0)
            batches = [([time], [(time,)]) for time in range(1, 6)]
            assert [receipt.count async for receipt in client.publish_batches("S", batches, window=2)] == [1] * 5

    asyncio.run(play())
    assert [each.ended for each in tracer.spans] == [1] * 6
    assert carried == [context(number) for number in range(1, 7)]


def test_what_the_tracer_does_not_record_is_not_named(address: str, carried: list[str | None]) -> None:
    tracer = NotingTracer(sampled=False)
    with Client(address, PATIENCE, tracer=tracer) as client:
        client.add_stream("S", {"x": "int"})
        client.publish("S", {"x": 1}, time=1)
    assert [each.ended for each in tracer.spans] == [1]
    assert carried == [None]


def test_without_a_tracer_nothing_is_named(address: str, carried: list[str | None]) -> None:
    with Client(address, PATIENCE) as client:
        client.add_stream("S", {"x": "int"})
        client.publish("S", {"x": 1}, time=1)
    assert carried == [None]


def test_a_repetition_carries_the_same() -> None:
    session = Session(publisher="p")
    _, frame = session.request(lambda number: Publish(number, "S", None, ((1,),), None, None, trace=context(1)))
    message = decode(frame)
    assert isinstance(message, Publish)
    assert (message.publisher, message.trace) == ("p", context(1))


def test_without_the_package_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    with pytest.raises(DefinitionError, match="tracer: expected the package opentelemetry-api, which is missing"):
        Client("tcp://127.0.0.1:1", 0.1, tracer=NotingTracer())
