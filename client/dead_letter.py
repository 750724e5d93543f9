"""A dead letter, as the reader of a cursor sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from broker.wire import DeadLetter as Entry
from broker.wire import WireError, decode_result

from .errors import ProtocolError
from .notification import Notification


@final
@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A result that was set aside, its position, the reason, and the `time`, in microseconds.

    `deliveries`: how often it was delivered as the first unacknowledged result since the broker started.
    """

    position: int
    notification: Notification
    reason: str
    time: int
    deliveries: int


def received(entry: Entry) -> DeadLetter:
    """A dead letter from its wire entry. Raises ProtocolError."""
    try:
        line = decode_result(entry.result)
    except WireError as error:
        raise ProtocolError(str(error)) from None
    return DeadLetter(entry.position, Notification(line), entry.reason, entry.time, entry.deliveries)
