"""Messages that promise, withdraw and change: punctuations, retractions and updates, each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: add a new field at the
end and raise the version. All are answered by Published, and repeated as a batch is. `publisher`, `number`, `deadline`:
as in Publish.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias, final

from . import shapes as s
from .row import MessageRow
from .stream_messages import Published


@final
@dataclass(frozen=True, slots=True)
class Punctuate:
    """Promise that no event earlier than `time` (microseconds) follows on a stream; nil: on any.

    `where`: a predicate; only the events that satisfy it are promised.
    """

    correlation: int
    time: int
    stream: str | None
    where: str | None
    publisher: str | None = None
    number: int | None = None
    deadline: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Retract:
    """Withdraw the events with these ids. One that cannot be withdrawn is refused alone, with its index."""

    correlation: int
    ids: tuple[int, ...]
    publisher: str | None = None
    number: int | None = None
    deadline: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Update:
    """Change the arcs of a subscription, for all who are attached to it: all of it, or nothing.

    `insert`: texts of arcs; `delete`: names of arcs. `start`, `end` (microseconds): for events of these times only;
    both nil: for all events from now on.
    """

    correlation: int
    name: str
    insert: tuple[str, ...]
    delete: tuple[str, ...]
    start: int | None
    end: int | None
    publisher: str | None = None
    number: int | None = None
    deadline: int | None = None


@final
@dataclass(frozen=True, slots=True)
class DeclareGap:
    """Promise that the events of a stream with the sequence numbers from `first` to `last` do not come."""

    correlation: int
    stream: str
    first: int
    last: int
    publisher: str | None = None
    number: int | None = None
    deadline: int | None = None


# ---- the table ----

ChangeMessage: TypeAlias = Punctuate | Retract | Update | DeclareGap

_NAMED: Final = s.optional(s.NAME)
_REPEATED: Final = (_NAMED, s.optional(s.COUNT), s.optional(s.COUNT))

ROWS: Final = (
    MessageRow(
        21,
        Punctuate,
        (s.INTEGER, _NAMED, s.optional(s.TEXT), *_REPEATED),
        answer=Published,
        when_full="refuse",
        means="with a `count` of 0",
    ),
    MessageRow(
        22,
        Retract,
        (s.INTEGERS, *_REPEATED),
        answer=Published,
        when_full="refuse",
        means="how many events were withdrawn, and the refused ones by their index in `ids`",
    ),
    MessageRow(
        23,
        Update,
        (s.NAME, s.TEXTS, s.TEXTS, s.optional(s.INTEGER), s.optional(s.INTEGER), *_REPEATED),
        answer=Published,
        when_full="refuse",
        means="with a `count` of 0",
    ),
    MessageRow(
        26,
        DeclareGap,
        (s.NAME, s.INTEGER, s.INTEGER, *_REPEATED),
        answer=Published,
        when_full="refuse",
        means="with a `count` of 0",
    ),
)
