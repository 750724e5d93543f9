"""Keeps the last durable position of a journal, apart from its segments, so that a missing end is noticed.

    three slots of SLOT_BYTES    magic, format, nothing, identity, segment, position; zeros; CRC of all before
    the first two                written in turn and synced: at the start, and where a segment begins
    the third                    written after each sync of the journal; the system makes it durable at some time

A slot states that the journal has a segment that begins at record `segment`, and that the records up to `position` are
durable. It is written once that is true, and stays true, because only the oldest segments are removed. A slot torn by a
power loss has a wrong CRC and is ignored; of the first two slots one is always whole. So a mark never claims too much,
and needs no sync for each commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final, final
from zlib import crc32

from .files import UNFINISHED, File, Files
from .framing import IDENTITY_BYTES

MARK: Final = "journal.mark"
FORMAT: Final = 1
SLOT_BYTES: Final = 512

_SYNCED: Final = 2
_SLOTS: Final = 3
_MAGIC: Final = b"FtMark\n\0"
_SLOT: Final = Struct(f"<8sII{IDENTITY_BYTES}sQQ")
_CRC_BYTES: Final = 4


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """`segment`: the first record of the newest segment, 0 before there is one; `position`: the last durable record.

    `torn`: how many slots are unreadable. `identity`: that of the journal; None if no slot is readable.
    """

    identity: bytes | None
    segment: int
    position: int
    torn: int = 0


def read_mark(files: Files) -> Mark | None:
    """The mark, combined from its slots; None if there is no such file. Read it before the segments that it names."""
    try:
        data = files.read(MARK)
    except FileNotFoundError:
        return None
    slots = [_read_slot(data[at * SLOT_BYTES : (at + 1) * SLOT_BYTES]) for at in range(_SLOTS)]
    sound = [slot for slot in slots if slot is not None]
    if all(slot is None for slot in slots[:_SYNCED]):
        return Mark(None, 0, 0, _SLOTS)
    newest = max(sound, key=lambda slot: (slot.segment, slot.position))
    return Mark(newest.identity, newest.segment, newest.position, _SLOTS - len(sound))


def write_mark(files: Files, mark: Mark) -> None:
    """Write the mark for a copy of a journal. Its name is durable after the folder's next sync."""
    file = files.create(MARK)
    try:
        file.write(0, _slot(mark) * _SLOTS)
        file.finish(_SLOTS * SLOT_BYTES)
    except BaseException:
        file.close()
        raise


@final
class Marker:
    """Writes the mark of a journal in use. Methods raise OSError; after that it must not be used."""

    __slots__ = ("_file", "_identity", "_segment", "_turn")

    def __init__(self, files: Files, identity: bytes) -> None:
        """Replace the mark by an equal one in a new file, or create an empty mark.

        Syncs the folder, and with it all earlier renames.
        """
        before = read_mark(files)
        mark = Mark(identity, 0, 0) if before is None or before.identity is None else before
        self._identity: Final = identity
        self._segment = mark.segment
        self._turn = 0
        self._file: Final[File] = files.create(MARK + UNFINISHED)
        self._file.allocate(_SLOTS * SLOT_BYTES)
        self._file.write(0, _slot(mark) * _SLOTS)
        self._file.sync()
        files.rename(MARK + UNFINISHED, MARK)
        files.sync_folder()  # before there is a segment that expects it

    def begin(self, segment: int) -> None:
        """Note durably that a segment begins at this record. Its name and all records before it must be durable."""
        self._segment = segment
        self._file.write(self._turn * SLOT_BYTES, _slot(Mark(self._identity, segment, segment - 1)))
        self._file.sync()
        self._turn = (self._turn + 1) % _SYNCED

    def note(self, position: int) -> None:
        """Note, without waiting, that all records up to here are durable."""
        self._file.write(_SYNCED * SLOT_BYTES, _slot(Mark(self._identity, self._segment, position)))

    def close(self) -> None:
        self._file.close()


def _slot(mark: Mark) -> bytes:
    assert mark.identity is not None
    body = _SLOT.pack(_MAGIC, FORMAT, 0, mark.identity, mark.segment, mark.position)
    body = body.ljust(SLOT_BYTES - _CRC_BYTES, b"\0")
    return body + crc32(body).to_bytes(_CRC_BYTES, "little")


def _read_slot(data: bytes) -> Mark | None:
    if len(data) < SLOT_BYTES or crc32(data[:-_CRC_BYTES]) != int.from_bytes(data[-_CRC_BYTES:], "little"):
        return None
    magic, form, _, identity, segment, position = _SLOT.unpack_from(data)
    return Mark(identity, segment, position) if magic == _MAGIC and form == FORMAT else None
