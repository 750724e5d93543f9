"""Messages about subscriptions and their results, each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: a new one goes to the
end and raises the version.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, final

from . import shapes as s
from .row import MessageRow
from .session_messages import Done

# ---- from the client ----


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


# ---- from the broker, in answer ----


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
class SubscriptionEntry:
    """A subscription, how many clients are attached, and how many results wait for them. Part of Subscriptions.
    `cursors`: those that the user who asks may see, by name, each with how many results of it are not acknowledged."""

    name: str
    language: str
    query: str
    subscribers: int
    queued: int
    cursors: dict[str, Any] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class Subscriptions:
    """`more`: ask again, after the last of these."""

    correlation: int
    entries: tuple[SubscriptionEntry, ...]
    more: bool


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
class Ended:
    """The broker ends this subscription of the session, whose last notification has come. `code` `slow`: its reader
    was too slow, and had asked for that. It may be subscribed to again.
    """

    correlation: int
    subscription: str
    code: str
    reason: str


# ---- the table ----

_NAMED: Final = s.optional(s.NAME)
_MICROSECONDS: Final = s.optional(s.COUNT)

ROWS: Final = (
    MessageRow(
        6,
        Subscribe,
        (
            s.NAME,
            s.NAME,
            s.optional(s.TEXT),
            s.optional(s.FLAG),
            _NAMED,
            s.optional(s.PLAIN),
            s.CREDITS,
            s.optional(s.COUNT),
            _NAMED,
            s.optional(s.COUNT),
            s.optional(s.COUNT),
            s.optional(s.COUNT),
            s.optional(s.COUNT),
            s.optional(s.INTEGER),
            _MICROSECONDS,
            s.optional(s.COUNT),
            _NAMED,
            _MICROSECONDS,
        ),
        answer=Subscribed,
        when_full="refuse",
    ),
    MessageRow(7, Unsubscribe, (s.NAME,), answer=Done, when_full="wait", means="no notification of it follows"),
    MessageRow(8, Credit, (s.NAME, s.CREDITS), at_once=True),
    MessageRow(
        11,
        ListSubscriptions,
        (s.NAME,),
        answer=Subscriptions,
        at_once=True,
        means="those whose names sort behind it",
    ),
    MessageRow(
        36,
        Subscribed,
        (s.NAME, s.FLAG, s.FLAG, _NAMED, s.optional(s.COUNT), s.optional(s.COUNT)),
        means=(
            "whether it existed before; whether this session had it; of a [cursor](#cursors), what it "
            "survives, the position of the first that comes or is missing, and which one of its name it is"
        ),
    ),
    MessageRow(
        38,
        Subscriptions,
        (s.records(s.NAME, s.NAME, s.TEXT, s.COUNT, s.COUNT, s.PLAIN), s.FLAG),
        part=(1, SubscriptionEntry),
        means=(
            "name, language, query, how many clients, how many results wait for them, and a map of cursors to"
            " how many results of each are not acknowledged"
        ),
    ),
    MessageRow(
        64,
        Notifications,
        (s.NAME, s.COUNT, s.BLOBS, s.optional(s.COUNT), s.FLAG),
        means="results, numbered from `first` on; of a [cursor](#cursors), with positions from `position` on",
    ),
    MessageRow(
        67,
        Ended,
        (s.NAME, s.NAME, s.TEXT),
        means="the broker has [ended](#credits) this subscription; nothing of it follows",
    ),
)
