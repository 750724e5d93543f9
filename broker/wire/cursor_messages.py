"""Messages about cursors beside Subscribe, each with its row of the table.

The first field of each is its correlation. The order of the fields is their order on the wire: a new one goes to the
end and raises the version.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from . import shapes as s
from .row import MessageRow
from .session_messages import Done

# ---- from the client ----


@final
@dataclass(frozen=True, slots=True)
class Acknowledge:
    """Everything up to this position is done with, of a subscription that is attached by a cursor. Answered by Done.

    `incarnation`: of which cursor of its name that is the position, as Subscribed has said; nil: of the one there is.
    """

    correlation: int
    name: str
    position: int
    incarnation: int | None = None


@final
@dataclass(frozen=True, slots=True)
class Forget:
    """This cursor is not needed any more, with all that it keeps. Answered by Done."""

    correlation: int
    cursor: str


@final
@dataclass(frozen=True, slots=True)
class Refuse:
    """This one result cannot be done with, and is set aside among the cursor's dead letters. Answered by Done."""

    correlation: int
    name: str
    position: int
    reason: str
    incarnation: int | None = None


@final
@dataclass(frozen=True, slots=True)
class ListDeadLetters:
    """The dead letters of a cursor whose positions are behind `after`; answered by DeadLetters, a page at a time."""

    correlation: int
    cursor: str
    after: int


@final
@dataclass(frozen=True, slots=True)
class Settle:
    """These dead letters go; with `again` they are delivered once more, at new positions. Answered by Done."""

    correlation: int
    cursor: str
    positions: tuple[int, ...]
    again: bool


# ---- from the broker, in answer ----


@final
@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A result that was set aside: the position that it had, why and when that was, and how often it was delivered, as
    far as this broker knows. Part of DeadLetters.
    """

    position: int
    result: bytes
    reason: str
    time: int
    deliveries: int


@final
@dataclass(frozen=True, slots=True)
class DeadLetters:
    """`more`: ask again, after the last of these. `dropped`: how many there were no room for."""

    correlation: int
    entries: tuple[DeadLetter, ...]
    more: bool
    dropped: int


# ---- the table ----

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
