"""The errors that users cause, and how a message quotes a found value.

The message of every error is one line: the place, what was expected, what was found. Programs print this line and never
a traceback. `code` is the stable name of an error: the wire protocol uses it, and it is never renamed. Bugs of Foretell
raise ordinary Python exceptions, which do not belong here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final

SHOWN_LENGTH: Final = 40
"""The most characters of a found value that a message repeats."""

_SHOWN_BITS: Final = 128


class ForetellError(Exception):
    """The base of all errors that users cause; `str(error)` is a message of one line."""

    code: ClassVar[str] = "error"


class EventError(ForetellError):
    """An event, a time or a duration is not what its stream or its place requires.

    `line` is the 1-based line of the input if it is known; the message then starts with it.
    """

    code = "event"

    def __init__(self, message: str, *, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.line: int | None = line


class PatternError(EventError):
    """A pattern has a mistake. `at`: its 0-based place in the pattern; `message`: what was expected, what was found."""

    code = "pattern"

    def __init__(self, at: int, message: str) -> None:
        super().__init__(f"character {at + 1} of a pattern: {message}")
        self.at = at
        self.message = message


class LateEvent(EventError):
    """An event is earlier than the newest one processed."""

    code = "late"


class EarlyEvent(EventError):
    """An event is further ahead of the clock than allowed."""

    code = "early"


class DuplicateEvent(EventError):
    """An event of this id has come before and may still be withdrawn."""

    code = "duplicate-event"


class MisnumberedEvent(EventError):
    """The time of an event does not grow with its sequence number."""

    code = "misnumbered"


class UnknownEvent(EventError):
    """No event of this id may be withdrawn: none has come, or it is final."""

    code = "unknown-event"


def unknown_event(id: int) -> UnknownEvent:
    """The refusal to withdraw an event, in the same words whatever the reason: who may not do it learns nothing."""
    return UnknownEvent(f"expected the id of an event that may be withdrawn, found {id}: it is unknown, or it is final")


class UnknownStream(ForetellError):
    """No stream has this name."""

    code = "unknown-stream"


class UnknownSubscription(ForetellError):
    """No subscription has this name."""

    code = "unknown-subscription"


class DefinitionError(ForetellError):
    """The definition of a stream, a subscription or a file is wrong or contradicts an existing one."""

    code = "definition"


class LimitExceeded(ForetellError):
    """A limit was reached; the message names it."""

    code = "limit"


class Unsupported(ForetellError):
    """Valid, but not supported yet."""

    code = "unsupported"


class QueryError(ForetellError):
    """The text of a query is wrong.

    `line` and `column` are 1-based and count within the query's text; `excerpt` is the source line and an underline
    below it. The message is kept as given: its author decides whether it repeats the place.
    """

    code = "query"

    # The defaults allow rebuilding the error from its message alone, as the wire protocol does.
    def __init__(self, message: str, line: int = 1, column: int = 1, excerpt: str = "") -> None:
        super().__init__(message)
        self.line: int = line
        self.column: int = column
        self.excerpt: str = excerpt


ERRORS: Final[Mapping[str, type[ForetellError]]] = MappingProxyType(
    {
        kind.code: kind
        for kind in (
            ForetellError,
            EventError,
            LateEvent,
            EarlyEvent,
            DuplicateEvent,
            MisnumberedEvent,
            UnknownEvent,
            UnknownStream,
            UnknownSubscription,
            DefinitionError,
            LimitExceeded,
            Unsupported,
            QueryError,
        )
    }
)
"""The class of every code, to rebuild an error from the wire: `ERRORS.get(code, ForetellError)(message)`."""


def shown(value: object) -> str:
    """Describe a found value for an error message: its kind and at most SHOWN_LENGTH characters of it, on one line.

    Never raises, and costs no more than the text that it returns: containers and foreign objects are only named.
    """
    match value:
        case None:
            return "null"
        case bool():
            return "bool true" if value else "bool false"
        case str():
            return f"string {_quoted(value)}"
        case int():
            bits = int.bit_length(value)
            return f"int {_cut(int.__repr__(value))}" if bits <= _SHOWN_BITS else f"an int of {bits} bits"
        case float():
            return f"float {float.__repr__(value)}"
        case dict():
            return "an object"
        case list() | tuple():
            return "a list"
        case _:
            return f"a value of the Python type {_cut(type(value).__name__)}"


def _quoted(text: str) -> str:
    quoted = str.__repr__(text[:SHOWN_LENGTH])
    if len(text) <= SHOWN_LENGTH and len(quoted) <= SHOWN_LENGTH + 2:
        return quoted
    return _cut(quoted[:-1] + "…") + quoted[0]


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_LENGTH else text[: SHOWN_LENGTH - 1] + "…"
