"""The matches of automata over epochs in a batch: columns of targets, with the run that each match ends.

A match is an entry in `targets`; a block is all consecutive matches of one event and one run. Values, lineage and ids
are made on access, so a match that is never read costs a list entry.

Here: writing these columns, the events of the batch that they refer to, and the events derived from matches. Hot. Not
here: reading the columns (results), matches of automata over arrival (completions).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ...algebra.computation import Slots
from ...events.batch import Batch, batch_of_rows
from ...events.instant import FOREVER
from ...events.schema import Row
from ..program.target import Feed, Target
from .event_ids import EventIds
from .matches import Lineage, PartialMatch
from .member_matches import FIELDS, MemberMatches
from .trace import FINAL_DEPTH, mixed


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


@final
class Blocks:
    """Blocks of matches: the event and the run of each, where its targets end, and all targets."""

    def __init__(
        self, events: list[int], runs: list[PartialMatch | None], uptos: list[int], targets: list[Target]
    ) -> None:
        self.events = events
        self.runs = runs
        self.uptos = uptos
        self.targets = targets


@final
class EpochMatches:
    """The matches of one batch, in the order of discovery.

    `times`, `batch`, `ids` and `starts` are its events; `derived` are the events derived from them, which have the
    numbers behind theirs. `faults`: the errors at the current event. `by_number`: derived events of one event and depth
    are processed in the order of their numbers, as where they are revised. `feeding`: somebody reads a stream that is
    made of machines' results. Matches of runs born after `latest` serve one subscriber each. `packed`: the newest
    matches, of groups, which are not in the other columns yet; with `later` they stay there until results are read,
    while the columns grow.
    """

    def __init__(self, times: list[int], batch: Batch, ids: EventIds, starts: list[int]) -> None:
        self.times = times
        self.batch = batch
        self.ids = ids
        self.starts = starts
        self.derived: list[Derived] = []
        self.by_number = False  # derived events of one event and depth are in the order of their numbers
        self.faults: list[Fault] = []
        self.targets: list[Target] = []
        self.block_event: list[int] = []  # the number of an event
        self.block_run: list[PartialMatch | None] = []  # None: the event alone matched
        self.block_upto: list[int] = []
        self.feeding = True
        self.latest: i64 = FOREVER
        self.later = False
        self.packed = MemberMatches()
        self._closed = 0
        self._sealed = True  # the newest block must not grow

    def close(self, event: int, run: PartialMatch | None) -> None:
        """Assign the targets since the last call, if any, to this event and this run."""
        upto = len(self.targets)
        if upto == self._closed:
            return
        if self.packed.upto > 0 and not self.later:
            self._unpack_before()
            upto = len(self.targets)
        self._closed = upto
        if not self._sealed and self.block_event[-1] == event and self.block_run[-1] is run:
            self.block_upto[-1] = upto
        else:
            self._sealed = False
            self.block_event.append(event)
            self.block_run.append(run)
            self.block_upto.append(upto)

    def seal(self, event: int) -> int:
        """Assign the newest targets to this event without a run; returns the number of their block."""
        if self.packed.upto > 0 and not self.later:
            self._unpack_before()
        self._sealed = True
        self._closed = len(self.targets)
        self.block_event.append(event)
        self.block_run.append(None)
        self.block_upto.append(self._closed)
        return len(self.block_event) - 1

    def one_each(self) -> bool:
        """Whether every match in the columns is the result of one subscriber. O(blocks)."""
        latest = self.latest
        if self.derived or not self.times or self.times[0] <= latest:
            return False
        for run in self.block_run:  # noqa: SIM110  a generator would cost more
            if run is not None and run.born <= latest:
                return False
        return True

    def results(self) -> int:
        """The number of results of the matches in the columns. O(matches)."""
        total = match = 0
        for block, upto in enumerate(self.block_upto):
            run = self.block_run[block]
            born = self.end(self.block_event[block]) if run is None else int(run.born)
            for target in self.targets[match:upto]:
                first = target.first
                if target.others is not None:
                    total += len([each for each in target.subscribers() if born > each.since])
                elif first is not None and born > first.since:
                    total += 1
            match = upto
        return total

    def unpack(self) -> None:
        """Complete the packed matches one by one. O(matches)."""
        if self.packed.upto == 0:
            return
        packed = self.take_packed()
        block: i64 = 0
        while block < packed.upto:
            self.complete_block(packed, block)
            block += FIELDS

    def take_packed(self) -> MemberMatches:
        """Take the packed matches out, which join the columns now."""
        packed = self.packed
        self.packed = MemberMatches()
        if not packed.counted:  # not each of them is one result
            self.latest = FOREVER
        return packed

    def complete_block(self, packed: MemberMatches, block: i64) -> None:
        """Complete the matches of a packed block one by one. O(matches)."""
        event, run = int(packed.blocks[block]), packed.run(block)
        for target in packed.targets(block):
            self.complete(event, run, target)

    def cut(self, block: int) -> Blocks:
        """Take the blocks from a number on out of the columns, which end there now. O(their matches)."""
        first = self.block_upto[block - 1] if block > 0 else 0
        found = Blocks(
            self.block_event[block:], self.block_run[block:], [upto - first for upto in self.block_upto[block:]],
            self.targets[first:],
        )  # fmt: skip
        del self.block_event[block:], self.block_run[block:], self.block_upto[block:], self.targets[first:]
        self._closed, self._sealed = first, True
        return found

    def add_block(self, blocks: Blocks, at: int) -> None:
        """Add one of the blocks that were taken out, as the newest. O(its matches)."""
        self.targets += blocks.targets[blocks.uptos[at - 1] if at > 0 else 0 : blocks.uptos[at]]
        self.block_event.append(blocks.events[at])
        self.block_run.append(blocks.runs[at])
        self._closed, self._sealed = len(self.targets), True
        self.block_upto.append(self._closed)

    def _unpack_before(self) -> None:
        """The same before the targets that are not assigned yet."""
        newest = self.targets[self._closed :]
        del self.targets[self._closed :]
        self.unpack()
        self.targets.extend(newest)

    def event(self, index: int) -> tuple[Row, int, int, int, Any]:
        """row, start, end, trace item and lineage item."""
        if index < len(self.times):
            item = int(self.ids.at(index))
            return self.batch.row(index), self.starts[index], self.times[index], item, item
        event = self.derived[index - len(self.times)]
        return event.row, event.start, event.time, event.trace, event.lineage

    def end(self, index: i64) -> int:
        """The end of an event."""
        return self.times[index] if index < len(self.times) else self.derived[index - len(self.times)].time

    def start(self, index: int) -> int:
        """The start of an event."""
        return self.starts[index] if index < len(self.times) else self.derived[index - len(self.times)].start

    def complete(self, event: int, run: PartialMatch | None, target: Target) -> None:
        """Record that the event completes the run, or matches alone, for the target's subscribers and streams."""
        if target.first is not None:
            self.targets.append(target)
            self.close(event, run)
        if target.feeds is not None and self.feeding:
            row, start, end, item, link = self.event(event)
            self.publish(run, target, row, start, end, item, link)

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


def no_matches() -> EpochMatches:
    """Those of no event."""
    return EpochMatches([], batch_of_rows([]), EventIds(0, 0), [])
