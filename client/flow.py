"""Events of a connection (lost, resumed, a gap), as values that a callback receives."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final


class Happening(Enum):
    """What has happened."""

    LOST = "lost"
    """The session has ended; `reason` says why."""
    WAITING = "waiting"
    """It is tried again in `seconds`, for the `attempt`th time."""
    RESTORED = "restored"
    """There is a session again, with the subscriptions and streams of the one before."""
    REFUSED = "refused"
    """Of these the broker has not taken `name` again; `reason` says why. Whoever reads it is told the same."""
    ENDED = "ended"
    """The broker has ended the subscription `name`; `reason` says why. Whoever reads it is told the same."""
    GAP = "gap"
    """Results of the subscription `name` are missing: `missed` of them, None where nobody knows. Told as it is read."""


@final
@dataclass(frozen=True, slots=True)
class FlowEvent:
    """One of these. What does not apply is empty."""

    happening: Happening
    reason: str = ""
    name: str = ""
    attempt: int = 0
    seconds: float = 0.0
    missed: int | None = None
