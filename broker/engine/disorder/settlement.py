"""What a punctuation settles for each subscription that revises: which of its results are final, also of single keys.

Each subscription waits for its own streams alone, and of them only for the events that concern it (finality).

Here: asking, for all of them, and promises with predicates by stream. Not here: the answers (finality, promised), what
becomes of a subscription's state and what it is told (readers).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, final

from ...algebra.promises import predicate
from ...algebra.timed_stream import untimed
from ...events.errors import QueryError
from ...events.instant import FOREVER
from ...events.schema import Row
from ...events.stream import StreamDefinition
from .finality import AutomatonFinality, Coming, SettledTimes, belongs
from .joined import RevisedResults
from .promised import PromisedRows
from .readers import RevisingReaders
from .revising_groups import RevisingReader
from .stream_order import NOTHING_PROMISED
from .watermarks import Watermarks


@final
class Settlement:
    """`promised`: by stream, what is promised of some of its events."""

    def __init__(self, marks: Watermarks, readers: RevisingReaders, most: int) -> None:
        self.marks = marks
        self.readers = readers
        self.most = most
        self.promised: dict[str, PromisedRows] = {}

    def promise(self, time: int, stream: StreamDefinition, where: str) -> None:
        """Take a promise of the events that satisfy a predicate. O(regions).

        Raises QueryError for a predicate that cannot be decided, LimitExceeded for too many regions.
        """
        try:
            condition, cuts = predicate(where, stream.schema)
        except QueryError as error:
            message = f"punctuation of stream {stream.name!r}: {error}"
            raise QueryError(message, error.line, error.column, error.excerpt) from None
        base = self.marks.floor(stream.name)
        table = PromisedRows(stream.schema, self.promised.get(stream.name))
        table.promise(time, condition, cuts, self.most, base)
        self.promised[stream.name] = table
        self.marks.promise(table.least(), stream.name)

    def floor(self, stream: str, row: Row) -> int:
        """The time before which such an event is late."""
        table = self.promised.get(stream)
        base = self.marks.floor(stream)
        return base if table is None else max(base, table.floor(row))

    def forget(self, stream: str) -> None:
        """Drop what says no more than is promised of all events of the stream. O(1), mostly."""
        table = self.promised.get(stream)
        if table is not None and table.latest <= self.marks.floor(stream):
            del self.promised[stream]

    # --- subscriptions ------------------------------------------------------------------------------------------

    def settle(self, found: RevisedResults) -> None:
        """Tell each subscription what is final for it, if that is more than it was.

        O(subscriptions x regions x arcs), and where events can come that break no run O(arcs x events not final).
        """
        settled: list[tuple[RevisingReader, SettledTimes, dict[Row, int]]] = []
        ends: dict[str, int] = {}  # by stream that is published, what is final of it
        for reader in self.readers.ranked():
            bounds, keys = self._of(reader, ends)
            settled.append((reader, bounds, keys))
            if reader.publish is not None:
                ends[reader.publish] = min(ends.get(reader.publish, FOREVER), max(bounds.final, reader.final))
        settled.sort(key=lambda each: each[0].number)
        for reader, bounds, keys in settled:
            self.readers.settle(reader, bounds, keys, found)
        self.readers.settled()

    def _of(self, reader: RevisingReader, ends: dict[str, int]) -> tuple[SettledTimes, dict[Row, int]]:
        automaton = reader.subscriber.revised()
        safe = self.readers.order(reader).safe
        asked = AutomatonFinality(automaton, max(safe, reader.closed))
        coming: list[Coming] = []
        for source in automaton.sources:
            coming += self._coming(asked, source.stream, ends)
        closed, final = asked.bounds(coming, self.readers.order(reader).buffer.since)
        bounds = SettledTimes(max(closed, safe), max(final, safe))
        keys: dict[Row, int] = {}
        positions = {source.stream: source.key for source in automaton.sources}
        for key in self._keys(positions):
            may = [each.time for each in coming if belongs(each, positions[each.stream], key) and asked.concerns(each)]
            if min(may, default=FOREVER) > bounds.final:
                keys[key] = min(may, default=FOREVER)
        return bounds, keys

    def _coming(self, asked: AutomatonFinality, source: str, ends: dict[str, int]) -> Iterator[Coming]:
        stream = untimed(source)
        definition, safe = self.marks.streams.get(stream), self.marks.safe(stream)
        if definition is None:
            return asked.coming(source, None, max(safe, ends.get(stream, FOREVER)), FOREVER)
        most, speculation = FOREVER, definition.speculation
        if speculation is not None:  # later events may not be told yet: before any promise, none
            most = safe + speculation if safe > NOTHING_PROMISED else safe
        return asked.coming(source, self.promised.get(stream), self.marks.floor(stream), most)

    def _keys(self, positions: dict[str, tuple[int, ...]]) -> Iterator[Row]:
        """The keys that promises name by their values."""
        named: set[Row] = set()
        for stream, own in positions.items():
            table = self.promised.get(untimed(stream))
            if table is not None and own:
                named.update(product(*[table.points(position) for position in own]))
        return iter(sorted(named))

    # --- inspection ---------------------------------------------------------------------------------------------

    def statistics(self) -> dict[str, int]:
        return {"promised_regions": sum([len(table.times) for table in self.promised.values()])}

    def dump(self) -> Any:
        return [[stream, table.dump()] for stream, table in self.promised.items()]

    def load(self, data: Any) -> None:
        for stream, kept in data:
            table = self.promised[stream] = PromisedRows(self.marks.streams[stream].schema)
            table.load(kept)

    def check_invariants(self) -> None:
        for stream, table in self.promised.items():
            table.check_invariants()
            assert table.least() <= self.marks.floor(stream)
