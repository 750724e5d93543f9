"""Law: what broker and client can say to each other; plain values, no bytes and no behaviour.

The first field of each message is its correlation. The order of the fields is their order on the wire: a new field goes
to the end and raises the version. Types and fields on the wire are in codec.MESSAGES.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, final

from .cursor_messages import Acknowledge, DeadLetters, Forget, ListDeadLetters, Refuse, Settle
from .forecast_messages import AskProbability, ProbabilityReport
from .parts import Refusal, SubscriptionEntry
from .stream_messages import DescribeStream, ListStreams, ResetTime, Streams, TimeReset

# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class Hello:
    """The first message of a session. `software` is for people who read logs and statistics.

    `session` None: it ends with its connection. Empty: it shall be possible to resume it. Else: the one to be resumed,
    as Welcome has called it.
    """

    correlation: int
    version: int
    software: str
    session: bytes | None = None


@final
@dataclass(frozen=True, slots=True)
class Goodbye:
    """The session ends and its subscriptions are released; answered by Done."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Ping:
    """Answered by Pong: the broker's loop is alive and the session is known."""

    correlation: int


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


@final
@dataclass(frozen=True, slots=True)
class Subscribe:
    """Answered by Subscribed. `query` None attaches to whatever bears the name and has the options that are not None.

    `credits`: how many notifications may come before the next Credit. `received`: in a session that was resumed, how
    many had come; what was sent and has not come is sent again.

    `durable`: the name of a cursor, which is made if there is none, and keeps what is found for it until that is
    acknowledged. `after`: the position of the last that has come; nil: of the last that was acknowledged.

    `incarnation`: which one of this name that was, as Subscribed has said; of another one `after` and `replay` say
    nothing. `retain`: how many results a new one keeps after they were acknowledged, too. `replay`: the position to
    begin with; `since`: likewise, the time from which on results are told again. `within`: what was sent comes again
    when nothing was acknowledged for so many microseconds. `deliveries_max`: what was delivered so often as the first
    that is not acknowledged is set aside.
    `when_slow`: of a subscription without a cursor, what becomes of results that its queue has no room for, one of
    slowness.WHEN_SLOW; nil is the first of them. `deadline`: as in Publish.
    """

    correlation: int
    name: str
    language: str
    query: str | None
    lineage: bool | None
    report: str | None
    forecast: dict[str, Any] | None
    credits: int
    received: int | None = None
    durable: str | None = None
    after: int | None = None
    incarnation: int | None = None
    retain: int | None = None
    replay: int | None = None
    since: int | None = None
    within: int | None = None
    deliveries_max: int | None = None
    when_slow: str | None = None
    deadline: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Answered by Done; what was queued for this client is discarded. No notification follows the answer."""

    correlation: int
    name: str


@final
@dataclass(frozen=True, slots=True)
class Credit:
    """So many further notifications may come. Not answered."""

    correlation: int
    name: str
    credits: int


@final
@dataclass(frozen=True, slots=True)
class ListSubscriptions:
    """The subscriptions whose names sort behind `after`; answered by Subscriptions, a page at a time."""

    correlation: int
    after: str


@final
@dataclass(frozen=True, slots=True)
class Statistics:
    """Answered by StatisticsReport."""

    correlation: int


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class Welcome:
    """The session exists. `silence_seconds`: after so long without a message the broker asks whether we are there.

    `session`: what to call it when it is to be resumed. It is a secret. `clock`: what the broker's shows now, in
    microseconds since 1970; deadlines are told in it. `batches`: how many may be under way, others may be refused.
    """

    correlation: int
    version: int
    software: str
    silence_seconds: int
    session: bytes | None = None
    clock: int = 0
    batches: int = 0


@final
@dataclass(frozen=True, slots=True)
class Done:
    """What was asked for is done and has no more to say."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to Ping."""

    correlation: int


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


@final
@dataclass(frozen=True, slots=True)
class Subscribed:
    """`attached`: the subscription existed before, so that it may already have runs under way.

    `resumed`: this session had it already, and its notifications go on with their numbers.

    With a cursor: `durability`, what an acknowledgement and all that is kept promise, in the words of Published; and
    `position`, that of the first that comes, or is told as missing; `incarnation`, which one of its name it is.
    """

    correlation: int
    name: str
    attached: bool
    resumed: bool = False
    durability: str | None = None
    position: int | None = None
    incarnation: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Subscriptions:
    """`more`: ask again, after the last of these."""

    correlation: int
    entries: tuple[SubscriptionEntry, ...]
    more: bool


@final
@dataclass(frozen=True, slots=True)
class StatisticsReport:
    """Numbers by name in groups by name."""

    correlation: int
    groups: dict[str, Any]


@final
@dataclass(frozen=True, slots=True)
class Failure:
    """A request was refused and changed nothing. `line`, `column` and `excerpt` point into a query's text.

    With correlation 0 the frame was too broken to say which request it was. `retry`: the same request may succeed after
    so many microseconds. `clock`: the broker's, where a deadline had passed.
    """

    correlation: int
    code: str
    message: str
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None
    retry: int | None = None
    clock: int | None = None


# ---- from the broker, unasked: correlation 0 ----


@final
@dataclass(frozen=True, slots=True)
class Notifications:
    """Encoded results of one subscription; `first` numbers the first of them, without a gap from 1 for each session.

    Of a cursor: `position` is that of the first, the others follow it; an `incomplete` for what was dropped comes
    alone, with the last position that is missing. `redelivered`: these may have come before.
    """

    correlation: int
    subscription: str
    first: int
    results: tuple[bytes, ...]
    position: int | None = None
    redelivered: bool = False


@final
@dataclass(frozen=True, slots=True)
class Probe:
    """Sent into a silence to see whether there is still somebody to send to; needs no answer."""

    correlation: int


@final
@dataclass(frozen=True, slots=True)
class Ended:
    """The broker ends this subscription of the session, whose last notification has come. `code` `slow`: its reader
    was too slow, and had asked for that. It may be subscribed to again.
    """

    correlation: int
    subscription: str
    code: str
    reason: str


@final
@dataclass(frozen=True, slots=True)
class Closing:
    """The broker ends the session: nothing follows."""

    correlation: int
    reason: str


Message: TypeAlias = (
    Hello
    | Goodbye
    | Ping
    | AddStream
    | Publish
    | Subscribe
    | Unsubscribe
    | Credit
    | DescribeStream
    | ResetTime
    | TimeReset
    | ListStreams
    | ListSubscriptions
    | Statistics
    | Acknowledge
    | Forget
    | Refuse
    | ListDeadLetters
    | Settle
    | AskProbability
    | Welcome
    | Done
    | Pong
    | Published
    | Subscribed
    | Streams
    | Subscriptions
    | StatisticsReport
    | DeadLetters
    | ProbabilityReport
    | Failure
    | Notifications
    | Probe
    | Ended
    | Closing
)
