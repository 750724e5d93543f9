"""The exceptions of the SDK, and the conversion of a broker's refusal into an exception.

A refusal raises the class that the embedded engine would raise. The connection lasts after such an error, but not after
ConnectionLost. All are ForetellErrors, whose text is one line.
"""

from __future__ import annotations

from typing import ClassVar, Final, final

from broker.events import (
    ERRORS,
    DefinitionError,
    DuplicateEvent,
    EarlyEvent,
    EventError,
    ForetellError,
    LateEvent,
    LimitExceeded,
    QueryError,
    UnknownEvent,
    UnknownStream,
    UnknownSubscription,
    Unsupported,
)
from broker.wire import Busy, Expired, Failure, PermissionDenied

__all__ = [
    "Busy",
    "ConnectionLost",
    "DefinitionError",
    "DuplicateEvent",
    "EarlyEvent",
    "EventError",
    "Expired",
    "ForetellError",
    "LateEvent",
    "LimitExceeded",
    "PermissionDenied",
    "ProtocolError",
    "QueryError",
    "RequestTimeout",
    "SlowConsumer",
    "UnknownEvent",
    "UnknownStream",
    "UnknownSubscription",
    "Unsupported",
    "remote_error",
]


@final
class ConnectionLost(ForetellError):
    """There is no broker, or it does not know this session any more.

    A client with `reconnect` connects again in the next call; without it, open a new client and subscribe again.
    `unanswered`: the request was sent and its outcome is unknown, as with RequestTimeout.
    """

    code: ClassVar[str] = "session"

    def __init__(self, reason: str, unanswered: bool = False) -> None:
        super().__init__(reason)
        self.unanswered: bool = unanswered


@final
class RequestTimeout(ForetellError):
    """No answer came in time. The outcome is unknown: the broker may carry out the request, or have done so."""

    code: ClassVar[str] = "timeout"


@final
class SlowConsumer(ForetellError):
    """The reader was too slow for a subscription with `when_slow="disconnect"`: the broker's queue for it was full.

    Raised after the last notification, an `incomplete` with the number of missing results. Close the subscription, and
    subscribe again to get later results.
    """

    code: ClassVar[str] = "slow"


@final
class ProtocolError(ForetellError):
    """Client and broker do not understand each other: they have different versions, or one has a mistake."""

    code: ClassVar[str] = "protocol"


_KINDS: Final[dict[str, type[ForetellError]]] = {
    **ERRORS,
    "permission": PermissionDenied,
    "session": ConnectionLost,
    "slow": SlowConsumer,
    "protocol": ProtocolError,
    "version": ProtocolError,
}


def remote_error(failure: Failure) -> ForetellError:
    """The exception for a refusal; an unknown code of a later version becomes a plain ForetellError."""
    if failure.code == Busy.code:
        return Busy(failure.message, failure.retry or 0)
    if failure.code == Expired.code:
        return Expired(failure.message, failure.clock or 0)
    kind = _KINDS.get(failure.code, ForetellError)
    if kind is QueryError:
        return QueryError(failure.message, failure.line or 1, failure.column or 1, failure.excerpt or "")
    return kind(failure.message)
