"""The records of a journal: everything that can change a match, as values. storage knows their bytes.

A broker's state is a fold over these. So nothing in them refers to a clock, a file or a session, and nothing is left
open: times and ids are those that the broker gave, not those that a client left out. The kernel makes them (its
`records`); storage writes and reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final


@final
@dataclass(frozen=True, slots=True)
class StreamDeclared:
    name: str
    attributes: Mapping[str, str]
    key: str | None
    disorder: str
    lateness: int | None
    speculation: int | None


@final
@dataclass(frozen=True, slots=True)
class SubscriptionAdded:
    """As the engine was asked; `options` are the broker's own, such as who it belongs to."""

    name: str
    language: str
    query: str
    lineage: bool | None
    report: str | None
    forecast: Mapping[str, Any] | None
    options: Mapping[str, Any]


@final
@dataclass(frozen=True, slots=True)
class SubscriptionRemoved:
    name: str


@final
@dataclass(frozen=True, slots=True)
class BatchTaken:
    """Events as they were taken: no late ones. `client` and `message` make a repetition of the request known, and
    `refused` what it was told then of late ones: index, code and reason of each.
    """

    stream: str
    times: Sequence[int]
    rows: Sequence[Sequence[Any]]
    ids: Sequence[int]
    starts: Sequence[int] | None = None
    client: str | None = None
    message: int | None = None
    refused: Sequence[Sequence[Any]] = ()


@final
@dataclass(frozen=True, slots=True)
class ClockTick:
    """The broker's clock, where something waits for it."""

    time: int


@final
@dataclass(frozen=True, slots=True)
class Punctuated:
    time: int
    stream: str | None
    where: str | None


@final
@dataclass(frozen=True, slots=True)
class LimitsChanged:
    limits: Mapping[str, int]


@final
@dataclass(frozen=True, slots=True)
class ModelChanged:
    """Forecasts go on with what was counted elsewhere, too: a model file's text and its digest."""

    digest: str
    text: str


@final
@dataclass(frozen=True, slots=True)
class CursorAdded:
    """From now on results of this subscription are kept for `owner`, at most so many and so many bytes of them, and
    `retain` of those that are acknowledged, and at most so many dead letters."""

    cursor: str
    subscription: str
    owner: str
    notifications: int
    size: int
    retain: int = 0
    letters: int = 1_000


@final
@dataclass(frozen=True, slots=True)
class CursorMoved:
    """A durable cursor has done with everything up to this position; None: it is given up."""

    cursor: str
    position: int | None


@final
@dataclass(frozen=True, slots=True)
class CursorSetAside:
    """This result of a cursor is done with and has become a dead letter, after so many deliveries."""

    cursor: str
    position: int
    reason: str
    time: int
    deliveries: int


@final
@dataclass(frozen=True, slots=True)
class DeadLettersSettled:
    """These dead letters of a cursor are gone; with `again` they were found once more."""

    cursor: str
    positions: Sequence[int]
    again: bool


@final
@dataclass(frozen=True, slots=True)
class CursorOvertaken:
    """Retention has removed records that a cursor had not done with: a gap to be told."""

    cursor: str
    first: int
    last: int


@final
@dataclass(frozen=True, slots=True)
class TimeWasReset:
    """A time of this stream was none: the newest is this one again (None: there is none), and what reads the stream
    begins anew."""

    stream: str
    time: int | None


Record: TypeAlias = (
    StreamDeclared
    | SubscriptionAdded
    | SubscriptionRemoved
    | BatchTaken
    | ClockTick
    | Punctuated
    | LimitsChanged
    | ModelChanged
    | CursorAdded
    | CursorMoved
    | CursorSetAside
    | DeadLettersSettled
    | CursorOvertaken
    | TimeWasReset
)
