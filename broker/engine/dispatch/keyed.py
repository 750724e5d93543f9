"""Finds the machines of an event by its key: one lookup for each set of attributes, shared by all machines of a lane.

Here: these dictionaries. Hot. Not here: passing the event on (lanes), the events of a key (executors.trail).
"""

from __future__ import annotations

from typing import final

from ...events.schema import Row
from ..executors.trail import KeyTrail
from ..index.spaces import Key
from .matchers import Matcher


@final
class KeyReaders:
    """The machines of one key, and the trail that they share. `followed`: some of them follow it."""

    def __init__(self, most: int) -> None:
        self.trail = KeyTrail(most)
        self.matchers: list[Matcher] = []
        self.followed = False

    def count(self) -> None:
        """The machines have changed."""
        self.followed = any(matcher.machine.epochs for matcher in self.matchers)


@final
class KeyIndex:
    """Machines of one stream by the values at `positions`."""

    def __init__(self, positions: tuple[int, ...]) -> None:
        self.positions = positions
        self.single: int = positions[0] if len(positions) == 1 else -1
        self.readers: dict[Key, KeyReaders] = {}
        self.all: KeyReaders | None = None  # those of all events, if no value is looked at

    def of(self, row: Row) -> KeyReaders | None:
        """The machines of an event; None if there are none. A null is no key."""
        if self.single >= 0:
            return self.readers.get(row[self.single])
        if self.all is not None:
            return self.all
        return self.readers.get(tuple([row[position] for position in self.positions]))

    def enter(self, matcher: Matcher, values: tuple[object, ...], most: int) -> None:
        """Add a machine. O(1)."""
        key: Key = values[0] if self.single >= 0 else values
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
        key: Key = values[0] if self.single >= 0 else values
        readers = self.readers[key]
        readers.matchers.remove(matcher)
        readers.count()
        if not readers.matchers:
            del self.readers[key]
