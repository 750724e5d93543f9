"""Events of a connection, such as a loss, a recovery or a gap, as values for a callback."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final


class Happening(Enum):
    """The kinds of events."""

    LOST = "lost"
    """The session has ended; `reason` says why."""
    WAITING = "waiting"
    """The client connects again in `seconds`, for the `attempt`th time."""
    RESTORED = "restored"
    """There is a session again, with the subscriptions and streams of the one before."""
    REFUSED = "refused"
    """The broker refused to renew the stream or subscription `name`; `reason` says why, as does reading it."""
    ENDED = "ended"
    """The broker has ended the subscription `name`; `reason` says why, as does reading it."""
    UNACKNOWLEDGED = "unacknowledged"
    """The broker refused an `acknowledge_later` of the subscription `name`; `reason` says why, as does the next one."""
    GAP = "gap"
    """`missed` results of the subscription `name` are missing, None if unknown. Reported when the gap is read."""


@final
@dataclass(frozen=True, slots=True)
class FlowEvent:
    """One event. Fields that do not apply are empty."""

    happening: Happening
    reason: str = ""
    name: str = ""
    attempt: int = 0
    seconds: float = 0.0
    missed: int | None = None
