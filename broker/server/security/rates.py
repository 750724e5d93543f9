"""How many connections a second may finish their handshake: from one address, and from all together.

Each takes the next routing id, so that the rate bounds how soon somebody meets an id that was guessed (routing_ids).
All addresses of this machine count as one, as each of its processes may use thousands of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from .exposure import is_loopback

PER_SECOND: Final = 100
"""From one address, on average."""
AT_ONCE: Final = 2_000
"""As many may come at once after a pause, or twice the sessions that there may be: all the clients of a broker that was
started anew.
"""
TOTAL_FACTOR: Final = 4
"""All addresses together may have so many times that."""
ADDRESSES_MAX: Final = 4_096

_TOTAL: Final = ""
_HERE: Final = "loopback"


@final
class Rates:
    """Token buckets by address. `clock`: seconds, never less than before."""

    __slots__ = ("_at_once", "_buckets", "_clock")

    def __init__(self, clock: Callable[[], float], at_once: int = AT_ONCE) -> None:
        self._clock = clock
        self._at_once = float(at_once)
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when that was so

    def admit(self, address: str) -> bool:
        """Whether one more may come from there now; counted if so. Amortised O(1)."""
        now = self._clock()
        host = _HERE if is_loopback(address) else address
        own, total = self._left(host, 1, now), self._left(_TOTAL, TOTAL_FACTOR, now)
        if own < 1 or total < 1:
            return False
        if len(self._buckets) >= ADDRESSES_MAX:
            self._buckets.clear()  # the total is what counts where so many come
        self._buckets[host] = own - 1, now
        self._buckets[_TOTAL] = total - 1, now
        return True

    def _left(self, host: str, factor: int, now: float) -> float:
        left, then = self._buckets.get(host, (self._at_once * factor, now))
        return min(self._at_once * factor, left + (now - then) * PER_SECOND * factor)
