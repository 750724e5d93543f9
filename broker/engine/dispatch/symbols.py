"""Symbols: the distinct conditions that machines put on single events, each evaluated once an event (P-ToPSS 3.2).

Each distinct guard of a stream has a number, its symbol, and stands in the static predicate index like any start arc.
The index collects the symbols of an event.

Here: adding and removing symbols. Not here: their readers (lanes).
"""

from __future__ import annotations

from typing import final

from ...algebra.normal_form import Form
from ..executors.contract import Input
from ..index.spaces import Key, Space
from ..program.directory import Directory
from ..program.transition import Transition


@final
class InputSymbol:
    """A numbered guard, and the place of its arc."""

    def __init__(self, number: int, space: Space, key: Key, arc: Transition) -> None:
        self.number = number
        self.space = space
        self.key = key
        self.arc = arc
        self.users = 0


@final
class SymbolNumbers:
    """The numbers in use, each for one symbol of all streams: a machine may tell the events of several by them."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._next = 0

    def take(self) -> int:
        if self._free:
            return self._free.pop()
        self._next += 1
        return self._next - 1

    def give_back(self, number: int) -> None:
        self._free.append(number)


@final
class Symbols:
    """The symbols of one stream."""

    def __init__(self, directory: Directory, stream: str, numbers: SymbolNumbers) -> None:
        self.directory = directory
        self.stream = stream
        self.numbers = numbers
        self._known: dict[Form, InputSymbol] = {}

    def __len__(self) -> int:
        return len(self._known)

    def acquire(self, guard: Form) -> int:
        """The number of a guard, for one more user."""
        symbol = self._known.get(guard)
        if symbol is None:
            symbol = self._known[guard] = self._made(guard)
        symbol.users += 1
        return symbol.number

    def number(self, arc: Transition) -> int:
        """The number of the symbol with this arc; -1 if there is none. O(symbols)."""
        return next((symbol.number for symbol in self._known.values() if symbol.arc is arc), -1)

    def release(self, guard: Form) -> None:
        """Undo one `acquire`."""
        symbol = self._known[guard]
        symbol.users -= 1
        if symbol.users:
            return
        del self._known[guard]
        self.numbers.give_back(symbol.number)
        self.directory.static(symbol.space, symbol.key).arcs.remove(symbol.arc)
        self.directory.prune(symbol.space, symbol.key)

    def _made(self, guard: Form) -> InputSymbol:
        number = self.numbers.take()
        space, key, rest = self.directory.start_cell(self.stream, guard)
        arc = Transition(rest, None, None, None)
        arc.symbol = number
        self.directory.static(space, key).arcs.add(arc)
        return InputSymbol(number, space, key, arc)


@final
class Alphabet:
    """The symbols of all streams."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self.streams: dict[str, Symbols] = {}
        self.numbers = SymbolNumbers()

    def acquire(self, inputs: list[Input]) -> list[int]:
        """The numbers of the inputs' guards, for one more user. O(inputs)."""
        numbers: list[int] = []
        for given in inputs:
            symbols = self.streams.get(given.stream)
            if symbols is None:
                symbols = self.streams[given.stream] = Symbols(self.directory, given.stream, self.numbers)
            numbers.append(symbols.acquire(given.guard))
        return numbers

    def release(self, inputs: list[Input]) -> None:
        """Undo one `acquire`. O(inputs)."""
        for given in inputs:
            symbols = self.streams[given.stream]
            symbols.release(given.guard)
            if not len(symbols):
                del self.streams[given.stream]

    def having(self, arc: Transition) -> dict[str, int]:
        """By stream, the number of the symbol with this arc; -1 if there is none. O(symbols)."""
        return {stream: symbols.number(arc) for stream, symbols in self.streams.items()}
