"""The subscriptions that revise their results: who reads which stream before its events are final (AFA, 4.2).

They read their streams in the order of arrival, and give the streams that they publish results and withdrawals alike,
each to the readers of that stream among them. Publishers come before their readers, so that a result which one event
gives and takes back is never told.

Here: these subscriptions. Not here: the partial matches of one (executors), other readers of the streams that they
publish (in_order), when events are final (watermarks).
"""

from __future__ import annotations

import hashlib
from heapq import heappop, heappush
from typing import Any, Final, final

from sortedcontainers import SortedList

from ...algebra.timed_stream import timed_row, untimed
from ...automaton.automaton import Automaton
from ...events.instant import FOREVER
from ...events.schema import Row
from ..executors.matches import Item, contributed
from ..executors.revising import Reviser, Revision
from ..executors.trace import MASK, mixed
from ..match import Match
from ..program.account import FAILED, NOT_SUSPENDED, reason_of
from ..results import SUSPENSIONS, Failed
from ..subscribing.subscriber import Subscriber, digest
from .finality import SettledTimes
from .joined import RevisedResults

CLEAN_MIN: Final = 64  # safe times, each later than the one before, between two drops of what is final


def salt_of(subscriber: Subscriber) -> int:
    """What tells the published results of a subscription from equal ones of another."""
    return int.from_bytes(hashlib.blake2b(subscriber.identity().encode(), digest_size=8).digest(), "big") & int(MASK)


@final
class RevisingReader:
    """A subscription and its machine. `rank`: behind those of all publishers that it reads from; `ends`: those of the
    results that were told and are not final; `timed`: the streams of which it reads the times.

    `closed`, `final`: times that promises of streams or of some of their events have given it, beyond the safe time
    (finality): no event that concerns it comes before the first, no result that ends before the second changes. `keys`:
    the first time for some of its keys alone.
    """

    def __init__(self, subscriber: Subscriber, reviser: Reviser, number: int) -> None:
        form = subscriber.form
        self.subscriber = subscriber
        self.reviser = reviser
        self.number = number
        self.streams: tuple[str, ...] = tuple([stream for stream, _ in form.sources])
        self.timed = frozenset([untimed(stream) for stream in form.timed_streams()])
        self.publish = form.publish
        self.salt = 0 if form.publish is None else salt_of(subscriber)
        self.rank = 0
        self.ends: Any = SortedList()
        self.closed: int = -FOREVER
        self.final: int = -FOREVER
        self.keys: dict[Row, int] = {}
        self.suspended: int = NOT_SUSPENDED
        self.since = 0

    def has_closed(self, stream: int, time: int, row: Row) -> bool:
        """Whether an event comes too late to concern its key."""
        if len(self.keys) == 0:
            return False
        assert self.subscriber.changing is not None
        positions = self.subscriber.changing.automaton.sources[stream].key
        return time < self.keys.get(tuple([row[position] for position in positions]), -FOREVER)

    def settled_until(self) -> int:
        """The time before which no result is changed any more, whatever its key."""
        return max(self.final, max(self.keys.values(), default=-FOREVER))


@final
class RevisingReaders:
    """All of them, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, RevisingReader] = {}
        self.readers: dict[str, list[tuple[RevisingReader, int]]] = {}  # with the index of the stream among its own
        self._failures: list[Failed] = []
        self._made = 0
        self._open: dict[int, RevisingReader] = {}  # those with results that are not final, by number
        self._first_end = FOREVER  # no such result ends before
        self._touched: list[tuple[int, int, RevisingReader]] = []  # a heap
        self._until_clean = CLEAN_MIN

    # --- coming and going ---------------------------------------------------------------------------------------

    def join(self, subscriber: Subscriber, reviser: Reviser) -> None:
        """Add a subscription. O(subscriptions here)."""
        self._made += 1
        reader = self.by_name[subscriber.name] = RevisingReader(subscriber, reviser, self._made)
        for at, stream in enumerate(reader.streams):
            self.readers.setdefault(stream, []).append((reader, at))
        self._rank()

    def leave(self, name: str) -> None:
        """Undo `join`. O(subscriptions here)."""
        reader = self.by_name.pop(name)
        self._open.pop(reader.number, None)
        for stream in reader.streams:
            rest = [each for each in self.readers[stream] if each[0] is not reader]
            if rest:
                self.readers[stream] = rest
            else:
                del self.readers[stream]
        self._rank()

    def _rank(self) -> None:
        for reader in self.by_name.values():
            reader.rank = 0
        changed = True
        while changed:  # ends, since publishing in circles is refused
            changed = False
            for reader in self.by_name.values():
                before = [other.rank for other in self.by_name.values() if other.publish in reader.streams]
                rank = 1 + max(before, default=0)
                changed = changed or rank > reader.rank
                reader.rank = max(rank, reader.rank)

    def ranked(self) -> list[RevisingReader]:
        """All of them, publishers before their readers."""
        return sorted(self.by_name.values(), key=lambda reader: (reader.rank, reader.number))

    # --- events -------------------------------------------------------------------------------------------------

    def take(self, stream: str, time: int, number: int, row: Row) -> None:
        """An event has come; `tell` tells what this changes. O(readers of its stream), and what it changes."""
        self._give(stream, time, number, number, row)

    def withdraw(self, stream: str, time: int, number: int, row: Row, found: RevisedResults) -> None:
        """An event is withdrawn. Costs as `take`."""
        self._take_back(stream, time, number, row)
        self.tell(found)

    def _give(self, stream: str, time: int, number: int, item: Item, row: Any) -> None:
        for reader, at in self.readers.get(stream, ()):
            if reader.suspended == NOT_SUSPENDED and not (time < reader.closed or reader.has_closed(at, time, row)):
                heappush(self._touched, (reader.rank, reader.number, reader))
                try:
                    seen = timed_row(row, time, time) if stream in reader.timed else row
                    reader.reviser.take(at, time, number, item, seen)
                except Exception as error:  # any error concerns this subscription only
                    self._suspend(reader, error, time)

    def _take_back(self, stream: str, time: int, number: int, row: Any) -> None:
        for reader, at in self.readers.get(stream, ()):
            if reader.suspended == NOT_SUSPENDED:
                heappush(self._touched, (reader.rank, reader.number, reader))
                try:
                    reader.reviser.retract(at, time, number, row)
                except Exception as error:
                    self._suspend(reader, error, 0)

    def rewrite(
        self, reader: RevisingReader, automaton: Automaton, begin: int, end: int, found: RevisedResults
    ) -> None:
        """Replace the arcs of a subscription, which differ for the events of [begin, end)."""
        if reader.suspended != NOT_SUSPENDED:
            return
        heappush(self._touched, (reader.rank, reader.number, reader))
        try:
            reader.reviser.write(automaton, begin, end)
        except Exception as error:
            self._suspend(reader, error, begin)
        self.tell(found)

    def tell(self, found: RevisedResults) -> None:
        """Report the changes of all machines that something has reached; those of a stream reach its readers."""
        touched = self._touched
        last: RevisingReader | None = None
        while touched:
            _, _, reader = heappop(touched)
            if reader is last:
                continue
            last = reader
            if reader.suspended != NOT_SUSPENDED:
                self._report(reader, found)
                continue
            try:
                revisions = reader.reviser.settle()
            except Exception as error:
                self._suspend(reader, error, 0)
                self._report(reader, found)
                continue
            for revision in revisions:
                self._tell(reader, revision, found)

    def _tell(self, reader: RevisingReader, revision: Revision, found: RevisedResults) -> None:
        found.add(reader.subscriber, revision)
        inserted, source = revision
        matched = source.one()
        if inserted:
            reader.ends.add(matched.end)
            self._open[reader.number] = reader
            self._first_end = min(self._first_end, matched.end)
        else:
            reader.ends.discard(matched.end)
        if reader.publish is None or reader.publish not in self.readers:
            return
        assert matched.trace is not None
        number = int(mixed(matched.trace, reader.salt, 0))
        if not inserted:
            self._take_back(reader.publish, matched.end, number, matched.values)
            return
        lineage = (number, tuple(contributed(matched)))
        self._give(reader.publish, matched.end, number, lineage, matched.values)

    # --- time ---------------------------------------------------------------------------------------------------

    def pass_time(self, safe: int, found: RevisedResults) -> None:
        """No event before `safe` comes or is withdrawn, which nobody has promised in words: only subscriptions with
        results that become final are told so. O(subscriptions with results that are not final); now and then O(their
        keys)."""
        if self._first_end < safe:
            self._close([self._open[number] for number in sorted(self._open)], safe, found)
        self._until_clean -= 1
        if self._until_clean < 0:
            self._clean(safe)

    def _clean(self, safe: int) -> None:
        running = self._running()
        for reader in running:
            reader.reviser.punctuate(max(safe, reader.closed))
        self._until_clean = CLEAN_MIN + sum([reader.reviser.keys() for reader in running])

    def settle(
        self, reader: RevisingReader, bounds: SettledTimes, keys: dict[Row, int], before: int, found: RevisedResults
    ) -> None:
        """What was promised in words makes results of a subscription final: tell it so, if it is news. `keys`: the
        times of single keys that are later; `before`: the safe time until now. O(ends that become final)."""
        told = max(reader.final, before)
        reader.closed, reader.final = max(reader.closed, bounds.closed), max(reader.final, bounds.final)
        del reader.ends[: reader.ends.bisect_left(reader.final)]
        running = reader.suspended == NOT_SUSPENDED
        if running and reader.final > told:
            found.tell(reader.subscriber, reader.final)
        for key, time in keys.items():
            if running and time > max(reader.final, reader.keys.get(key, -FOREVER)):
                reader.keys[key] = time
                reader.reviser.punctuate_key(key, time)
                found.tell(reader.subscriber, time, key)
        reader.keys = {key: time for key, time in reader.keys.items() if time > reader.closed}

    def settled(self, safe: int) -> None:
        """All have been settled: forget what nothing needs any more. O(subscriptions, and keys with such state)."""
        self._first_end = FOREVER
        for reader in self.by_name.values():
            if len(reader.ends) > 0:
                self._first_end = min(self._first_end, reader.ends[0])
            else:
                self._open.pop(reader.number, None)
        self._clean(safe)

    def _close(self, readers: list[RevisingReader], safe: int, found: RevisedResults) -> None:
        """Forget the ends before the safe time, and tell the subscriptions that these are final."""
        self._first_end = FOREVER
        for reader in readers:
            ends = reader.ends
            before = ends.bisect_left(safe)
            del ends[:before]
            if before > 0 and reader.suspended == NOT_SUSPENDED:
                found.tell(reader.subscriber, safe)
            if len(ends) > 0:
                self._first_end = min(self._first_end, ends[0])
            else:
                self._open.pop(reader.number, None)

    def _running(self) -> list[RevisingReader]:
        return [reader for reader in self.by_name.values() if reader.suspended == NOT_SUSPENDED]

    # --- suspension ---------------------------------------------------------------------------------------------

    def _suspend(self, reader: RevisingReader, error: Exception, time: int) -> None:
        reader.suspended = reason_of(error)
        reader.since = time
        if reader.suspended == FAILED:
            self._failures.append(Failed(reader.subscriber.name, self._reference(reader), error))

    def _reference(self, reader: RevisingReader) -> str:
        return digest(f"{reader.subscriber.identity()}suspended\0", reader.since, 0)

    def _report(self, reader: RevisingReader, found: RevisedResults) -> None:
        """Tell that the subscription is suspended, once."""
        name, since = reader.subscriber.name, reader.since
        made = Match(name, self._reference(reader), since, since, None, {}, limit=SUSPENSIONS[reader.suspended])
        found.report(reader.subscriber, made)
        found.failures += self._failures
        self._failures.clear()

    def suspended(self) -> dict[str, tuple[str, int]]:
        """The subscriptions that find nothing more: name, reason and time."""
        by_name = self.by_name.items()
        return {name: (SUSPENSIONS[s.suspended], s.since) for name, s in by_name if s.suspended != NOT_SUSPENDED}

    # --- inspection ---------------------------------------------------------------------------------------------

    def statistics(self) -> dict[str, int]:
        """The sums of the machines' counts."""
        figures: dict[str, int] = {}
        for reader in self._running():
            for name, count in reader.reviser.statistics().items():
                figures[name] = figures.get(name, 0) + count
        return figures

    def check_invariants(self) -> None:
        """Raise AssertionError if the parts contradict each other."""
        assert not self._touched
        for reader in self._running():
            reader.reviser.check_invariants()
        assert {reader.number for by_name in self.readers.values() for reader, _ in by_name} == {
            reader.number for reader in self.by_name.values()
        }

    def dump(self) -> Any:
        by_name = [
            [
                name,
                reader.suspended,
                reader.since,
                list(reader.ends),
                [reader.closed, reader.final, [[list(key), time] for key, time in reader.keys.items()]],
                None if reader.suspended != NOT_SUSPENDED else reader.reviser.dump(),
            ]
            for name, reader in self.by_name.items()
        ]
        return [self._until_clean, by_name]

    def load(self, data: Any) -> None:
        self._until_clean, by_name = data
        for name, suspended, since, ends, *settled, kept in by_name:
            reader = self.by_name[name]
            for each in settled:  # earlier versions kept none
                reader.closed, reader.final, keys = each
                reader.keys = {tuple(key): time for key, time in keys}
            reader.suspended, reader.since, reader.ends = suspended, since, SortedList(ends)
            if len(ends) > 0:
                self._open[reader.number] = reader
                self._first_end = min(self._first_end, ends[0])
            if suspended == NOT_SUSPENDED:
                reader.reviser.load(kept)
