"""Patterns at work: the merged events of some streams on their way to the machines that they concern.

A lane is a set of streams, with the attributes by which it counts the events of each partition if a component asks for
contiguity there. An event counts in its lanes, which decides what is adjacent; beyond that it touches only machines one
of whose inputs it satisfies. A clock wakes machines with matches that wait for time to pass.

Here: one event on its way through a lane, time passing. Not here: who is in which lane (registry), runs (machine).
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from ...account import FAILED, NOT_SUSPENDED, reason_of
from ...executors.kleene.completions import Audience, Completions
from ...executors.kleene.found import Item
from ...executors.kleene.machine import Machine
from ...executors.kleene.tables import FOREVER
from ...target import Target

SWEEP_MIN: Final = 4_096  # events of a lane between two looks for what is of no use any more


@final
class Matcher:
    """A machine, and whom it serves: equal subscriptions that came before it had taken an event. `mask`: the inputs
    that the current event satisfies; `alarm`: when the clock is to wake it. Where subscriptions that are alike share
    it, they are its `family`, and `target` is nobody's."""

    def __init__(self, machine: Machine, target: Target, compressed: bool) -> None:
        self.machine = machine
        self.target = target
        self.compressed = compressed
        self.family = machine.family
        self.mask: i64 = 0
        self.taken = False
        self.busy = False
        self._audience: Audience | None = None
        self.alarm: i64 = FOREVER
        self.lost: i64 = 0  # how often a limit was hit, and how often when that was last told: whenever it has doubled
        self.told: i64 = 0
        self.suspended: i64 = NOT_SUSPENDED  # why
        self.since: i64 = 0  # when

    def targets(self) -> list[Target]:
        """Whom it serves."""
        return [self.target] if self.family is None else self.family.ranks().targets

    def renew(self) -> None:
        """Whom it serves has changed."""
        self._audience = None

    def audience(self) -> Audience:
        """Whom it serves, as results keep it. O(members of a family) once after each change."""
        audience = self._audience
        if audience is None:
            audience = self._audience = self.machine.audience([self.target], self.compressed)
        return audience

    def complain(self, found: Completions) -> None:
        """Word of the machine's limits."""
        self.lost += self.machine.lost
        self.machine.lost = 0
        if self.lost >= 2 * self.told:
            self.told = self.lost
            found.add(None)

    def suspend(self, error: Exception, time: i64, found: Completions) -> None:
        """The machine has raised this: give it up, and tell whom it serves."""
        self.suspended = reason_of(error)
        self.since = time
        self.taken = True
        self.alarm = FOREVER
        self.machine.clear()
        found.suspend(int(self.suspended))
        if self.suspended == FAILED:
            found.failures.append((int(found.event), self.targets(), error))


@final
class Reader:
    """An input of a machine, as a bit."""

    def __init__(self, matcher: Matcher, bit: i64) -> None:
        self.matcher = matcher
        self.bit = bit


@final
class Clock:
    """The machines that wait for time to pass. `next`: when it has to be past for the first of them."""

    def __init__(self) -> None:
        self.next: i64 = FOREVER
        self._alarms: list[tuple[int, int, Matcher]] = []  # a heap
        self._number = 0

    def set(self, matcher: Matcher) -> None:
        """Wake the machine when it has something to say, if that is sooner than known so far. O(log n)."""
        due = matcher.machine.pending.next
        if due >= matcher.alarm:
            return
        matcher.alarm = due
        self._number += 1
        heappush(self._alarms, (int(due), self._number, matcher))
        if due < self.next:
            self.next = due

    def advance(self, time: i64, found: Completions) -> None:
        """All events before that time have come: what waited for it."""
        alarms = self._alarms
        while len(alarms) > 0 and alarms[0][0] < time:
            due, _, matcher = heappop(alarms)
            if matcher.alarm != due:
                continue
            matcher.alarm = FOREVER
            found.serve(matcher.audience())
            try:
                matcher.machine.advance(time, found)
            except Exception as error:  # whatever it is: it is this machine's, and stays its own
                matcher.suspend(error, time, found)
            self.set(matcher)
        self.next = alarms[0][0] if len(alarms) > 0 else FOREVER

    def drop(self, matcher: Matcher) -> None:
        """Forget a machine. O(machines that wait)."""
        matcher.alarm = FOREVER
        self._alarms = [alarm for alarm in self._alarms if alarm[2] is not matcher]
        self._alarms.sort(key=_due)
        self.next = self._alarms[0][0] if self._alarms else FOREVER


def _due(alarm: tuple[int, int, Matcher]) -> tuple[int, int]:
    return alarm[0], alarm[1]


@final
class Lane:
    """The machines over `streams`, whose events have the attributes of partitions at `keys`; () if nobody asks."""

    def __init__(self, streams: tuple[str, ...], keys: tuple[tuple[int, ...], ...], clock: Clock) -> None:
        self.streams = streams
        self.keys = keys
        self.clock = clock
        self.readers: list[dict[int, list[Reader]]] = [{} for _ in streams]  # by stream and symbol
        self.matchers: dict[Matcher, None] = {}
        self.busy: dict[Matcher, None] = {}  # those whose machines may keep something
        self.position: i64 = 0
        self.places: dict[Any, int] = {}
        self._until_sweep: i64 = SWEEP_MIN
        self._touched: list[Matcher] = []  # by the current event

    def empty(self) -> bool:
        return not self.matchers

    def take(self, stream: i64, symbols: list[int], row: Row, time: i64, item: Item, found: Completions) -> None:
        """An event of one of the streams, by its number among them, and the symbols that it satisfies."""
        place = self.count(stream, row)
        if len(symbols) == 0:
            return
        known = self.readers[stream]
        touched = self._touched
        for symbol in symbols:
            readers = known.get(symbol)
            if readers is not None:
                for reader in readers:
                    matcher = reader.matcher
                    if matcher.mask == 0:
                        touched.append(matcher)
                    matcher.mask |= reader.bit
        for matcher in touched:
            mask = matcher.mask
            matcher.mask = 0
            self.step(matcher, mask, row, time, place, item, found)
        touched.clear()
        self.upkeep(time)

    def count(self, stream: i64, row: Row) -> i64:
        """Count the event: its number in its partition."""
        self.position += 1
        place: i64 = 0
        if len(self.keys) > 0:
            key = tuple([row[position] for position in self.keys[stream]])
            if None not in key:
                place = self.places.get(key, 0) + 1
                self.places[key] = place
        return place

    def step(
        self, matcher: Matcher, mask: i64, row: Row, time: i64, place: i64, item: Item, found: Completions
    ) -> None:
        """The event to a machine some of whose inputs it satisfies."""
        if matcher.suspended != NOT_SUSPENDED:
            return
        machine = matcher.machine
        found.serve(matcher.audience())
        machine.tables.account.earn()
        try:
            machine.take(mask, row, time, self.position, place, item, found)
        except Exception as error:  # whatever it is: it is this machine's, and stays its own
            matcher.suspend(error, time, found)
            self.forget(matcher)
            return
        matcher.taken = True
        if not matcher.busy:
            self.rouse(matcher)
        if machine.lost > 0:
            matcher.complain(found)
        if machine.pending.next < matcher.alarm:
            self.clock.set(matcher)

    def rouse(self, matcher: Matcher) -> None:
        """Look after a machine from now on."""
        matcher.busy = True
        self.busy[matcher] = None

    def forget(self, matcher: Matcher) -> None:
        """And no longer."""
        matcher.busy = False
        self.busy.pop(matcher, None)

    def upkeep(self, time: i64) -> None:
        """After each event."""
        self._until_sweep -= 1
        if self._until_sweep < 0:
            self._sweep(time)

    def _sweep(self, time: i64) -> None:
        """Let go of keys without runs, and of the places of partitions without. O(runs and keys), once in as many
        events; machines that keep nothing are not looked at."""
        kept: i64 = len(self.busy)
        for matcher in list(self.busy):
            if matcher.machine.empty(time, self.position):
                self.forget(matcher)
            kept += len(matcher.machine.cells)
        if len(self.places) > 2 * kept + SWEEP_MIN:
            alive = {key for matcher in self.busy for key in matcher.machine.partitions()}
            self.places = {key: place for key, place in self.places.items() if key in alive}
        self._until_sweep = SWEEP_MIN + 2 * kept
