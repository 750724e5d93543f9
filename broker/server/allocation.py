"""Tunes glibc so that memory freed after a burst goes back to the system.

A frame may have 1 MiB, and many may be on their way at once. glibc maps large blocks one by one and gives each back
when it is freed, but raises the size from which it does so to that of the first one freed: from then on frames lie in
its heaps, between small blocks that live on, and what one burst took stays with the process. Said once, the size is
fixed: 80 MB that stayed after a hundred frames at once are 2 MB then.

A burst of connections leaves holes in the heaps, which glibc keeps too: trimming gives their pages back.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Final, final

MAPPED_BYTES_MIN: Final = 128 * 1024
"""Blocks from here on are given back when they are freed. glibc's own first value."""

TRIM_SECONDS: Final = 5.0
TRIM_REST: Final = 1_000
"""Trimming takes at most one part in so many of the loop's time."""

_M_MMAP_THRESHOLD: Final = -3  # malloc.h


def give_large_blocks_back() -> bool:
    """Fix the size; whether there is an allocator that has one. O(1); for the whole process."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False  # another C library, which has its own ways
    mallopt.argtypes, mallopt.restype = (ctypes.c_int, ctypes.c_int), ctypes.c_int
    return bool(mallopt(_M_MMAP_THRESHOLD, MAPPED_BYTES_MIN))


@final
class Trimming:
    """Gives back what lies free within the heaps, now and then. Costs some 0.1 ms, more where more lies free."""

    __slots__ = ("_due", "_trim")

    def __init__(self) -> None:
        try:
            self._trim: Callable[[int], int] | None = ctypes.CDLL(None).malloc_trim
        except (AttributeError, OSError):
            self._trim = None
        self._due = 0.0

    def go_on(self) -> bool:
        """Trim if it is time to; whether it was. To be called about once a second."""
        began = time.monotonic()
        if self._trim is None or began < self._due:
            return False
        self._trim(0)
        ended = time.monotonic()
        self._due = ended + max(TRIM_SECONDS, TRIM_REST * (ended - began))
        return True
