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
from ..executors.completions import Completions
from ..executors.contract import EventKey, EventPlaces, Executor
from ..executors.event_span import NO_EVENT, EventSpan, span_of_one
from ..executors.matches import Item
from ..program.account import NOT_SUSPENDED
from ..program.watcher import Follower, Watcher
from .keyed import Homes, KeyIndex, KeyReaders
from .matchers import Clock, Matcher, Reader

SWEEP_MIN: Final = 4_096  # events of a lane between two sweeps of useless state


@final
class Entry:
    """A lane, and the number of a stream in it."""

    def __init__(self, lane: Lane, stream: int) -> None:
        self.lane = lane
        self.stream = stream


@final
class Lane(EventPlaces):
    """The machines over `streams`.

    The attributes at `keys` give an event's partition; () if no machine needs it. `indexes`: machines that are filed by
    a key; `unfiled` is the count of others. `homes`: where machines are awake that need no events but those of their
    home.
    """

    def __init__(self, streams: tuple[str, ...], keys: tuple[tuple[int, ...], ...], clock: Clock) -> None:
        self.streams = streams
        self.keys = keys
        self.clock = clock
        self.indexes: list[KeyIndex] = []
        self.unfiled = 0
        self.readers: list[dict[int, list[Reader]]] = [{} for _ in streams]  # by stream and symbol
        self.matchers: dict[Matcher, None] = {}
        self.busy: dict[Matcher, None] = {}  # matchers whose machines may have state
        self.awake: dict[Matcher, None] = {}  # matchers whose machines need every event
        self.homes = Homes()
        self.spellers: list[Matcher] = []  # matchers whose machines get symbols
        self.position: i64 = 0
        self.places: dict[Any, int] = {}
        self._until_sweep: i64 = SWEEP_MIN
        self._touched: list[Matcher] = []  # matchers that the current event has reached
        self._at_home: list[dict[Matcher, None]] = []  # of the current event, matchers that are awake
        self._aside = Completions()  # completions of machines without subscribers
        self._concerned: list[KeyReaders] = []  # the filed machines of the current event
        self._one = span_of_one()  # the current event

    def empty(self) -> bool:
        """Whether no machine reads it."""
        return not self.matchers

    def place(self, row: Row) -> i64:
        if len(self.keys) == 0:
            return self.position
        return self.places.get(tuple([row[position] for position in self.keys[0]]), 0)

    def enter(self, matcher: Matcher, numbers: list[int]) -> None:
        """Add a machine, with the symbols of its inputs. O(inputs)."""
        self.matchers[matcher] = None
        if matcher.machine.by_symbols:
            self.spellers.append(matcher)
        self.unfiled += 1
        home = matcher.machine.home
        matcher.among = self.awake if home is None else self.homes.enter(home)
        for at, given in enumerate(matcher.machine.inputs):
            stream = self.streams.index(given.stream)
            self.readers[stream].setdefault(numbers[at], []).append(Reader(matcher, 1 << at))

    def file(self, matcher: Matcher, filed: EventKey) -> None:
        """Add a machine by the key of its events. O(sets of attributes)."""
        self.matchers[matcher] = None
        matcher.among = self.awake
        index = next((index for index in self.indexes if index.holds(filed)), None)
        if index is None:
            index = KeyIndex(filed)
            self.indexes.append(index)
        index.enter(matcher, filed.values)

    def take_out(self, matcher: Matcher, filed: EventKey) -> None:
        """Undo `file`. O(machines of its key)."""
        self.forget(matcher)
        index = next(index for index in self.indexes if index.holds(filed))
        index.leave(matcher, filed.values)
        if not index.readers:
            self.indexes.remove(index)
        del self.matchers[matcher]
        self.clock.drop(matcher)

    def leave(self, matcher: Matcher, numbers: list[int]) -> None:
        """Undo `enter`. O(machines that read its symbols)."""
        self.forget(matcher)
        self.unfiled -= 1
        home = matcher.machine.home
        if home is not None:
            self.homes.leave(home)
        if matcher.machine.by_symbols:
            self.spellers.remove(matcher)
        for readers in self.readers:
            for number in set(numbers) & readers.keys():
                rest = [reader for reader in readers[number] if reader.matcher is not matcher]
                if rest:
                    readers[number] = rest
                else:
                    del readers[number]
        del self.matchers[matcher]
        self.clock.drop(matcher)

    def take(self, stream: i64, symbols: list[int], row: Row, time: i64, item: Item, found: Completions) -> None:
        """Process an event of one of the streams.

        `stream`: its number among them; `symbols`: those that the event satisfies.
        """
        if len(self.indexes) > 0:
            place = self._take_filed(stream, symbols, row, time, item, found)
        else:
            place = self.count(stream, row, len(symbols) > 0)
        asleep = len(self.awake) == 0
        at_home = self._at_home
        if len(self.homes.indexes) > 0:
            self.homes.awake(row, at_home)
            asleep = asleep and len(at_home) == 0
        if asleep and len(symbols) == 0:
            if len(at_home) > 0:  # emptying an empty list costs as much as half a lookup
                at_home.clear()
            return
        for matcher in self.spellers:
            self._spell(matcher, symbols, time, item, found)
        known = self.readers[stream]
        if asleep and len(symbols) == 1:
            readers = known.get(symbols[0])
            if readers is not None and len(readers) == 1:
                reader = readers[0]
                if reader.matcher.machine.rousing & reader.bit != 0:
                    self._set_event(stream, row, time, place, item, found)
                    self._step(reader.matcher, reader.bit, found)
                self.upkeep(time)
                return
        touched = self._touched
        for symbol in symbols:
            readers = known.get(symbol)
            if readers is not None:
                for reader in readers:
                    matcher = reader.matcher
                    if matcher.mask == 0:
                        touched.append(matcher)
                    matcher.mask |= reader.bit
        if not asleep:
            for matcher in self.awake:
                if matcher.mask == 0:
                    touched.append(matcher)
            for awake in at_home:
                for matcher in awake:
                    if matcher.mask == 0:
                        touched.append(matcher)
            if len(at_home) > 0:
                at_home.clear()
        if len(touched) > 0:
            self._set_event(stream, row, time, place, item, found)
            for matcher in touched:
                mask = matcher.mask
                matcher.mask = 0
                if matcher.awake or mask & matcher.machine.rousing != 0:
                    self._step(matcher, mask, found)
            touched.clear()
        self.upkeep(time)

    def _take_filed(
        self, stream: i64, symbols: list[int], row: Row, time: i64, item: Item, found: Completions
    ) -> i64:  # fmt: skip
        """Count an event, and pass it to the machines of its key. Returns its number in its partition."""
        concerned = self._concerned
        for index in self.indexes:
            filed = index.of(row, stream)
            if filed is not None:
                concerned.append(filed)
        place = self.count(stream, row, len(symbols) > 0 or len(concerned) > 0)
        if len(concerned) > 0:
            self._set_event(stream, row, time, place, item, found)
            for filed in concerned:
                for matcher in filed.matchers:
                    self._step(matcher, 1, found)
            concerned.clear()
            if len(symbols) == 0:
                self.upkeep(time)
        return place

    def _set_event(self, stream: i64, row: Row, time: i64, place: i64, item: Item, found: Completions) -> None:
        """Make this the event that machines get next."""
        span = self._one
        span.rows[0] = row
        span.times[0] = time
        span.items[0] = item
        span.places[0] = place
        span.position = self.position - 1
        span.stream = stream
        span.first = found.event

    def _step(self, matcher: Matcher, mask: i64, found: Completions) -> None:
        """Pass the current event to a machine."""
        span = self._one
        span.masks[0] = mask
        span.at = 0
        self.deliver(matcher, span, found)

    def count(self, stream: i64, row: Row, concerns: bool) -> i64:
        """Count the event; returns its number in its partition, 0 if it has none.

        A partition begins with the first event that concerns a machine.
        """
        self.position += 1
        place: i64 = 0
        if len(self.keys) > 0:
            positions = self.keys[stream]
            key = (row[positions[0]],) if len(positions) == 1 else tuple([row[position] for position in positions])
            before = self.places.get(key)
            if before is not None:
                place = before + 1
                self.places[key] = place
            elif concerns and None not in key:
                place = 1
                self.places[key] = place
        return place

    def deliver(self, matcher: Matcher, span: EventSpan, found: Completions) -> None:
        """Pass the events of a span to a machine. If it fails at one, it is suspended, and gets no later one."""
        if matcher.suspended != NOT_SUSPENDED:
            return
        machine = matcher.machine
        machine.stream = span.stream
        span.moved = False
        while span.at >= 0:
            try:
                if matcher.follower is not None:
                    self._follow(machine, matcher.follower, span)
                    continue
                if not machine.serves:
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
        elif machine.awake != matcher.awake:
            self.watch(matcher)
        if machine.alarm != matcher.alarm:
            self.clock.reset(matcher)

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

    def _spell(self, matcher: Matcher, symbols: list[int], time: i64, item: Item, found: Completions) -> None:
        if matcher.suspended != NOT_SUSPENDED:
            return
        try:
            matcher.machine.spell(symbols, time, self.position, item, found)
        except Exception as error:  # any error concerns this machine only
            found.serve(matcher.audience())
            matcher.suspend(error, time, found)

    def close_epoch(self) -> None:
        """End the newest epoch of all machines. O(machines)."""
        for matcher in self.matchers:
            matcher.machine.close_epoch()

    def rouse(self, matcher: Matcher) -> None:
        """Start to watch a machine for state to sweep."""
        matcher.busy = True
        self.busy[matcher] = None
        self.watch(matcher)

    def watch(self, matcher: Matcher) -> None:
        """Note whether its machine needs every event, or every one of its home. O(1)."""
        matcher.awake = matcher.machine.awake
        if matcher.awake:
            matcher.among[matcher] = None
        else:
            matcher.among.pop(matcher, None)

    def forget(self, matcher: Matcher) -> None:
        """Stop to watch a machine."""
        matcher.busy = False
        matcher.awake = False
        self.busy.pop(matcher, None)
        matcher.among.pop(matcher, None)

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
            if matcher.machine.empty(time, self.position, self.places):
                self.forget(matcher)
            kept += matcher.machine.keys()
        if len(self.places) > 2 * kept + SWEEP_MIN:
            alive = {key for matcher in self.busy for key in matcher.machine.partitions()}
            self.places = {key: place for key, place in self.places.items() if key in alive}
        self._until_sweep = SWEEP_MIN + 2 * kept
