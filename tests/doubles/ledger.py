"""A state to be recovered that knows exactly which records it has seen: a chain of digests, and cursors."""

from __future__ import annotations

from typing import Any

import msgpack

from broker.storage.checkpoint import digest
from broker.storage.records import CursorMoved, CursorOvertaken, Record, encode


class Ledger:
    """`chain` is a digest of all records with their positions and times, in order."""

    def __init__(self) -> None:
        self.position = 0
        self.chain = b""
        self.cursors: dict[str, int] = {}

    def replay(self, position: int, time: int, record: Record) -> None:
        assert position == self.position + 1, "records come in order and without gaps"
        self.position = position
        kind, payload = encode(record)
        self.chain = digest(self.chain, msgpack.packb((position, time, kind, payload)))
        match record:
            case CursorMoved(cursor, None):
                self.cursors.pop(cursor, None)
            case CursorMoved(cursor, int(done)):
                self.cursors[cursor] = done
            case CursorOvertaken(cursor, _, last):
                self.cursors[cursor] = last
            case _:
                pass

    def save(self) -> bytes:
        saved: bytes = msgpack.packb((self.position, self.chain, self.cursors))
        return saved

    def restore(self, body: bytes) -> None:
        content: Any = msgpack.unpackb(body)
        self.position, self.chain, self.cursors = content

    def digest(self) -> bytes:
        return digest(self.save())
