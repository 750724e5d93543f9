"""Law: how the process asks the system for memory, where there is a way to say it; nothing is allocated here.

A frame may have 1 MiB, and many may be on their way at once. glibc maps large blocks one by one and gives each back
when it is freed, but raises the size from which it does so to that of the first one freed: from then on frames lie in
its heaps, between small blocks that live on, and what one burst took stays with the process. Said once, the size is
fixed: 80 MB that stayed after a hundred frames at once are 2 MB then.
"""

from __future__ import annotations

import ctypes
from typing import Final

MAPPED_BYTES_MIN: Final = 128 * 1024
"""Blocks from here on are given back when they are freed. glibc's own first value."""

_M_MMAP_THRESHOLD: Final = -3  # malloc.h


def give_large_blocks_back() -> bool:
    """Fix the size; whether there is an allocator that has one. O(1); for the whole process."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False  # another C library, which has its own ways
    mallopt.argtypes, mallopt.restype = (ctypes.c_int, ctypes.c_int), ctypes.c_int
    return bool(mallopt(_M_MMAP_THRESHOLD, MAPPED_BYTES_MIN))
