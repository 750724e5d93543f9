"""Tunes glibc so that it returns memory freed after a burst to the system.

A frame may have 1 MiB, and many may be in flight at once. glibc maps each large block separately and unmaps it when it
is freed, but then raises the threshold for this to that block's size. From then on frames lie in its heaps between
small blocks that stay, and the memory of a burst stays with the process. Setting the threshold fixes it: after a
hundred frames at once, 2 MB stay instead of 80 MB.

A burst of connections leaves holes in the heaps, which glibc keeps, too; trimming returns their pages.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Final, final

MAPPED_BYTES_MIN: Final = 128 * 1024
"""Blocks of at least this size are unmapped when they are freed. It is glibc's initial value."""

TRIM_SECONDS: Final = 5.0
TRIM_REST: Final = 1_000
"""Trimming takes at most 1/TRIM_REST of the loop's time."""

_M_MMAP_THRESHOLD: Final = -3  # malloc.h


def give_large_blocks_back() -> bool:
    """Fix the threshold for the whole process; whether the C library has one. O(1)."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False  # another C library
    mallopt.argtypes, mallopt.restype = (ctypes.c_int, ctypes.c_int), ctypes.c_int
    return bool(mallopt(_M_MMAP_THRESHOLD, MAPPED_BYTES_MIN))


@final
class Trimming:
    """Returns free pages within the heaps now and then. Costs about 0.1 ms, more if more is free."""

    __slots__ = ("_due", "_trim")

    def __init__(self) -> None:
        try:
            self._trim: Callable[[int], int] | None = ctypes.CDLL(None).malloc_trim
        except (AttributeError, OSError):
            self._trim = None
        self._due = 0.0

    def trim_if_due(self) -> bool:
        """Trim if it is due; whether it was. Called about once a second."""
        began = time.monotonic()
        if self._trim is None or began < self._due:
            return False
        self._trim(0)
        ended = time.monotonic()
        self._due = ended + max(TRIM_SECONDS, TRIM_REST * (ended - began))
        return True
