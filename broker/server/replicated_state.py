"""The broker's state as a fold over its journal: applies records, saves and digests the state.

The kernel changes the same state when it makes a record. A replay repeats the change without clients; only cursors keep
results.
"""

from __future__ import annotations

from typing import Any, Final, cast, final

import msgpack

from ..engine import Engine
from ..events import DefinitionError, Disorder, TimeUnit
from ..forecast.model_file import read_model
from ..kernel import Cursors, Receipts, Record, Sources, wires
from ..kernel.records import (
    AttributeAdded,
    BatchTaken,
    CursorAdded,
    CursorMoved,
    CursorPlaced,
    CursorSetAside,
    DeadLettersSettled,
    GapDeclared,
    ModelChanged,
    Punctuated,
    Retracted,
    StreamClocked,
    StreamDeclared,
    StreamRemoved,
    SubscriptionAdded,
    SubscriptionRemoved,
    SubscriptionReplaced,
    TimeWasReset,
    Updated,
)
from ..storage import Damaged
from ..storage.checkpoint import digest
from ..storage.engine_digest import engine_digest

FORMAT: Final = 4


@final
class ReplicatedState:
    """The engine, the sources of its subscriptions, the receipts, the cursors, and the digest of the newest model."""

    __slots__ = ("cursors", "engine", "model", "receipts", "sources")

    def __init__(self) -> None:
        self.engine = Engine()
        self.sources = Sources(wires(self.engine))
        self.receipts = Receipts()
        self.cursors = Cursors()
        self.model = ""

    def replay(self, position: int, time: int, record: Record) -> None:
        """Apply a record again. Raises ForetellErrors if it contradicts the state."""
        engine = self.engine
        match record:
            case BatchTaken():
                results = engine.publish(
                    record.stream, record.times, cast("list[tuple[Any, ...]]", record.rows), record.ids, record.starts
                )
                self.receipts.note(record, engine.now)
                self.cursors.keep_all(results)
            case Punctuated():
                self.cursors.keep_all(engine.punctuate(record.time, record.stream, record.where))
                self.receipts.note_change(record, engine.now)
            case GapDeclared(stream, first, last):
                self.cursors.keep_all(engine.declare_gap(stream, first, last))
                self.receipts.note_change(record, engine.now)
            case Retracted():
                for number in record.ids:
                    self.cursors.keep_all(engine.retract(number))
                self.receipts.note_change(record, engine.now)
            case Updated():
                change = record.insert, record.delete, record.start, record.end
                self.cursors.keep_all(engine.update(record.subscription, *change))
                self.receipts.note_change(record, engine.now)
            case StreamClocked(stream, clocked):
                self.receipts.clocked[stream] = clocked
            case StreamDeclared():
                order = cast("Disorder", record.disorder), record.lateness, record.speculation, record.idle
                unit = cast("TimeUnit | None", record.time_unit)
                engine.add_stream(record.name, record.attributes, record.key, *order, unit, record.sequence)
            case AttributeAdded():
                engine.add_attribute(record.stream, record.attribute, record.type)
            case StreamRemoved(name):
                self.cursors.keep_all(engine.remove_stream(name))
                self.receipts.forget_stream(name)
            case SubscriptionAdded():
                engine.subscribe(
                    record.name, record.language, record.query, record.lineage, record.report, record.forecast,
                    record.options.get("results"),
                )  # fmt: skip
                self.sources.add(record.name)
            case SubscriptionRemoved(name):
                engine.unsubscribe(name)
                self.sources.remove(name)
            case SubscriptionReplaced(name):
                before = self.sources.of(name)
                self.cursors.keep_all(engine.replace(name, record.query, record.language, record.keep_runs))
                self.sources.replace(name, before)
            case CursorAdded():
                self.cursors.add(record)
            case CursorMoved():
                self.cursors.move(record)
            case CursorPlaced():
                self.cursors.place(record)
            case CursorSetAside():
                self.cursors.set_aside(record)
            case DeadLettersSettled():
                self.cursors.settle(record)
            case TimeWasReset(stream, newest):
                for ended in engine.reset_time(stream, newest):
                    self.cursors.keep_all(ended)
                self.receipts.forget_stream(stream)
            case ModelChanged(of, text):
                engine.load_model(read_model(text, f"record {position}"))
                self.model = of

    def save(self) -> bytes:
        """Serialise the state for `restore`. O(runs + receipts + results of cursors)."""
        cursors, sources = self.cursors.save(), self.sources.save()
        body: bytes = msgpack.packb(
            [FORMAT, self.engine.snapshot(), self.receipts.save(), self.model, cursors, sources]
        )
        return body

    def restore(self, body: bytes) -> None:
        """Replace the state by the one that `save` serialised. Raises Damaged, DefinitionError."""
        snapshot, receipts, self.model, cursors, sources = _fields(body)
        self.engine = Engine.restore(snapshot)
        self.sources = Sources(wires(self.engine))
        self.sources.restore(sources, self.engine.subscriptions)
        self.receipts.restore(receipts)
        self.cursors.restore(cursors)

    def digest(self) -> bytes:
        """32 bytes, equal for states with the same future."""
        return digest_of(self.save())


def digest_of(body: bytes) -> bytes:
    """The digest of a serialised state. It takes longer than serialising, and needs only the bytes."""
    snapshot, *rest = _fields(body)
    return digest(engine_digest(snapshot), msgpack.packb([FORMAT, *rest]))


def _fields(body: bytes) -> Any:
    """The fields behind the format. Raises Damaged for another format, DefinitionError for anything else."""
    try:
        fields = msgpack.unpackb(body, strict_map_key=False)
    except (ValueError, TypeError, msgpack.UnpackException):
        fields = None
    if type(fields) is not list or not fields or type(fields[0]) is not int:
        raise DefinitionError("expected a broker's state, found something else")
    if fields[0] != FORMAT:
        raise Damaged(f"expected a state of format {FORMAT}, found format {fields[0]}")
    return fields[1:]
