"""Finds the machines of an event by its key: one lookup for each set of attributes, shared by all machines of a lane,
and for each length of a text with which an attribute is to begin.

Here: these dictionaries, which also have the machines that need all events of a key for some time; linking the events
of a batch that have the same key. Hot. Not here: passing the events on (lanes, machine_path).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ...events.schema import Row
from ..executors.contract import EventKey
from ..executors.event_span import NO_EVENT, EventSpan
from ..index.spaces import Key
from .matchers import Matcher

FILED: Final = 1
"""The mask of all events of a machine that is filed by a key."""


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


def enter_key(indexes: list[KeyIndex], matcher: Matcher, filed: EventKey) -> None:
    """Add a machine by a key, to the index of its attributes. O(sets of attributes)."""
    index = next((index for index in indexes if index.holds(filed)), None)
    if index is None:
        index = KeyIndex(filed)
        indexes.append(index)
    index.enter(matcher, filed.values)


def leave_key(indexes: list[KeyIndex], matcher: Matcher, filed: EventKey) -> None:
    """Undo `enter_key`. O(machines of the key)."""
    index = next(index for index in indexes if index.holds(filed))
    index.leave(matcher, filed.values)
    if not index.readers:
        indexes.remove(index)
