"""The events that a subscription sees, also those of published streams: what a subscription beside it is told.

The probe's query matches every event alone and copies its values. So it is told of events that come late or are
withdrawn exactly as the subscription is. The table of languages says which one can do that.

Not here: what the subscription makes of these events (register_runs, window_runs).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from ...algebra.timed_stream import is_timed, timed_row, untimed
from ...automaton.automaton import Automaton
from ...events.schema import Row, Schema
from ..disorder.joined import JoinedResults, RevisedResults
from ..executors.reference.run import SeenEvent
from ..executors.speculative.found import LifetimeMatches
from ..languages.table import copying_query
from ..match import Match
from ..matches.sources import contributed, ids
from .fresh_engine import FreshEngine


@final
class EventProbe:
    """`revises`: the subscription sees events before they are final. Join it before the first event."""

    def __init__(self, engine: FreshEngine, automaton: Automaton, revises: bool) -> None:
        self.sources = automaton.sources
        self.revises = revises
        self.name = "probe"
        while self.name in engine.subscriptions:
            self.name += "_"
        streams = [untimed(source.stream) for source in automaton.sources]
        language, copying = copying_query([(stream, self._schema(engine, stream)) for stream in streams])
        self._columns = copying.columns
        self._events: dict[tuple[str, int, int], SeenEvent] = {}  # by stream, time and order
        self._sorted: list[SeenEvent] | None = None
        self._count = 0
        engine.subscribe(self.name, language, copying.query, True, results=None if revises else "final")

    def take(self, results: Any) -> None:
        """Note the events that results show and withdraw. O(results)."""
        for part in results.parts if isinstance(results, JoinedResults) else (results,):
            if type(part) is RevisedResults:
                for subscriber, revision in part.entries:
                    if subscriber.name == self.name and not isinstance(revision, Match):
                        self._revised(*revision)
            else:
                for match in part:
                    if match.subscription == self.name and match.kind == "match":
                        self._count += 1
                        lineage = match.lineage or ()
                        self._note(tuple(match.data.values()), match.end, self._count, tuple(lineage), True)

    def _revised(self, inserted: bool, source: Any) -> None:
        assert isinstance(source, LifetimeMatches)
        matched = source.one()
        (number,) = source.page.changes.lineage_of(source.places[0])
        self._note(matched.values, matched.end, number, tuple(contributed(matched)), inserted)

    def _note(self, values: Row, time: int, order: int, lineage: tuple[int, ...], inserted: bool) -> None:
        at = values[0]
        assert isinstance(at, int)
        source = self.sources[at]
        known = source.stream, time, order
        self._sorted = None
        if not inserted:
            del self._events[known]
            return
        row: Row = tuple([None if column < 0 else values[column] for column in self._columns[at]])
        if is_timed(source.stream):
            row = timed_row(row, time, time)
        item = lineage[0] if len(lineage) == 1 else (order, lineage)
        key = tuple([row[position] for position in source.key])
        self._events[known] = SeenEvent(0, source.stream, time, time, row, item, None if None in key else key)

    def events(self) -> list[SeenEvent]:
        """The events that stand, in the order of the subscription, numbered. O(events log events) after a change."""
        if self._sorted is None:
            ordered = sorted(self._events.items(), key=lambda each: each[0][1:])
            self._sorted = [event for _, event in ordered]
            for number, event in enumerate(self._sorted):
                event.number = number
        return self._sorted

    def partitions(self) -> list[list[SeenEvent]]:
        """The events of each partition; an event with a null key is in none."""
        keyed: dict[Row, list[SeenEvent]] = {}
        for event in self.events():
            if event.partition is not None:
                keyed.setdefault(event.partition, []).append(event)
        return list(keyed.values())

    def partitions_with(self, lineage: Sequence[int]) -> list[list[SeenEvent]]:
        """The partitions of which an event has the last of these ids. O(events)."""
        last = lineage[-1]
        return [part for part in self.partitions() if any(last in ids(event.item) for event in part)]

    @staticmethod
    def _schema(engine: FreshEngine, stream: str) -> Schema:
        declared = engine.streams.get(stream)
        return engine.published[stream] if declared is None else declared.schema
