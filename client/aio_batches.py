"""Publishes many batches by the asyncio client, a window of them in flight, and yields their receipts in order."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from broker.events import StreamDefinition
from broker.wire import Message, Published

from .aio_connection import AioConnection
from .batches import check_batch
from .calls import expected
from .errors import ForetellError
from .held_batches import HeldBatch, HeldBatches, messages, receipts
from .receipt import Receipt, warn_of_refused
from .times import Times, batch_times
from .tracing import PublishSpans

Columns: TypeAlias = tuple[Times | None, Sequence[tuple[Any, ...]]]
"""A batch: times and rows."""


class _InFlight(NamedTuple):
    """Batches without a receipt: several of one message, or one whose messages are these, each with the index of its
    first row."""

    tasks: list[tuple[int, asyncio.Task[Message]]]
    batches: list[HeldBatch]

    def end(self, error: Exception | None = None) -> None:
        for batch in self.batches:
            batch.end_span(error)


async def published(
    connection: AioConnection,
    spans: PublishSpans,
    stream: StreamDefinition,
    batches: Iterable[Columns],
    window: int,
    message_events: int = 0,
) -> AsyncGenerator[Receipt, None]:
    """The receipts. An error concerns the batch after the last one; those in flight behind it are given up."""
    in_flight: deque[_InFlight] = deque()
    held = HeldBatches(message_events)
    try:
        for times, rows in batches:
            times = batch_times(connection.session, stream, times)
            checked = check_batch(stream, times, rows, None, None)
            batch = HeldBatch(times, checked, None, None, spans.begin(stream.name, len(checked)))
            if not held.admits(batch):
                _send(connection, stream, held, in_flight)
            if held.add(batch):
                _send(connection, stream, held, in_flight)
            while len(in_flight) >= min(window, connection.session.batches):
                for receipt in await _receipts(connection, stream, in_flight.popleft()):
                    yield receipt
        _send(connection, stream, held, in_flight)
        while in_flight:
            for receipt in await _receipts(connection, stream, in_flight.popleft()):
                yield receipt
    finally:
        left = [task for each in in_flight for _, task in each.tasks]
        for task in left:
            task.cancel()
        for each in in_flight:
            each.end()
        for batch in held.take():
            batch.end_span()
        await asyncio.gather(*left, return_exceptions=True)


def _send(
    connection: AioConnection, stream: StreamDefinition, held: HeldBatches, in_flight: deque[_InFlight]
) -> None:
    """Send the batches that wait. Tasks start in the order in which they are made, and that is the order of what they
    send."""
    taken = held.take()
    try:
        for batches, first, _, made in messages(connection.session.request, stream, taken):
            if first == 0:
                in_flight.append(_InFlight([], batches))
            in_flight[-1].tasks.append((first, asyncio.create_task(connection.exchange(*made))))
    except ForetellError as error:
        for batch in taken:
            batch.end_span(error)
        raise


async def _receipts(connection: AioConnection, stream: StreamDefinition, of: _InFlight) -> list[Receipt]:
    try:
        found = receipts(of.batches, [(first, expected(await task, Published)) for first, task in of.tasks])
        warn_of_refused(connection.session.warned, stream.name, found)
        return found
    except ForetellError as error:
        of.end(error)
        raise
    finally:
        of.end()
