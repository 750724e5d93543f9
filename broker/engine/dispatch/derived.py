"""From what was completed to events of the streams that subscriptions publish.

A match that waited for time to pass ended before the event that let it pass; as an event of a published stream it is of
the time at which it is known, since nothing may come late there.

Here: that. Not here: when (ordered), how results are read (results).
"""

from __future__ import annotations

from mypy_extensions import i64

from ..executors.epoch_matches import Derived
from ..executors.matches import Assigned, Lineage, ids, trace_of
from ..results import Results


def tell(results: Results, time: i64) -> None:
    """What has been completed since the last call becomes results, and derived events. O(those who are served), and for
    published streams O(matches)."""
    for target, composed in results.unfold():
        # Whether they are reported as one or not, each match that can be made is an event.
        for matched in composed.expanded().each():
            values, links = target.outcome.bound(matched.values), _links(matched.assigned)
            trace = trace_of(matched.assigned)
            for feed in target.feeds or ():
                made = Derived(feed.stream, values, matched.start, int(time), int(trace), links)
                results.epochs.derived.append(made)


def _links(assigned: Assigned) -> Lineage:
    links: Lineage = None
    for _, item, _ in assigned:
        for number in ids(item):
            links = (links, number)
    return links
