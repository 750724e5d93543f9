"""Keeps how far a journal was durable, apart from its segments, so that a missing end is noticed.

    three slots of SLOT_BYTES    magic, format, nothing, identity, segment, position; zeros; CRC of all before
    the first two                written in turn and synced: at the start, and where a segment begins
    the third                    written after each sync of the journal; the system makes it durable when it likes

A slot says that the journal has a segment that begins at record `segment`, and that the records up to `position` are
durable. It is written when that is so, and stays true: segments go from the old end only. A slot that a loss of power
has torn has a wrong CRC and says nothing; of the first two one is always whole. So a mark never says too much, and
costs no sync a commit.
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
    """`segment`: where the newest segment begins, 0 before the first; `position`: the last record known durable.

    `torn`: how many slots say nothing. With `identity` None, none says anything.
    """

    identity: bytes | None
    segment: int
    position: int
    torn: int = 0


def read_mark(files: Files) -> Mark | None:
    """What the slots say together; None where there is no such file. Read it before the segments that it speaks of."""
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
    """Make a mark for a copy of a journal. Its name is durable with the folder's next sync."""
    file = files.create(MARK)
    try:
        file.write(0, _slot(mark) * _SLOTS)
        file.finish(_SLOTS * SLOT_BYTES)
    except BaseException:
        file.close()
        raise


@final
class Marker:
    """Writes the mark of a journal at work. Methods raise OSError; after that it is not to be used."""

    __slots__ = ("_file", "_identity", "_segment", "_turn")

    def __init__(self, files: Files, identity: bytes) -> None:
        """Put a file that says the same in the place of the one that is there, or one that says nothing yet.

        Syncs the folder, and so all that was renamed in it before.
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
        """Note durably that a segment begins there, whose name is durable, as are all records before it."""
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
