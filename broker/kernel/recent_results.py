"""The last results of the subscriptions that somebody looks at. No match depends on them.

They begin when somebody starts to look, are in memory only, and go when nobody has asked for a while, so that a
subscription at which nobody looks costs nothing.
"""

from __future__ import annotations

from collections import deque
from typing import Final, final

RECENT_RESULTS_MAX: Final = 100
"""Results of a subscription that are kept."""
LOOKED_AT_MAX: Final = 32
"""Subscriptions at which somebody looks at a time; the one that was asked about first goes."""
LOOKED_AT_MICROSECONDS: Final = 60_000_000
"""After that nobody looks any more."""
RESULT_BYTES_MAX: Final = 64 * 1024
"""A longer result is counted, but not kept."""


@final
class RecentResults:
    """Encoded results by subscription, each with its number. `kept` is empty while nobody looks."""

    __slots__ = ("_asked", "_number", "kept")

    def __init__(self) -> None:
        self.kept: dict[str, deque[tuple[int, bytes]]] = {}
        self._asked: dict[str, int] = {}
        self._number = 0

    def look(self, name: str, now: int) -> list[tuple[int, bytes]]:
        """The results of a subscription since somebody looks, the oldest first; it goes on to be looked at."""
        while name not in self.kept and len(self.kept) >= LOOKED_AT_MAX:
            self._forget(min(self._asked, key=self._asked.__getitem__))
        self._asked[name] = now
        return list(self.kept.setdefault(name, deque(maxlen=RECENT_RESULTS_MAX)))

    def note(self, name: str, line: bytes) -> None:
        """Keep a result of a subscription in `kept`. O(1)."""
        self._number += 1
        if len(line) <= RESULT_BYTES_MAX:
            self.kept[name].append((self._number, line))

    def tick(self, now: int) -> None:
        """Forget the subscriptions at which nobody looks any more."""
        for name in [name for name, asked in self._asked.items() if now - asked > LOOKED_AT_MICROSECONDS]:
            self._forget(name)

    def _forget(self, name: str) -> None:
        del self.kept[name], self._asked[name]

    def check_invariants(self) -> None:
        """For tests."""
        assert self.kept.keys() == self._asked.keys()
        assert len(self.kept) <= LOOKED_AT_MAX
        assert all(len(lines) <= RECENT_RESULTS_MAX for lines in self.kept.values())
