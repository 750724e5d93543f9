"""What to do about an error: whose fault it is, and whether trying again helps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final

from broker.events import ForetellError, LimitExceeded

from .errors import Busy, ConnectionLost, Expired, ProtocolError, RequestTimeout, SlowConsumer


class Fault(Enum):
    """Who has to do something about it."""

    CALLER = "caller"
    """The request, or what this user may do and use."""
    BROKER = "broker"
    NETWORK = "network"
    """What lies between, or a broker that is not there."""


class Retry(Enum):
    """Whether the same request may be made again."""

    USELESS = "useless"
    """It would be refused again, until something else is changed."""
    SAFE = "safe"
    """Nothing was done."""
    UNKNOWN = "unknown"
    """It may have been carried out. Again is harmless for whatever asks, declares or subscribes; events may come twice,
    and those that have an id can be recognised by it."""


@final
@dataclass(frozen=True, slots=True)
class Advice:
    """Both, and after how many seconds a retry makes sense."""

    fault: Fault
    retry: Retry
    after: float = 0.0


def advice(error: ForetellError) -> Advice:
    """What to make of an error of this package."""
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
    if type(error) is ForetellError:  # a code that this version does not know, or a mistake in the broker
        return Advice(Fault.BROKER, Retry.UNKNOWN)
    return Advice(Fault.CALLER, Retry.USELESS)
