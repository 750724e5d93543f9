"""The events that forecasts count, of one stream or of several, by the value of their key.

An event is a step of one key. The stream then visits the key's states that the event has touched, those which are due
because the next event ends them, and those whose alarm goes off: a count of events, or a time. All others stay as they
are and cost nothing: the number of events that have passed them by is the difference of two numbers.

Here: the states that an event concerns. Not here: the step itself (subscription).
"""

from __future__ import annotations

from heapq import heappop
from typing import Any, Final, TypeAlias, final

from mypy_extensions import i64

from ..events.instant import FOREVER
from ..events.schema import Row
from .contexts import ContextDefinition
from .counts import Context
from .horizon import Gaps
from .key_state import KeyState
from .model_page import ModelPage

Key: TypeAlias = Any
"""A value, a tuple of values, or () for all events together."""

KEYS_MAX: Final = 1_000_000
"""Keys of one stream that are distinguished; events of further ones are not counted."""


class Observer:
    """The forecasts of one subscription, as the stream knows them. Events up to the time `since` were before it;
    `bases`: how many these were of each key. `page`: where its model is packed, at `slot`, if it is; `packs`: it may be
    packed after a step."""

    def __init__(self, number: int, since: i64) -> None:
        self.number = number
        self.since: i64 = since
        self.forever: i64 = FOREVER  # as a machine integer, which the constant is too large for
        self.bases: dict[Key, int] = {}
        self.group: ContextGroup | None = None
        self.page: ModelPage | None = None
        self.slot: i64 = 0
        self.packs = False

    def begin(self, key: StreamKey) -> KeyState:
        """Its state for a key at which nothing has happened yet."""
        raise AssertionError

    def has_notices(self) -> bool:
        """Whether there are notices to collect."""
        raise AssertionError

    def settle(self, state: KeyState) -> bool:
        """The event at hand has touched the state: take the step. Whether the next event touches it too."""
        raise AssertionError

    def pack(self, state: KeyState) -> None:
        """The state, its only one, need not be an object any more, nor what it has learnt."""
        raise AssertionError


@final
class StreamKey:
    """The events of one key: how many, and the state of each subscription by its number; `newest` is the one of them
    that was touched last. `due` are looked at with the next event; `count_alarms` and `time_alarms` are heaps of (count
    or time, number of the subscription). `pages`: packed models, of which `due_models` are due."""

    __slots__ = (
        "contexts", "count_alarms", "due", "due_models", "events", "gaps", "key", "newest", "pages", "run", "states",
        "time", "time_alarms",
    )  # fmt: skip

    def __init__(self, key: Key) -> None:
        self.key = key
        self.run: str | int = run_of(key)
        self.events: i64 = 0
        self.time: i64 = 0
        self.states: dict[int, KeyState] = {}
        self.newest: KeyState | None = None
        self.due: list[KeyState] = []
        self.pages: list[ModelPage] = []
        self.due_models: list[tuple[ModelPage, int]] = []
        self.count_alarms: list[tuple[int, int]] = []
        self.time_alarms: list[tuple[int, int]] = []
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
class ContextGroup:
    """The subscriptions of one stream whose contexts are the same. `rest`: what the context is beside the key."""

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
class KeyedStream:
    """`current`: the key of the event at hand; None where that is null, or one key too many. `row`: its row, as one of
    the first stream."""

    def __init__(self, positions: dict[int, tuple[int, ...]]) -> None:
        self.positions = positions  # by stream number
        self._first = next(iter(positions.values()), ())
        # The only stream and the only attribute of its key, as in most cases.
        self._only: i64 = next(iter(positions)) if len(positions) == 1 and len(self._first) == 1 else -1
        self._at: i64 = self._first[0] if self._first else -1
        self.keys: dict[Key, StreamKey] = {}
        self.current: StreamKey | None = None
        self.open = False
        self.row: Row = ()
        self.time: i64 = 0
        self.alone: KeyState | None = None  # the first one that the event has touched; in most cases no other is
        self.touched: list[KeyState] = []  # the others
        self.observers: dict[int, Observer] = {}
        self.arriving: list[Observer] = []  # those that events at the current time may still precede
        self.groups: list[ContextGroup] = []
        self.timed = 0  # observers that need to know the gaps between events
        self.gaps = Gaps()  # of all keys
        self.refused = 0
        self.reporting: list[Observer] = []

    def begin(self, stream: int, row: Row, time: i64) -> None:
        """The next event. O(1)."""
        if self.open:
            self.finish()
        self.open = True
        self.time = time
        key: Key = ()
        if self._only == stream:
            self.row = row
            key = row[self._at]
        else:
            positions = self.positions[stream]
            self.row = row if positions == self._first else self._as_of_the_first(row, positions)
            if len(positions) == 1:
                key = row[positions[0]]
            elif len(positions) > 1:
                key = tuple([row[position] for position in positions])
                if None in key:
                    key = None
        own = None if key is None else self.keys.get(key)
        if own is None and key is not None:
            if len(self.keys) >= KEYS_MAX:
                self.refused += 1
            else:
                own = self.keys[key] = StreamKey(key)
        self.current = own
        if own is None:
            return
        own.events += 1
        if self.timed > 0:
            if own.gaps is None:
                own.gaps = Gaps()
            elif own.events > 1:
                gap: int = time - own.time
                own.gaps.add(gap)
                self.gaps.add(gap)
        own.time = time

    def _as_of_the_first(self, row: Row, positions: tuple[int, ...]) -> Row:
        """A row of the first stream, which knows the key alone: whoever asks for a place reads no more of it."""
        found: list[Any] = [None] * (max(self._first) + 1)
        for there, here in zip(self._first, positions):
            found[there] = row[here]
        return tuple(found)

    def touch(self, observer: Observer) -> KeyState | None:
        """Where the observer is for the key of the event at hand, to be looked at when the event is done."""
        own = self.current
        if own is None:
            return None
        state = own.newest
        if state is None or state.observer is not observer:
            state = own.states.get(observer.number)
            if state is None:
                state = own.states[observer.number] = observer.begin(own)
            own.newest = state
        if not state.touched:
            self._touch(state)
        return state

    def touch_known(self, state: KeyState) -> None:
        """The same for a state of the event's key."""
        if not state.touched:
            self._touch(state)

    def _touch(self, state: KeyState) -> None:
        state.touched = True
        if self.alone is None:
            self.alone = state
        else:
            self.touched.append(state)

    def finish(self) -> None:
        """Finish the event: visit the states that it concerned. O(these)."""
        self.open = False
        own = self.current
        if own is None:
            return
        if len(self.arriving) > 0:
            self.arriving = [observer for observer in self.arriving if self.time <= observer.since]
            for observer in self.arriving:
                self._pass_over(own, observer)
        for group in self.groups:
            context = group.context(own.run, self.row, self.time)
            if own.contexts.get(group.number) != context:
                own.contexts[group.number] = context
                for observer in group.observers:
                    if self.time > observer.since:
                        self.touch(observer)
        if len(own.due) > 0:
            due = own.due
            own.due = []
            for state in due:
                if self.time > state.observer.since:
                    self._mark(state)
                else:
                    own.due.append(state)
        if len(own.due_models) > 0:
            models = own.due_models
            own.due_models = []
            for page, slot in models:
                page.touch(slot)
        while len(own.count_alarms) > 0 and own.count_alarms[0][0] <= own.events:
            self._alarm(own, heappop(own.count_alarms)[1])
        while len(own.time_alarms) > 0 and own.time_alarms[0][0] < self.time:
            self._alarm(own, heappop(own.time_alarms)[1])
        alone = self.alone
        if alone is not None:
            self.alone = None
            if len(self.touched) == 0:
                self._settle(own, alone)
            else:
                touched = self.touched
                self.touched = []
                self._settle(own, alone)
                for state in touched:
                    self._settle(own, state)
        for page in own.pages:
            if page.touched_upto > 0:
                page.settle(self.time)
        self.current = None

    def _settle(self, own: StreamKey, state: KeyState) -> None:
        state.touched = False
        observer = state.observer
        if observer.settle(state):
            own.due.append(state)
        elif observer.packs:
            observer.pack(state)
        if observer.has_notices():
            self.reporting.append(observer)

    def _pass_over(self, own: StreamKey, observer: Observer) -> None:
        """The key's events until now were before the observer. One with a context looks at the next: its context may
        be that of the last, which would touch nothing."""
        observer.bases[own.key] = own.events
        if observer.group is not None:
            state = own.states.get(observer.number)
            if state is None:
                state = own.states[observer.number] = observer.begin(own)
                own.due.append(state)
            state.seen = own.events

    def take_reporting(self) -> list[Observer]:
        """Observers that have had notices since the last call."""
        found, self.reporting = self.reporting, []
        return found

    def _mark(self, state: KeyState) -> None:
        if not state.touched and state.observer.number in self.observers:
            self._touch(state)

    def _alarm(self, own: StreamKey, number: int) -> None:
        state = own.states.get(number)
        if state is not None:
            self._mark(state)
            return
        observer = self.observers.get(number)
        if observer is not None and observer.page is not None and observer.page.key is own:
            observer.page.touch(observer.slot)

    # --- subscriptions ------------------------------------------------------------------------------------------

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
                group = ContextGroup(max([g.number for g in self.groups], default=-1) + 1, definition)
                self.groups.append(group)
            group.observers.append(observer)
            observer.group = group
        for own in self.keys.values():
            self._pass_over(own, observer)

    def leave(self, observer: Observer, timed: bool) -> None:
        """One fewer. O(keys)."""
        del self.observers[observer.number]
        self.arriving = [other for other in self.arriving if other is not observer]
        self.timed -= timed
        for own in self.keys.values():
            if own.states.pop(observer.number, None) is not None:  # its alarms go off in vain
                own.newest = None
                own.due = [state for state in own.due if state.observer is not observer]
        for group in self.groups:
            group.observers = [other for other in group.observers if other is not observer]
        for group in self.groups:
            if not group.observers:
                for own in self.keys.values():
                    own.contexts.pop(group.number, None)
        self.groups = [group for group in self.groups if group.observers]

    def check_invariants(self) -> None:
        """Raise AssertionError where keys and states contradict each other. O(states)."""
        assert self.alone is None
        assert not self.touched
        for key, own in self.keys.items():
            assert own.key == key
            for number, state in own.states.items():
                assert state.observer is self.observers[number]
                assert 0 <= state.seen <= own.events
            for alarms in (own.count_alarms, own.time_alarms):
                assert all(alarms[0] <= alarm for alarm in alarms)
            assert all(state.observer.number in self.observers for state in own.due)
            for page in own.pages:
                assert page.count > 0
                page.check_invariants()
