"""The events in the journal that concern subscriptions, read from the newest back, and what is missing of them.

Here: which records an engine needs to run a subscription again. Not here: running it (broker.engine.reasons).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from ..engine import Engine
from ..engine.reasons import AskedInput
from ..events import Event
from ..events.instant import format_instant
from ..kernel.records import (
    BatchTaken,
    Record,
    StreamDeclared,
    SubscriptionAdded,
    SubscriptionReplaced,
    TimeWasReset,
)
from ..storage import Journal
from ..storage.history import backwards, first_gaps, inputs_of
from ..storage.records import decode

REASONS_EVENTS_MAX: Final = 100_000
"""Events of the journal among which reasons are looked for, the newest ones."""


@final
@dataclass(frozen=True, slots=True)
class SubscriptionHistory:
    """What an engine is given to run one subscription again. `missing`: why earlier events are not among it, if so."""

    inputs: Sequence[AskedInput]
    missing: str

    def line(self) -> dict[str, Any]:
        times = [each.time for each in self.inputs if isinstance(each, Event)]
        found: dict[str, Any] = {"number": len(times)}
        if times:
            found |= {"from": min(times), "until": max(times)}
        return {**found, "missing": self.missing} if self.missing else found


@final
class JournalHistory:
    """The records that concern these subscriptions. O(bytes of the newest segments that have so many events)."""

    def __init__(self, journal: Journal, engine: Engine, names: Sequence[str]) -> None:
        self._engine = engine
        self._reads = {name: read_by(engine, name) for name in names}
        self._streams = frozenset().union(*self._reads.values()) if names else frozenset()
        self.missing = ""
        self._records: list[Record] = []  # the newest first
        self._read(journal)

    def _read(self, journal: Journal) -> None:
        events = 0
        for record in _backwards(journal):
            if isinstance(record, BatchTaken):
                if record.stream not in self._streams:
                    continue
                events += len(record.rows)
                if events > REASONS_EVENTS_MAX:
                    self.missing = f"only the newest {REASONS_EVENTS_MAX:,} events were looked at (REASONS_EVENTS_MAX)"
                    return
            self._records.append(record)
        if journal.first > 1:
            self.missing = f"retention has removed the records before {journal.first}"
            if events:
                self.missing += f", of times before {format_instant(self._first_time())}"

    def _first_time(self) -> int:
        batches = [each for each in self._records if isinstance(each, BatchTaken)]
        return min(min(each.times) for each in batches[-3:] if each.times)

    def of(self, name: str) -> SubscriptionHistory:
        """The inputs of a subscription since it, or its streams, began anew."""
        streams, taken = self._reads[name], list[Record]()
        missing = self.missing
        for record in self._records:
            if _begins(record, name, streams):
                missing = ""
                break
            taken.append(record)
        inputs: list[AskedInput] = []
        known: set[int] = set()
        for record in reversed(taken):
            inputs += inputs_of(record, streams, known)
        if missing:
            read = [self._engine.streams[each] for each in sorted(streams) if each in self._engine.streams]
            inputs[:0] = first_gaps(inputs, read)
        return SubscriptionHistory(inputs, missing)


def read_by(engine: Engine, name: str) -> frozenset[str]:
    """The declared streams that a subscription reads, directly or through what others publish."""
    waiting, known, found = [name], {name}, set[str]()
    by_name = engine.catalog.subscriptions
    while waiting:
        reads = {stream for stream, _ in by_name[waiting.pop()].form.sources}
        found |= reads & engine.streams.keys()
        more = [other for other, each in by_name.items() if each.form.publish in reads and other not in known]
        known.update(more)
        waiting += more
    return frozenset(found)


def _backwards(journal: Journal) -> Iterator[Record]:
    """The records that may concern somebody, the newest first, a segment at a time."""
    sealed = journal.sealed
    starts = [*(extent.first for extent in sealed), sealed[-1].last + 1 if sealed else journal.first]
    for entry in backwards(starts, journal.written, journal.read):
        yield decode(entry.kind, entry.payload)


def _begins(record: Record, name: str, streams: frozenset[str]) -> bool:
    """Whether nothing before a record concerns a subscription."""
    match record:
        case SubscriptionAdded():
            return record.name == name
        case SubscriptionReplaced():
            return record.name == name and not record.keep_runs
        case StreamDeclared():
            return record.name in streams
        case TimeWasReset():
            return record.stream in streams
    return False
