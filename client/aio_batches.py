"""Publishes many batches by the asyncio client, a window of them in flight, and yields their receipts in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from broker.events import StreamDefinition
from broker.wire import Message, Published

from .aio_connection import AioConnection
from .batches import check_batch, merged, parts
from .calls import expected
from .errors import ForetellError
from .receipt import Receipt
from .times import Times, batch_times
from .tracing import PublishSpan, PublishSpans

Columns: TypeAlias = tuple[Times | None, Sequence[tuple[Any, ...]]]
"""A batch: times and rows."""


class _InFlight(NamedTuple):
    """A batch without a receipt: its messages, each with the index of its first row, and its span, if it is traced."""

    tasks: list[tuple[int, asyncio.Task[Message]]]
    span: PublishSpan | None

    def end(self, error: Exception | None = None) -> None:
        if self.span is not None:
            self.span.end(error)


async def published(
    connection: AioConnection,
    spans: PublishSpans,
    stream: StreamDefinition,
    batches: Iterable[Columns],
    window: int,
) -> AsyncIterator[Receipt]:
    """The receipts. An error concerns the batch after the last one; those in flight behind it are given up."""
    in_flight: deque[_InFlight] = deque()
    try:
        for times, rows in batches:
            times = batch_times(connection.session, stream, times)
            checked = check_batch(stream, times, rows, None, None)
            span = spans.begin(stream.name, len(checked))
            trace = None if span is None else span.context
            messages = parts(connection.session.request, stream.name, times, checked, None, None, trace)
            # Tasks start in the order in which they are made, and that is the order of what they send.
            tasks = [(first, asyncio.create_task(connection.exchange(*made))) for first, _, made in messages]
            in_flight.append(_InFlight(tasks, span))
            while len(in_flight) >= min(window, connection.session.batches):
                yield await _receipt(in_flight.popleft())
        while in_flight:
            yield await _receipt(in_flight.popleft())
    finally:
        left = [task for batch in in_flight for _, task in batch.tasks]
        for task in left:
            task.cancel()
        for batch in in_flight:
            batch.end()
        await asyncio.gather(*left, return_exceptions=True)


async def _receipt(batch: _InFlight) -> Receipt:
    try:
        return merged([(first, expected(await task, Published)) for first, task in batch.tasks])
    except ForetellError as error:
        batch.end(error)
        raise
    finally:
        batch.end()
