"""Symbols: the distinct conditions that machines put on single events, each evaluated once an event (P-ToPSS 3.2).

Each distinct guard of a stream has a number, its symbol, and stands in the static predicate index like any start arc.
The index collects the symbols of an event.

Here: adding and removing symbols. Not here: their readers (lanes).
"""

from __future__ import annotations

from typing import final

from ..executors.contract import Input
from ..index.spaces import Key, Space
from ..program.directory import Directory
from ..program.transition import Transition


@final
class InputSymbol:
    """A numbered guard, and the place of its arc."""

    def __init__(self, space: Space, key: Key, arc: Transition) -> None:
        self.space = space
        self.key = key
        self.arc = arc
        self.users = 0


@final
class Alphabet:
    """The symbols of all streams. Their numbers differ: a machine may tell the events of several streams by them."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self.known: dict[Input, InputSymbol] = {}
        self._free: list[int] = []  # numbers below the greatest that nobody has

    def acquire(self, inputs: list[Input]) -> list[int]:
        """The numbers of the inputs' guards, for one more user. O(inputs)."""
        numbers: list[int] = []
        for given in inputs:
            symbol = self.known.get(given)
            if symbol is None:
                symbol = self.known[given] = self._made(given)
            symbol.users += 1
            numbers.append(symbol.arc.symbol)
        return numbers

    def release(self, inputs: list[Input]) -> None:
        """Undo one `acquire`. O(inputs)."""
        for given in inputs:
            symbol = self.known[given]
            symbol.users -= 1
            if not symbol.users:
                del self.known[given]
                self._free.append(symbol.arc.symbol)
                self.directory.static(symbol.space, symbol.key).remove(symbol.arc)
                self.directory.prune(symbol.space, symbol.key)

    def _made(self, given: Input) -> InputSymbol:
        space, key, rest = self.directory.start_cell(given.stream, given.guard)
        arc = Transition(rest, None, None, None)
        arc.symbol = self._free.pop() if self._free else len(self.known)
        self.directory.static(space, key).add(arc)
        return InputSymbol(space, key, arc)
