"""Matching of composite subscriptions: tuples of events are counted, and made only when results are read.

    a; b; c    0 --a--> 1 --b--> 2 --c--> end        counts    state 1: 3    state 2: 5
               an event that is a b adds the count of state 1 to that of state 2

It keeps numbers of tuples by state, bound values and the times that conditions still ask for, and links to make them.
An event costs the counts that it moves. Here: tables of path automata, their partitions, cells, windows and nodes. Not
here: which operands an event satisfies, streams, results (engine).
"""

from __future__ import annotations

from .machine import TupleCounts
from .partition import Partition
from .tables import CountBounds, CountingTables
from .tuples import Completion

__all__ = ["CountBounds", "Completion", "CountingTables", "Partition", "TupleCounts"]
