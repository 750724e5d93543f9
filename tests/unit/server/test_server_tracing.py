"""Traces of batches: which spans there are, in which one, with which sizes, and of which batches.

A tracer stands in for OpenTelemetry's; the SDK's own is tested where the extra is installed (tests/packaging).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from doubles.opened_journal import opened
from doubles.running_broker import running

from broker.engine import Engine
from broker.events import DefinitionError
from broker.server import Broker, read_configuration, tracing
from broker.server.durability_gate import DurabilityGate
from broker.server.opening import Journalling
from broker.server.tracing import BatchTraces, TraceSettings, open_traces
from broker.storage import Durability
from client import Client

PATIENCE = 60


@dataclass
class NotedSpan:
    name: str
    began: int
    attributes: dict[str, Any]
    parent: NotedSpan | None
    ended: int = -1

    def end(self, end_time: int) -> None:
        self.ended = end_time


@dataclass
class NotingTracer:
    """Notes spans; the context of a span is the span itself."""

    spans: list[NotedSpan] = field(default_factory=list)

    def start_span(
        self, name: str, context: Any = None, start_time: int = 0, attributes: dict[str, Any] | None = None
    ) -> NotedSpan:
        self.spans.append(NotedSpan(name, start_time, attributes or {}, context))
        return self.spans[-1]


def traces(tracer: NotingTracer, every: int = 1, journalled: bool = False, clients: bool = True) -> BatchTraces:
    """A message names a span that is recorded by a text that begins with its letter r."""
    clock = iter(range(1, 1_000_000))
    settings = TraceSettings(every, clients)

    def received(trace: str) -> NotedSpan | None:
        return NotedSpan(trace, 0, {}, None) if trace.startswith("r") else None

    return BatchTraces(
        tracer, lambda span: span, settings, journalled, now=lambda: next(clock), received=received
    )


@contextmanager
def serving(made: BatchTraces, folder: Path | None = None) -> Iterator[str]:
    """A broker in a thread, with a journal in the folder; its address."""
    engine, make_gate = Engine(), None
    if folder is not None:
        journal = Journalling(folder, Durability(growth_bytes=4_096))
        store, state, _ = opened(journal, engine, None, 0)
        engine = state.engine

        def make_gate(notify: Any) -> DurabilityGate:
            return DurabilityGate(store, state, "always", 1 << 20, notify)

    with running(Broker(engine, "tcp://127.0.0.1:0", make_gate=make_gate, traces=made)) as broker:
        yield broker.endpoint


def published(address: str, batches: int) -> None:
    with Client(address, PATIENCE) as client:
        client.add_stream("S", {"x": "int"})
        client.subscribe("all", query="SELECT * FROM S")
        for batch in range(batches):
            client.publish_batch("S", [batch] * 3, [(1,), (2,), (3,)])


@pytest.mark.parametrize("journalled", [False, True])
def test_the_spans_of_a_batch(journalled: bool, tmp_path: Path) -> None:
    tracer = NotingTracer()
    with serving(traces(tracer, journalled=journalled), tmp_path / "data" if journalled else None) as address:
        published(address, 1)
    root, *parts = tracer.spans
    assert (root.name, root.parent) == ("publish", None)
    assert root.attributes["foretell.stream"] == "S"
    assert root.attributes["foretell.events"] == 3
    assert 10 < root.attributes["foretell.bytes"] < 200
    assert [each.name for each in parts] == (["match", "journal", "notify"] if journalled else ["match", "notify"])
    assert all(each.parent is root for each in parts)
    assert parts[-1].attributes == {"foretell.messages": 2}  # the answer, and what the reader gets
    times = [root.began, *(time for each in parts for time in (each.began, each.ended)), root.ended]
    assert times == sorted(times)
    assert times[0] > 0


def test_every_third_batch_is_traced() -> None:
    tracer = NotingTracer()
    with serving(traces(tracer, every=3)) as address:
        published(address, 7)
    assert [each.name for each in tracer.spans].count("publish") == 3


def test_a_batch_whose_client_traces_it_is_traced_as_a_part_of_that() -> None:
    tracer = NotingTracer()
    made = traces(tracer, every=4)
    for named in (None, None, "recorded", "unknown", "r2", None, None, None, None):
        trace = made.begin("S", 1, 1, named)
        if trace is not None:
            made.matched(trace, 1, 0)
            made.stored(0)
            made.sent()
    roots = [each for each in tracer.spans if each.name == "publish"]
    # The first, the fifth, which its client traces too, and the ninth are the broker's own choice.
    assert [each.parent and each.parent.name for each in roots] == [None, "recorded", "r2", None]
    assert traces(tracer, every=4, clients=False).begin("S", 1, 1, "recorded") is not None
    alone = traces(tracer, every=4, clients=False)
    assert [alone.begin("S", 1, 1, "recorded") is None for _ in range(5)] == [False, True, True, True, False]
    assert tracer.spans[-1].parent is None


def test_what_clients_trace_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "PENDING_MAX", 1)
    made = traces(NotingTracer(), every=1_000, journalled=True)
    trace = made.begin("S", 1, 1)
    assert trace is not None
    made.matched(trace, 1, 1)
    assert made.begin("S", 1, 1, "recorded") is None
    made.stored(1)
    assert made.begin("S", 1, 1, "recorded") is not None


def test_what_waits_for_the_disk_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "PENDING_MAX", 2)
    made = traces(NotingTracer(), journalled=True)
    for position in (1, 2):
        trace = made.begin("S", 1, 1)
        assert trace is not None
        made.matched(trace, 1, position)
    assert made.begin("S", 1, 1) is None
    made.stored(1)
    made.sent()
    assert made.begin("S", 1, 1) is not None


def test_settings() -> None:
    assert read_configuration("[traces]\nevery = 7\n", "f.toml").traces == TraceSettings(7, True)
    assert read_configuration("[traces]\nclients = false\n", "f.toml").traces == TraceSettings(100, False)
    assert read_configuration("", "f.toml").traces is None
    with pytest.raises(DefinitionError, match=r"traces\.every: expected a whole number from 1 on, found int 0"):
        read_configuration("[traces]\nevery = 0\n", "f.toml")


def test_without_the_extra_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(DefinitionError, match=r"traces: expected the packages of foretell\[otel\], which are missing"):
        open_traces(TraceSettings(), False)
