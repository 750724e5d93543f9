"""Deadlines of requests in the broker's clock, estimated by the client.

The broker reports its clock in Welcome. The client takes that as the time at which it made HELLO. So a deadline is
never earlier than the client's own timeout, and later by at most the round trip of HELLO. If the broker's clock is set
later, the client notices when the broker refuses a request as expired, because that refusal reports the clock again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from broker.wire import Expired, Failure, Hello, Message, Timed, Welcome

_GREATEST: Final = 2**63 - 1


@final
class Deadlines:
    """Times are microseconds. `clock`: the client's monotonic clock; None: no deadlines. `patience`: its timeout."""

    __slots__ = ("_ahead", "_clock", "_made", "_patience")

    def __init__(self, clock: Callable[[], int] | None = None, patience: int = 0) -> None:
        self._clock = clock
        self._patience = patience
        self._ahead: int | None = None  # the broker's clock minus the client's, at most
        self._made: dict[int, int] = {}  # when each unanswered request was made

    def forget(self) -> None:
        """Forget the broker's clock: the session has ended, and the next broker may have another one."""
        self._ahead = None
        self._made.clear()

    def of(self, message: Message, waits: int) -> int | None:
        """The deadline of a request made now: `waits` timeouts from now, in the broker's clock; None: none. O(1)."""
        if self._clock is None:
            return None
        if isinstance(message, Hello):
            self._made[message.correlation] = self._clock()
        elif waits and self._ahead is not None and isinstance(message, Timed):
            now = self._made[message.correlation] = self._clock()
            return max(0, min(now + self._ahead + waits * self._patience, _GREATEST))
        return None

    def observe(self, answer: Message) -> None:
        """Learn the broker's clock from an answer that reports it."""
        made = self._made.pop(answer.correlation, None) if self._made else None
        if made is None or self._clock is None:
            return
        match answer:
            case Welcome():
                self._ahead = answer.clock - made
            case Failure(code=Expired.code, clock=int(clock)):
                # Correct the estimate only if the broker's clock cannot have had this value between then and now.
                most, least = clock - made, clock - self._clock()
                if self._ahead is None or not least <= self._ahead <= most:
                    self._ahead = most
