"""Opens a broker's journal, recovers its state, and makes the state agree with the configuration.

The configuration is applied as records, like everything that can change a match. An unchanged subscription keeps its
partial matches; one with another text is replaced; one that is no longer in the configuration waits for clients, like
subscriptions that clients have added.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Final, final

from ..engine import Engine
from ..events import DefinitionError
from ..kernel import Record
from ..kernel.records import (
    AttributeAdded,
    ModelChanged,
    StreamDeclared,
    SubscriptionAdded,
    SubscriptionRemoved,
    options_of,
)
from ..storage import Damaged, Durability, Folder, Recovery, StorageError, Store
from ..storage.files import check_writable
from ..storage.segments import segment_names
from .replicated_state import ReplicatedState
from .saving import Way

CHECKPOINT_BYTES: Final = 16 * 1024 * 1024
_IDENTITY_BYTES: Final = 16
_DIGEST_BYTES: Final = 16


@final
@dataclass(frozen=True, slots=True)
class Journalling:
    """Where and how a broker keeps its journal.

    `checkpoint_bytes`: the size of records between checkpoints; `checkpoint`: how the state is saved.
    """

    path: Path
    durability: Durability = field(default_factory=Durability)
    checkpoint_bytes: int = CHECKPOINT_BYTES
    checkpoint: Way = "fork"


def check_room(journal: Journalling) -> None:
    """Check that a broker could begin to write there: a new segment, and the last one anew. Raises StorageError."""
    files, room = Folder(journal.path), journal.durability.first_room
    try:
        if journal.path.exists():
            room += sum(files.size(name) for name in segment_names(files)[-1:])
        check_writable(journal.path, room)
    except OSError as error:
        why = f"expected a folder with room for {room:,} bytes that a broker can write"
        raise StorageError(f"journal.path: {journal.path}: {why}: {error.strerror or error}") from None


@final
@dataclass(frozen=True, slots=True)
class ExaminedStart:
    """A locked folder that was read, the recovered state with the configuration applied, and what has to be written for
    that. A start that is refused before `begin` has changed nothing."""

    store: Store
    state: ReplicatedState
    recovery: Recovery
    records: list[Record]
    now: int

    def begin(self) -> None:
        """Write the configuration behind the journal. Raises StorageErrors, and then the folder is unlocked."""
        try:
            self.store.open()
            for record in self.records:
                self.store.reserve()
                self.store.append(record, self.now)
            self.store.journal.sync()
        except BaseException:
            self.store.abandon()
            raise


def examined(journal: Journalling, wanted: Engine, model: str | None, now: int) -> ExaminedStart:
    """Lock and read a journal. `wanted`: an engine with the configuration's streams and subscriptions; `model`: the
    text of its model file. Raises StorageErrors, DefinitionError."""
    try:
        store = Store(Folder.made(journal.path), os.urandom(_IDENTITY_BYTES), journal.durability, now)
    except Damaged as error:
        raise Damaged(f"{journal.path}: {error}") from None
    except OSError as error:
        raise StorageError(f"{error.filename or journal.path}: {error.strerror or error}") from None
    state = ReplicatedState()
    records: list[Record] = []
    try:
        try:
            recovery = store.replay(state)
        except StorageError as error:
            raise type(error)(f"{journal.path}: {error}") from None
        except OSError as error:
            raise StorageError(f"{error.filename or journal.path}: {error.strerror or error}") from None
        for record in _missing(state, wanted, model):
            records.append(record)
            state.replay(recovery.position + len(records), now, record)
    except BaseException:
        store.abandon()
        raise
    return ExaminedStart(store, state, recovery, records, now)


def _missing(state: ReplicatedState, wanted: Engine, model: str | None) -> Iterator[Record]:
    """Records of the configuration that the state lacks. Apply each before requesting the next."""
    engine = state.engine
    for stream in wanted.streams.values():
        existing = engine.streams.get(stream.name)
        declared = StreamDeclared(*stream.arguments())
        if existing is None:
            yield declared
            continue
        for attribute, kind in list(stream.schema.declared().items())[len(existing.schema) :]:
            if not existing.extends_to(stream):
                break
            yield AttributeAdded(stream.name, attribute, kind)
        if not engine.streams[stream.name].includes(stream):
            raise DefinitionError(f"stream {stream.name!r} has another definition in the journal, and cannot change")
        if existing.time_unit is None and stream.time_unit is not None:
            yield declared
    for one in wanted.subscriptions.values():
        known = engine.subscriptions.get(one.name)
        if known == one:
            continue
        if known is not None:
            yield SubscriptionRemoved(one.name)
        options = options_of(one)
        yield SubscriptionAdded(one.name, one.language, one.query, one.lineage, one.report, one.forecast, options)
    if model is not None:
        digest = blake2b(model.encode(), digest_size=_DIGEST_BYTES).hexdigest()
        if digest != state.model:
            yield ModelChanged(digest, model)
