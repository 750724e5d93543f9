"""Limits how far an event's time may be ahead of the broker's clock.

All streams have one order, so that one event far ahead makes all later ones late. An event that is ahead of the clock
by more than `most` is refused, unless its time, or a later one, was reached before.

The clock may be wrong, too. Where it jumps by more than `most` from one look to the next - it is looked at about once a
second - it is not believed before it has gone on like that for a while, and where it jumps again meanwhile, this begins
anew. Until then what was believed holds, and nothing is stamped with a time ahead of that.
"""

from __future__ import annotations

from typing import Final, final

from ..wire import Busy

CLOCK_SETTLES_MICROSECONDS: Final = 10_000_000
"""How long a clock that has jumped must go on before it is believed."""


@final
class Ahead:
    """The clock as far as it is believed. `most`: microseconds that an event may be ahead of it; None: any."""

    __slots__ = ("_clock", "_jumped", "_shown", "most")

    def __init__(self, most: int | None) -> None:
        self.most = most
        self._clock: int | None = None
        self._jumped: int | None = None  # what the clock has shown when it had jumped
        self._shown = 0  # what it has shown since, at the last look

    def look(self, now: int) -> None:
        """The clock shows this. O(1)."""
        if self.most is None or self._clock is None or -self.most <= now - self._clock <= self.most:
            self._clock, self._jumped = now, None
        elif self._jumped is None or not self._jumped <= now <= self._shown + CLOCK_SETTLES_MICROSECONDS:
            self._jumped = self._shown = now
        elif now >= self._jumped + CLOCK_SETTLES_MICROSECONDS:
            self._clock, self._jumped = now, None
        else:
            self._shown = now

    def check_clock(self, now: int) -> None:
        """Whether events without a time may have this one. Raises Busy."""
        if self._jumped is not None and self._clock is not None and now > self._clock:
            wait = max(1, self._jumped + CLOCK_SETTLES_MICROSECONDS - now)
            raise Busy(
                f"ahead_max: the broker's clock has jumped ahead by {(now - self._clock) / 1_000_000:,.0f} s; events "
                "without a time are taken once it has gone on like that for a while",
                min(wait, CLOCK_SETTLES_MICROSECONDS),
            )

    def latest(self, newest: int | None) -> int | None:
        """The time up to which events are taken, `newest` being the newest so far; None: any."""
        if self.most is None or self._clock is None:
            return None
        latest = self._clock + self.most
        return latest if newest is None else max(latest, newest)
