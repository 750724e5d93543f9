"""When to try again after a loss, and when not. Nothing waits here; chance comes in as a parameter.

The waits double, up to a greatest one, and each is shortened by chance, to between a half and the whole of it: a
thousand clients that lost one broker at once must not come back at once, again and again.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Final, final

from broker.events import DefinitionError, ForetellError, shown

from .deadlines import Deadlines
from .errors import Busy, ConnectionLost, LimitExceeded, RequestTimeout
from .session import Session

PATIENCE_SECONDS_MAX: Final = 1e9
"""Whoever waits longer than thirty years, waits thirty years."""


@final
@dataclass(frozen=True, slots=True)
class Reconnect:
    """How a client comes back: waits in seconds, and how often it tries; None: until it is closed.

    Raises DefinitionError.
    """

    first: float = 0.1
    greatest: float = 30.0
    attempts: int | None = None

    def __post_init__(self) -> None:
        for name in ("first", "greatest"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not isfinite(value) or value <= 0:
                raise DefinitionError(f"reconnect.{name}: expected seconds greater than 0, found {shown(value)}")
        if self.attempts is not None and (type(self.attempts) is not int or self.attempts < 1):
            raise DefinitionError(f"reconnect.attempts: expected 1 or more, found {shown(self.attempts)}")

    def waits(self, chance: Callable[[], float]) -> Iterator[float]:
        """The waits, in order; `chance` gives numbers from 0 to 1."""
        wait, attempt = self.first, 0
        while self.attempts is None or attempt < self.attempts:
            attempt += 1
            whole = min(wait, self.greatest)
            yield whole * (0.5 + 0.5 * chance())
            wait = min(wait * 2, self.greatest)


def session_of(reconnect: Reconnect | None, clock: Callable[[], float], patience: float) -> Session:
    """A session that is resumed, and repeats batches, if its client reconnects. Seconds; `patience` of each request."""
    deadlines = Deadlines(lambda: int(clock() * 1_000_000), int(min(patience, PATIENCE_SECONDS_MAX) * 1_000_000))
    if reconnect is None:
        return Session(deadlines=deadlines)
    return Session(True, secrets.token_hex(8), deadlines)


def is_passing(error: ForetellError) -> bool:
    """Whether a session that ended, or was refused, for this reason may be had later."""
    return isinstance(error, ConnectionLost | RequestTimeout | Busy) or type(error) is LimitExceeded
