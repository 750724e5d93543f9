"""Messages about streams and their events, each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: add a new field at the
end and raise the version.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final

from . import shapes as s
from .row import MessageRow
from .session_messages import Done

# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class AddStream:
    """Declare a stream; `lateness`, `speculation` and `idle` are in microseconds. The broker keeps `time_unit`, that of
    times as programs write them, for other clients. Answered by Done."""

    correlation: int
    name: str
    attributes: dict[str, str]
    key: str | None
    disorder: str
    lateness: int | None
    speculation: int | None
    idle: int | None = None
    time_unit: str | None = None
    sequence: str | None = None


@final
@dataclass(frozen=True, slots=True)
class DescribeStream:
    """Ask for the definition of a stream. Answered by Streams with one entry."""

    correlation: int
    name: str


@final
@dataclass(frozen=True, slots=True)
class ListStreams:
    """Ask for the streams whose names sort behind `after`. Answered by Streams, one page."""

    correlation: int
    after: str


@final
@dataclass(frozen=True, slots=True)
class ResetTime:
    """Take back a wrong time of a stream; subscriptions that read it begin anew. Answered by TimeReset."""

    correlation: int
    stream: str


@final
@dataclass(slots=True)  # not frozen: one is made for each batch, and a frozen one takes six times as long
class Publish:
    """A batch in columns, each as long as `rows`; a row holds the values in schema order. Many rows travel as one byte
    string, of which the decoder makes columns where they have a simple form.

    Events that have come as packed columns are EventColumns in `rows`; with those, `times`, `ids` and `starts` are
    packed on the wire, too. The decoder checks that packed columns are columns, but not whether they fit the stream,
    nor the values in `times` and `rows`; the engine does. `times` None: the broker's clock.
    `ids` None: the broker numbers the events. `starts` None: equal to `times`. Answered by Published.

    `publisher` and `number` identify a repetition: the broker accepts a number of a publisher once, and repeats its
    answer. A publisher's numbers grow. Without both fields, every message is a new batch.

    `deadline`: a time of the broker's clock, in microseconds, after which the broker refuses the batch if it has not
    begun it. A repetition is answered anyway.

    `trace`: the span that publishes it, as a W3C `traceparent`, of which a broker that traces makes its span a child.
    """

    correlation: int
    stream: str
    times: Sequence[int] | None
    rows: Sequence[tuple[Any, ...]]
    ids: Sequence[int] | None
    starts: Sequence[int] | None
    publisher: str | None = None
    number: int | None = None
    deadline: int | None = None
    trace: str | None = None


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class StreamEntry:
    """A declared stream; the last `added` attributes came later. Part of Streams."""

    name: str
    attributes: dict[str, str]
    key: str | None
    disorder: str
    lateness: int | None
    speculation: int | None
    idle: int | None = None
    time_unit: str | None = None
    added: int = 0
    sequence: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Streams:
    """A page of streams. `more`: ask again, after the last one."""

    correlation: int
    entries: tuple[StreamEntry, ...]
    more: bool


@final
@dataclass(frozen=True, slots=True)
class TimeReset:
    """The newest time after the reset, in microseconds, and the stream that has it; nil if there is none."""

    correlation: int
    newest: int | None
    stream: str | None


@final
@dataclass(frozen=True, slots=True)
class Refusal:
    """An event that was refused: its index in the batch, the error's code and text. Part of Published."""

    index: int
    code: str
    reason: str


@final
@dataclass(slots=True)  # not frozen, as Publish
class Published:
    """The engine has accepted `count` events of the batch, numbered from `first_id` on unless ids were given.

    `newest`: the newest time that the engine has processed, of any stream. `first_id` and `newest` are None if no event
    was accepted yet. `durability`: what the events survive. `memory`: only the broker has them; `os`: they are written,
    and survive the end of the broker; `interval 50000us`: also synced to the disk that often; `always`: already synced.
    `held_back`: for which related stream events of this one wait, if they have for long, in one sentence.
    """

    correlation: int
    count: int
    newest: int | None
    first_id: int | None
    refused: tuple[Refusal, ...]
    durability: str = "memory"
    held_back: str | None = None


# ---- the table ----

StreamMessage: TypeAlias = (
    AddStream
    | DescribeStream
    | ListStreams
    | ResetTime
    | Publish
    | Streams
    | TimeReset
    | Published
)

_NAMED: Final = s.optional(s.NAME)
_MICROSECONDS: Final = s.optional(s.COUNT)
_SAID: Final = s.optional(s.TEXT)
_STREAM: Final = (s.NAME, s.NAMES, _NAMED, s.NAME, _MICROSECONDS, _MICROSECONDS, _MICROSECONDS, _NAMED)

ROWS: Final = (
    MessageRow(4, AddStream, (*_STREAM, _NAMED), answer=Done, when_full="refuse"),
    MessageRow(9, DescribeStream, (s.NAME,), answer=Streams, at_once=True, means="with this one"),
    MessageRow(10, ListStreams, (s.NAME,), answer=Streams, at_once=True, means="those whose names sort behind it"),
    MessageRow(18, ResetTime, (s.NAME,), answer=TimeReset, when_full="refuse", means="for administrators"),
    MessageRow(
        5,
        Publish,
        (
            s.NAME,
            s.optional(s.packed(s.ARRAY)),
            s.packed(s.in_bytes(s.ARRAY)),
            s.optional(s.packed(s.INTEGERS)),
            s.optional(s.packed(s.INTEGERS)),
            _NAMED,
            s.optional(s.COUNT),
            _MICROSECONDS,
            _NAMED,
        ),
        answer=Published,
        when_full="refuse",
    ),
    MessageRow(
        37,
        Streams,
        (s.records(*_STREAM, s.COUNT, _NAMED), s.FLAG),
        part=(1, StreamEntry),
        means=(
            "each with the fields of `AddStream`, before the last how many of its last attributes came later; with "
            "`more`, ask again, after the last one"
        ),
    ),
    MessageRow(
        42,
        TimeReset,
        (s.optional(s.INTEGER), _NAMED),
        means="the newest time of all events [after the reset](#time), and the stream that has it",
    ),
    MessageRow(
        35,
        Published,
        (s.COUNT, s.optional(s.INTEGER), s.optional(s.INTEGER), s.records(s.COUNT, s.NAME, s.TEXT), s.NAME, _SAID),
        part=(4, Refusal),
        means=(
            "how many events were accepted, numbered from `first_id` on; the newest time processed; the refused "
            "events, each with its index, a code and a reason; and a sentence if events of the stream have waited long "
            "for a [related](events.md#order) one"
        ),
    ),
)
