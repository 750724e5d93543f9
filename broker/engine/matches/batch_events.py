"""The events of a batch, and those derived from its matches, by number; and the errors that some of them have raised.

Here: these. Hot. Not here: the rows of matches, which refer to events by number (completions).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ...algebra.computation import Slots
from ...events.batch import Batch
from ...events.schema import Row
from ..executors.event_ids import EventIds
from ..executors.trace import FINAL_DEPTH, mixed
from ..program.target import Feed, Target
from .sources import Item, Lineage, PartialMatch, flattened


@final
class Derived:
    """An event that an end published: processed within the epoch in which it ends. `end`: of the match, which may have
    waited for time to pass."""

    __slots__ = ("end", "lineage", "place", "row", "start", "stream", "time", "trace")

    def __init__(self, feed: Feed, row: Row, start: int, end: int, time: int, trace: int, lineage: Lineage) -> None:
        self.stream = feed.stream
        self.place = feed.place
        self.end = end
        self.row = row
        self.start = start
        self.time = time
        self.trace = trace
        self.lineage = lineage


@final
class Fault:
    """An exception, the arc, place or machine that raised it, and the event at which a machine did."""

    def __init__(self, cause: object, error: Exception, event: i64 = 0) -> None:
        self.cause = cause
        self.error = error
        self.event = event


class BatchEvents:
    """`times`, `batch`, `ids` and `starts` are the events of the batch; `derived` are the events derived from them,
    which have the numbers behind theirs. `faults`: the errors at the current event. `by_number`: derived events of one
    event and depth are processed in the order of their numbers, as where they are revised."""

    def __init__(self, times: list[int], batch: Batch, ids: EventIds, starts: list[int]) -> None:
        self.times = times
        self.batch = batch
        self.ids = ids
        self.starts = starts
        self.derived: list[Derived] = []
        self.by_number = False
        self.faults: list[Fault] = []

    def event_at(self, index: int) -> tuple[Row, int, int, int, Any]:
        """row, start, end, trace item and lineage item."""
        if index < len(self.times):
            item = int(self.ids.at(index))
            return self.batch.row(index), self.starts[index], self.times[index], item, item
        event = self.derived[index - len(self.times)]
        return event.row, event.start, event.time, event.trace, event.lineage

    def happened(self, index: int) -> tuple[Row, int, Item]:
        """Values, time and item of an event."""
        row, _, time, trace, link = self.event_at(index)
        return row, time, link if isinstance(link, int) else (int(trace), tuple(flattened(link)))

    def end_of(self, index: i64) -> int:
        """The end of an event."""
        return self.times[index] if index < len(self.times) else self.derived[index - len(self.times)].time

    def start_of(self, index: i64) -> int:
        """The start of an event."""
        return self.starts[index] if index < len(self.times) else self.derived[index - len(self.times)].start

    def item_of(self, index: i64) -> i64:
        """The trace item of an event."""
        return self.ids.at(index) if index < len(self.times) else self.derived[index - len(self.times)].trace

    def publish(
        self, run: PartialMatch | None, target: Target, row: Row, start: i64, end: i64, item: i64, link: Any
    ) -> None:
        """Add a match as an event of each stream that is made of the target's results. O(streams).

        The match's last event has this row and these times.
        """
        born: i64 = end
        t0: i64 = start
        trace: i64 = 0
        bound: Row = ()
        slots: Slots = ()
        links: Lineage = None
        if run is not None:
            born, t0, trace = run.born, run.t0, run.trace
            bound, slots, links = run.row, run.slots, run.lineage
        trace = mixed(trace, item, FINAL_DEPTH)
        values = target.outcome.values(row, bound, slots, end - start + 1, end - t0 + 1)
        for feed in target.feeds or ():
            if born > feed.since:
                self.derived.append(Derived(feed, values, t0, end, end, trace, (links, link)))
