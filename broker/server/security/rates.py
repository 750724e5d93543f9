"""Limits how many connections a second may finish their handshake, from one address and in all.

Each connection gets the next routing id, so the rate bounds how soon the ids reach a guessed one (routing_ids.py). All
addresses of this machine count as one, because a process may use thousands of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

from .exposure import is_loopback

PER_SECOND: Final = 100
"""Connections a second from one address, on average."""
AT_ONCE: Final = 2_000
"""How many may connect at once after a pause, at least: all clients of a restarted broker. The limit is twice the
number of sessions if that is greater.
"""
TOTAL_FACTOR: Final = 4
"""The limits for all addresses together are this multiple."""
ADDRESSES_MAX: Final = 4_096

_TOTAL: Final = ""
_HERE: Final = "loopback"


@final
class Rates:
    """Token buckets by address. `clock`: monotonic seconds."""

    __slots__ = ("_at_once", "_buckets", "_clock")

    def __init__(self, clock: Callable[[], float], at_once: int = AT_ONCE) -> None:
        self._clock = clock
        self._at_once = float(at_once)
        self._buckets: dict[str, tuple[float, float]] = {}  # tokens left, and when they were counted

    def admit(self, address: str) -> bool:
        """Whether one more connection from an address is allowed now; it is counted then. Amortised O(1)."""
        now = self._clock()
        host = _HERE if is_loopback(address) else address
        own, total = self._left(host, 1, now), self._left(_TOTAL, TOTAL_FACTOR, now)
        if own < 1 or total < 1:
            return False
        if len(self._buckets) >= ADDRESSES_MAX:
            self._buckets.clear()  # with so many addresses the total limits the rate
        self._buckets[host] = own - 1, now
        self._buckets[_TOTAL] = total - 1, now
        return True

    def _left(self, host: str, factor: int, now: float) -> float:
        left, then = self._buckets.get(host, (self._at_once * factor, now))
        return min(self._at_once * factor, left + (now - then) * PER_SECOND * factor)
