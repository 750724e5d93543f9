"""The way from a lost session to the next one, as a state machine that the caller polls.

It waits until it is `due`, then tries until it is done or fails, and a failure makes it wait again, longer. A call that
has no time left leaves it where it is, and the next call goes on from there: so also a program that only polls, for no
time at all, has its session again at some time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import final

from broker.events import ForetellError

from .errors import RequestTimeout
from .flow import FlowEvent, Happening
from .session import Session
from .session_renewal import Renewal


@final
class Recovery:
    """Times are those of one clock, in seconds. `until`: when something changes by itself."""

    __slots__ = ("_event", "_renewal", "_timeout", "_unsent", "_waits", "attempt", "until")

    def __init__(self, waits: Iterator[float], timeout: float) -> None:
        self._waits = waits
        self._timeout = timeout
        self._renewal: Renewal | None = None
        self._unsent: deque[bytes] = deque()
        self._event: FlowEvent | None = None
        self.attempt = 0
        self.until = 0.0

    @property
    def trying(self) -> bool:
        """Whether a connection was made that answers may come from."""
        return self._renewal is not None

    def lose(self, error: ForetellError, now: float) -> None:
        """The session was lost, or the attempt has failed: wait. Raises the error itself after the last attempt."""
        self._renewal = None
        wait = next(self._waits, None)
        if wait is None:
            raise error
        self.attempt += 1
        self.until = now + wait
        self._event = FlowEvent(Happening.WAITING, str(error), attempt=self.attempt, seconds=wait)

    def due(self, now: float) -> bool:
        """Whether it is time to make a connection."""
        return self._renewal is None and now >= self.until

    def begin(self, renewal: Renewal, now: float) -> None:
        """There is a connection, over which to say this."""
        self._renewal = renewal
        self._unsent = deque(renewal.frames)
        self.until = now + self._timeout

    def advance(self, session: Session, send: Callable[[bytes], bool], now: float) -> bool:
        """Send what there is room for, look at what has come; whether there is a session. Raises why there is none."""
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
        """What is to be told of it, once."""
        event, self._event = self._event, None
        return event
