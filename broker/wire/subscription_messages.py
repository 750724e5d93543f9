"""Messages about subscriptions and their results, each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: add a new field at the
end and raise the version.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, final

from . import shapes as s
from .row import MessageRow
from .session_messages import Done

# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class Subscribe:
    """Subscribe to a query, or attach to an existing subscription. Answered by Subscribed.

    `query` None: attach to the subscription with this name; options that are not None must be equal. `credits`: how
    many notifications the broker may send before the next Credit. `received`: in a resumed session, how many
    notifications had arrived; later ones are sent again. `when_slow`: without a cursor, what happens to results when
    the queue is full, one of slowness.WHEN_SLOW; nil: the first of them. `deadline`: as in Publish.
    `results`: `each`, or `final`, a result only when nothing can withdraw it any more; nil: `each`.

    With a cursor: `durable` is its name. It is created if it does not exist, and keeps results until they are
    acknowledged. `after`: continue behind this position; nil: behind the last acknowledged one. `replay`: begin at this
    position; `since`: begin with the results from this time on, in microseconds. `incarnation`: the cursor that `after`
    and `replay` refer to, from Subscribed; with another cursor of that name both are ignored. `retain`: how many
    acknowledged results a new cursor keeps. `within`: deliver again when nothing was acknowledged for so many
    microseconds. `deliveries_max`: a result delivered so often as the first unacknowledged one becomes a dead letter.
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
    results: str | None = None


@final
@dataclass(frozen=True, slots=True)
class SubscriptionRequest:
    """A subscription that is wanted; the fields are those of Subscribe. Part of SubscribeMany."""

    name: str
    language: str
    query: str | None
    lineage: bool | None = None
    report: str | None = None
    forecast: dict[str, Any] | None = None
    results: str | None = None


@final
@dataclass(frozen=True, slots=True)
class SubscribeMany:
    """Subscribe to several queries, at most SUBSCRIPTIONS_AT_ONCE_MAX. Answered by SubscribedMany.

    Each is judged as a Subscribe of its own would be, in order: later ones may read what earlier ones publish, and a
    refusal of one says nothing of the others. They have no cursors. `credits`, `when_slow`, `deadline`: as in
    Subscribe, `credits` and `when_slow` for each of them.
    """

    correlation: int
    wanted: tuple[SubscriptionRequest, ...]
    credits: int
    when_slow: str | None = None
    deadline: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """End a subscription of this session and discard its queued results. Answered by Done, its last message."""

    correlation: int
    name: str


@final
@dataclass(frozen=True, slots=True)
class Credit:
    """Allow the broker to send so many further notifications. Not answered."""

    correlation: int
    name: str
    credits: int


@final
@dataclass(frozen=True, slots=True)
class ListSubscriptions:
    """Ask for the subscriptions whose names sort behind `after`. Answered by Subscriptions, one page."""

    correlation: int
    after: str


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class Subscribed:
    """The session is subscribed.

    `attached`: the subscription existed before, so that it may already have partial matches. `resumed`: this session
    had it already, and the numbers of its notifications continue.

    With a cursor: `durability`, what kept results and acknowledgements survive, as in Published; `position`, that of
    the first result that is sent or reported as missing; `incarnation`, which distinguishes cursors of the same name.

    `warnings`: what is right in the text of the request, but probably not meant, each with its line and column.
    """

    correlation: int
    name: str
    attached: bool
    resumed: bool = False
    durability: str | None = None
    position: int | None = None
    incarnation: int | None = None
    warnings: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class SubscriptionOutcome:
    """What became of a subscription that was wanted. Part of SubscribedMany.

    `attached`, `warnings`: as in Subscribed. `code`: None if the session is subscribed; else it is not, and the other
    fields are as in Failure.
    """

    name: str
    attached: bool
    code: str | None = None
    message: str = ""
    line: int | None = None
    column: int | None = None
    excerpt: str | None = None
    retry: int | None = None
    warnings: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class SubscribedMany:
    """One outcome for each subscription that was wanted, in their order."""

    correlation: int
    outcomes: tuple[SubscriptionOutcome, ...]


@final
@dataclass(frozen=True, slots=True)
class SubscriptionEntry:
    """A subscription with the number of attached clients and of results that wait for them. Part of Subscriptions.

    `cursors`: the cursors that the asking user may see, by name, each with its number of unacknowledged results.
    `version`: 1, and 1 more for each update. `updates`: the newest of them, the oldest first, each with the inserted
    arcs, the names of the deleted ones, and the times from
    and to which they hold; beyond 2**61 there is no such end.
    """

    name: str
    language: str
    query: str
    subscribers: int
    queued: int
    cursors: dict[str, Any] = field(default_factory=dict)
    version: int = 1
    updates: tuple[tuple[tuple[str, ...], tuple[str, ...], int, int], ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Subscriptions:
    """A page of subscriptions. `more`: ask again, after the last one."""

    correlation: int
    entries: tuple[SubscriptionEntry, ...]
    more: bool


# ---- from the broker, unasked: correlation 0 ----


@final
@dataclass(frozen=True, slots=True)
class Notifications:
    """Encoded results of one subscription. `first`: the number of the first one; each session counts from 1 without
    gaps.

    With a cursor: `position` is that of the first result, and the others follow; an `incomplete` for dropped results
    comes alone, with the last missing position. `redelivered`: these results may have been delivered before.
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
    """The broker has ended a subscription of this session, after its last notification.

    `code` `slow`: its reader was too slow, and it has the policy `disconnect`. The client may subscribe again.
    """

    correlation: int
    subscription: str
    code: str
    reason: str


# ---- the table ----

SubscriptionMessage: TypeAlias = (
    Subscribe
    | SubscribeMany
    | Unsubscribe
    | Credit
    | ListSubscriptions
    | Subscribed
    | SubscribedMany
    | Subscriptions
    | Notifications
    | Ended
)

_NAMED: Final = s.optional(s.NAME)
_MICROSECONDS: Final = s.optional(s.COUNT)
_UPDATES: Final = s.records(s.TEXTS, s.TEXTS, s.INTEGER, s.INTEGER)

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
            _NAMED,
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
        20,
        SubscribeMany,
        (
            s.records(s.NAME, s.NAME, s.optional(s.TEXT), s.optional(s.FLAG), _NAMED, s.optional(s.PLAIN), _NAMED),
            s.CREDITS,
            _NAMED,
            _MICROSECONDS,
        ),
        answer=SubscribedMany,
        when_full="refuse",
        part=(1, SubscriptionRequest),
        means="each with the fields `name` to `forecast`, and `results`, of `Subscribe`",
    ),
    MessageRow(
        36,
        Subscribed,
        (s.NAME, s.FLAG, s.FLAG, _NAMED, s.optional(s.COUNT), s.optional(s.COUNT), s.TEXTS),
        means=(
            "whether it existed before; whether this session had it; of a [cursor](#cursors), what it survives, "
            "the position of the first result sent or missing, and its incarnation; and warnings on the text"
        ),
    ),
    MessageRow(
        38,
        Subscriptions,
        (s.records(s.NAME, s.NAME, s.TEXT, s.COUNT, s.COUNT, s.PLAIN, s.COUNT, _UPDATES), s.FLAG),
        part=(1, SubscriptionEntry),
        means=(
            "name, language, query, how many clients, how many results wait for them, a map of cursors to"
            " their numbers of unacknowledged results, how many updates it has had and one more, and the newest"
            " [updates](#changes), each with its inserted arcs, the names of its deleted ones, and its times"
        ),
    ),
    MessageRow(
        44,
        SubscribedMany,
        (
            s.records(
                s.NAME,
                s.FLAG,
                _NAMED,
                s.TEXT,
                s.optional(s.COUNT),
                s.optional(s.COUNT),
                s.optional(s.TEXT),
                s.optional(s.COUNT),
                s.TEXTS,
            ),
        ),
        part=(1, SubscriptionOutcome),
        means=(
            "for each that was wanted its name, whether it existed before, and, if it was refused, the fields `code` to"
            " `retry` of `Failure`"
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
        means="the broker has [ended](#credits) this subscription; no notification of it follows",
    ),
)
