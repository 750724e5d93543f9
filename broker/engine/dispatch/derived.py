"""Turns completions into events of the streams that subscriptions publish.

A match that waits for time to pass takes effect at the moment when it becomes certain, such as the end of WITHIN. A
later event or promise shows that this moment has passed; which one does not matter. A window of the clock lasts from
its beginning to its end.

Not here: when this happens (dispatcher), how results are read (results).
"""

from __future__ import annotations

from ..executors.trace import mixed
from ..matches.batch_events import Derived
from ..matches.completions import Completions
from ..matches.composed import Composed
from ..matches.sources import Lineage, contributed, trace_of
from ..program.target import Target
from ..results import Results


def report(results: Results, time: int) -> None:
    """The completions since the last call are all that came of an event, or a moment: turn them into derived events.

    O(completions), and for published streams O(served targets and matches).
    """
    found = results.found
    if not found.feeding:
        found.settle()
        return
    for event, target, what in results.parts.read():
        if isinstance(what, Composed):
            _publish(found, target, what, time)
        else:
            row, start, end, item, link = found.event_at(event)
            found.publish(what, target, row, start, end, item, link)


def _publish(found: Completions, target: Target, composed: Composed, time: int) -> None:
    """Each match that can be made becomes an event, even if one result stands for all of them."""
    for matched in composed.expanded().each():
        values, links = target.outcome.bound(matched.values), _links(contributed(matched))
        trace = trace_of(matched)
        start = matched.start if matched.begin is None else matched.begin
        for feed in target.feeds or ():
            number = trace if feed.salt == 0 else mixed(trace, feed.salt, 0)
            found.derived.append(Derived(feed, values, start, matched.end, int(time), int(number), links))
            if feed.salt != 0:
                found.by_number = True


def in_order(events: list[Derived], by_number: bool) -> list[Derived]:
    """Events of one instant, each of which as many subscriptions lead to, in the order in which others see them: by the
    ends of their matches, then by the names of their streams and of their publishers. Those that may be withdrawn are
    in the order of their numbers, `by_number`, as they are where they are told at once."""
    return sorted(events, key=_number_of if by_number else _place_of)


def _number_of(event: Derived) -> int:
    return event.trace


def _place_of(event: Derived) -> tuple[int, tuple[str, str]]:
    return event.end, event.place


def _links(events: list[int]) -> Lineage:
    links: Lineage = None
    for number in events:
        links = (links, number)
    return links
