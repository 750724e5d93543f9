"""Messages about streams and their events, each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: a new one goes to the
end and raises the version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

from . import shapes as s
from .row import MessageRow
from .session_messages import Done

# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class AddStream:
    """A stream as a subscription file declares it; `lateness` and `speculation` in microseconds. Answered by Done."""

    correlation: int
    name: str
    attributes: dict[str, str]
    key: str | None
    disorder: str
    lateness: int | None
    speculation: int | None


@final
@dataclass(frozen=True, slots=True)
class DescribeStream:
    """Answered by Streams with this one."""

    correlation: int
    name: str


@final
@dataclass(frozen=True, slots=True)
class ListStreams:
    """The streams whose names sort behind `after`; answered by Streams, a page at a time."""

    correlation: int
    after: str


@final
@dataclass(frozen=True, slots=True)
class ResetTime:
    """Times of this stream were none; answered by TimeReset. What reads the stream begins anew."""

    correlation: int
    stream: str


@final
@dataclass(frozen=True, slots=True)
class Publish:
    """A batch in columns, each as long as `rows`; a row holds the values in schema order.

    Decoded, `times` and `rows` may hold anything: whoever takes the events judges them. `times` None: the broker's
    clock. `ids` None: the broker numbers. `starts` None: as `times`. Answered by Published.

    `publisher` and `number` make a repetition known: the same number of the same publisher is taken once, and answered
    as the first time. A publisher's numbers grow. Without both, every message is another one.

    `deadline`: in the broker's clock, after which it is refused instead of begun. A repetition is answered anyway.
    """

    correlation: int
    stream: str
    times: tuple[int, ...] | None
    rows: tuple[tuple[Any, ...], ...]
    ids: tuple[int, ...] | None
    starts: tuple[int, ...] | None
    publisher: str | None = None
    number: int | None = None
    deadline: int | None = None


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class StreamEntry:
    """A declared stream. Part of Streams."""

    name: str
    attributes: dict[str, str]
    key: str | None
    disorder: str
    lateness: int | None
    speculation: int | None


@final
@dataclass(frozen=True, slots=True)
class Streams:
    """`more`: ask again, after the last of these."""

    correlation: int
    entries: tuple[StreamEntry, ...]
    more: bool


@final
@dataclass(frozen=True, slots=True)
class TimeReset:
    """The newest time from now on, and the stream that has it; nil: there is none."""

    correlation: int
    newest: int | None
    stream: str | None


@final
@dataclass(frozen=True, slots=True)
class Refusal:
    """One event of a batch was not taken: its index in the batch, the error's code and its line. Part of Published."""

    index: int
    code: str
    reason: str


@final
@dataclass(frozen=True, slots=True)
class Published:
    """The engine has taken `count` events of the batch, numbered from `first_id` on unless ids were given.

    `newest` is the newest time that it has processed, of any stream. Both are None where nothing was taken yet.
    `durability`: what this promises. `memory`: the broker has it; `os`: it is written, and survives the broker's end;
    `interval 50000us`: and is synced to the disk that often; `always`: it is synced already.
    """

    correlation: int
    count: int
    newest: int | None
    first_id: int | None
    refused: tuple[Refusal, ...]
    durability: str = "memory"


# ---- the table ----

_NAMED: Final = s.optional(s.NAME)
_MICROSECONDS: Final = s.optional(s.COUNT)
_STREAM: Final = (s.NAME, s.NAMES, _NAMED, s.NAME, _MICROSECONDS, _MICROSECONDS)

ROWS: Final = (
    MessageRow(4, AddStream, _STREAM, answer=Done, when_full="refuse"),
    MessageRow(9, DescribeStream, (s.NAME,), answer=Streams, at_once=True, means="with this one"),
    MessageRow(10, ListStreams, (s.NAME,), answer=Streams, at_once=True, means="those whose names sort behind it"),
    MessageRow(18, ResetTime, (s.NAME,), answer=TimeReset, when_full="refuse", means="for administrators"),
    MessageRow(
        5,
        Publish,
        (
            s.NAME,
            s.optional(s.ARRAY),
            s.ARRAY,
            s.optional(s.INTEGERS),
            s.optional(s.INTEGERS),
            _NAMED,
            s.optional(s.COUNT),
            _MICROSECONDS,
        ),
        answer=Published,
        when_full="refuse",
    ),
    MessageRow(
        37,
        Streams,
        (s.records(*_STREAM), s.FLAG),
        part=(1, StreamEntry),
        means="each with the fields of `AddStream`; with `more`, ask again, after the last one",
    ),
    MessageRow(
        42,
        TimeReset,
        (s.optional(s.INTEGER), _NAMED),
        means="the newest time of all events [from now on](#time), and the stream that has it",
    ),
    MessageRow(
        35,
        Published,
        (s.COUNT, s.optional(s.INTEGER), s.optional(s.INTEGER), s.records(s.COUNT, s.NAME, s.TEXT), s.NAME),
        part=(4, Refusal),
        means=(
            "so many events were taken, numbered from `first_id` on; the newest time processed; and those "
            "that were not taken, each with its index, a code and a reason"
        ),
    ),
)
