"""What a file of events is read into, and how a batch's refusal is blamed on one event; nothing is read here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar, final

from ..events import (
    DefinitionError,
    EventError,
    LimitExceeded,
    Punctuation,
    Retraction,
    Row,
    StreamDefinition,
    Subscribe,
    UnknownStream,
    Unsubscribe,
    Update,
    suggestion,
)
from .complaint import BadInput

BATCH_EVENTS: Final = 1_000
"""Events of a batch, at most. What comes out does not depend on it; the cost of an event does, a little."""


@final
@dataclass(frozen=True, slots=True)
class EventBatch:
    """Consecutive events of one stream, in columns.

    `ids` is None where no event names one: whoever takes them numbers them. `starts` is None where all are points.

    `places` are the 1-based lines or rows of the events; `position` is how much of the file had been read after them,
    in the unit in which the reader counts.
    """

    stream: str
    times: list[int]
    rows: list[Row]
    ids: list[int] | None
    starts: list[int] | None
    places: Sequence[int]
    position: int

    def part(self, begin: int, end: int) -> EventBatch:
        """The events from one index to before another, as a batch of their own."""
        if begin == 0 and end >= len(self.times):
            return self
        part = slice(begin, end)
        ids = None if self.ids is None else self.ids[part]
        starts = None if self.starts is None else self.starts[part]
        return EventBatch(self.stream, self.times[part], self.rows[part], ids, starts, self.places[part], self.position)


@final
@dataclass(frozen=True, slots=True)
class Control:
    """A line between the events that is none."""

    line: Subscribe | Unsubscribe | Update | Retraction | Punctuation
    place: int
    position: int


Item: TypeAlias = EventBatch | Control

Answer = TypeVar("Answer")


def answers(batch: EventBatch, place: str, publish: Callable[[EventBatch], Answer]) -> Iterator[Answer]:
    """What comes of publishing a batch.

    A refused one, which has changed nothing, is published again one by one, so that all events before the bad one are
    taken; then the complaint is raised with the place of that event. `place` is that of the file with the unit of its
    places, such as `events.jsonl: line`.
    """
    try:
        answer = publish(batch)
    except (EventError, LimitExceeded) as error:
        if len(batch.times) > 1:
            for index in range(len(batch.times)):
                yield from answers(batch.part(index, index + 1), place, publish)
            return
        # Rows of batches are counted where the batch is taken apart; the user knows of none.
        raise BadInput(f"{place} {batch.places[0]}: {str(error).replace(', row 0', '', 1)}") from error
    yield answer


def stream_named(streams: Mapping[str, StreamDefinition], name: str) -> StreamDefinition:
    """The declared stream of that name. Raises UnknownStream, with the nearest name."""
    stream = streams.get(name)
    if stream is None:
        raise UnknownStream(f"expected a declared stream, found {name[:128]!r}{suggestion(name, streams)}")
    return stream


def only_stream(streams: Mapping[str, StreamDefinition]) -> StreamDefinition:
    """The stream of a file that names none: there must be one. Raises DefinitionError."""
    if len(streams) != 1:
        names = ", ".join(sorted(streams)) or "none"
        raise DefinitionError(f"expected --stream NAME, the stream of these events; declared are {names}")
    return next(iter(streams.values()))
