"""Events that are made of a composite subscription's results, for the stream that it publishes.

Here: that. Not here: what becomes of them (ordered).
"""

from __future__ import annotations

from mypy_extensions import i64

from ...cells import Lineage
from ...composed import ids, start_of, trace_of
from ...results import Derived, Results
from ...target import Target


def feed_streams(results: Results, target: Target, block: int, time: i64) -> int:
    """Events derived from the target's next block, from that number on; the number after it."""
    composed = results.composed[block]
    while results.targets[results.block_upto[block] - 1] is not target:
        block += 1
        composed = results.composed[block]
    values = target.outcome.bound(composed.binding())
    for assigned in composed.each():
        links: Lineage = None
        for _, item, _ in assigned:
            for number in ids(item):
                links = (links, number)
        start, trace = start_of(assigned), trace_of(assigned)
        for feed in target.feeds or ():
            results.derived.append(Derived(feed.stream, values, start, int(time), trace, links))
    return block + 1
