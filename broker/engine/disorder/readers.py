"""The subscriptions that revise their results: who reads which stream before its events are final (AFA, 4.2).

They read their streams in the order of arrival, and give the streams that they publish results and withdrawals alike,
each to the readers of that stream among them. Publishers come before their readers, so that a result which one event
gives and takes back is never told. Those that are alike, and come before any event, share one machine.

Here: these subscriptions. Not here: the partial matches of one (executors), other readers of the streams that they
publish (in_order), when events are final (watermarks).
"""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heappop, heappush
from typing import Any, Final, final

from ...algebra.timed_stream import timed_row
from ...automaton.arc_updates import ChangedArcs
from ...events.instant import FOREVER
from ...events.schema import Row
from ..executors.machine_plan import MachinePlan
from ..executors.revising import Revision
from ..executors.trace import mixed
from ..match import Failed, Match
from ..matches.sources import Item, contributed
from ..options import Options
from ..program.account import FAILED, NOT_SUSPENDED, reason_of
from ..results import SUSPENSIONS
from ..subscribing.subscriber import Subscriber, digest
from .finality import SettledTimes
from .joined import RevisedResults
from .revising_groups import OpenEnds, RevisingGroup, RevisingReader
from .stream_order import StreamOrder
from .watermarks import Watermarks

CLEAN_MIN: Final = 1_024  # events between two drops of what is final


@final
class RevisingReaders:
    """All of them, by name. `groups`: by stream, with the index of the stream among their own; `joinable`: by what
    those that may join have in common, the groups without events."""

    def __init__(self, options: Options, marks: Watermarks) -> None:
        self.options = options
        self.marks = marks
        self.groups: dict[str, list[tuple[RevisingGroup, int]]] = {}
        self.joinable: dict[Hashable, RevisingGroup] = {}
        self.by_name: dict[str, RevisingReader] = {}
        self.readers: dict[str, list[tuple[RevisingReader, int]]] = {}  # with the index of the stream among its own
        self._failures: list[Failed] = []
        self._made = 0
        self._open: dict[int, RevisingReader] = {}  # those with results that are not final, by number
        self._first_ends: dict[StreamOrder, int] = {}  # no such result of subscriptions in an order ends before
        self._touched: list[tuple[int, int, RevisingGroup]] = []  # a heap
        self._until_clean = CLEAN_MIN

    # --- coming and going ---------------------------------------------------------------------------------------

    def join(self, subscriber: Subscriber, plan: MachinePlan, alone: bool) -> None:
        """Add a subscription with its plan; `alone`: without company until `load`. O(subscriptions here)."""
        self._made += 1
        alike = None if alone else plan.alike(self.options)
        group = None if alike is None else self.joinable.get(alike)
        if group is None or group.reviser.begun() or group.suspended != NOT_SUSPENDED:
            group = RevisingGroup(subscriber, plan.reviser(self.options), self._made)
            for at, (stream, _) in enumerate(subscriber.form.sources):
                self.groups.setdefault(stream, []).append((group, at))
            if alike is not None:
                self.joinable[alike] = group
        place = group.reviser.join(subscriber.revised(), -1)
        reader = self.by_name[subscriber.name] = RevisingReader(subscriber, group, place, self._made)
        group.members[place] = reader
        group.publishes = group.publishes or reader.publish is not None
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
        self._part(reader)
        self._rank()

    def _part(self, reader: RevisingReader) -> None:
        """A member leaves its group, and the last one ends it."""
        group = reader.group
        del group.members[reader.place]
        if len(group.members) == 0:
            for stream in reader.streams:
                self.groups[stream] = [each for each in self.groups[stream] if each[0] is not group]
            self.joinable = {key: each for key, each in self.joinable.items() if each is not group}
            return
        group.settle()
        if group.suspended == NOT_SUSPENDED:
            group.reviser.leave(reader.place)

    def _rank(self) -> None:
        for reader in self.by_name.values():
            reader.rank = 0
        # Those of a group read the same streams, and so have the same rank.
        changed = True
        while changed:  # ends, since publishing in circles is refused
            changed = False
            for reader in self.by_name.values():
                before = [other.rank for other in self.by_name.values() if other.publish in reader.streams]
                rank = 1 + max(before, default=0)
                changed = changed or rank > reader.rank
                reader.rank = reader.group.rank = max(rank, reader.rank)

    def ranked(self) -> list[RevisingReader]:
        """All of them, publishers before their readers."""
        return sorted(self.by_name.values(), key=lambda reader: (reader.rank, reader.number))

    # --- events -------------------------------------------------------------------------------------------------

    def take(self, stream: str, time: int, number: int, item: Item, row: Any) -> None:
        """An event has come; `tell` tells what this changes. O(readers of its stream), and what it changes."""
        for group, at in self.groups.get(stream, ()):
            if group.suspended == NOT_SUSPENDED and not group.has_closed(at, time, row):
                self._touch(group)
                try:
                    seen = timed_row(row, time, time) if stream in group.timed else row
                    group.reviser.take(at, time, number, item, seen)
                except Exception as error:  # any error concerns these subscriptions only
                    self._suspend(group, error, time)

    def _touch(self, group: RevisingGroup) -> None:
        """Note that something has reached a group: publishers are told before their readers."""
        if not group.touched:
            group.touched = True
            heappush(self._touched, (group.rank, group.number, group))

    def withdraw(self, stream: str, time: int, number: int, row: Any) -> None:
        """An event is withdrawn. Costs as `take`."""
        for group, at in self.groups.get(stream, ()):
            if group.suspended == NOT_SUSPENDED:
                self._touch(group)
                try:
                    group.reviser.retract(at, time, number, row)
                except Exception as error:
                    self._suspend(group, error, 0)

    def rewrite(self, reader: RevisingReader, changed: ChangedArcs, found: RevisedResults) -> None:
        """Replace the arcs of a subscription."""
        group = reader.group
        if group.suspended != NOT_SUSPENDED:
            return
        self._touch(group)
        try:
            group.reviser.write(reader.place, changed)
        except Exception as error:
            self._suspend(group, error, changed.begin)
        self.tell(found)

    def tell(self, found: RevisedResults, events: int = 0) -> None:
        """Report the changes of all machines that something has reached, of so many new events; those of a stream reach
        its readers."""
        self._until_clean -= events
        touched = self._touched
        while touched:
            _, _, group = heappop(touched)
            group.touched = False
            if group.suspended != NOT_SUSPENDED:
                self._report(group, found)
                continue
            try:
                revisions = group.reviser.settle()
            except Exception as error:
                self._suspend(group, error, 0)
                self._report(group, found)
                continue
            if len(group.members) > 1:  # each is told after the other
                revisions.sort(key=_member)
            for place, revision in revisions:
                self._tell(group.members[place], revision, found)

    def _tell(self, reader: RevisingReader, revision: Revision, found: RevisedResults) -> None:
        found.add(reader.subscriber, revision)
        inserted, source = revision
        matched = source.one()
        if inserted:
            reader.ends.add(matched.end)
            self._open[reader.number] = reader
            order = self.order(reader)
            self._first_ends[order] = min(self._first_ends.get(order, -FOREVER), matched.end)
        else:
            reader.ends.drop(matched.end)
        if reader.publish is None or reader.publish not in self.readers:
            return
        assert matched.trace is not None
        number = int(mixed(matched.trace, reader.salt, 0))
        if not inserted:
            self.withdraw(reader.publish, matched.end, number, matched.values)
            return
        lineage = (number, tuple(contributed(matched)))
        self.take(reader.publish, matched.end, number, lineage, matched.values)

    # --- time ---------------------------------------------------------------------------------------------------

    def order(self, reader: RevisingReader) -> StreamOrder:
        """The order of the streams that it reads."""
        return self.marks.order_of(reader.streams[0])

    def pass_time(self, order: StreamOrder, found: RevisedResults) -> None:
        """More events of an order are safe, which nobody has promised in words: only subscriptions with results that
        become final are told so. O(subscriptions with results that are not final); now and then O(their keys)."""
        if self._first_ends.get(order, -FOREVER) < order.safe:
            self._close(order, found)
        if self._until_clean < 0:
            self._clean()

    def _clean(self) -> None:
        running = self._running()
        for group in running:
            # What a copy in order would begin with, stays until all that it has not processed is final.
            safe = self.order(next(iter(group.members.values()))).safe
            group.reviser.punctuate(safe if group.publishes else max(safe, group.closed))
        self._until_clean = CLEAN_MIN + sum([group.reviser.keys() for group in running])

    def settle(
        self, reader: RevisingReader, bounds: SettledTimes, keys: dict[Row, int], found: RevisedResults
    ) -> None:
        """What was promised in words makes results of a subscription final: tell it so, if it is news. `keys`: the
        times of single keys that are later. O(ends that become final)."""
        told = max(reader.final, self.order(reader).before)
        reader.closed, reader.final = max(reader.closed, bounds.closed), max(reader.final, bounds.final)
        group = reader.group
        group.settle()
        reader.ends.pass_by(reader.final)
        running = reader.suspended == NOT_SUSPENDED
        if running and reader.final > told:
            found.tell(reader.subscriber, reader.final)
        for key, time in keys.items():
            if running and time > max(reader.final, reader.keys.get(key, -FOREVER)):
                reader.keys[key] = time
                least = min([max(each.closed, each.keys.get(key, -FOREVER)) for each in group.members.values()])
                if least > group.closed and not group.publishes:
                    group.reviser.punctuate_key(key, least)
                found.tell(reader.subscriber, time, key)
        reader.keys = {key: time for key, time in reader.keys.items() if time > reader.closed}
        group.settle()

    def settled(self) -> None:
        """All have been settled: forget what nothing needs any more. O(subscriptions, and keys with such state)."""
        self._first_ends.clear()
        for reader in self.by_name.values():
            if reader.ends.first() == FOREVER:
                self._open.pop(reader.number, None)
        self._clean()

    def _close(self, order: StreamOrder, found: RevisedResults) -> None:
        """Forget the ends before the safe time, and tell the subscriptions that these are final."""
        first = FOREVER
        for number in sorted(self._open):
            reader = self._open[number]
            if self.order(reader) is not order:
                continue
            if reader.ends.pass_by(order.safe) and reader.suspended == NOT_SUSPENDED:
                found.tell(reader.subscriber, order.safe)
            first = min(first, reader.ends.first())
            if reader.ends.first() == FOREVER:
                del self._open[number]
        self._first_ends[order] = first

    def companies(self) -> list[RevisingGroup]:
        """Each once, in the order in which they have begun."""
        return list({reader.group.number: reader.group for reader in self.by_name.values()}.values())

    def _running(self) -> list[RevisingGroup]:
        return [group for group in self.companies() if group.suspended == NOT_SUSPENDED]

    # --- suspension ---------------------------------------------------------------------------------------------

    def _suspend(self, group: RevisingGroup, error: Exception, time: int) -> None:
        group.suspended = reason_of(error)
        for reader in group.members.values():
            reader.suspended = group.suspended
            reader.since = time
            if reader.suspended == FAILED:
                self._failures.append(Failed(reader.subscriber.name, self._reference(reader), error))

    def _reference(self, reader: RevisingReader) -> str:
        return digest(f"{reader.subscriber.identity()}suspended\0", reader.since, 0)

    def _report(self, group: RevisingGroup, found: RevisedResults) -> None:
        """Tell that the subscriptions are suspended, once."""
        for reader in group.members.values():
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
        for group in self._running():
            for name, count in group.reviser.statistics().items():
                figures[name] = figures.get(name, 0) + count
        return figures

    def check_invariants(self) -> None:
        """Raise AssertionError if the parts contradict each other."""
        assert not self._touched
        for group in self._running():
            group.reviser.check_invariants()
        assert {reader.number for by_name in self.readers.values() for reader, _ in by_name} == {
            reader.number for reader in self.by_name.values()
        }

    def dump(self) -> Any:
        by_name = [
            [
                name,
                reader.suspended,
                reader.since,
                reader.ends.all(),
                [reader.closed, reader.final, [[list(key), time] for key, time in reader.keys.items()]],
                None if reader.suspended != NOT_SUSPENDED else self._dumped(reader),
            ]
            for name, reader in self.by_name.items()
        ]
        return [self._until_clean, by_name]

    def _dumped(self, reader: RevisingReader) -> Any:
        """The state of a group with its first member; of the others who that is."""
        first = next(iter(reader.group.members.values()))
        runs = reader.group.reviser.dump() if reader is first else None
        return {"with": first.subscriber.name, "place": reader.place, "runs": runs}

    def _rejoin(self, kept: dict[str, Any], reader: RevisingReader) -> None:
        """Give a reader its place in a group again. Its automaton is that of the group in which it is alone."""
        automaton, plan = reader.subscriber.revised(), reader.subscriber.machine
        assert plan is not None
        first = self.by_name[kept["with"]]
        group = first.group
        if first is reader:
            del group.members[reader.place]
            group.reviser = plan.reviser(self.options)
        else:
            self._part(reader)
        reader.group, reader.place = group, kept["place"]
        group.reviser.join(automaton, reader.place)
        group.members[reader.place] = reader

    def load(self, data: Any) -> None:
        self._until_clean, by_name = data
        for name, suspended, since, ends, settled, kept in by_name:
            reader = self.by_name[name]
            reader.closed, reader.final, keys = settled
            reader.keys = {tuple(key): time for key, time in keys}
            reader.suspended, reader.since, reader.ends = suspended, since, OpenEnds(ends)
            if len(ends) > 0:
                self._open[reader.number] = reader
            if kept is not None:
                self._rejoin(kept, reader)
        for name, suspended, _, _, _, kept in by_name:
            group = self.by_name[name].group
            if suspended == NOT_SUSPENDED:
                if kept["runs"] is not None:
                    group.reviser.load(kept["runs"])
            else:
                group.suspended = suspended
            group.settle()
        self._rank()


def _member(found: tuple[int, Revision]) -> int:
    return found[0]
