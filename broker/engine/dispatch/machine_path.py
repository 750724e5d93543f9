"""The machine path: passes a batch of events to one machine after the other, instead of event by event.

Machines that take several events at once get the whole batch; those that are filed by a key get all its events, one key
after the other, so that what they remember is in the processor's caches for all events of the key. Each machine sees
its events in the same order as on any other way, and what all complete is put in the order of the events when it is
read.

Here: the path of a whole batch through lanes. Hot. Not here: a machine that is alone (batch_path), one event (lanes),
links between the events of a key (executors.keyed_events).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ...algebra.normal_form import ALWAYS
from ...events.batch import Batch
from ..executors.completions import Completions
from ..executors.contract import NOTHING_DUE
from ..executors.event_ids import EventIds
from ..executors.keyed_events import NO_EVENT, KeyedEvents
from ..program.account import NOT_SUSPENDED
from .keyed import KeyReaders
from .lanes import Lane
from .matchers import Clock, Matcher
from .trial import Trial

FEW: Final = 8  # conditions of machines that sleep, up to which each is tried with all events


@final
class MachinePath:
    """The lanes of one stream. `trials`: by lane, the machines that are not filed by a key. `keyed`: others are."""

    def __init__(self, lanes: list[Lane], trials: list[list[Trial]], clock: Clock) -> None:
        self.lanes = lanes
        self.trials = trials
        self.clock = clock
        self.keyed = any(lane.indexes for lane in lanes)

    def travel(
        self, found: Completions, times: list[int], batch: Batch, ids: EventIds, starts: list[int]
    ) -> bool:  # fmt: skip
        """Process a batch of at least one event. What the clock wakes must belong to these lanes.

        A machine that fails is suspended from the event on at which it does; the others process all events. Returns
        False, and has done nothing, if a condition raises an error, or somebody listens to a machine's completions.
        """
        if not self._tried(batch):
            return False
        n: i64 = len(times)
        rows, items = [], []
        if self.keyed:
            rows, items = batch.rows(), ids.all()
        events = KeyedEvents(times, rows, items, starts)
        newest: i64 = times[n - 1]
        at: i64
        for at in range(len(self.lanes)):
            lane = self.lanes[at]
            events.position = lane.position
            if len(lane.indexes) == 1 and lane.indexes[0].parts(lane.keys):
                linked = lane.indexes[0].link(events)
                self._count_linked(lane, linked, events)
                for readers in linked:
                    self._pass(lane, readers, events, found)
            else:
                self._count(lane, events, n)
                for index in lane.indexes:
                    for readers in index.link(events):
                        self._pass(lane, readers, events, found)
            for trial in self.trials[at]:
                self._pass_all(lane, trial, events, batch, ids, found)
            lane.upkeep(newest, n)
        clock = self.clock
        while clock.next < newest:
            found.event = events.after(clock.next)
            clock.advance(times[found.event], found)
        return True

    def _tried(self, batch: Batch) -> bool:
        """Find the inputs that events satisfy. O(events x conditions)."""
        try:
            for trials in self.trials:
                for trial in trials:
                    if trial.matcher.follower is not None or trial.matcher.watchers is not None:
                        return False
                    trial.masks = trial.column(trial.masks, batch)
        except Exception:  # any error: event by event it is found again
            return False
        return True

    def _pass_all(
        self, lane: Lane, trial: Trial, events: KeyedEvents, batch: Batch, ids: EventIds, found: Completions
    ) -> None:
        """Pass all events to a machine that takes several at once."""
        matcher = trial.matcher
        machine = matcher.machine
        n: i64 = len(events.times)
        machine.at = 0
        while machine.at < n and matcher.suspended == NOT_SUSPENDED:
            lane.step_all(matcher, trial.masks, events.times, batch, ids, n, NOTHING_DUE, found)
        if matcher.suspended == NOT_SUSPENDED:
            self.clock.reset(matcher)

    def _count(self, lane: Lane, events: KeyedEvents, n: i64) -> None:
        """Count the events in their partitions, if a machine of the lane that is filed by a key needs that."""
        if len(lane.keys) == 0 or len(lane.indexes) == 0:
            lane.position += n
            return
        places = events.places
        at: i64
        for at in range(len(events.rows)):
            row = events.rows[at]
            concerns = False
            for index in lane.indexes:
                concerns = concerns or index.of(row) is not None
            places[at] = lane.count(0, row, concerns)

    def _count_linked(self, lane: Lane, linked: list[KeyReaders], events: KeyedEvents) -> None:
        """The same where partitions are keys: one lookup for all events of a key."""
        places, following, rows = events.places, events.following, events.rows
        position, known = lane.indexes[0].single, lane.places
        counted: i64 = 0
        for readers in linked:
            at = readers.first
            key = (rows[at][position],)
            place: i64 = known.get(key, 0)
            while at >= 0:
                place += 1
                places[at] = place
                counted += 1
                at = following[at]
            known[key] = place
        lane.position += len(rows)
        if counted < len(rows):  # others are counted once their partition has begun
            for at in range(len(rows)):
                if places[at] == 0:
                    key = (rows[at][position],)
                    before = known.get(key)
                    if before is not None:
                        known[key] = before + 1

    def _pass(self, lane: Lane, readers: KeyReaders, events: KeyedEvents, found: Completions) -> None:
        """Pass the events of a key to its machines."""
        for matcher in readers.matchers:
            lane.step_linked(matcher, events, readers.first, found)
        readers.first = NO_EVENT


def machine_path(lanes: list[Lane], stream: str, clock: Clock) -> MachinePath | None:
    """The path of a stream through lanes; None if a machine of them is neither filed by a key nor takes several events,
    a lane has several streams, or many conditions find those that wake machines, which an index does at once.
    O(machines)."""
    unfiled: list[list[Matcher]] = []
    sleeping = 0
    for lane in lanes:
        if len(lane.streams) > 1:
            return None
        found: list[Matcher] = []
        for matcher in lane.matchers:
            if matcher.filed is not None:
                continue
            machine = matcher.machine
            if not machine.batches:  # before anything is compiled: there may be many
                return None
            guards = [given.guard for given in machine.inputs if given.stream == stream]
            if ALWAYS not in guards:
                sleeping += len(guards)
            found.append(matcher)
        unfiled.append(found)
    if sleeping > FEW:
        return None
    return MachinePath(lanes, [[Trial(matcher, stream) for matcher in found] for found in unfiled], clock)
