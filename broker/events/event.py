"""The inputs of an engine: events, retractions, punctuations, changes of subscriptions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from .schema import Row, Value


@final
@dataclass(frozen=True, slots=True)
class Event:
    """Something happened on a stream. Times are microseconds since 1970; `start <= time`.

    `data` is by attribute, or a row in schema order; it has not been compared with a schema yet. `id` None leaves it to
    the consumer to number the events.
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
    """Nothing earlier than `time` follows: on one stream, or on all; with `where`, only of events that satisfy it."""

    time: int
    stream: str | None = None
    where: str | None = None


@final
@dataclass(frozen=True, slots=True)
class Subscribe:
    """A subscription begins; the fields are those of a subscription file."""

    name: str
    language: str
    query: str
    lineage: bool | None = None
    report: str | None = None
    forecast: Mapping[str, object] | None = None


@final
@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """The subscription of this name ends."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Update:
    """Arcs of a subscription's automaton come and go; `since` and `until` are the wire's `from` and `to`.

    None for both: from now on.
    """

    subscription: str
    insert: tuple[str, ...] = ()
    delete: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None


Input: TypeAlias = Event | Retraction | Punctuation | Subscribe | Unsubscribe | Update
