"""The state machine that restores a lost session; the caller polls it.

It waits until it is `due`, then tries until it succeeds or fails. After a failure it waits again, longer. A call that
has no time left leaves the recovery as it is, and the next call continues it. So a program that only polls, with a
timeout of zero, also gets its session back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, final

from broker.events import ForetellError

from .errors import Busy, RequestTimeout
from .flow import FlowEvent, Happening
from .session import Session
from .session_renewal import Renewal

_DOUBLINGS_MAX: Final = 10


@final
class Recovery:
    """One recovery. Times are seconds of one clock. `until`: when the present wait or attempt ends."""

    __slots__ = ("_busy", "_event", "_renewal", "_timeout", "_unsent", "_waits", "attempt", "until")

    def __init__(self, waits: Iterator[float], timeout: float) -> None:
        self._waits = waits
        self._timeout = timeout
        self._renewal: Renewal | None = None
        self._unsent: deque[bytes] = deque()
        self._event: FlowEvent | None = None
        self._busy = 0  # consecutive attempts that a broker has put off
        self.attempt = 0
        self.until = 0.0

    @property
    def trying(self) -> bool:
        """Whether an attempt has a connection, which can bring answers."""
        return self._renewal is not None

    def lose(self, error: ForetellError, now: float) -> None:
        """Note a lost session or a failed attempt, and wait. Raises the error itself after the last attempt."""
        self._renewal = None
        wait = next(self._waits, None)
        if wait is None:
            raise error
        # A broker that answers says itself when to come back; the wait for one that does not may have grown by then.
        self._busy = self._busy + 1 if isinstance(error, Busy) else 0
        if isinstance(error, Busy) and error.retry:
            wait = min(wait, error.retry / 1_000_000 * 2 ** min(self._busy - 1, _DOUBLINGS_MAX))
        self.attempt += 1
        self.until = now + wait
        self._event = FlowEvent(Happening.WAITING, str(error), attempt=self.attempt, seconds=wait)

    def due(self, now: float) -> bool:
        """Whether it is time to make a connection."""
        return self._renewal is None and now >= self.until

    def begin(self, renewal: Renewal, now: float) -> None:
        """Begin an attempt: send the frames of `renewal` over a new connection."""
        self._renewal = renewal
        self._unsent = deque(renewal.frames)
        self.until = now + self._timeout

    def advance(self, session: Session, send: Callable[[bytes], bool], now: float) -> bool:
        """Send frames while there is room, check answers; whether the session is restored.

        Raises the error with which the attempt failed, RequestTimeout if the broker does not answer in time.
        """
        if self._renewal is None:
            return False
        while self._unsent and send(self._unsent[0]):
            self._unsent.popleft()
        if session.lost is not None:
            raise session.lost
        if self._renewal.done():
            return True
        if now >= self.until:
            raise RequestTimeout(f"the broker did not answer within {self._timeout:g} s")
        return False

    def event(self) -> FlowEvent | None:
        """The event to report, once."""
        event, self._event = self._event, None
        return event
