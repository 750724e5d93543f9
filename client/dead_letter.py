"""A dead letter, as the reader of a cursor sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from broker.wire import DeadLetter as Said
from broker.wire import WireError, decode_result

from .errors import ProtocolError
from .notification import Notification


@final
@dataclass(frozen=True, slots=True)
class DeadLetter:
    """What was found, the position that it had, and why it was set aside; `time`: when, in microseconds.

    `deliveries`: how often it was delivered as the first that is not acknowledged, since the broker was started.
    """

    position: int
    notification: Notification
    reason: str
    time: int
    deliveries: int


def received(entry: Said) -> DeadLetter:
    """One as it has come. Raises ProtocolError."""
    try:
        line = decode_result(entry.result)
    except WireError as error:
        raise ProtocolError(str(error)) from None
    return DeadLetter(entry.position, Notification(line), entry.reason, entry.time, entry.deliveries)
