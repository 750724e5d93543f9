"""Messages about cursors other than Subscribe, each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: add a new field at the
end and raise the version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias, final

from . import shapes as s
from .row import MessageRow
from .session_messages import Done

# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class Acknowledge:
    """Acknowledge all results up to a position, of a subscription attached by a cursor. Answered by Done.

    `incarnation`: the cursor that the position belongs to, from Subscribed; nil: the present one of that name.
    """

    correlation: int
    name: str
    position: int
    incarnation: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Forget:
    """Delete a cursor and all results that it keeps. Answered by Done."""

    correlation: int
    cursor: str


@final
@dataclass(frozen=True, slots=True)
class Refuse:
    """Set one result aside as a dead letter of its cursor, because the reader cannot process it. Answered by Done."""

    correlation: int
    name: str
    position: int
    reason: str
    incarnation: int | None = None


@final
@dataclass(frozen=True, slots=True)
class ListDeadLetters:
    """Ask for a cursor's dead letters with positions greater than `after`. Answered by DeadLetters, one page."""

    correlation: int
    cursor: str
    after: int


@final
@dataclass(frozen=True, slots=True)
class Settle:
    """Delete dead letters, or with `again` deliver them once more, at new positions. Answered by Done."""

    correlation: int
    cursor: str
    positions: tuple[int, ...]
    again: bool


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A result that was set aside, with its former position, the reason and the time, in microseconds. Part of
    DeadLetters.

    `deliveries`: how often this process of the broker delivered it.
    """

    position: int
    result: bytes
    reason: str
    time: int
    deliveries: int


@final
@dataclass(frozen=True, slots=True)
class DeadLetters:
    """A page of dead letters. `more`: ask again, after the last one. `dropped`: how many had no room."""

    correlation: int
    entries: tuple[DeadLetter, ...]
    more: bool
    dropped: int


# ---- the table ----

CursorMessage: TypeAlias = Acknowledge | Forget | Refuse | ListDeadLetters | Settle | DeadLetters

ROWS: Final = (
    MessageRow(13, Acknowledge, (s.NAME, s.COUNT, s.optional(s.COUNT)), answer=Done, when_full="refuse"),
    MessageRow(14, Forget, (s.NAME,), answer=Done, when_full="refuse"),
    MessageRow(15, Refuse, (s.NAME, s.COUNT, s.NAME, s.optional(s.COUNT)), answer=Done, when_full="refuse"),
    MessageRow(16, ListDeadLetters, (s.NAME, s.COUNT), answer=DeadLetters, means="those whose positions are behind it"),
    MessageRow(17, Settle, (s.NAME, s.INTEGERS, s.FLAG), answer=Done, when_full="refuse"),
    MessageRow(
        41,
        DeadLetters,
        (s.records(s.COUNT, s.BLOB, s.NAME, s.INTEGER, s.COUNT), s.FLAG, s.COUNT),
        part=(1, DeadLetter),
        means=(
            "each with its position, the result (bytes), why and when it was set aside, and how often it was "
            "delivered; with `more`, ask again, after the last one; `dropped` had no room"
        ),
    ),
)
