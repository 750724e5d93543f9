"""CEL queries run by the reference executor: each automaton on its own, internal and published streams between them.

Here: who reads whose results. Not here: what an automaton does (broker.engine.executors.reference).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from doubles.timed_events import as_read

from broker.automaton.compilation import Compiled
from broker.engine.executors.reference.interpreter import Interpreter
from broker.events.schema import Row

Interpreted: TypeAlias = tuple[str, Row, int, int, tuple[Any, ...]]
"""Query, values, start, end, and the ids of the events that contributed, in the order in which they did."""


class InterpretedQueries:
    """`publishes`: the streams that results of queries are events of."""

    def __init__(self, queries: Mapping[str, Compiled], publishes: Mapping[str, str | None]) -> None:
        self.automata: list[tuple[Interpreter, str | None, str | None]] = []  # query, and the stream that it feeds
        internal: set[str] = set()
        for name, compiled in queries.items():
            for stream, automata in compiled.internal:
                if stream not in internal:
                    internal.add(stream)
                    self.automata += [(Interpreter(automaton), None, stream) for automaton in automata]
            self.automata += [(Interpreter(automaton), name, publishes.get(name)) for automaton in compiled.automata]

    def feed(self, stream: str, start: int, end: int, row: Row, ids: tuple[Any, ...]) -> list[Interpreted]:
        """The results of an event, and of those that it makes."""
        found: list[Interpreted] = []
        for interpreter, name, fed in self.automata:
            read, seen = as_read(interpreter.automaton.streams(), stream, end, row, start)
            if read in interpreter.automaton.streams():
                for match in interpreter.feed(read, start, end, seen, ids):
                    began = match.taken[0].event.start
                    lineage = tuple(number for _, event in match.taken for number in event.item)
                    if name is not None:
                        found.append((name, match.values, began, end, lineage))
                    if fed is not None:
                        found += self.feed(fed, began, end, match.values, lineage)
        return found
