"""Finds the machines of an event by its key: one lookup for each set of attributes, shared by all machines of a lane,
and for each length of a text with which an attribute is to begin.

Here: these dictionaries, also of machines that need all events of a key for some time; linking the events of a batch
that have the same key. Hot. Not here: passing the events on (lanes, machine_path).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...events.schema import Row
from ..executors.contract import EventKey
from ..executors.event_span import NO_EVENT, EventSpan
from ..index.spaces import Key
from .matchers import Matcher


@final
class KeyReaders:
    """The machines of one key. `first` and `last`: its events in the current batch, NO_EVENT if there are none."""

    def __init__(self) -> None:
        self.matchers: list[Matcher] = []
        self.first: i64 = NO_EVENT
        self.last: i64 = NO_EVENT


@final
class KeyIndex:
    """Machines by the values at `positions`, or by the first `beginning` characters of the only one. `each`: where
    events of each stream have these; `single`: of the first stream, where that is one value and no beginning."""

    def __init__(self, filed: EventKey) -> None:
        self.positions = filed.positions
        self.others = filed.others
        self.each: list[tuple[int, ...]] = [filed.positions, *filed.others]
        self.beginning: int = filed.beginning
        self.single: int = filed.positions[0] if len(filed.positions) == 1 and filed.beginning < 0 else -1
        self.readers: dict[Key, KeyReaders] = {}
        self.all: KeyReaders | None = None  # those of all events, if no value is looked at

    def holds(self, filed: EventKey) -> bool:
        """Whether a key belongs here."""
        same = self.positions == filed.positions and self.others == filed.others
        return same and self.beginning == filed.beginning

    def parts(self, keys: tuple[tuple[int, ...], ...]) -> bool:
        """Whether its one attribute is that by which the only stream of a lane is partitioned."""
        return self.single >= 0 and len(keys) == 1 and keys[0] == self.positions

    def of(self, row: Row, stream: i64 = 0) -> KeyReaders | None:
        """The machines of an event of a stream; None if there are none. A null is no key."""
        if self.single >= 0:
            return self.readers.get(row[self.single if stream == 0 else self.each[stream][0]])
        if self.all is not None:
            return self.all
        positions = self.each[stream]
        if self.beginning >= 0:
            text = row[positions[0]]
            return self.readers.get(text[: self.beginning]) if isinstance(text, str) else None
        return self.readers.get(tuple([row[position] for position in positions]))

    def link(self, span: EventSpan) -> list[KeyReaders]:
        """Link the events of a batch by key; returns those of each key that has machines, in order. O(events)."""
        found: list[KeyReaders] = []
        rows, following, readers, single = span.batch.rows(), span.following, self.readers, self.single
        at: i64
        for at in range(len(rows)):
            one = readers.get(rows[at][single]) if single >= 0 else self.of(rows[at])
            if one is None:
                continue
            following[at] = NO_EVENT
            if one.first < 0:
                one.first = at
                found.append(one)
            else:
                following[one.last] = at
            one.last = at
        return found

    def enter(self, matcher: Matcher, values: tuple[object, ...]) -> None:
        """Add a machine. O(1)."""
        key: Key = values[0] if len(self.positions) == 1 else values
        readers = self.readers.get(key)
        if readers is None:
            readers = self.readers[key] = KeyReaders()
            if len(self.positions) == 0:
                self.all = readers
        readers.matchers.append(matcher)

    def leave(self, matcher: Matcher, values: tuple[object, ...]) -> None:
        """Undo `enter`. O(machines of the key)."""
        key: Key = values[0] if len(self.positions) == 1 else values
        readers = self.readers[key]
        readers.matchers.remove(matcher)
        if not readers.matchers:
            del self.readers[key]


@final
class Home:
    """The machines with one home: `users` is their count, and those in `awake` need all of its events."""

    def __init__(self) -> None:
        self.users = 0
        self.awake: dict[Matcher, None] = {}


@final
class HomeIndex:
    """Homes by the values at `positions`."""

    def __init__(self, positions: tuple[int, ...]) -> None:
        self.positions = positions
        self.single: int = positions[0] if len(positions) == 1 else -1
        self.homes: dict[Key, Home] = {}

    def of(self, row: Row) -> Home | None:
        """The home of an event; None if there is none. A null is no home. O(1)."""
        if self.single >= 0:
            return self.homes.get(row[self.single])
        return self.homes.get(tuple([row[position] for position in self.positions]))

    def key(self, home: EventKey) -> Key:
        return home.values[0] if self.single >= 0 else home.values


@final
class Homes:
    """The homes of a lane's machines; there are few sets of attributes."""

    def __init__(self) -> None:
        self.indexes: list[HomeIndex] = []

    def enter(self, home: EventKey) -> dict[Matcher, None]:
        """Count one more machine of a home; returns where it is while it is awake."""
        index = self._index(home)
        if index is None:
            index = HomeIndex(home.positions)
            self.indexes.append(index)
        known = index.homes.setdefault(index.key(home), Home())
        known.users += 1
        return known.awake

    def leave(self, home: EventKey) -> None:
        """Undo one `enter`."""
        index = self._index(home)
        assert index is not None
        key = index.key(home)
        index.homes[key].users -= 1
        if not index.homes[key].users:
            del index.homes[key]
        if not index.homes:
            self.indexes.remove(index)

    def _index(self, home: EventKey) -> HomeIndex | None:
        return next((index for index in self.indexes if index.positions == home.positions), None)

    def awake(self, row: Row, found: list[dict[Matcher, None]]) -> None:
        """Add the machines that need an event because they are awake, if there are any. O(sets of attributes)."""
        for index in self.indexes:
            home = index.of(row)
            if home is not None and len(home.awake) > 0:
                found.append(home.awake)
