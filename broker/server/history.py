"""Law: a broker's state as what a journal is the history of: what a record does, and the state's own bytes and digest.

The kernel does the same while it makes a record; here it is done again, without clients, and results only to cursors.
"""

from __future__ import annotations

from typing import Any, Final, cast, final

import msgpack

from ..engine import Engine
from ..events import DefinitionError, Disorder
from ..forecast.model_file import read_model
from ..kernel import Cursors, Record, Taken
from ..kernel.records import (
    Batch,
    CursorAdded,
    CursorMoved,
    CursorSetAside,
    DeadLettersSettled,
    ModelChanged,
    StreamDeclared,
    SubscriptionAdded,
    SubscriptionRemoved,
)
from ..storage import Damaged
from ..storage.checkpoint import digest
from ..storage.engine_digest import engine_digest

FORMAT: Final = 3


@final
class History:
    """The engine, what was taken of publishers, what cursors keep, and the digest of the model that was given last."""

    __slots__ = ("cursors", "engine", "model", "taken")

    def __init__(self) -> None:
        self.engine = Engine()
        self.taken = Taken()
        self.cursors = Cursors()
        self.model = ""

    def replay(self, position: int, time: int, record: Record) -> None:
        """What this record did the first time. Raises ForetellErrors where it cannot have been."""
        engine = self.engine
        match record:
            case Batch():
                results = engine.publish(
                    record.stream, record.times, cast("list[tuple[Any, ...]]", record.rows), record.ids, record.starts
                )
                self.taken.note(record, engine.now)
                self.cursors.find_all(results)
            case StreamDeclared():
                engine.add_stream(record.name, record.attributes, record.key, cast("Disorder", record.disorder))
            case SubscriptionAdded():
                engine.subscribe(
                    record.name, record.language, record.query, record.lineage, record.report, record.forecast
                )
            case SubscriptionRemoved(name):
                engine.unsubscribe(name)
            case CursorAdded():
                self.cursors.add(record)
            case CursorMoved():
                self.cursors.move(record)
            case CursorSetAside():
                self.cursors.set_aside(record)
            case DeadLettersSettled():
                self.cursors.settle(record)
            case ModelChanged(of, text):
                engine.load_model(read_model(text, f"record {position}"))
                self.model = of
            case _:
                raise Damaged(f"record {position}: this version makes no {type(record).__name__}, found one")

    def save(self) -> bytes:
        """What `restore` takes. O(runs + receipts + kept results)."""
        cursors = self.cursors.save()
        body: bytes = msgpack.packb([FORMAT, self.engine.snapshot(), self.taken.save(), self.model, cursors])
        return body

    def restore(self, body: bytes) -> None:
        """Take the place of a state that has said this of itself. Raises Damaged, DefinitionError."""
        form, snapshot, taken, self.model, cursors = _fields(body)
        if form != FORMAT:
            raise Damaged(f"expected a state of format {FORMAT}, found format {form}")
        self.engine = Engine.restore(snapshot)
        self.taken.restore(taken)
        self.cursors.restore(cursors)

    def digest(self) -> bytes:
        """32 bytes, equal for states that will go on equally."""
        return digest_of(self.save())


def digest_of(body: bytes) -> bytes:
    """The digest of a state that has said this of itself; takes longer than saying it, and needs only the bytes."""
    form, snapshot, taken, model, cursors = _fields(body)
    return digest(engine_digest(snapshot), msgpack.packb([form, taken, model, cursors]))


def _fields(body: bytes) -> Any:
    try:
        fields = msgpack.unpackb(body, strict_map_key=False)
        if len(fields) == 5:
            return fields
    except (ValueError, TypeError, msgpack.UnpackException):
        pass
    raise DefinitionError("expected a broker's state, found something else")
