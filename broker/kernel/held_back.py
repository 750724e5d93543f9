"""Streams that related ones wait for, and how long they have by the broker's clock: for statistics, answers, the log.

Not here: which events wait (the engine), the log itself (broker.server).
"""

from __future__ import annotations

from typing import Any, Final, final

from ..engine.disorder.looking import HeldStream, held_in_words
from .clock_guard import ClockGuard
from .engine_port import EnginePort

TOLD_AFTER: Final = 10_000_000
"""Microseconds that events wait before the log and receipts say so: most wait for a moment only."""


@final
class HeldBack:
    """`_since`: by stream up to which time all is final in its order, and when the clock first showed that events wait
    there. `_told`: of those that were logged, what was last said. `in_receipts`: the same, by each stream that waits
    with it. `began` and `ended`: what the last tick has for the log."""

    __slots__ = ("_clock", "_engine", "_since", "_told", "began", "ended", "in_receipts")

    def __init__(self, engine: EnginePort, clock: ClockGuard) -> None:
        self._engine = engine
        self._clock = clock
        self._since: dict[str, tuple[int, int]] = {}
        self._told: dict[str, dict[str, Any]] = {}
        self.in_receipts: dict[str, str] = {}
        self.began: list[dict[str, Any]] = []
        self.ended: list[dict[str, Any]] = []

    def look(self) -> list[tuple[HeldStream, int]]:
        """The streams that others wait for, each with the microseconds since nothing has become final there. O(streams,
        the first time also events that wait)."""
        now, before = self._clock.now, self._since
        found = self._engine.held_back()
        self._since = {}
        for held in found:
            safe, since = before.get(held.stream, (held.safe, now))
            again = safe != held.safe or since > now or not self._clock.settled
            self._since[held.stream] = held.safe, now if again else since
        return [(held, now - self._since[held.stream][1]) for held in found]

    def in_words(self, name: str | None = None) -> dict[str, str]:
        """A sentence on each of these streams; `name`: on that which a subscription waits for."""
        wanted = {held.stream for held in self._engine.held_back(name)}
        found = self.look() if wanted else []
        return {held.stream: self._said(held, wait) for held, wait in found if held.stream in wanted}

    def tick(self) -> None:
        """Note what has waited for long, or does no longer."""
        before, self._told, self.in_receipts, self.began = self._told, {}, {}, []
        for held, wait in self.look():
            if wait >= TOLD_AFTER:
                said = self._said(held, wait)
                self._told[held.stream] = {"stream": held.stream, "seconds": wait // 1_000_000, "events": held.events}
                self.in_receipts |= dict.fromkeys(held.streams, said)
                if held.stream not in before:
                    self.began.append({**self._told[held.stream], "reason": said})
        self.ended = [told for stream, told in before.items() if stream not in self._told]

    def _said(self, held: HeldStream, wait: int) -> str:
        return held_in_words(held, self._engine.streams[held.stream], wait // 1_000_000)
