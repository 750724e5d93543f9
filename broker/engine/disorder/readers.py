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

from ...automaton.automaton import Automaton
from ...events.instant import FOREVER
from ..account import FAILED, NOT_SUSPENDED, reason_of
from ..executors.matches import Item, ids
from ..executors.revising import Reviser, Revision
from ..match import Match
from ..results import SUSPENSIONS, Failed
from ..subscriber import Subscriber, digest
from ..trace import MASK, mixed
from .buffer import HeldEvent
from .joined import RevisedResults

CLEAN_MIN: Final = 64  # safe times, each later than the one before, between two drops of what is final


def salt_of(subscriber: Subscriber) -> int:
    """What tells the published results of a subscription from equal ones of another."""
    return int.from_bytes(hashlib.blake2b(subscriber.identity().encode(), digest_size=8).digest(), "big") & int(MASK)


@final
class RevisingSeat:
    """A subscription and its machine. `rank`: behind those of all publishers that it reads from; `ends`: those of the
    results that were told and are not final."""

    def __init__(self, subscriber: Subscriber, reviser: Reviser, number: int) -> None:
        form = subscriber.form
        self.subscriber = subscriber
        self.reviser = reviser
        self.number = number
        self.streams: tuple[str, ...] = tuple([stream for stream, _ in form.sources])
        self.publish = form.publish
        self.salt = 0 if form.publish is None else salt_of(subscriber)
        self.rank = 0
        self.ends: Any = SortedList()
        self.suspended: int = NOT_SUSPENDED
        self.since = 0


@final
class RevisingReaders:
    """All of them, by name."""

    def __init__(self) -> None:
        self.seats: dict[str, RevisingSeat] = {}
        self.readers: dict[str, list[tuple[RevisingSeat, int]]] = {}  # with the index of the stream among its own
        self._failures: list[Failed] = []
        self._made = 0
        self._open: dict[int, RevisingSeat] = {}  # those with results that are not final, by number
        self._first_end = FOREVER  # no such result ends before
        self._touched: list[tuple[int, int, RevisingSeat]] = []  # a heap
        self._until_clean = CLEAN_MIN

    # --- coming and going ---------------------------------------------------------------------------------------

    def join(self, subscriber: Subscriber, reviser: Reviser) -> None:
        """Add a subscription. O(subscriptions here)."""
        self._made += 1
        seat = self.seats[subscriber.name] = RevisingSeat(subscriber, reviser, self._made)
        for at, stream in enumerate(seat.streams):
            self.readers.setdefault(stream, []).append((seat, at))
        self._rank()

    def leave(self, name: str) -> None:
        """Undo `join`. O(subscriptions here)."""
        seat = self.seats.pop(name)
        self._open.pop(seat.number, None)
        for stream in seat.streams:
            rest = [each for each in self.readers[stream] if each[0] is not seat]
            if rest:
                self.readers[stream] = rest
            else:
                del self.readers[stream]
        self._rank()

    def _rank(self) -> None:
        for seat in self.seats.values():
            seat.rank = 0
        changed = True
        while changed:  # ends, since publishing in circles is refused
            changed = False
            for seat in self.seats.values():
                before = [other.rank for other in self.seats.values() if other.publish in seat.streams]
                rank = 1 + max(before, default=0)
                changed = changed or rank > seat.rank
                seat.rank = max(rank, seat.rank)

    def ranked(self) -> list[RevisingSeat]:
        """All of them, publishers before their readers."""
        return sorted(self.seats.values(), key=lambda seat: (seat.rank, seat.number))

    # --- events -------------------------------------------------------------------------------------------------

    def take(self, event: HeldEvent, found: RevisedResults) -> None:
        """An event has come. O(readers of its stream), and what it changes."""
        self._give(event.stream, event.time, event.number, event.number, event.row)
        self._settle(found)

    def withdraw(self, event: HeldEvent, found: RevisedResults) -> None:
        """An event is withdrawn. Costs as `take`."""
        self._take_back(event.stream, event.number)
        self._settle(found)

    def _give(self, stream: str, time: int, number: int, item: Item, row: Any) -> None:
        for seat, at in self.readers.get(stream, ()):
            if seat.suspended == NOT_SUSPENDED:
                heappush(self._touched, (seat.rank, seat.number, seat))
                try:
                    seat.reviser.take(at, time, number, item, row)
                except Exception as error:  # any error concerns this subscription only
                    self._suspend(seat, error, time)

    def _take_back(self, stream: str, number: int) -> None:
        for seat, _ in self.readers.get(stream, ()):
            if seat.suspended == NOT_SUSPENDED:
                heappush(self._touched, (seat.rank, seat.number, seat))
                try:
                    seat.reviser.retract(number)
                except Exception as error:
                    self._suspend(seat, error, 0)

    def rewrite(self, seat: RevisingSeat, automaton: Automaton, begin: int, end: int, found: RevisedResults) -> None:
        """Replace the arcs of a subscription, which differ for the events of [begin, end)."""
        if seat.suspended != NOT_SUSPENDED:
            return
        heappush(self._touched, (seat.rank, seat.number, seat))
        try:
            seat.reviser.write(automaton, begin, end)
        except Exception as error:
            self._suspend(seat, error, begin)
        self._settle(found)

    def _settle(self, found: RevisedResults) -> None:
        """Report the changes of all machines that something has reached; those of a stream reach its readers."""
        touched = self._touched
        last: RevisingSeat | None = None
        while touched:
            _, _, seat = heappop(touched)
            if seat is last:
                continue
            last = seat
            if seat.suspended != NOT_SUSPENDED:
                self._report(seat, found)
                continue
            try:
                revisions = seat.reviser.settle()
            except Exception as error:
                self._suspend(seat, error, 0)
                self._report(seat, found)
                continue
            for revision in revisions:
                self._tell(seat, revision, found)

    def _tell(self, seat: RevisingSeat, revision: Revision, found: RevisedResults) -> None:
        found.add(seat.subscriber, revision)
        inserted, source = revision
        matched = source.one()
        if inserted:
            seat.ends.add(matched.end)
            self._open[seat.number] = seat
            self._first_end = min(self._first_end, matched.end)
        else:
            seat.ends.discard(matched.end)
        if seat.publish is None or seat.publish not in self.readers:
            return
        assert matched.trace is not None
        number = int(mixed(matched.trace, seat.salt, 0))
        if not inserted:
            self._take_back(seat.publish, number)
            return
        contributed = tuple([number for _, item, _ in matched.assigned for number in ids(item)])
        self._give(seat.publish, matched.end, number, (number, contributed), matched.values)

    # --- time ---------------------------------------------------------------------------------------------------

    def pass_time(self, safe: int, promised: bool, found: RevisedResults) -> None:
        """No event before `safe` comes or is withdrawn. If nobody has `promised` so in words, only subscriptions with
        results that become final are told so. O(subscriptions with results that are not final), for a promise in words
        O(subscriptions here); and now and then O(their keys)."""
        if promised:
            self._close(list(self.seats.values()), True, safe, found)
        elif self._first_end < safe:
            self._close([self._open[number] for number in sorted(self._open)], False, safe, found)
        self._until_clean -= 1
        if promised or self._until_clean < 0:
            self._until_clean = CLEAN_MIN
            for seat in self._running():
                seat.reviser.punctuate(safe)

    def _close(self, seats: list[RevisingSeat], promised: bool, safe: int, found: RevisedResults) -> None:
        """Forget the ends before the safe time, and tell the subscriptions that these are final."""
        self._first_end = FOREVER
        for seat in seats:
            ends = seat.ends
            before = ends.bisect_left(safe)
            del ends[:before]
            if (promised or before > 0) and seat.suspended == NOT_SUSPENDED:
                found.tell(seat.subscriber, safe)
            if len(ends) > 0:
                self._first_end = min(self._first_end, ends[0])
            else:
                self._open.pop(seat.number, None)

    def _running(self) -> list[RevisingSeat]:
        return [seat for seat in self.seats.values() if seat.suspended == NOT_SUSPENDED]

    # --- suspension ---------------------------------------------------------------------------------------------

    def _suspend(self, seat: RevisingSeat, error: Exception, time: int) -> None:
        seat.suspended = reason_of(error)
        seat.since = time
        if seat.suspended == FAILED:
            self._failures.append(Failed(seat.subscriber.name, self._reference(seat), error))

    def _reference(self, seat: RevisingSeat) -> str:
        return digest(f"{seat.subscriber.identity()}suspended\0", seat.since, 0)

    def _report(self, seat: RevisingSeat, found: RevisedResults) -> None:
        """Tell that the subscription is suspended, once."""
        name, since = seat.subscriber.name, seat.since
        made = Match(name, self._reference(seat), since, since, None, {}, limit=SUSPENSIONS[seat.suspended])
        found.report(seat.subscriber, made)
        found.failures += self._failures
        self._failures.clear()

    def suspended(self) -> dict[str, tuple[str, int]]:
        """The subscriptions that find nothing more: name, reason and time."""
        seats = self.seats.items()
        return {name: (SUSPENSIONS[s.suspended], s.since) for name, s in seats if s.suspended != NOT_SUSPENDED}

    # --- inspection ---------------------------------------------------------------------------------------------

    def statistics(self) -> dict[str, int]:
        """The sums of the machines' counts."""
        figures: dict[str, int] = {}
        for seat in self._running():
            for name, count in seat.reviser.statistics().items():
                figures[name] = figures.get(name, 0) + count
        return figures

    def check_invariants(self) -> None:
        """Raise AssertionError if the parts contradict each other."""
        assert not self._touched
        for seat in self._running():
            seat.reviser.check_invariants()
        assert {seat.number for seats in self.readers.values() for seat, _ in seats} == {
            seat.number for seat in self.seats.values()
        }

    def dump(self) -> Any:
        seats = [
            [
                name,
                seat.suspended,
                seat.since,
                list(seat.ends),
                None if seat.suspended != NOT_SUSPENDED else seat.reviser.dump(),
            ]
            for name, seat in self.seats.items()
        ]
        return [self._until_clean, seats]

    def load(self, data: Any) -> None:
        self._until_clean, seats = data
        for name, suspended, since, ends, kept in seats:
            seat = self.seats[name]
            seat.suspended, seat.since, seat.ends = suspended, since, SortedList(ends)
            if len(ends) > 0:
                self._open[seat.number] = seat
                self._first_end = min(self._first_end, ends[0])
            if suspended == NOT_SUSPENDED:
                seat.reviser.load(kept)
