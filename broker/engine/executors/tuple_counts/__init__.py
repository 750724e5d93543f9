"""Matching of composite subscriptions: tuples of events are counted, and made only when results are read.

Here: tables of path automata, their partitions, cells, windows and nodes. Not here: which operands an event
satisfies, streams, results (engine).
"""

from __future__ import annotations

from .machine import TupleCounts
from .partition import Partition
from .tables import CountBounds, CountingTables
from .tuples import Completion

__all__ = ["CountBounds", "Completion", "CountingTables", "Partition", "TupleCounts"]
