"""Limits how far an event's time may be ahead of the broker's clock.

All streams share one order of time, so one event far ahead makes all later events late. An event that is ahead of the
clock by more than `most` is refused, unless the engine has reached its time already.

The clock may be wrong, too. The kernel observes it about once a second. If it jumps by more than `most` between two
observations, the new time counts only after the clock has run on from it for CLOCK_SETTLES_MICROSECONDS; another jump
restarts that wait. Until then the earlier time stays valid, and no event is stamped with a later one.
"""

from __future__ import annotations

from typing import Final, final

from ..wire import Busy

CLOCK_SETTLES_MICROSECONDS: Final = 10_000_000
"""How long a clock must run steadily after a jump before its time is accepted."""


@final
class ClockGuard:
    """The accepted time of the clock. `most`: microseconds that an event may be ahead of it; None: no limit."""

    __slots__ = ("_clock", "_jumped", "_shown", "most", "now")

    def __init__(self, most: int | None) -> None:
        self.most = most
        self.now = 0
        """The last observation of the clock, accepted or not."""
        self._clock: int | None = None
        self._jumped: int | None = None  # the clock's time after a jump that is not accepted yet
        self._shown = 0  # the clock's time at the last observation since

    def observe(self, now: int) -> None:
        """Observe the clock, in microseconds. O(1)."""
        self.now = now
        if self.most is None or self._clock is None or -self.most <= now - self._clock <= self.most:
            self._clock, self._jumped = now, None
        elif self._jumped is None or not self._jumped <= now <= self._shown + CLOCK_SETTLES_MICROSECONDS:
            self._jumped = self._shown = now
        elif now >= self._jumped + CLOCK_SETTLES_MICROSECONDS:
            self._clock, self._jumped = now, None
        else:
            self._shown = now

    def check_clock(self, now: int) -> None:
        """Check that events without a time may be stamped with `now`. Raises Busy."""
        if self._jumped is not None and self._clock is not None and now > self._clock:
            wait = max(1, self._jumped + CLOCK_SETTLES_MICROSECONDS - now)
            raise Busy(
                f"ahead_max: the broker's clock has jumped ahead by {(now - self._clock) / 1_000_000:,.0f} s; events "
                "without a time are accepted again once it has run steadily for a while",
                min(wait, CLOCK_SETTLES_MICROSECONDS),
            )

    @property
    def settled(self) -> bool:
        """Whether the clock is accepted: it has not jumped, or has run steadily since."""
        return self._jumped is None

    def latest(self, newest: int | None) -> int | None:
        """The latest time of an event that is accepted, `newest` being the newest so far; None: no limit."""
        if self.most is None or self._clock is None:
            return None
        latest = self._clock + self.most
        return latest if newest is None else max(latest, newest)
