"""A state to be recovered that knows exactly which records it has seen: a chain of digests."""

from __future__ import annotations

from typing import Any

import msgpack

from broker.kernel.records import Record
from broker.storage.checkpoint import digest
from broker.storage.records import encode


class Ledger:
    """`chain` is a digest of all records with their positions and times, in order."""

    def __init__(self) -> None:
        self.position = 0
        self.chain = b""

    def replay(self, position: int, time: int, record: Record) -> None:
        assert position == self.position + 1, "records come in order and without gaps"
        self.position = position
        kind, payload = encode(record)
        self.chain = digest(self.chain, msgpack.packb((position, time, kind, payload)))

    def save(self) -> bytes:
        saved: bytes = msgpack.packb((self.position, self.chain))
        return saved

    def restore(self, body: bytes) -> None:
        content: Any = msgpack.unpackb(body)
        self.position, self.chain = content

    def digest(self) -> bytes:
        return digest(self.save())
