"""Law: what is said of declared streams beside AddStream; plain values, as in messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

# ---- from the client ----


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


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class TimeReset:
    """The newest time from now on, and the stream that has it; nil: there is none."""

    correlation: int
    newest: int | None
    stream: str | None


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
