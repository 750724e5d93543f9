"""Lanes: merge the events of some streams and pass each event to the machines that it concerns.

A lane is a set of streams, with the attributes by which it counts the events of each partition. Each event gets a
number in its lanes, which decides adjacency. Beyond that it reaches only machines with an input that it satisfies.

Here: one event on its way through a lane. Not here: assigning machines to lanes (registry), partial matches
(executors).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ...events.schema import Row
from ..executors.contract import SATISFYING, ByPlace, EventPlaces, Executor, Interest, OverEpochs
from ..executors.event_span import NO_EVENT, EventSpan, span_of_one
from ..matches.completions import Completions
from ..matches.sources import Item
from ..program.account import NOT_SUSPENDED
from ..program.watcher import Follower, Watcher
from .keyed import FILED, KeyIndex, enter_key, leave_key
from .matchers import Clock, Matcher, Reader

SWEEP_MIN: Final = 4_096  # events of a lane between two sweeps of useless state


@final
class Lane(EventPlaces):
    """The machines over `streams`.

    The attributes at `keys` give an event's partition; () if no machine needs it. `indexes`: machines that are filed by
    a key. `attending`: others that need all events of a key at present.
    """

    def __init__(self, streams: tuple[str, ...], keys: tuple[tuple[int, ...], ...], clock: Clock) -> None:
        self.streams = streams
        self.keys = keys
        self.clock = clock
        self.indexes: list[KeyIndex] = []
        self.readers: list[dict[int, list[Reader]]] = [{} for _ in streams]  # by stream and symbol
        self.matchers: dict[Matcher, None] = {}
        self.busy: dict[Matcher, None] = {}  # matchers whose machines may have state
        self.attending: list[KeyIndex] = []
        self.position: i64 = 0
        self.places: dict[Any, int] = {}
        self._until_sweep: i64 = SWEEP_MIN
        self._touched: list[Matcher] = []  # matchers that the current event has reached
        self._aside = Completions()  # completions of machines without subscribers
        self._one = span_of_one()  # the current event

    def empty(self) -> bool:
        """Whether no machine reads it."""
        return not self.matchers

    def place(self, row: Row) -> i64:
        if len(self.keys) == 0:
            return self.position
        return self.places.get(tuple([row[position] for position in self.keys[0]]), 0)

    def enter(self, matcher: Matcher) -> None:
        """Add a machine, by the key that it is filed by or the symbols of its inputs. O(inputs)."""
        self.matchers[matcher] = None
        if matcher.filed is not None:
            enter_key(self.indexes, matcher, matcher.filed)
            return
        for at, given in enumerate(matcher.machine.inputs):
            stream = self.streams.index(given.stream)
            self.readers[stream].setdefault(matcher.symbols[at], []).append(Reader(matcher, 1 << at))
        self._attend(matcher, matcher.machine.interest)

    def leave(self, matcher: Matcher) -> None:
        """Undo `enter`. O(machines of its key, or those that read its symbols)."""
        self.forget(matcher)
        del self.matchers[matcher]
        self.clock.drop(matcher)
        if matcher.filed is not None:
            leave_key(self.indexes, matcher, matcher.filed)
            return
        for readers in self.readers:
            for number in set(matcher.symbols) & readers.keys():
                rest = [reader for reader in readers[number] if reader.matcher is not matcher]
                if rest:
                    readers[number] = rest
                else:
                    del readers[number]

    def take(self, stream: i64, symbols: list[int], row: Row, time: i64, item: Item, found: Completions) -> None:
        """Process an event of one of the streams.

        `stream`: its number among them; `symbols`: those that the event satisfies.
        """
        touched = self._touched
        for index in self.indexes:
            filed = index.of(row, stream)
            if filed is not None:
                touched.extend(filed.matchers)
        place = self.count(stream, row)
        if place == 0 and len(self.keys) > 0 and (len(symbols) > 0 or len(touched) > 0):
            place = self.begin(stream, row)
        for index in self.attending:
            attentive = index.of(row, stream)
            if attentive is not None:
                touched.extend(attentive.matchers)
        known = self.readers[stream]
        for symbol in symbols:
            readers = known.get(symbol)
            if readers is not None:
                for reader in readers:
                    matcher = reader.matcher
                    if matcher.mask == 0 and matcher.interest.key is None:
                        touched.append(matcher)
                    matcher.mask |= reader.bit
        if len(touched) > 0:
            self._one.symbols = symbols
            self._pass(stream, row, time, place, item, found)
        if len(touched) > 0 or len(symbols) > 0:
            touched.clear()
            self.upkeep(time)

    def _pass(self, stream: i64, row: Row, time: i64, place: i64, item: Item, found: Completions) -> None:
        """Pass an event to the machines that it has touched."""
        span = self._one
        span.rows[0] = row
        span.times[0] = time
        span.items[0] = item
        span.places[0] = place
        span.position = self.position - 1
        span.stream = stream
        span.first = found.event
        for matcher in self._touched:
            mask: i64 = matcher.mask if matcher.filed is None else FILED
            matcher.mask = 0
            if mask & matcher.machine.interest.mask != 0 or matcher.interest.key is not None:
                span.masks[0] = mask
                span.at = 0
                self.deliver(matcher, span, found)

    def count(self, stream: i64, row: Row) -> i64:
        """Count the event; returns its number in its partition, 0 if it has none that has begun."""
        self.position += 1
        if len(self.keys) == 0:
            return 0
        key = self._partition(stream, row)
        place: i64 = self.places.get(key, -1) + 1
        if place > 0:
            self.places[key] = place
        return place

    def begin(self, stream: i64, row: Row) -> i64:
        """Begin the partition of an event, the first one that concerns a machine; returns its number there."""
        key = self._partition(stream, row)
        if None in key:
            return 0
        self.places[key] = 1
        return 1

    def _partition(self, stream: i64, row: Row) -> Row:
        positions = self.keys[stream]
        return (row[positions[0]],) if len(positions) == 1 else tuple([row[position] for position in positions])

    def deliver(self, matcher: Matcher, span: EventSpan, found: Completions) -> None:
        """Pass the events of a span to a machine. If it fails at one, it is suspended, and gets no later one."""
        if matcher.suspended != NOT_SUSPENDED:
            return
        machine = matcher.machine
        span.moved = False
        while span.at >= 0:
            try:
                if matcher.follower is not None:
                    self._follow(machine, matcher.follower, span)
                    continue
                found.serve(matcher.audience())
                if matcher.watchers is None:
                    machine.take_span(span, found)
                else:
                    self._watched(machine, matcher.watchers, span, found)
            except Exception as error:  # any error concerns this machine only
                self._aside.drain()
                matcher.suspend(error, span.times[found.event - span.first], found)
                self.forget(matcher)
                return
            if machine.lost > 0:
                matcher.complain(found)
        if span.moved:
            matcher.taken = True
        if not matcher.busy:
            self.rouse(matcher)
        elif machine.interest is not matcher.interest:
            self._attend(matcher, machine.interest)
        if machine.alarm < matcher.alarm:
            self.clock.set(matcher)

    def _watched(self, machine: Executor, watchers: list[Watcher], span: EventSpan, found: Completions) -> None:
        """Pass an event to a machine, and tell watchers of it."""
        before, begin = found.entries, found.upto
        machine.take_span(span, found)
        if span.moved:
            completed = found.entries - before
            for watcher in watchers:
                if completed > 0 and watcher.reads:
                    for source in found.since(begin, span.rows[0], span.times[0], span.items[0]):
                        watcher.told(source)
                elif completed > 0:
                    watcher.completed()
            for watcher in watchers:
                watcher.touched()

    def _follow(self, machine: Executor, follower: Follower, span: EventSpan) -> None:
        """Pass an event to the machine of a part of a subscription; its completions go to the follower."""
        if not follower.admits(span.times[0]):
            span.at = NO_EVENT
            return
        machine.take_span(span, self._aside)
        if span.moved:
            for completed in self._aside.drain():
                follower.completed(completed)
            follower.touched()

    def close_epoch(self) -> None:
        """End the newest epoch of all machines. O(machines)."""
        for matcher in self.matchers:
            if isinstance(matcher.machine, OverEpochs):
                matcher.machine.close_epoch()

    def rouse(self, matcher: Matcher) -> None:
        """Start to watch a machine for state to sweep."""
        matcher.busy = True
        self.busy[matcher] = None
        self._attend(matcher, matcher.machine.interest)

    def _attend(self, matcher: Matcher, interest: Interest) -> None:
        """Note which events its machine needs now. O(sets of attributes), and O(machines of the key) at the end."""
        before, matcher.interest = matcher.interest, interest
        if before.key is not None:
            leave_key(self.attending, matcher, before.key)
        if interest.key is not None:
            enter_key(self.attending, matcher, interest.key)

    def forget(self, matcher: Matcher) -> None:
        """Stop to watch a machine."""
        matcher.busy = False
        self.busy.pop(matcher, None)
        self._attend(matcher, SATISFYING)

    def upkeep(self, time: i64, events: i64 = 1) -> None:
        """Sweep now and then; called after each event, or after several."""
        self._until_sweep -= events
        if self._until_sweep < 0:
            self._sweep(time)

    def _sweep(self, time: i64) -> None:
        """Drop keys without runs, and the positions of partitions without runs. Machines without state are skipped.

        O(runs and keys), at most once in as many events.
        """
        kept: i64 = len(self.busy)
        for matcher in list(self.busy):
            held: i64 = matcher.machine.forget(time, self.position, self.places)
            if held == 0:
                self.forget(matcher)
            kept += held
        if len(self.places) > 2 * kept + SWEEP_MIN:
            machines = [matcher.machine for matcher in self.busy]
            alive = {key for machine in machines if isinstance(machine, ByPlace) for key in machine.partitions()}
            self.places = {key: place for key, place in self.places.items() if key in alive}
        self._until_sweep = SWEEP_MIN + 2 * kept
