"""Batches of events from a file, and how a refused batch is traced to one event. Nothing is read here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar, final

from ..events import (
    DefinitionError,
    EventError,
    ForetellError,
    GapLine,
    LimitExceeded,
    Punctuation,
    Retraction,
    Row,
    StreamDefinition,
    SubscribeLine,
    UnknownStream,
    UnsubscribeLine,
    UpdateLine,
    suggestion,
)
from .complaint import BadInput

BATCH_EVENTS: Final = 1_000
"""The most rows in a batch; columns may be more. Results do not depend on it; the cost of an event does, slightly."""


@final
@dataclass(frozen=True, slots=True)
class EventBatch:
    """Consecutive events of one stream, in columns.

    `ids` is None if no event has one: the consumer then numbers them. `starts` is None if all events are points in
    time.

    `places` are the 1-based lines or rows of the events, or where they are in words; `position` says how much of the
    file was read up to the last of them, in the unit in which the reader counts.
    """

    stream: str
    times: list[int]
    rows: Sequence[Row]
    ids: list[int] | None
    starts: list[int] | None
    places: Sequence[int | str]
    position: int

    def part(self, begin: int, end: int) -> EventBatch:
        """Return the events from index `begin` to before `end` as a batch."""
        if begin == 0 and end >= len(self.times):
            return self
        part = slice(begin, end)
        ids = None if self.ids is None else self.ids[part]
        starts = None if self.starts is None else self.starts[part]
        return EventBatch(self.stream, self.times[part], self.rows[part], ids, starts, self.places[part], self.position)


@final
@dataclass(frozen=True, slots=True)
class Control:
    """A line of the file that is not an event."""

    line: SubscribeLine | UnsubscribeLine | UpdateLine | Retraction | Punctuation | GapLine
    place: int
    position: int


Item: TypeAlias = EventBatch | Control

Answer = TypeVar("Answer")


def answers(
    batch: EventBatch,
    where: Callable[[int | str], str],
    publish: Callable[[EventBatch], Answer],
    leave_out: Callable[[str, ForetellError, EventBatch], None] | None = None,
) -> Iterator[Answer]:
    """Publish a batch and yield its results.

    If the batch is refused, which changes nothing, publish its halves, so that all events before the bad one are taken;
    then raise the error with the place of that event, or `leave_out` the event and go on. `where` tells a place, such
    as `events.jsonl: line 5`. O(bad events * log batch) batches.
    """
    try:
        answer = publish(batch)
    except (EventError, LimitExceeded) as error:
        count = len(batch.times)
        if count > 1:
            yield from answers(batch.part(0, count // 2), where, publish, leave_out)
            yield from answers(batch.part(count // 2, count), where, publish, leave_out)
            return
        # The engine names the row of the batch, but the user knows only the lines of the file.
        reason = str(error).replace(", row 0", "", 1)
        if leave_out is not None:
            leave_out(where(batch.places[0]), EventError(reason), batch)
            return
        raise BadInput(f"{where(batch.places[0])}: {reason}") from error
    yield answer


def stream_named(streams: Mapping[str, StreamDefinition], name: str) -> StreamDefinition:
    """Return the declared stream of that name. Raises UnknownStream, with the nearest name."""
    stream = streams.get(name)
    if stream is None:
        raise UnknownStream(f"expected a declared stream, found {name[:128]!r}{suggestion(name, streams)}")
    return stream


def only_stream(streams: Mapping[str, StreamDefinition]) -> StreamDefinition:
    """Return the stream of a file that names none: the only declared one. Raises DefinitionError."""
    if len(streams) != 1:
        names = ", ".join(sorted(streams)) or "none"
        raise DefinitionError(f"expected --stream NAME, the stream of these events; declared are {names}")
    return next(iter(streams.values()))
