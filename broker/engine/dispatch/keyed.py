"""Finds the machines of an event by its key: one lookup for each set of attributes, shared by all machines of a lane,
and for each length of a text with which an attribute is to begin.

Here: these dictionaries, and linking the events of a batch that have the same key. Hot. Not here: passing the events on
(lanes, key_path), the last events of a key (executors.trail).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...events.schema import Row
from ..executors.keyed_events import NO_EVENT, KeyedEvents
from ..executors.machine_plan import EventKey
from ..executors.trail import KeyTrail
from ..index.spaces import Key
from .matchers import Matcher


@final
class KeyReaders:
    """The machines of one key, and the trail that they share: `followers` follow it, `others` do not.

    `first` and `last`: the key's events in the current batch, NO_EVENT if there are none.
    """

    def __init__(self, most: int) -> None:
        self.trail = KeyTrail(most)
        self.matchers: list[Matcher] = []
        self.followers: list[Matcher] = []
        self.others: list[Matcher] = []
        self.first: i64 = NO_EVENT
        self.last: i64 = NO_EVENT

    def count(self) -> None:
        """The machines have changed."""
        self.followers = [matcher for matcher in self.matchers if matcher.machine.follows]
        self.others = [matcher for matcher in self.matchers if not matcher.machine.follows]


@final
class KeyIndex:
    """Machines of one stream by the values at `positions`, or by the first `beginning` characters of the only one."""

    def __init__(self, filed: EventKey) -> None:
        self.positions = filed.positions
        self.beginning: int = filed.beginning
        self.single: int = filed.positions[0] if len(filed.positions) == 1 and filed.beginning < 0 else -1
        self.readers: dict[Key, KeyReaders] = {}
        self.all: KeyReaders | None = None  # those of all events, if no value is looked at

    def holds(self, filed: EventKey) -> bool:
        """Whether a key belongs here."""
        return self.positions == filed.positions and self.beginning == filed.beginning

    def of(self, row: Row) -> KeyReaders | None:
        """The machines of an event; None if there are none. A null is no key."""
        if self.single >= 0:
            return self.readers.get(row[self.single])
        if self.all is not None:
            return self.all
        if self.beginning >= 0:
            text = row[self.positions[0]]
            return self.readers.get(text[: self.beginning]) if isinstance(text, str) else None
        return self.readers.get(tuple([row[position] for position in self.positions]))

    def link(self, events: KeyedEvents) -> list[KeyReaders]:
        """Link the events of a batch by key; returns those of each key that has machines, in order. O(events)."""
        found: list[KeyReaders] = []
        rows, following, readers, single = events.rows, events.following, self.readers, self.single
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

    def enter(self, matcher: Matcher, values: tuple[object, ...], most: int) -> None:
        """Add a machine. O(1)."""
        key: Key = values[0] if len(self.positions) == 1 else values
        readers = self.readers.get(key)
        if readers is None:
            readers = self.readers[key] = KeyReaders(most)
            if len(self.positions) == 0:
                self.all = readers
        readers.matchers.append(matcher)
        readers.count()
        matcher.machine.attach(readers.trail)

    def leave(self, matcher: Matcher, values: tuple[object, ...]) -> None:
        """Undo `enter`. O(machines of the key)."""
        key: Key = values[0] if len(self.positions) == 1 else values
        readers = self.readers[key]
        readers.matchers.remove(matcher)
        readers.count()
        if not readers.matchers:
            del self.readers[key]
