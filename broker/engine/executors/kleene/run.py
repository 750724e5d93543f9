"""A run that exists by itself, and matches made of such.

Here: what it holds. Not here: what happens to it (runs), to a match that has to wait (pending).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....algebra.computation import Slots
from .found import Several, Trail
from .tables import Tables


@final
class KleeneRun:
    """`start`: the time of its first event; `position`, `place`: the last one's number in the stream and in the
    partition; `lead`: the time of the newest event, before the first, of negations that lead."""

    __slots__ = ("lead", "place", "position", "slots", "start", "trail")

    def __init__(self, start: i64, lead: i64, slots: Slots, trail: Trail, position: i64, place: i64) -> None:
        self.start = start
        self.lead = lead
        self.slots = slots
        self.trail = trail
        self.position = position
        self.place = place


def found_of(done: list[KleeneRun], tables: Tables) -> Several:
    """Complete runs as matches."""
    found = Several()
    for run in done:
        found.add(run.trail, tables.values(run.slots))
    return found
