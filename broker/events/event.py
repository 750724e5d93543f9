"""The inputs of an engine: events, retractions, punctuations, changes of subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from .schema import Row, Value

TIME: Final = "time"
START: Final = "start"
TIME_NAMES: Final = (TIME, START)
"""The names by which queries read when an event ended and began, as if these were attributes."""


@final
@dataclass(frozen=True, slots=True)
class Event:
    """An event on a stream. Times are microseconds since 1970; `start <= time`.

    `data` has values by attribute, or is a row in schema order; it has not been checked against a schema yet. If `id`
    is None, the consumer numbers the event.
    """

    stream: str
    time: int
    start: int
    id: int | None
    data: dict[str, Value] | Row


@final
@dataclass(frozen=True, slots=True)
class Retraction:
    """The event of this id is withdrawn."""

    id: int


@final
@dataclass(frozen=True, slots=True)
class Punctuation:
    """No event earlier than `time` follows: on one stream, or on all; with `where`, no such event that satisfies it."""

    time: int
    stream: str | None = None
    where: str | None = None


@final
@dataclass(frozen=True, slots=True)
class SubscribeLine:
    """A new subscription, with the fields of a subscription file."""

    name: str
    language: str
    query: str
    lineage: bool | None = None
    report: str | None = None
    forecast: Mapping[str, object] | None = None
    results: str | None = None


@final
@dataclass(frozen=True, slots=True)
class UnsubscribeLine:
    """The end of the subscription of this name."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class UpdateLine:
    """A change of a subscription: arcs of its automaton are added and removed.

    `since` and `until` are the wire's `from` and `to`; None for both means from now on.
    """

    subscription: str
    insert: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None


@final
@dataclass(frozen=True, slots=True)
class GapLine:
    """The events of a stream with the sequence numbers from `first` to `last` will not come."""

    stream: str
    first: int
    last: int


Input: TypeAlias = Event | Retraction | Punctuation | GapLine | SubscribeLine | UnsubscribeLine | UpdateLine
