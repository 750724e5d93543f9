"""The rolling digest of a match's contributing events. A run carries it so that its results have ids.

Here: one step of the digest. Not here: ids, which are made from it when a result is read (subscriber).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

MASK: Final = (1 << 63) - 1
_HALF: Final = (1 << 62) - 1  # twice this and 1 is MASK, which compiled code would have to unbox at each use
_FACTOR: Final = 0x1E3779B97F4A7C15
_STEP: Final = 0x3F58476D1CE4E5B9
FINAL_DEPTH: Final = -1  # where a match binds its last event


def mixed(trace: i64, item: i64, depth: i64) -> i64:
    """The digest with one more contribution, bound at that depth of the automaton; 63 bits."""
    half: i64 = _HALF
    mask = half + half + 1
    trace = ((trace ^ (item & mask)) * _FACTOR + depth * _STEP) & mask
    return trace ^ (trace >> 29)
