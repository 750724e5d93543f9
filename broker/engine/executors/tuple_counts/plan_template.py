"""A counting plan with another WITHIN, which changes nothing else where it is the only condition of time.

Here: that. Not here: making a plan (plan).
"""

from __future__ import annotations

from dataclasses import replace

from ....automaton.distances import Distances
from ...literals import number_in
from .plan import CountedArc, CountingPlan


def with_window(plan: CountingPlan, within: int) -> CountingPlan:
    """The plan of an automaton whose WITHIN is marked, with that one in its place. O(limits, arcs and exits)."""

    def bounded(allowed: Distances) -> Distances:
        return tuple([(low, high if number_in(high) is None else within) for low, high in allowed])

    def arc(a: CountedArc) -> CountedArc:
        return replace(a, recents=tuple([(n, bounded(d)) for n, d in a.recents])) if a.recents else a

    spans = plan.spans
    if spans is not None:
        spans = tuple([replace(span, exits=tuple([(n, bounded(d)) for n, d in span.exits])) for span in spans])
    return replace(
        plan,
        arcs=tuple(map(arc, plan.arcs)),
        limits=tuple(map(bounded, plan.limits)),
        spans=spans,
        horizon=plan.horizon if number_in(plan.horizon) is None else within,
    )
