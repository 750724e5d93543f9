"""Counts the resources that each user has in use, against its quota. Not here: users and grants (permissions.py).

The rate is limited by a token bucket that holds one second's worth, stored as the time from which on it is not
overdrawn. A batch is accepted whole if that time has passed, and delays it by the batch's events divided by the rate.
So batches of any size are accepted, and on average no more events than the rate allows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from ..events import LimitExceeded
from ..wire import BATCH_EVENTS_MAX, Busy
from .permissions import User

_SECOND: Final = 1_000_000


@final
@dataclass(slots=True)
class UserAccount:
    """The account of a user, or of a session without an identity. A refusal names the quota and changes nothing."""

    user: User
    connections: int = 0
    subscriptions: int = 0
    states: int = 0
    paid_until: int = 0

    def connect(self) -> None:
        """Count a connection. Raises LimitExceeded."""
        self._check("connections", self.connections + 1, self.user.quota.connections)
        self.connections += 1

    def disconnect(self) -> None:
        """Count the end of a connection."""
        self.connections -= 1

    def check_subscription(self) -> None:
        """Raise LimitExceeded if the user may not have another subscription."""
        self._check("subscriptions", self.subscriptions + 1, self.user.quota.subscriptions)

    def attach(self, states: int) -> None:
        """Count an attached subscription and its states. Raises LimitExceeded if the states are too many."""
        self._check("states", self.states + states, self.user.quota.states)
        self.subscriptions += 1
        self.states += states

    def detach(self, states: int) -> None:
        """Count a detached subscription and its states."""
        self.subscriptions -= 1
        self.states -= states

    def resize(self, before: int, states: int) -> None:
        """Count an attached subscription that has other states now, also beyond the quota."""
        self.states += states - before

    def check_rate(self, now: int) -> None:
        """Raise Busy if the user has to wait before it publishes again; the error says how long."""
        rate = self.user.quota.events_per_second
        if rate is None:
            return
        # If the clock steps back, the user must not wait longer than a full batch takes at its rate.
        wait = min(self.paid_until - now, BATCH_EVENTS_MAX * _SECOND // rate)
        if wait > 0:
            raise Busy(
                f"quota events_per_second: user {self.user.name!r} may publish {rate:,} events a second; "
                f"try again in {wait / _SECOND:.3g} s",
                wait,
            )

    def spend(self, events: int, now: int) -> None:
        """Charge accepted events to the rate."""
        rate = self.user.quota.events_per_second
        if rate is not None:
            beginning = min(self.paid_until, now) if self.paid_until > now - _SECOND else now - _SECOND
            self.paid_until = beginning + events * _SECOND // rate

    def _check(self, name: str, wanted: int, limit: int | None) -> None:
        if limit is not None and wanted > limit:
            raise LimitExceeded(
                f"quota {name}: user {self.user.name!r} may have {limit:,}, and would have {wanted:,}"
            )
