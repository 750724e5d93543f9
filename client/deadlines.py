"""Deadlines of requests in the broker's clock, as far as that is known here.

The broker tells its clock in Welcome. What it showed is put at the moment when HELLO was made: so a deadline is never
earlier than this end's own patience, and later by the round trip of HELLO at most. A clock that was set since is
noticed when the broker refuses something: then it tells its clock again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from broker.wire import Expired, Failure, Hello, Message, Publish, Subscribe, Welcome

_GREATEST: Final = 2**63 - 1


@final
class Deadlines:
    """Microseconds throughout. `clock` is this end's own, which only goes forward; None: there are no deadlines."""

    __slots__ = ("_ahead", "_clock", "_made", "_patience")

    def __init__(self, clock: Callable[[], int] | None = None, patience: int = 0) -> None:
        self._clock = clock
        self._patience = patience
        self._ahead: int | None = None  # how far the broker's clock is before ours, at most
        self._made: dict[int, int] = {}  # when what is not answered yet was made

    def forget(self) -> None:
        """The session is over, and the next broker may have another clock."""
        self._ahead = None
        self._made.clear()

    def of(self, message: Message, waits: int) -> int | None:
        """Until when to begin what is sent now and may be waited for so often; None: whenever. O(1)."""
        if self._clock is None:
            return None
        if isinstance(message, Hello):
            self._made[message.correlation] = self._clock()
        elif waits and self._ahead is not None and isinstance(message, Publish | Subscribe):
            now = self._made[message.correlation] = self._clock()
            return max(0, min(now + self._ahead + waits * self._patience, _GREATEST))
        return None

    def heard(self, answer: Message) -> None:
        """What the broker has answered may tell its clock."""
        made = self._made.pop(answer.correlation, None) if self._made else None
        if made is None or self._clock is None:
            return
        match answer:
            case Welcome():
                self._ahead = answer.clock - made
            case Failure(code=Expired.code, clock=int(clock)):
                # What we think is wrong only if the broker's clock cannot have shown this between then and now.
                most, least = clock - made, clock - self._clock()
                if self._ahead is None or not least <= self._ahead <= most:
                    self._ahead = most
