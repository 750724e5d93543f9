"""The machine path: passes a batch of events to one machine after the other, instead of event by event.

Machines that are filed by a key get all its events, one key after the other, so that what they remember is in the
processor's caches for all events of the key; the others get the whole batch. Each machine sees its events in the same
order as on any other way, and what all complete is put in the order of the events when it is read.

Here: the path of a whole batch through lanes. Hot. Not here: one event (lanes), links between the events of a span
(executors.event_span).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ...algebra.normal_form import ALWAYS
from ...events.batch import Batch
from ..executors.event_ids import EventIds
from ..executors.event_span import NO_EVENT, EventSpan
from ..executors.packed import integers, lengthened
from ..matches.completions import Completions
from .input_masks import InputMasks, filled
from .keyed import FILED
from .lanes import Lane
from .matchers import Clock, Matcher

FEW: Final = 8  # conditions of machines that sleep, up to which each is tried with all events


@final
class MachinePath:
    """The lanes of one stream. `others`: machines read other streams, too. `unfiled`: by lane, the machines that are
    not filed by a key. `keyed`: some are. `several`: there may be more than one machine."""

    def __init__(self, lanes: list[Lane], unfiled: list[list[InputMasks]], clock: Clock, others: bool) -> None:
        self.lanes = lanes
        self.unfiled = unfiled
        self.clock = clock
        self.others = others
        self.keyed = any(lane.indexes for lane in lanes)
        self.several = self.keyed or sum(map(len, unfiled)) > 1

    def travel(self, found: Completions, times: list[int], batch: Batch, ids: EventIds) -> bool:
        """Process a batch of at least one event.

        A machine that fails is suspended from the event on at which it does; the others process all events. Returns
        False, and has done nothing, if a condition raises an error, somebody listens to a machine's completions, or
        machines of other streams must wake meanwhile.
        """
        n: i64 = len(times)
        newest: i64 = times[n - 1]
        if self.others and self.clock.others_wait(self.lanes[0].streams[0], newest):
            return False
        if not self._marked(batch):
            return False
        span = EventSpan(times, batch, ids)
        ones = filled(integers(), n if self.keyed else 0, FILED)
        uncounted = span.places
        at: i64
        for at in range(len(self.lanes)):
            lane = self.lanes[at]
            span.position = lane.position
            span.places = uncounted if len(lane.keys) == 0 else lengthened(integers(), n)
            span.masks = ones
            self._count(lane, self.unfiled[at], span)
            for index in lane.indexes:
                for readers in index.link(span):
                    for matcher in readers.matchers:
                        span.at = readers.first
                        lane.deliver(matcher, span, found)
                    readers.first = NO_EVENT
            if len(self.unfiled[at]) > 0:
                span.link_all()
                for inputs in self.unfiled[at]:
                    span.masks, span.at = inputs.masks, 0
                    lane.deliver(inputs.matcher, span, found)
            lane.upkeep(newest, n)
        while self.clock.next < newest:
            found.event = span.after(self.clock.next)
            self.clock.advance(times[found.event], found)
        return True

    def _marked(self, batch: Batch) -> bool:
        """Find the inputs that events satisfy. O(events x conditions)."""
        try:
            for lane in self.unfiled:
                for inputs in lane:
                    if inputs.matcher.follower is not None or inputs.matcher.watchers is not None:
                        return False
                    inputs.mark(batch)
        except Exception:  # any error: event by event it is found again
            return False
        return True

    def _count(self, lane: Lane, unfiled: list[InputMasks], span: EventSpan) -> None:
        """Count the events in their partitions, if a machine of the lane needs that. O(events x machines)."""
        if len(lane.keys) == 0:
            lane.position += len(span.times)
            return
        places, rows = span.places, span.batch.rows()
        at: i64
        for at in range(len(rows)):
            row = rows[at]
            places[at] = lane.count(0, row)
            if places[at] == 0:
                concerns = False
                for inputs in unfiled:
                    concerns = concerns or inputs.masks[at] != 0
                for index in lane.indexes:
                    concerns = concerns or index.of(row) is not None
                if concerns:
                    places[at] = lane.begin(0, row)


def machine_path(lanes: list[Lane], clock: Clock, others: bool) -> MachinePath | None:
    """The path of a stream through lanes; None if a lane has several streams, a machine reads symbols, or many
    conditions find those that wake machines, which an index does at once. O(machines)."""
    unfiled: list[list[Matcher]] = []
    sleeping = 0
    for lane in lanes:
        if len(lane.streams) > 1:
            return None
        found: list[Matcher] = []
        for matcher in lane.matchers:
            if matcher.filed is not None:
                continue
            guards = [given.guard for given in matcher.machine.inputs]
            if not guards and matcher.interest.key is not None:
                return None
            if ALWAYS not in guards:
                sleeping += len(guards)
                if sleeping > FEW:  # before anything is compiled: there may be many
                    return None
            found.append(matcher)
        unfiled.append(found)
    return MachinePath(lanes, [[InputMasks(matcher) for matcher in found] for found in unfiled], clock, others)
