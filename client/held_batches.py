"""Batches that are held back to travel in one message, and the answer to each of them.

A message costs as much as some hundred events, whatever it carries. So a publisher of many small batches may hold them
until they have so many events together. Each keeps its number, its place and its receipt: what the broker says of the
message is cut into what it would have said of each.

Here: holding, joining and cutting. Not here: when a message is sent (publisher, aio_batches), the parts of a large
batch (batches).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeVar, final

from broker.events import DefinitionError, StreamDefinition
from broker.events.column_checks import packed_events
from broker.events.event_columns import EventColumns
from broker.events.joined_columns import joined_columns
from broker.wire import BATCH_EVENTS_MAX, Message, Publish, Published, Refusal

from .batches import merged, parts
from .errors import LimitExceeded
from .receipt import Receipt
from .tracing import PublishSpan

_Request = TypeVar("_Request")


def checked_message_events(events: int) -> int:
    """The number of events, if it is valid. Raises DefinitionError."""
    if type(events) is not int or not 0 <= events <= BATCH_EVENTS_MAX:
        raise DefinitionError(f"expected message_events of 0 to {BATCH_EVENTS_MAX:,}, found {events!r}")
    return events


class HeldBatch(NamedTuple):
    """A checked batch, and its span, if it is traced."""

    times: Sequence[int] | None
    rows: Sequence[tuple[Any, ...]]
    ids: Sequence[int] | None
    starts: Sequence[int] | None
    span: PublishSpan | None

    def end_span(self, error: Exception | None = None) -> None:
        if self.span is not None:
            self.span.end(error)

    def own(self) -> HeldBatch:
        """The same with columns that the program cannot change any more. O(rows)."""
        times, rows, ids, starts, span = self
        rows = rows if type(rows) is EventColumns else tuple(rows)
        return HeldBatch(_kept(times), rows, _kept(ids), _kept(starts), span)

    def like(self, other: HeldBatch) -> bool:
        """Whether both have times, ids and starts, or both lack them."""
        return all((mine is None) == (its is None) for mine, its in zip(_columns(self), _columns(other)))


@final
class HeldBatches:
    """Those that wait, in order, until they have `enough` events together; with 0 none waits."""

    __slots__ = ("_batches", "_events", "enough")

    def __init__(self, enough: int) -> None:
        self.enough = enough
        self._batches: list[HeldBatch] = []
        self._events = 0

    def admits(self, batch: HeldBatch) -> bool:
        """Whether one message can have this batch behind those that wait."""
        if not self._batches:
            return True
        return self._events + len(batch.rows) <= BATCH_EVENTS_MAX and batch.like(self._batches[0])

    def add(self, batch: HeldBatch) -> bool:
        """Whether they are to be sent now. A batch with others is read again when their answer comes."""
        self._events += len(batch.rows)
        full = self._events >= self.enough
        alone = full and not self._batches
        self._batches.append(batch if alone else batch.own())
        return full

    def take(self) -> list[HeldBatch]:
        """Take them out."""
        batches, self._batches, self._events = self._batches, [], 0
        return batches


def messages(
    request: Callable[[Callable[[int], Message]], _Request], stream: StreamDefinition, batches: list[HeldBatch]
) -> Iterator[tuple[list[HeldBatch], int, bool, _Request]]:
    """For each message: its batches, the index of its first row in the first of them, whether it is their last one, and
    what `request` makes of it.

    Several batches travel in one message, or in as few as have room for them, and a batch that is too large for one in
    `parts`. Raises LimitExceeded for an event that fits no message.
    """
    if len(batches) == 1:
        for times, rows, ids, starts, span in batches:
            trace = None if span is None else span.context
            for first, last, made in parts(request, stream.name, times, rows, ids, starts, trace):
                yield batches, first, last, made
    elif batches:
        try:
            joint = request(partial(_joint, stream, batches))
        except LimitExceeded:
            half = len(batches) // 2
            yield from messages(request, stream, batches[:half])
            yield from messages(request, stream, batches[half:])
        else:
            yield batches, 0, True, joint


def receipts(batches: list[HeldBatch], told: Sequence[tuple[int, Published]]) -> list[Receipt]:
    """The receipt of each batch: of one from the answers to its parts, of several from that to their message."""
    if len(batches) == 1:
        return [merged(told)]
    return [merged([(0, each)]) for each in _answers(batches, told[0][1])]


def _joint(stream: StreamDefinition, batches: Sequence[HeldBatch], number: int) -> Message:
    """The message of several batches of one kind. Its trace is that of the first one that is traced. O(rows)."""
    rows = _rows(stream, [each.rows for each in batches])
    times, ids, starts = (_joined(column) for column in zip(*map(_columns, batches)))
    traces = [each.span.context for each in batches if each.span is not None]
    trace = next((each for each in traces if each is not None), None)
    return Publish(number, stream.name, times, rows, ids, starts, trace=trace)


def _answers(batches: Sequence[HeldBatch], published: Published) -> list[Published]:
    """What the answer to the message of these batches says of each. O(batches + refused events)."""
    found: list[Published] = []
    begin = accepted = 0
    for batch in batches:
        end = begin + len(batch.rows)
        refused = tuple(
            [Refusal(each.index - begin, each.code, each.reason) for each in published.refused
             if begin <= each.index < end]
        ) if published.refused else ()  # fmt: skip
        count = len(batch.rows) - len(refused)
        first = None
        if count and batch.ids is not None:
            gone = {each.index for each in refused}
            first = next(id for at, id in enumerate(batch.ids) if at not in gone)
        elif count and published.first_id is not None:
            first = published.first_id + accepted
        found.append(Published(0, count, published.newest, first, refused, published.durability, published.held_back))
        begin, accepted = end, accepted + count
    return found


def _rows(stream: StreamDefinition, parts: list[Sequence[tuple[Any, ...]]]) -> Sequence[tuple[Any, ...]]:
    """The rows of all, as columns where those of all have come so, or are many."""
    packed = [each for each in parts if type(each) is EventColumns]
    columns = joined_columns(stream, packed) if len(packed) == len(parts) else None
    if columns is not None:
        return columns
    rows = list(chain.from_iterable(parts))
    made = packed_events(stream, rows)
    return rows if made is None else made


def _columns(batch: HeldBatch) -> tuple[Sequence[int] | None, ...]:
    return batch.times, batch.ids, batch.starts


def _kept(column: Sequence[int] | None) -> Sequence[int] | None:
    return None if column is None else tuple(column)


def _joined(columns: Sequence[Sequence[int] | None]) -> list[int] | None:
    return None if columns[0] is None else list(chain.from_iterable(each for each in columns if each is not None))
