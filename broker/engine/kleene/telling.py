"""From what patterns completed to results, and to events of the streams that they publish.

A match that waited for time to pass ended before the event that let it pass; as an event of a published stream it is of
the time at which it is known, since nothing may come late there.

Here: that. Not here: when (ordered), how results are read (results).
"""

from __future__ import annotations

from mypy_extensions import i64

from ..cells import Lineage
from ..composites.composed import Composed, ids
from ..results import Derived, Results
from .gathered import Gathered, trace_of


def tell(results: Results, gathered: list[Gathered], index: int, time: i64) -> None:
    """Results at the event `index` of the batch, and derived events. O(those who are served), and for published
    streams O(matches)."""
    for one in gathered:
        for target, found in one.parts():
            if target.first is not None:
                results.targets.append(target)
                results.compose(index, Composed(None, None, not one.compressed, None, found))
            if target.feeds is None or found is None:
                continue
            for matched in found.each():
                links: Lineage = None
                for _, item, _ in matched.assigned:
                    for number in ids(item):
                        links = (links, number)
                trace = trace_of(matched)
                for feed in target.feeds:
                    results.derived.append(
                        Derived(feed.stream, matched.values, matched.start, int(time), int(trace), links)
                    )
