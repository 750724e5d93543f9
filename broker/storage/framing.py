"""The byte layout of a journal: the head of a segment, a record, the seal at the end.

    segment   header, records, seal; zeros where room was allocated and nothing is written yet
    record    magic, length, kind, position, durable, time, CRC of the payload, CRC of all these; payload

All numbers are little-endian. Positions count records from 1 on. `durable` is the last position that was known to be on
disk when the record was written. So if a bad record is followed by one that knew it to be durable, the journal is
damaged; without such a witness the bad record is the torn end of an interrupted write. The CRC of a record's head
starts from the journal's identity, so that bytes of another journal, or event data that looks like a record, are not
mistaken for one.

Here: bytes to values and back. Not here: files, and the reaction to a bad record (scanning.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct, error
from typing import Final, final
from zlib import crc32

FORMAT: Final = 1
IDENTITY_BYTES: Final = 16
SEAL: Final = 0
"""The kind of record that ends a segment. It has the position of the record after it."""

RECORD_MAGIC: Final = b"\xf0Rec"
_SEGMENT_MAGIC: Final = b"Foretell"
_SEGMENT: Final = Struct(f"<8sII{IDENTITY_BYTES}sQqI")
_RECORD: Final = Struct("<4sIIQQqII")
_SEAL: Final = Struct("<Qqq")
_CRC_BYTES: Final = 4

SEGMENT_HEAD_BYTES: Final = _SEGMENT.size
RECORD_HEAD_BYTES: Final = _RECORD.size
SEAL_BYTES: Final = _RECORD.size + _SEAL.size


@final
@dataclass(frozen=True, slots=True)
class SegmentHead:
    """`first`: the position of the first record. `time`: a lower bound of the records' times, in microseconds.

    `marked`: the journal has a mark beside it, as all except those of earlier versions.
    """

    identity: bytes
    first: int
    time: int
    marked: bool = True


@final
@dataclass(frozen=True, slots=True)
class RecordHead:
    """A record without its payload of `length` bytes."""

    length: int
    kind: int
    position: int
    durable: int
    time: int
    crc: int


@final
@dataclass(frozen=True, slots=True)
class Seal:
    """The number of a segment's records, and the times of its first and last; without records the head's time."""

    count: int
    first_time: int
    last_time: int


def seed(identity: bytes) -> int:
    """The start value for the CRC of every record's head."""
    return crc32(identity)


def segment_head(head: SegmentHead) -> bytes:
    body = _SEGMENT.pack(_SEGMENT_MAGIC, FORMAT, head.marked, head.identity, head.first, head.time, 0)[:-_CRC_BYTES]
    return body + crc32(body).to_bytes(_CRC_BYTES, "little")


def read_segment_head(data: bytes) -> SegmentHead | str:
    """The head, or its error in words."""
    if len(data) < SEGMENT_HEAD_BYTES:
        return f"expected a segment's head of {SEGMENT_HEAD_BYTES} bytes, found {len(data)}"
    magic, form, marked, identity, first, time, crc = _SEGMENT.unpack_from(data)
    if magic != _SEGMENT_MAGIC:
        return "expected a segment of a journal, found something else"
    if crc32(data[: SEGMENT_HEAD_BYTES - _CRC_BYTES]) != crc:
        return "expected a segment's head, found one with a wrong CRC"
    if form != FORMAT:
        return f"expected format {FORMAT}, found format {form}"
    return SegmentHead(identity, first, time, bool(marked))


def record(seed: int, kind: int, position: int, durable: int, time: int, payload: bytes) -> bytes:
    """The bytes of a record. Lengths and kinds have 32 bits, positions and times 64."""
    body = _RECORD.pack(RECORD_MAGIC, len(payload), kind, position, durable, time, crc32(payload), 0)[:-_CRC_BYTES]
    return b"".join((body, crc32(body, seed).to_bytes(_CRC_BYTES, "little"), payload))


def read_record_head(seed: int, data: bytes, at: int = 0) -> RecordHead | None:
    """The head of the record that begins there, None if none does."""
    try:
        magic, length, kind, position, durable, time, crc, own = _RECORD.unpack_from(data, at)
    except error:  # too short
        return None
    if magic != RECORD_MAGIC or crc32(memoryview(data)[at : at + RECORD_HEAD_BYTES - _CRC_BYTES], seed) != own:
        return None
    return RecordHead(length, kind, position, durable, time, crc)


def seal(seed: int, position: int, durable: int, time: int, content: Seal) -> bytes:
    return record(seed, SEAL, position, durable, time, _SEAL.pack(content.count, content.first_time, content.last_time))


def read_seal(payload: bytes) -> Seal | None:
    """The seal in a sound record of that kind; None for a wrong payload."""
    return Seal(*_SEAL.unpack(payload)) if len(payload) == _SEAL.size else None
