"""The records of a journal: everything that can change a match, as values. Not here: their encoding (broker.storage).

A broker's state is a fold over its records. So they never refer to a clock, a file or a session, and are complete: they
hold the times and ids that the broker assigned where a client gave none. The kernel makes records; storage writes and
reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from ..language.subscription import SubscriptionDefinition


@final
@dataclass(frozen=True, slots=True)
class StreamDeclared:
    name: str
    attributes: Mapping[str, str]
    key: str | None
    disorder: str
    lateness: int | None
    speculation: int | None
    idle: int | None = None
    time_unit: str | None = None
    sequence: str | None = None


@final
@dataclass(frozen=True, slots=True)
class AttributeAdded:
    """A stream has another attribute, which may be null."""

    stream: str
    attribute: str
    type: str


@final
@dataclass(frozen=True, slots=True)
class StreamRemoved:
    name: str


@final
@dataclass(frozen=True, slots=True)
class SubscriptionAdded:
    """A subscription as the engine got it; `options` are those of later versions: `results`."""

    name: str
    language: str
    query: str
    lineage: bool | None
    report: str | None
    forecast: Mapping[str, Any] | None
    options: Mapping[str, Any]


def options_of(definition: SubscriptionDefinition) -> dict[str, Any]:
    """The options of a definition in its record."""
    return {} if definition.results is None else {"results": definition.results}


@final
@dataclass(frozen=True, slots=True)
class SubscriptionRemoved:
    name: str


@final
@dataclass(frozen=True, slots=True)
class SubscriptionReplaced:
    """A subscription got another text, and began anew or kept its runs."""

    name: str
    language: str
    query: str
    keep_runs: bool


@final
@dataclass(slots=True)  # not frozen: one is made for each batch, and a frozen one takes six times as long
class BatchTaken:
    """The accepted events of a batch. `client` and `message` identify a repetition of the request.

    `refused`: the index, code and reason of each refused event, to repeat the answer.
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
class Punctuated:
    """No event before `time` follows, on a stream or on any. `client`, `message`: as in BatchTaken."""

    time: int
    stream: str | None
    where: str | None
    client: str | None = None
    message: int | None = None


@final
@dataclass(frozen=True, slots=True)
class GapDeclared:
    """The events of a stream with these sequence numbers do not come. `client`, `message`: as in BatchTaken."""

    stream: str
    first: int
    last: int
    client: str | None = None
    message: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Retracted:
    """The events with these ids were withdrawn. `client`, `message`, `refused`: as in BatchTaken."""

    ids: Sequence[int]
    client: str | None = None
    message: int | None = None
    refused: Sequence[Sequence[Any]] = ()


@final
@dataclass(frozen=True, slots=True)
class Updated:
    """Arcs of a subscription came and went, as in the engine's `update`. `client`, `message`: as in BatchTaken."""

    subscription: str
    insert: Sequence[str]
    delete: Sequence[str]
    start: int | None
    end: int | None
    client: str | None = None
    message: int | None = None


@final
@dataclass(frozen=True, slots=True)
class StreamClocked:
    """Whether the broker's clock has stamped all events of a stream until now; its next events change that."""

    stream: str
    clocked: bool


@final
@dataclass(frozen=True, slots=True)
class ModelChanged:
    """Forecasts continue with the counts of a model file: its text and its digest."""

    digest: str
    text: str


@final
@dataclass(frozen=True, slots=True)
class CursorAdded:
    """A cursor was created: it keeps results of a subscription for `owner`, within these limits.

    `notifications` results of at most `size` bytes, `retain` acknowledged ones, `letters` dead letters.
    """

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
    """A cursor's results up to this position were acknowledged; None: the cursor was forgotten."""

    cursor: str
    position: int | None


@final
@dataclass(frozen=True, slots=True)
class CursorPlaced:
    """A cursor was moved: the results up to this position count as acknowledged, those behind it do not."""

    cursor: str
    position: int


@final
@dataclass(frozen=True, slots=True)
class CursorSetAside:
    """A cursor's result became a dead letter, after so many deliveries. `time`: microseconds."""

    cursor: str
    position: int
    reason: str
    time: int
    deliveries: int


@final
@dataclass(frozen=True, slots=True)
class DeadLettersSettled:
    """Dead letters of a cursor were deleted; with `again` they became new results."""

    cursor: str
    positions: Sequence[int]
    again: bool


@final
@dataclass(frozen=True, slots=True)
class TimeWasReset:
    """A stream's wrong time was taken back: the newest time is `time` again (microseconds; None: there is none).

    Subscriptions that read the stream began anew.
    """

    stream: str
    time: int | None


Record: TypeAlias = (
    StreamDeclared
    | AttributeAdded
    | StreamRemoved
    | SubscriptionAdded
    | SubscriptionRemoved
    | SubscriptionReplaced
    | BatchTaken
    | Punctuated
    | Retracted
    | Updated
    | GapDeclared
    | StreamClocked
    | ModelChanged
    | CursorAdded
    | CursorMoved
    | CursorPlaced
    | CursorSetAside
    | DeadLettersSettled
    | TimeWasReset
)
