"""From what was completed to events of the streams that subscriptions publish.

A match that waited for time to pass ended before the event that let it pass; as an event of a published stream it is of
the time at which it is known, since nothing may come late there.

Here: that. Not here: when (ordered), how results are read (results).
"""

from __future__ import annotations

from mypy_extensions import i64

from ..cells import Lineage
from ..composed import ids, start_of, trace_of
from ..executors.gathered import trace_of as trace_of_match
from ..executors.matches import Found
from ..results import Derived, Results


def tell(results: Results, time: i64) -> None:
    """What has been completed since the last call becomes results, and derived events. O(those who are served), and for
    published streams O(matches)."""
    for target, composed in results.unfold():
        source = composed.source
        assert source is not None
        feeds = target.feeds or ()
        if isinstance(source, Found):
            for matched in source.each():
                links = _links(matched.assigned)
                trace = trace_of_match(matched)
                for feed in feeds:
                    results.derived.append(
                        Derived(feed.stream, matched.values, matched.start, int(time), int(trace), links)
                    )
            continue
        values = target.outcome.bound(composed.binding())
        for assigned in composed.each():
            links = _links(assigned)
            start, trace = start_of(assigned), trace_of(assigned)
            for feed in feeds:
                results.derived.append(Derived(feed.stream, values, start, int(time), int(trace), links))


def _links(assigned: list[tuple[int, object, int]]) -> Lineage:
    links: Lineage = None
    for _, item, _ in assigned:
        for number in ids(item):
            links = (links, number)
    return links
