"""The room that a batch's completions usually need, allocated at once: copying zeros is cheaper than growing.

Here: this column of zeros, and how it follows what batches write. Not here: what is written (completions).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ..executors.completions import Completions
from ..executors.packed import Integers, integers, roomy

NUMBERS_MAX: Final = 1 << 16  # for which room is made


@final
class UsualRoom:
    """Zeros for about what the last batch wrote: so many `usual` numbers an event."""

    def __init__(self) -> None:
        self.usual: i64 = 0
        self._events: i64 = 1
        self._blank: Integers = integers()

    def open(self, found: Completions, events: i64) -> None:
        """Make room for a batch of so many events. O(what the last batch wrote)."""
        self._events = max(events, 1)
        if self.usual > 0:
            wanted = min(self.usual * events, NUMBERS_MAX)
            if len(self._blank) < wanted:
                self._blank = roomy(self._blank, wanted)
            found.numbers = self._blank[:wanted]

    def close(self, found: Completions) -> None:
        """Note what a batch has written."""
        written = (found.upto + self._events - 1) // self._events
        self.usual = written + (written >> 2)  # a batch that writes somewhat more grows no column
