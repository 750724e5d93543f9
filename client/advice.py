"""What to do about an error: whose fault it is, and whether trying again helps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final

from broker.events import ForetellError, LimitExceeded

from .errors import Busy, ConnectionLost, Expired, ProtocolError, RequestTimeout, SlowConsumer


class Fault(Enum):
    """Where the error has to be corrected."""

    CALLER = "caller"
    """The request is wrong, or exceeds what this user may do and use."""
    BROKER = "broker"
    NETWORK = "network"
    """The network failed, or the broker does not run."""


class Retry(Enum):
    """Whether the same request may be made again."""

    USELESS = "useless"
    """The broker would refuse it again, until something else changes."""
    SAFE = "safe"
    """The request had no effect."""
    UNKNOWN = "unknown"
    """The request may have been carried out. Queries, declarations and subscriptions can be repeated without harm;
    events may be published twice, and can be recognised by their ids if they have any."""


@final
@dataclass(frozen=True, slots=True)
class Advice:
    """Whose fault an error is, whether to retry, and after how many seconds."""

    fault: Fault
    retry: Retry
    after: float = 0.0


def advice(error: ForetellError) -> Advice:
    """The advice for an error of this package. O(1)."""
    match error:
        case Busy(retry=microseconds):
            return Advice(Fault.BROKER, Retry.SAFE, microseconds / 1_000_000)
        case Expired():
            return Advice(Fault.BROKER, Retry.SAFE)
        case ConnectionLost(unanswered=unanswered):
            return Advice(Fault.NETWORK, Retry.UNKNOWN if unanswered else Retry.SAFE)
        case RequestTimeout():
            return Advice(Fault.NETWORK, Retry.UNKNOWN)
        case ProtocolError():
            return Advice(Fault.BROKER, Retry.USELESS)
        case SlowConsumer():
            return Advice(Fault.CALLER, Retry.SAFE)
        case LimitExceeded():
            return Advice(Fault.CALLER, Retry.USELESS)
    if type(error) is ForetellError:  # an unknown code of a later version, or a mistake in the broker
        return Advice(Fault.BROKER, Retry.UNKNOWN)
    return Advice(Fault.CALLER, Retry.USELESS)
