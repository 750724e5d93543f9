"""Lets Python's collector of reference cycles look rarely at the objects of a process that is Foretell's own.

Subscriptions and what waits for them are hundreds of thousands of objects without cycles. At its default of 700 new
objects the collector visits them again and again: 3,000 patterns that repeat, each with runs of its own, cost an event
5.5 times as much. A program that embeds the engine decides for itself (docs/performance.md).
"""

from __future__ import annotations

import gc
from typing import Final

YOUNG_MAX: Final = 50_000
"""New objects after which the collector looks at these."""
OLDER: Final = 20
"""Such looks after which it looks at those, too, that have outlived one; as many times as that, at all objects."""


def collect_rarely() -> None:
    """For the whole process. O(1)."""
    gc.set_threshold(YOUNG_MAX, OLDER, OLDER)
