"""The switches and admission limits of an engine.

Every optimisation has a switch here, and with any of them off the results are the same (a property test says so).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """`static_index`: start arcs are found by the event's values. `affected_index`: so are waiting runs.
    `cohorts`: runs that one event starts in sibling states are one object. Limits count things in one engine."""

    static_index: bool = True
    affected_index: bool = True
    cohorts: bool = True
    streams_max: int = 100_000
    subscriptions_max: int = 10_000_000
