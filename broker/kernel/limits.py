"""Limits on what clients can make the broker hold; each has a unit and says what happens when it is hit.

Not here: limits of a message (broker.wire), of a query (broker.language), of partial matches (broker.engine).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, final

from ..events import DefinitionError, shown

LABELS_MAX: Final = 500
"""The most `labels`: the statistics of all names fit a message."""

AHEAD_MICROSECONDS: Final = 24 * 60 * 60 * 1_000_000


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one broker. Each is at least 1. Raises DefinitionError."""

    sessions: int = 1_000
    """Sessions at a time. A further HELLO displaces a session without a connection, or is refused."""

    session_subscriptions: int = 10_000
    """Subscriptions of one client; a further one is refused."""

    session_batches: int = 1_000
    """Batches of one client that wait to be begun, as reported in Welcome; a further one is refused as busy."""

    streams: int = 10_000
    """Declared streams; a further one is refused."""

    queue_notifications: int = 1_000_000
    """Notifications of one subscription that wait for a client's credits. Beyond that, results are dropped as the
    client has chosen (`when_slow`), and an `incomplete` in their place says how many and since when. A share of results
    that are made only when there are credits (engine.shares) counts as one."""

    queue_bytes: int = 256 * 1024 * 1024
    """The same in bytes, as estimated by delivery.NOTIFICATION_BYTES_EXTRA and SHARE_BYTES."""

    silence_seconds: int = 30
    """A client that was silent for so long is probed; it stays as long as the transport can reach it."""

    resume_seconds: int = 60
    """How long a resumable session is kept after its connection ended, with its subscriptions and queued results."""

    durable_cursors: int = 100
    """Cursors of durable subscriptions, of all clients together; a further one is refused."""

    durable_cursors_user: int = 50
    """Cursors of one user, where users have names, so that no user has all of them; a further one is refused."""

    durable_notifications: int = 10_000
    """Unacknowledged results that a new cursor keeps. Beyond that the oldest are dropped, and an `incomplete` in their
    place says how many."""

    durable_bytes: int = 16 * 1024 * 1024
    """The same in bytes, as estimated by cursor.KEPT_BYTES_EXTRA; the newest result is always kept."""

    durable_retained: int = 100_000
    """The most acknowledged results that a new cursor may `retain`, within durable_bytes; more are refused."""

    durable_dead_letters: int = 1_000
    """Dead letters of a new cursor, within another durable_bytes. Beyond that the oldest are dropped and counted."""

    labels: int = 100
    """Streams, and subscriptions, that have counts of their own in statistics and metrics; further ones are counted
    together as `other`. At most LABELS_MAX."""

    ahead_max: int | None = AHEAD_MICROSECONDS
    """Microseconds that an event may be ahead of the broker's clock; an event further ahead is refused. None: no limit.
    All streams share one order of time, so an event far ahead would make all later events late."""

    def __post_init__(self) -> None:
        if type(self.labels) is int and self.labels > LABELS_MAX:
            raise DefinitionError(f"limits.labels: expected at most {LABELS_MAX:,}, found {self.labels:,}")
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.name == "ahead_max":
                continue
            if type(value) is not int or value < 1:
                raise DefinitionError(f"limits.{field.name}: expected a whole number from 1 on, found {shown(value)}")
