"""How much a client may make the broker hold; each limit has a unit and says what happens when it is hit.

What a single message may be is broker.wire's affair, what a query may be broker.language's, what runs may grow to the
engine's.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, final

from ..events import DefinitionError, shown

AHEAD_MICROSECONDS: Final = 24 * 60 * 60 * 1_000_000


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one broker. Each is at least 1. Raises DefinitionError."""

    sessions: int = 1_000
    """Clients at a time; a further HELLO is refused."""

    session_subscriptions: int = 10_000
    """Subscriptions of one client; a further one is refused."""

    session_batches: int = 1_000
    """Batches of one client that wait to be begun, as Welcome tells it; a further one is refused as busy."""

    streams: int = 10_000
    """Declared streams; a further one is refused."""

    queue_notifications: int = 1_000_000
    """Notifications of one subscription that wait for one client's credit. For the one beyond it they are missed as the
    client has chosen (delivery); an `incomplete` in their place says how many and since when. The tuples of one event
    that are not made before there is credit for them (engine.shares) count as one."""

    queue_bytes: int = 256 * 1024 * 1024
    """The same in bytes, as estimated by delivery.NOTIFICATION_BYTES_EXTRA and SHARE_BYTES."""

    silence_seconds: int = 30
    """A client that has said nothing for so long is probed; it stays as long as the transport can reach it."""

    resume_seconds: int = 60
    """How long a session that asked for it is kept after its connection has ended, with what it has subscribed to and
    what waits for it."""

    durable_cursors: int = 100
    """Cursors of durable subscriptions, of all clients together; a further one is refused."""

    durable_cursors_user: int = 50
    """Cursors of one user, where users have names, so that no user has all of them; a further one is refused."""

    durable_notifications: int = 10_000
    """Results that a new cursor keeps until they are acknowledged. From the one beyond it on the oldest is dropped, and
    an `incomplete` in the place of those dropped says how many they were."""

    durable_bytes: int = 16 * 1024 * 1024
    """The same in bytes, as estimated by cursor.KEPT_BYTES_EXTRA; the newest result is always kept."""

    durable_retained: int = 100_000
    """Acknowledged results that a new cursor may be asked to keep, within durable_bytes; more are refused."""

    durable_dead_letters: int = 1_000
    """Results that were set aside, of a new cursor, and within durable_bytes of their own; then the oldest is dropped,
    and counted."""

    ahead_max: int | None = AHEAD_MICROSECONDS
    """Microseconds that an event may be ahead of the broker's clock; one that is further is refused. None: any. All
    streams have one order, so that one of them is never further ahead of others for this."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.name == "ahead_max":
                continue
            if type(value) is not int or value < 1:
                raise DefinitionError(f"limits.{field.name}: expected a whole number from 1 on, found {shown(value)}")
