"""The events that forecasts count: those of one stream, or several, by the value of their key; a pulse for each key.

An event beats one pulse. That looks at the tracks which the event has touched, those which are due because their state
ends with the next event, and those whose alarm goes off - a count of events, or a time. All others stay as they are and
are not looked at: how many events have passed them by is the difference of two numbers.

Here: which tracks an event concerns. Not here: what becomes of them (outlook).
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, Final, final

from mypy_extensions import i64

from ...events.schema import Row
from ...forecast.contexts import ContextDefinition
from ...forecast.counts import Context
from ...forecast.horizon import Gaps
from ..index.spaces import Key
from .track import Observer, Track

KEYS_MAX: Final = 1_000_000
"""Keys of one scope that are told apart; events of further ones are not counted."""


@final
class Pulse:
    """The events of one key: how many, and the tracks there by the number of their subscription. `due` are looked at
    with the next event; `counts` and `times` are alarms, heaps of (count or time, number of the subscription)."""

    __slots__ = ("contexts", "counts", "due", "events", "gaps", "key", "run", "time", "times", "tracks")

    def __init__(self, key: Key) -> None:
        self.key = key
        self.run: str | int = run_of(key)
        self.events: i64 = 0
        self.time: i64 = 0
        self.tracks: dict[int, Track] = {}
        self.due: list[Track] = []
        self.counts: list[tuple[int, int]] = []
        self.times: list[tuple[int, int]] = []
        self.contexts: dict[int, Context] = {}  # by group
        self.gaps: Gaps | None = None


def run_of(key: Key) -> str | int:
    """A key as forecasts name it: the value itself, several as one text, 0 for none: other keys, other names."""
    if isinstance(key, bool):
        return int(key)
    if isinstance(key, str | int):
        return key
    if isinstance(key, tuple):
        return "|".join([_escaped(str(run_of(part))) for part in key]) if len(key) > 0 else 0
    return repr(key)


def _escaped(part: str) -> str:
    return part.replace("\\", "\\\\").replace("|", "\\|")


@final
class Group:
    """The subscriptions of one scope whose contexts are the same. `rest`: what the context is beside the key."""

    def __init__(self, number: int, definition: ContextDefinition) -> None:
        self.number = number
        self.definition = definition
        self.keyed = definition.keyed
        self.rest = ContextDefinition(definition.parts[1:] if definition.keyed else definition.parts)
        self.observers: list[Observer] = []

    def context(self, run: str | int, row: Row, time: i64) -> Context:
        rest = self.rest.of(row, time) if self.rest.parts else ()
        return (run, *rest) if self.keyed else rest


@final
class Scope:
    """Pulses by key. `current` is that of the event at hand, None where its key is null or one too many."""

    def __init__(self, positions: dict[int, tuple[int, ...]]) -> None:
        self.positions = positions  # by stream number
        self.pulses: dict[Key, Pulse] = {}
        self.current: Pulse | None = None
        self.open = False
        self.row: Row = ()
        self.time: i64 = 0
        self.marked: list[Track] = []
        self.observers: dict[int, Observer] = {}
        self.arriving: list[Observer] = []  # those for whom the current time may still be before them
        self.groups: list[Group] = []
        self.timed = 0  # observers that need to know the gaps between events
        self.gaps = Gaps()  # of all keys
        self.refused = 0
        self.telling: list[Observer] = []

    def begin(self, stream: int, row: Row, time: i64) -> None:
        """The next event. O(1)."""
        if self.open:
            self.finish()
        self.open = True
        self.row = row
        self.time = time
        positions = self.positions[stream]
        key: Key = ()
        if len(positions) == 1:
            key = row[positions[0]]
        elif len(positions) > 1:
            key = tuple([row[position] for position in positions])
            if None in key:
                key = None
        pulse = None if key is None else self.pulses.get(key)
        if pulse is None and key is not None:
            if len(self.pulses) >= KEYS_MAX:
                self.refused += 1
            else:
                pulse = self.pulses[key] = Pulse(key)
        self.current = pulse
        if pulse is None:
            return
        pulse.events += 1
        if self.timed > 0:
            if pulse.gaps is None:
                pulse.gaps = Gaps()
            elif pulse.events > 1:
                gap: int = time - pulse.time
                pulse.gaps.add(gap)
                self.gaps.add(gap)
        pulse.time = time

    def track(self, observer: Observer) -> Track | None:
        """Where the observer is for the key of the event at hand, to be looked at when the event is done."""
        pulse = self.current
        if pulse is None:
            return None
        track = pulse.tracks.get(observer.number)
        if track is None:
            track = pulse.tracks[observer.number] = observer.begin(pulse)
        if not track.marked:
            track.marked = True
            self.marked.append(track)
        return track

    def finish(self) -> None:
        """The event is done: look at what it concerned. O(that)."""
        self.open = False
        pulse = self.current
        if pulse is None:
            return
        if len(self.arriving) > 0:
            self.arriving = [observer for observer in self.arriving if self.time <= observer.since]
            for observer in self.arriving:
                self._pass_over(pulse, observer)
        for group in self.groups:
            context = group.context(pulse.run, self.row, self.time)
            if pulse.contexts.get(group.number) != context:
                pulse.contexts[group.number] = context
                for observer in group.observers:
                    if self.time > observer.since:
                        self.track(observer)
        if len(pulse.due) > 0:
            due = pulse.due
            pulse.due = []
            for track in due:
                if self.time > track.observer.since:
                    self._mark(track)
                else:
                    pulse.due.append(track)
        while len(pulse.counts) > 0 and pulse.counts[0][0] <= pulse.events:
            self._alarm(pulse, heappop(pulse.counts)[1])
        while len(pulse.times) > 0 and pulse.times[0][0] < self.time:
            self._alarm(pulse, heappop(pulse.times)[1])
        marked = self.marked
        if len(marked) > 0:
            self.marked = []
            if len(marked) > 1:
                marked.sort(key=_number)
            for track in marked:
                track.marked = False
                if track.observer.settle(track, self):
                    pulse.due.append(track)
                if track.observer.has_told():
                    self.telling.append(track.observer)
        self.current = None

    def _pass_over(self, pulse: Pulse, observer: Observer) -> None:
        """The key's events until now were before the observer. One with a context looks at the next: the context may
        be that of the last, so that nobody would tell it."""
        observer.bases[pulse.key] = pulse.events
        if observer.group is not None:
            track = pulse.tracks.get(observer.number)
            if track is None:
                track = pulse.tracks[observer.number] = observer.begin(pulse)
                pulse.due.append(track)
            track.seen = pulse.events

    def told(self) -> list[Observer]:
        """Who has something to tell since this was last asked."""
        found, self.telling = self.telling, []
        return found

    def _mark(self, track: Track) -> None:
        if not track.marked and track.observer.number in self.observers:
            track.marked = True
            self.marked.append(track)

    def _alarm(self, pulse: Pulse, number: int) -> None:
        track = pulse.tracks.get(number)
        if track is not None:
            self._mark(track)

    # --- who is there -------------------------------------------------------------------------------------------

    def join(self, observer: Observer, definition: ContextDefinition, timed: bool) -> None:
        """One more subscription. O(keys), so that it knows which events were before it."""
        self.observers[observer.number] = observer
        self.timed += timed
        self.arriving.append(observer)
        if definition.parts:
            for group in self.groups:
                if group.definition == definition:
                    break
            else:
                group = Group(max([g.number for g in self.groups], default=-1) + 1, definition)
                self.groups.append(group)
            group.observers.append(observer)
            observer.group = group
        for pulse in self.pulses.values():
            self._pass_over(pulse, observer)

    def leave(self, observer: Observer, timed: bool) -> None:
        """One fewer. O(keys)."""
        del self.observers[observer.number]
        self.arriving = [other for other in self.arriving if other is not observer]
        self.timed -= timed
        for pulse in self.pulses.values():
            pulse.tracks.pop(observer.number, None)
            pulse.due = [track for track in pulse.due if track.observer is not observer]
            pulse.counts = _without(pulse.counts, observer.number)
            pulse.times = _without(pulse.times, observer.number)
        for group in self.groups:
            group.observers = [other for other in group.observers if other is not observer]
        for group in self.groups:
            if not group.observers:
                for pulse in self.pulses.values():
                    pulse.contexts.pop(group.number, None)
        self.groups = [group for group in self.groups if group.observers]

    def check_invariants(self) -> None:
        """Raise AssertionError where pulses and tracks contradict each other. O(tracks)."""
        assert not self.marked
        for key, pulse in self.pulses.items():
            assert pulse.key == key
            for number, track in pulse.tracks.items():
                assert track.observer is self.observers[number]
                assert 0 <= track.seen <= pulse.events
            for alarms in (pulse.counts, pulse.times):
                assert all(alarms[0] <= alarm for alarm in alarms)
            assert all(track.observer.number in self.observers for track in pulse.due)


def _number(track: Track) -> int:
    return track.observer.number


def _without(alarms: list[tuple[int, int]], number: int) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for alarm in alarms:
        if alarm[1] != number:
            heappush(kept, alarm)
    return kept


def alarm(alarms: list[tuple[int, int]], when: int, number: int) -> None:
    """Set one."""
    heappush(alarms, (when, number))


def dumped(alarms: list[tuple[int, int]]) -> list[Any]:
    """Alarms as plain data."""
    return [list(one) for one in alarms]
