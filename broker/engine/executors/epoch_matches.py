"""What events complete of automata over epochs: columns of those who are served, with the run that each match ends.

A match is an entry in `targets`; a block is all consecutive matches of one event and one run. Values, lineage and ids
are made when somebody reads them, so that a match which nobody reads costs a list entry.

Here: writing these columns, the events of the batch that they refer to, and the events that matches become. Hot. Not
here: reading them (results), matches of automata over arrival (completions).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ...algebra.computation import Slots
from ...events.schema import Row
from ..target import Target
from ..trace import FINAL_DEPTH, mixed
from .matches import Lineage, PartialMatch


@final
class Derived:
    """An event that an end published: processed within the epoch in which it ends."""

    __slots__ = ("lineage", "row", "start", "stream", "time", "trace")

    def __init__(self, stream: int, row: Row, start: int, time: int, trace: int, lineage: Lineage) -> None:
        self.stream = stream
        self.row = row
        self.start = start
        self.time = time
        self.trace = trace
        self.lineage = lineage


@final
class Fault:
    """An exception, and what has raised it: an arc, a place, or a machine."""

    def __init__(self, cause: object, error: Exception) -> None:
        self.cause = cause
        self.error = error


@final
class EpochMatches:
    """The matches of one batch, in the order in which they were found. `times`, `rows`, `ids` and `starts` are its
    events; `derived` those that were made of them, with the numbers behind. `faults`: what the current event has
    raised."""

    def __init__(self, times: list[int], rows: list[Row], ids: list[int], starts: list[int]) -> None:
        self.times = times
        self.rows = rows
        self.ids = ids
        self.starts = starts
        self.derived: list[Derived] = []
        self.faults: list[Fault] = []
        self.targets: list[Target] = []
        self.block_event: list[int] = []  # the number of an event
        self.block_run: list[PartialMatch | None] = []  # None: the event alone matched
        self.block_upto: list[int] = []
        self._closed = 0
        self._sealed = True  # the newest block is not to grow

    def close(self, event: int, run: PartialMatch | None) -> None:
        """What came to `targets` since the last call, if anything, is of this event and this run."""
        upto = len(self.targets)
        if upto == self._closed:
            return
        self._closed = upto
        if not self._sealed and self.block_event[-1] == event and self.block_run[-1] is run:
            self.block_upto[-1] = upto
        else:
            self._sealed = False
            self.block_event.append(event)
            self.block_run.append(run)
            self.block_upto.append(upto)

    def seal(self, event: int) -> int:
        """What came last is of this event, and no run's: the number of its block."""
        self._sealed = True
        self._closed = len(self.targets)
        self.block_event.append(event)
        self.block_run.append(None)
        self.block_upto.append(self._closed)
        return len(self.block_event) - 1

    def event(self, index: int) -> tuple[Row, int, int, int, Any]:
        """row, start, end, trace item and lineage item."""
        if index < len(self.times):
            return self.rows[index], self.starts[index], self.times[index], self.ids[index], self.ids[index]
        event = self.derived[index - len(self.times)]
        return event.row, event.start, event.time, event.trace, event.lineage

    def start(self, index: int) -> int:
        """When an event began."""
        return self.starts[index] if index < len(self.times) else self.derived[index - len(self.times)].start

    def complete(self, event: int, run: PartialMatch | None, target: Target) -> None:
        """The event completes the run, or matches alone: for the target's subscribers and streams."""
        if target.first is not None:
            self.targets.append(target)
            self.close(event, run)
        if target.feeds is not None:
            self.publish(event, run, target)

    def publish(self, event: int, run: PartialMatch | None, target: Target) -> None:
        """A match as an event of each stream that is made of the target's. O(streams)."""
        row, start, end, item, link = self.event(event)
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
                self.derived.append(Derived(feed.stream, values, t0, end, trace, (links, link)))
