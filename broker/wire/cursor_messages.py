"""Law: what is said of the cursors of durable subscriptions beside Subscribe; plain values, as in messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

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
