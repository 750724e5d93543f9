"""Spans of publishing, by an OpenTelemetry tracer that the program gives its client.

A span begins when a batch is checked and about to be sent, and ends with its receipt or its error. Each message of the
batch carries the span's context, so that a broker that traces makes its own span a child of it. Without a tracer
nothing of OpenTelemetry is loaded, and no context is sent. Not here: the broker's spans (broker.server.tracing).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, final

from broker.events import DefinitionError

SAMPLED: Final = 1


@final
class PublishSpan:
    """The span of one batch. `context`: what its messages carry; None if the tracer does not record the span."""

    __slots__ = ("_error", "_span", "context")

    def __init__(self, span: Any, error: Any) -> None:
        self._span = span
        self._error = error
        self.context: Final = traceparent(span)

    def end(self, error: BaseException | None = None) -> None:
        """End it, once; later calls do nothing. `error`: why there is no receipt."""
        span, self._span = self._span, None
        if span is None:
            return
        if error is not None:
            span.record_exception(error)
            span.set_status(self._error, str(error))
        span.end()


@final
class PublishSpans:
    """The spans of one client. `tracer` None: there are none."""

    __slots__ = ("_error", "_kind", "_tracer")

    def __init__(self, tracer: Any = None) -> None:
        """Raises DefinitionError if there is a tracer and not the package that defines its words."""
        self._tracer: Final = tracer
        self._kind: Any = None
        self._error: Any = None
        if tracer is None:
            return
        try:
            from opentelemetry.trace import SpanKind, StatusCode
        except ImportError:
            raise DefinitionError("tracer: expected the package opentelemetry-api, which is missing") from None
        self._kind, self._error = SpanKind.PRODUCER, StatusCode.ERROR

    def begin(self, stream: str, events: int) -> PublishSpan | None:
        """The span of a batch, within the program's current one; None without a tracer."""
        if self._tracer is None:
            return None
        attributes = {"foretell.stream": stream, "foretell.events": events}
        return PublishSpan(self._tracer.start_span("publish", kind=self._kind, attributes=attributes), self._error)

    @contextmanager
    def publishing(self, stream: str, events: int) -> Iterator[str | None]:
        """The span of a batch around its exchange with the broker; what its messages carry."""
        span = self.begin(stream, events)
        if span is None:
            yield None
            return
        try:
            yield span.context
        except Exception as error:
            span.end(error)
            raise
        finally:
            span.end()


NO_SPANS: Final = PublishSpans()


def traceparent(span: Any) -> str | None:
    """The context of a span as W3C writes it; None if the span is not recorded, for then nobody traces its children."""
    context = span.get_span_context()
    if not context.is_valid or not context.trace_flags & SAMPLED:
        return None
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{context.trace_flags & 0xFF:02x}"
