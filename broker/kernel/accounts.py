"""Counts what each user uses, against its quota. Who the user is, and what it may, is in permissions.

The rate is a bucket of one second's worth, kept as the moment from which on it is not overdrawn: a batch is taken
whole as long as that is past, and puts it off by what the batch should have lasted. So batches of any size get through,
and on average no more than the rate.
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
    """One user's, or one session's without an identity. Each refusal names the quota and changes nothing."""

    user: User
    connections: int = 0
    subscriptions: int = 0
    states: int = 0
    paid_until: int = 0

    def connect(self) -> None:
        """Raises LimitExceeded."""
        self._check("connections", self.connections + 1, self.user.quota.connections)
        self.connections += 1

    def disconnect(self) -> None:
        """A connection has ended."""
        self.connections -= 1

    def check_subscription(self) -> None:
        """Whether there may be one more. Raises LimitExceeded."""
        self._check("subscriptions", self.subscriptions + 1, self.user.quota.subscriptions)

    def attach(self, states: int) -> None:
        """A subscription with so many states is attached. Raises LimitExceeded where these are too many."""
        self._check("states", self.states + states, self.user.quota.states)
        self.subscriptions += 1
        self.states += states

    def detach(self, states: int) -> None:
        """It was detached."""
        self.subscriptions -= 1
        self.states -= states

    def check_rate(self, now: int) -> None:
        """Whether events may come now. Raises Busy, which says when."""
        rate = self.user.quota.events_per_second
        if rate is None:
            return
        # A clock that has stepped back must not make anybody wait for longer than a whole batch lasts.
        wait = min(self.paid_until - now, BATCH_EVENTS_MAX * _SECOND // rate)
        if wait > 0:
            raise Busy(
                f"quota events_per_second: user {self.user.name!r} may publish {rate:,} events a second; "
                f"try again in {wait / _SECOND:.3g} s",
                wait,
            )

    def spend(self, events: int, now: int) -> None:
        """So many events were taken."""
        rate = self.user.quota.events_per_second
        if rate is not None:
            beginning = min(self.paid_until, now) if self.paid_until > now - _SECOND else now - _SECOND
            self.paid_until = beginning + events * _SECOND // rate

    def _check(self, name: str, wanted: int, limit: int | None) -> None:
        if limit is not None and wanted > limit:
            raise LimitExceeded(
                f"quota {name}: user {self.user.name!r} may have {limit:,}, this would make it {wanted:,}"
            )
