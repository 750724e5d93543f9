"""The policy for reconnecting: whether to try again after a loss, and after which waits.

Waits double up to a maximum, which is below the timeout of a call: a call that begins while the client waits must still
see the next attempt. Each is multiplied by a random factor between 0.5 and 1, so that a thousand clients which
lost one broker at the same moment do not return at the same moment. Randomness is a parameter, and nothing waits here.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, isfinite
from typing import Final, final

from broker.events import DefinitionError, ForetellError, shown

from .deadlines import Deadlines
from .errors import Busy, ConnectionLost, LimitExceeded, RequestTimeout
from .session import Session

PATIENCE_SECONDS_MAX: Final = 1e9
"""A longer timeout counts as this one, 30 years."""


ATTEMPTS_IN_A_TIMEOUT: Final = 4
"""A wait is at most this part of a call's timeout: a call that waits for the connection sees several attempts."""


@final
@dataclass(frozen=True, slots=True)
class Reconnect:
    """How a client reconnects: the first and the greatest wait in seconds, and how many attempts it makes.

    A wait is never longer than a quarter of the client's timeout. `attempts` None: until the client is closed. Raises
    DefinitionError.
    """

    first: float = 0.1
    greatest: float = 2.0
    attempts: int | None = None

    def __post_init__(self) -> None:
        for name in ("first", "greatest"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not isfinite(value) or value <= 0:
                raise DefinitionError(f"reconnect.{name}: expected seconds greater than 0, found {shown(value)}")
        if self.attempts is not None and (type(self.attempts) is not int or self.attempts < 1):
            raise DefinitionError(f"reconnect.attempts: expected 1 or more, found {shown(self.attempts)}")

    def waits(self, chance: Callable[[], float], timeout: float = inf) -> Iterator[float]:
        """The waits in order, in seconds; `chance` returns random numbers from 0 to 1. `timeout`: of a call."""
        wait, attempt = self.first, 0
        greatest = min(self.greatest, timeout / ATTEMPTS_IN_A_TIMEOUT)
        while self.attempts is None or attempt < self.attempts:
            attempt += 1
            whole = min(wait, greatest)
            yield whole * (0.5 + 0.5 * chance())
            wait = min(wait * 2, greatest)


def session_of(reconnect: Reconnect | None, clock: Callable[[], float], patience: float) -> Session:
    """A session, resumable and repeating batches if its client reconnects. `clock` and `patience` are in seconds."""
    deadlines = Deadlines(lambda: int(clock() * 1_000_000), int(min(patience, PATIENCE_SECONDS_MAX) * 1_000_000))
    if reconnect is None:
        return Session(deadlines=deadlines)
    return Session(True, secrets.token_hex(8), deadlines)


def is_passing(error: ForetellError) -> bool:
    """Whether a session that ended or was refused with this error may be restored later."""
    return isinstance(error, ConnectionLost | RequestTimeout | Busy) or type(error) is LimitExceeded
