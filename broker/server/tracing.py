"""Traces of every n-th batch for OpenTelemetry: publish, and within it match, journal and notify, with sizes.

    publish   from when the loop takes the batch until its answer and the first notifications have left
    match     the kernel: checks, the engine, results
    journal   until the records of the batch are as durable as the answer promises; with a journal only
    notify    until the messages that the batch has caused, and that credits allow, are given to their connections

A batch that is not traced costs a decrement, and without `[traces]` a comparison. Needs the extra `otel`; the spans go
where OpenTelemetry's environment says (OTEL_EXPORTER_OTLP_ENDPOINT and others). Not here: when these moments are
(scheduler, loop).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

from .. import __version__
from ..events import DefinitionError

EVERY: Final = 100
PENDING_MAX: Final = 1_000
"""Traced batches that wait for the disk; a further one is not traced."""
SCOPE: Final = "foretell"
CLOSE_SECONDS_MAX: Final = 5.0
"""How long a broker that ends waits until its last spans are exported; a receiver may be silent."""


@final
@dataclass(frozen=True, slots=True)
class TraceSettings:
    """`every`: one of so many batches is traced."""

    every: int = EVERY


@final
class BatchTrace:
    """A batch that is traced. Times are nanoseconds since 1970; `position`: of the journal behind its records."""

    __slots__ = ("began", "matched", "messages", "position", "span", "stored")

    def __init__(self, span: Any, began: int) -> None:
        self.span = span
        self.began = began
        self.matched = self.stored = 0
        self.position = self.messages = 0


@final
class BatchTraces:
    """The traced batches that are not over. Not thread-safe.

    `tracer`: an OpenTelemetry tracer; `context_of`: the context of which a span is the parent. `journalled`: there is a
    journal to wait for.
    """

    __slots__ = (
        "_close", "_context_of", "_every", "_journalled", "_now", "_rest", "_sending", "_tracer", "_waiting",
    )  # fmt: skip

    def __init__(
        self,
        tracer: Any,
        context_of: Callable[[Any], Any],
        settings: TraceSettings,
        journalled: bool,
        close: Callable[[], object] = lambda: None,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        self._tracer: Final = tracer
        self._context_of: Final = context_of
        self._every: Final = settings.every
        self._journalled: Final = journalled
        self._close: Final = close
        self._now: Final = now
        self._rest = 1  # the first batch is traced
        self._waiting: deque[BatchTrace] = deque()  # for the disk
        self._sending: list[BatchTrace] = []

    def begin(self, stream: str, events: int, size: int) -> BatchTrace | None:
        """A batch of a client is taken; None if it is not traced. `size`: its bytes. O(1)."""
        self._rest -= 1
        if self._rest > 0 or len(self._waiting) >= PENDING_MAX:
            return None
        self._rest = self._every
        began = self._now()
        attributes = {"foretell.stream": stream, "foretell.events": events, "foretell.bytes": size}
        return BatchTrace(self._tracer.start_span("publish", start_time=began, attributes=attributes), began)

    def matched(self, trace: BatchTrace, messages: int, position: int) -> None:
        """The batch is matched; `messages` are held until the journal is safe up to `position`."""
        trace.matched = self._now()
        trace.messages, trace.position = messages, position
        self._part(trace, "match", trace.began, trace.matched)
        self._waiting.append(trace)

    def stored(self, safe: int) -> None:
        """The journal is safe up to here, and what was held until then is about to be sent. O(batches)."""
        while self._waiting and self._waiting[0].position <= safe:
            trace = self._waiting.popleft()
            trace.stored = self._now()
            if self._journalled:
                self._part(trace, "journal", trace.matched, trace.stored)
            self._sending.append(trace)

    def sent(self) -> None:
        """It is sent. O(batches)."""
        for trace in self._sending:
            ended = self._now()
            self._part(trace, "notify", trace.stored, ended, {"foretell.messages": trace.messages})
            trace.span.end(end_time=ended)
        self._sending.clear()

    def _part(
        self, trace: BatchTrace, name: str, began: int, ended: int, attributes: dict[str, int] | None = None
    ) -> None:
        context = self._context_of(trace.span)
        self._tracer.start_span(name, context=context, start_time=began, attributes=attributes).end(end_time=ended)

    def close(self) -> None:
        """Give what is there to the exporter, and end it."""
        self._close()


def open_traces(settings: TraceSettings, journalled: bool, exporter: Any = None) -> BatchTraces:
    """Traces by the SDK, which exports them in a thread of its own; `exporter` None: by OTLP over HTTP.

    Raises DefinitionError if the extra is missing.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
        from opentelemetry.trace import set_span_in_context
    except ImportError:
        raise DefinitionError("traces: expected the packages of foretell[otel], which are missing") from None
    resource = Resource.create({"service.name": SCOPE, "service.version": __version__})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    processor: Any = BatchSpanProcessor(OTLPSpanExporter()) if exporter is None else SimpleSpanProcessor(exporter)
    provider.add_span_processor(processor)

    def close() -> None:
        closing = threading.Thread(target=provider.shutdown, name="traces", daemon=True)
        closing.start()
        closing.join(CLOSE_SECONDS_MAX)

    return BatchTraces(provider.get_tracer(SCOPE, __version__), set_span_in_context, settings, journalled, close)
