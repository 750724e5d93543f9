"""The records of a small broker: subscriptions in three languages, forecasts, a durable cursor, runs in progress.

`python -m doubles.small_journal FOLDER` writes them as a journal with a checkpoint in the middle, in the form of the
version that runs it: see tests/data/README.md. It uses only what every version has had.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from broker.kernel import Record
from broker.kernel.records import (
    BatchTaken,
    CursorAdded,
    CursorMoved,
    CursorSetAside,
    StreamDeclared,
    SubscriptionAdded,
)
from broker.server.replicated_state import ReplicatedState
from broker.storage import Durability, Folder, Store

QUERIES: Final = (
    ("pairs", "cayuga", "SELECT * FROM S NEXT{$1.k = $2.k} S", None),
    ("later", "ptopss", "FROM S a: k = 'a' b: k = 'b' AND x > 5 MATCH a; b", {"within": 5, "threshold": 0.5}),
    (
        "rising",
        "sase",
        "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { [k] AND b.x > 7 } WITHIN 30",
        None,
    ),
)
BATCHES: Final = 40
CHECKPOINT: Final = 25
"""After so many batches."""
SETTINGS: Final = Durability(segment_bytes=8_192, growth_bytes=4_096, record_bytes=4_096)


def beginning() -> Iterator[Record]:
    yield StreamDeclared("S", {"k": "string", "x": "int"}, "k", "arrival", None, None)
    for name, language, query, forecast in QUERIES:
        yield SubscriptionAdded(name, language, query, True, None, forecast, {})
    yield CursorAdded("mine", "pairs", "ann", 100, 10_000)


def batches(first: int, count: int) -> Iterator[Record]:
    for number in range(first, first + count):
        chance = Random(number)
        times = [10 * number + index for index in range(9)]
        rows = [(chance.choice("ab"), chance.randrange(10)) for _ in times]
        ids = [1 + 9 * number + index for index in range(9)]
        yield BatchTaken("S", times, rows, ids, None, "publisher", number + 1)


def before_checkpoint() -> Iterator[Record]:
    yield from beginning()
    yield from batches(0, CHECKPOINT)
    yield CursorMoved("ann/mine", 180)
    yield CursorSetAside("ann/mine", 190, "no customer", 1_000, 1)


def after_checkpoint() -> Iterator[Record]:
    yield CursorMoved("ann/mine", 185)
    yield from batches(CHECKPOINT, BATCHES - CHECKPOINT)


def write(folder: Path) -> None:
    """Write the journal and its checkpoint into a new folder."""
    store = Store(Folder.made(folder), bytes(range(16)), SETTINGS, 0)
    state = ReplicatedState()
    store.recover(state)

    def add(records: Iterator[Record]) -> None:
        for record in records:
            store.reserve()
            state.replay(store.journal.position + 1, 0, record)
            store.append(record, 0)
            store.commit(0)

    add(before_checkpoint())
    store.checkpoint(state, 0)
    add(after_checkpoint())
    store.close()
    (folder / "lock").unlink()


if __name__ == "__main__":
    write(Path(sys.argv[1]))
