"""The unit of cost, and nothing else: what `msgpack.unpackb` takes an event, in batches of 100 arrays.

A cost in units is the CPU time an event divided by that, measured in the same process on the same ticks: how many times
the mere decoding of an event its processing costs. It survives slow and noisy machines, which microseconds do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time
from typing import Final

import msgpack

from .ticks import BATCH

PASSES: Final = 5
BATCHES: Final = 500  # 50,000 ticks, a few milliseconds a pass


def unit_seconds(batches: Sequence[bytes]) -> float:
    """CPU seconds an event, the best of some passes over the first batches. All batches must be full."""
    sample = batches[:BATCHES]
    unpackb = msgpack.unpackb
    best = float("inf")
    for _ in range(PASSES):
        begun = process_time()
        for batch in sample:
            unpackb(batch)
        best = min(best, process_time() - begun)
    return best / (len(sample) * BATCH)
