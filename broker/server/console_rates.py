"""How many results a minute subscriptions have, for pages: from their counts at two moments of the last minute.

Only the subscriptions that a page shows are followed, so that nobody pays for the others.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final, final

FOLLOWED_MAX: Final = 2_000
"""Subscriptions that are followed; the one that was asked about longest ago goes."""
MINUTE: Final = 60.0
_APART: Final = 0.9  # seconds between two counts that are noted


@final
class MinuteRates:
    """Counts by name, the newest last. Not thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: dict[str, deque[tuple[float, int]]] = {}

    def of(self, name: str, count: int | None) -> float | None:
        """The rate a minute since the oldest count of the last minute; None if there is none before. O(1)."""
        known = self._counts.pop(name, None)
        if count is None:
            return None
        if known is None or known[-1][1] > count:  # it has begun anew
            known = deque()
        now = self._clock()
        while len(known) > 1 and known[0][0] < now - MINUTE:
            known.popleft()
        if not known or known[-1][0] <= now - _APART:
            known.append((now, count))
        self._counts[name] = known
        while len(self._counts) > FOLLOWED_MAX:
            del self._counts[next(iter(self._counts))]
        then, before = known[0]
        return round((count - before) * MINUTE / (now - then), 1) if now - then >= _APART else None
