"""From what patterns completed to events of the streams that they publish.

A match that waited for time to pass ended before the event that let it pass; as an event of a published stream it is of
the time at which it is known, since nothing may come late there.

Here: that. Not here: when (ordered), how results are read (results).
"""

from __future__ import annotations

from mypy_extensions import i64

from ...cells import Lineage
from ...composed import ids
from ...executors.kleene.gathered import trace_of
from ...results import Derived, Results


def tell(results: Results, time: i64) -> None:
    """What has been completed since the last call becomes results, and derived events. O(those who are served), and for
    published streams O(matches)."""
    for target, found in results.unfold():
        for matched in found.each():
            links: Lineage = None
            for _, item, _ in matched.assigned:
                for number in ids(item):
                    links = (links, number)
            trace = trace_of(matched)
            for feed in target.feeds or ():
                results.derived.append(
                    Derived(feed.stream, matched.values, matched.start, int(time), int(trace), links)
                )
