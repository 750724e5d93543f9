"""The exceptions of the SDK, and how a broker's refusals become exceptions again.

What the broker refuses has the class that the embedded engine would raise. After such an error the connection goes on;
after ConnectionLost it does not. All are ForetellErrors, whose text is one line.
"""

from __future__ import annotations

from typing import ClassVar, Final, final

from broker.events import (
    ERRORS,
    DefinitionError,
    EarlyEvent,
    EventError,
    ForetellError,
    LateEvent,
    LimitExceeded,
    QueryError,
    UnknownStream,
    UnknownSubscription,
    Unsupported,
)
from broker.wire import Busy, Expired, Failure, PermissionDenied

__all__ = [
    "Busy",
    "ConnectionLost",
    "DefinitionError",
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
    "UnknownStream",
    "UnknownSubscription",
    "Unsupported",
    "remote_error",
]


@final
class ConnectionLost(ForetellError):
    """There is no broker, or it does not know this session any more.

    A client that reconnects goes on with the next call; without, open a new one and subscribe again. `unanswered`: a
    request was under way, and its outcome is unknown, as with RequestTimeout.
    """

    code: ClassVar[str] = "session"

    def __init__(self, reason: str, unanswered: bool = False) -> None:
        super().__init__(reason)
        self.unanswered: bool = unanswered


@final
class RequestTimeout(ForetellError):
    """No answer came in time. The outcome is unknown: the request may have been carried out, or still be."""

    code: ClassVar[str] = "timeout"


@final
class SlowConsumer(ForetellError):
    """More waited for the reader of this subscription than the broker's queue takes, and `when_slow="disconnect"` was
    asked for. All that came is read, the last `incomplete` tells how many are missing; nothing more comes. Close the
    subscription, and subscribe again to go on from then.
    """

    code: ClassVar[str] = "slow"


@final
class ProtocolError(ForetellError):
    """One end did not understand the other: another version, or a mistake in one of them."""

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
    """The exception of a refusal; a code from a later version gives a plain ForetellError."""
    if failure.code == Busy.code:
        return Busy(failure.message, failure.retry or 0)
    if failure.code == Expired.code:
        return Expired(failure.message, failure.clock or 0)
    kind = _KINDS.get(failure.code, ForetellError)
    if kind is QueryError:
        return QueryError(failure.message, failure.line or 1, failure.column or 1, failure.excerpt or "")
    return kind(failure.message)
