"""Reads one segment from front to back: its records, its end, and its damage. Nothing is written here.

A segment ends with a seal, or where no sound record of the next position begins. In the second case the rest is
searched for later records. If one of them knew the missing position to be durable, the segment is damaged, and is
refused with its name and offset. If none did, this is the torn end of a write that was interrupted when the broker
ended, and no client was told that it was safe.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final
from zlib import crc32

from . import framing
from .errors import Damaged
from .files import Files
from .framing import RECORD_HEAD_BYTES, SEAL, SEGMENT_HEAD_BYTES, RecordHead, Seal, SegmentHead

CHUNK_BYTES: Final = 1024 * 1024


@final
@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A record. `time`: when it was appended, in microseconds since 1970, never before the preceding record."""

    position: int
    kind: int
    time: int
    payload: bytes


@final
@dataclass(frozen=True, slots=True)
class SegmentEnd:
    """The end of a segment: the `offset` behind its records and the `position` of the last (or the one before the
    first).

    `content`: its seal, or the one it would have. `torn`: how many bytes, up to the last nonzero one, are not a record.
    """

    offset: int
    position: int
    content: Seal
    sealed: bool
    torn: int


def head_of(files: Files, name: str) -> SegmentHead:
    """The head of a segment. Raises Damaged."""
    head = framing.read_segment_head(files.read(name, 0, SEGMENT_HEAD_BYTES))
    if isinstance(head, str):
        raise Damaged(f"{name}: offset 0: {head}")
    return head


def seal_of(files: Files, name: str, head: SegmentHead) -> Seal:
    """The seal at the end of the file, which must have one. O(1). Raises Damaged."""
    offset = max(SEGMENT_HEAD_BYTES, files.size(name) - framing.SEAL_BYTES)
    data = files.read(name, offset, framing.SEAL_BYTES)
    record = framing.read_record_head(framing.seed(head.identity), data)
    seal = None if record is None else _seal(record, data[RECORD_HEAD_BYTES:])
    if record is None or seal is None or record.position != head.first + seal.count:
        raise Damaged(f"{name}: offset {offset}: expected the seal of this segment, because another one follows it")
    return seal


def scan(
    files: Files, name: str, head: SegmentHead, after: int = 0, until: int | None = None
) -> Iterator[JournalEntry | SegmentEnd]:
    """The records behind the position `after`, then one SegmentEnd. O(bytes); holds CHUNK_BYTES and one record.

    With `until`, a position that must exist, it stops behind that record, without a SegmentEnd. Raises Damaged.
    """
    seed = framing.seed(head.identity)
    source = _Source(files, name)
    offset, position = SEGMENT_HEAD_BYTES, head.first - 1
    content = Seal(0, head.time, head.time)
    while until is None or position < until:
        record = framing.read_record_head(seed, *source.view(offset, RECORD_HEAD_BYTES))
        if record is None or record.position != position + 1:
            yield _end(source, seed, offset, position, content, record)
            return
        behind = offset + RECORD_HEAD_BYTES + record.length
        if record.kind == SEAL or record.position > after:
            payload = source.take(offset + RECORD_HEAD_BYTES, record.length)
            if len(payload) < record.length or crc32(payload) != record.crc:
                yield _end(source, seed, offset, position, content, None)
                return
            if record.kind == SEAL:
                seal = _seal(record, payload)
                if seal != content:
                    raise Damaged(f"{name}: offset {offset}: expected {content}, found {seal}")
                yield SegmentEnd(offset, position, content, True, source.nonzero(behind) - behind)
                return
        first_time = content.first_time if content.count else record.time
        content = Seal(content.count + 1, first_time, record.time)
        position, offset = record.position, behind
        if position > after:
            yield JournalEntry(position, record.kind, record.time, payload)


def _end(source: _Source, seed: int, offset: int, position: int, content: Seal, found: RecordHead | None) -> SegmentEnd:
    """The torn end at a bad record. Raises Damaged if the record was durable."""
    missing = position + 1
    if found is not None:
        raise Damaged(f"{source.name}: offset {offset}: expected record {missing}, found record {found.position}")
    for at in source.find(framing.RECORD_MAGIC, offset + 1):
        later = framing.read_record_head(seed, *source.view(at, RECORD_HEAD_BYTES))
        if later is not None and later.durable >= missing:
            witness = "the seal" if later.kind == SEAL else f"record {later.position}"
            raise Damaged(
                f"{source.name}: offset {offset}: record {missing} is bad, although it was durable according to "
                f"{witness} at offset {at}"
            )
    return SegmentEnd(offset, position, content, False, source.nonzero(offset) - offset)


def _seal(record: RecordHead, payload: bytes) -> Seal | None:
    if record.kind != SEAL or crc32(payload) != record.crc:
        return None
    return framing.read_seal(payload)


@final
class _Source:
    """A file's bytes by offset; one chunk is held in memory."""

    __slots__ = ("_base", "_chunk", "_files", "name")

    def __init__(self, files: Files, name: str) -> None:
        self._files = files
        self.name = name
        self._base = 0
        self._chunk = b""

    def view(self, offset: int, length: int) -> tuple[bytes, int]:
        """A buffer, and the index of the file's `offset` in it, with `length` bytes from there or all there are."""
        at = offset - self._base
        if at < 0 or at + length > len(self._chunk):
            self._chunk = self._files.read(self.name, offset, max(length, CHUNK_BYTES))
            self._base, at = offset, 0
        return self._chunk, at

    def take(self, offset: int, length: int) -> bytes:
        chunk, at = self.view(offset, length)
        return chunk[at : at + length]

    def find(self, wanted: bytes, offset: int) -> Iterator[int]:
        """Every offset from this one on at which these bytes occur."""
        while True:
            chunk = self._files.read(self.name, offset, CHUNK_BYTES)
            at = chunk.find(wanted)
            while at >= 0:
                yield offset + at
                at = chunk.find(wanted, at + 1)
            if len(chunk) < CHUNK_BYTES:
                return
            offset += len(chunk) - len(wanted) + 1

    def nonzero(self, offset: int) -> int:
        """The offset behind the last nonzero byte from `offset` on; `offset` if there is none."""
        last = at = offset
        while chunk := self._files.read(self.name, at, CHUNK_BYTES):
            kept = chunk.rstrip(b"\0")
            if kept:
                last = at + len(kept)
            at += len(chunk)
        return last
