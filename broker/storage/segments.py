"""The segments of a journal: lists them, checks that they fit together, and writes one.

A segment is named after the position of its first record. It is created under another name, and renamed when its head
is durable; the segment before it is sealed by then. So only the last segment of a journal can lack a seal, and a bad
head is always damage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

from . import framing
from .errors import Damaged
from .files import UNFINISHED, File, Files
from .framing import SEAL_BYTES, SEGMENT_HEAD_BYTES, Seal, SegmentHead
from .mark import MARK, Mark, read_mark
from .retention import Extent
from .scanning import CHUNK_BYTES, JournalEntry, SegmentEnd, head_of, scan, seal_of

ATTEMPTS: Final = 3

_NAME: Final = re.compile(r"([0-9]{20})\.journal")


def segment_name(first: int) -> str:
    return f"{first:020}.journal"


def segment_names(files: Files) -> list[str]:
    """The names of the segments, in the order of their records."""
    return [name for name in files.names() if _NAME.fullmatch(name)]


@final
@dataclass(frozen=True, slots=True)
class Survey:
    """The state of a journal's files: the sealed segments, and the last one with its end."""

    sealed: tuple[tuple[Extent, SegmentHead], ...]
    last: str
    head: SegmentHead
    end: SegmentEnd

    @property
    def identity(self) -> bytes:
        return self.head.identity

    @property
    def first(self) -> int:
        """The position of the oldest record."""
        return self.sealed[0][0].first if self.sealed else self.head.first

    @property
    def position(self) -> int:
        """The position of the newest record."""
        return self.end.position

    def read(self, files: Files, after: int) -> Iterator[JournalEntry]:
        """The records behind a position, as `entries` gives them. Raises Damaged."""
        segments = [*((extent.name, head) for extent, head in self.sealed), (self.last, self.head)]
        return entries(files, segments, after)


def survey(files: Files) -> Survey | None:
    """Examine the segments; None if there is none. Reads all of the last one, and both ends of the others.

    Raises Damaged if segments do not follow each other, if they end before the mark, or if the last one is damaged.
    """
    mark = read_mark(files)
    names = segment_names(files)
    if not names:
        if mark is not None and mark.segment:
            raise Damaged(f"{segment_name(mark.segment)}: according to {MARK} this segment and all others are missing")
        return None
    heads = [head_of(files, name) for name in names]
    sealed: list[tuple[Extent, SegmentHead]] = []
    for index, (name, head) in enumerate(zip(names, heads)):
        if segment_name(head.first) != name:
            raise Damaged(f"{name}: offset 0: expected a segment from record {int(name[:20])} on, found {head.first}")
        if head.identity != heads[0].identity:
            raise Damaged(f"{name}: offset 0: expected a segment of the same journal as {names[0]}, found another's")
        if sealed and head.first != sealed[-1][0].last + 1:
            raise Damaged(f"{name}: expected {segment_name(sealed[-1][0].last + 1)} before it, which is missing")
        if index < len(names) - 1:
            seal = seal_of(files, name, head)
            last = head.first + seal.count - 1
            sealed.append((Extent(name, head.first, last, files.size(name), seal.last_time), head))
    end = end_of(files, names[-1], heads[-1])
    check_mark(mark, heads[-1], end)
    return Survey(tuple(sealed), names[-1], heads[-1], end)


def check_mark(mark: Mark | None, head: SegmentHead, end: SegmentEnd) -> None:
    """Check that the journal is as long as its mark says. The mark must have been read before the segments.

    `head`, `end`: those of the last segment. `mark` None: a journal of a version without marks. Raises Damaged, with
    the missing segment and record.
    """
    name = segment_name(head.first)
    if mark is None or mark.identity is None:
        if head.marked:
            found = "none" if mark is None else "no sound one"
            raise Damaged(f"{MARK}: expected the mark of this journal, found {found}")
        return
    if mark.identity != head.identity:
        raise Damaged(f"{MARK}: expected the mark of this journal, found one of another")
    if mark.segment > head.first:
        raise Damaged(
            f"{segment_name(mark.segment)}: this segment is missing: the journal ends at position {end.position}, but "
            f"according to {MARK} record {mark.position} was durable"
        )
    if mark.position > end.position:
        raise Damaged(
            f"{name}: offset {end.offset}: the journal ends at position {end.position}, but according to {MARK} record "
            f"{mark.position} was durable"
        )


def end_of(files: Files, name: str, head: SegmentHead) -> SegmentEnd:
    """Read a whole segment for its end. Raises Damaged.

    Damage is checked again, because a broker at work may have written between two reads of one record.
    """
    for attempt in range(ATTEMPTS):
        try:
            return next(found for found in scan(files, name, head) if isinstance(found, SegmentEnd))
        except Damaged:
            if attempt == ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


def entries(
    files: Files, segments: list[tuple[str, SegmentHead]], after: int, until: int | None = None
) -> Iterator[JournalEntry]:
    """The records behind `after`, up to and including `until`, from all of these segments. Raises Damaged."""
    for index, (name, head) in enumerate(segments):
        last = index == len(segments) - 1
        if not last and segments[index + 1][1].first <= after + 1:
            continue
        if until is not None and head.first > until:
            return
        for found in scan(files, name, head, after, until if last else None):
            if isinstance(found, JournalEntry):
                if until is not None and found.position > until:
                    return
                yield found
            elif not last and not (found.sealed and found.position + 1 == segments[index + 1][1].first):
                raise Damaged(f"{name}: offset {found.offset}: expected record {found.position + 1}, found none")


@final
class Segment:
    """A segment that is being written. Methods raise OSError; after that it must not be used."""

    __slots__ = ("_allocated", "_file", "_files", "_seed", "content", "head", "name", "size")

    def __init__(self, files: Files, head: SegmentHead, room: int) -> None:
        """Create it durably under a temporary name, with room for so many bytes."""
        self._files = files
        self._seed = framing.seed(head.identity)
        self.name: Final = segment_name(head.first)
        self.head: Final = head
        self.content = Seal(0, head.time, head.time)
        self.size = SEGMENT_HEAD_BYTES
        self._allocated = SEGMENT_HEAD_BYTES + room
        self._file: File = files.create(self.name + UNFINISHED)
        try:
            self._file.allocate(self._allocated)
            self._file.write(0, framing.segment_head(head))
            self._file.sync()
        except OSError:
            self.abandon()
            raise

    @property
    def file(self) -> File:
        """The file, for a sync in another thread."""
        return self._file

    @property
    def room(self) -> int:
        """How many bytes can be written without growing."""
        return self._allocated - self.size

    def abandon(self) -> None:
        """Remove a segment that was not published."""
        self._file.close()
        self._files.remove(self.name + UNFINISHED)

    def publish(self) -> None:
        """Rename it to its final name."""
        self._files.rename(self.name + UNFINISHED, self.name)
        self._files.sync_folder()

    def grow(self, size: int) -> None:
        """Allocate room for so many more bytes. May be retried after ENOSPC."""
        self._file.allocate(self._allocated + size)
        self._allocated += size

    def write(self, data: bytes, content: Seal) -> None:
        """Append records; `content`: the seal that includes them."""
        self._file.write(self.size, data)
        self.size += len(data)
        self.content = content

    def seal(self, durable: int) -> Extent:
        """Append the seal, durably. All records must be durable, because the seal asserts it."""
        position = self.head.first + self.content.count
        self._file.write(self.size, framing.seal(self._seed, position, durable, self.content.last_time, self.content))
        self.size += SEAL_BYTES
        self._file.finish(self.size)
        return Extent(self.name, self.head.first, position - 1, self.size, self.content.last_time)

    def close(self) -> None:
        self._file.close()


def rewrite(files: Files, found: Survey) -> Extent:
    """Replace the last segment by a durable copy of its records with a seal.

    The old file may contain pages that a failed fsync left in memory and that would never reach the disk; and a torn
    end must not be found again behind later records. The name is durable after the folder's next sync.
    """
    end, name = found.end, found.last
    file = files.create(name + UNFINISHED)
    offset = 0
    while offset < end.offset:
        chunk = files.read(name, offset, min(CHUNK_BYTES, end.offset - offset))
        file.write(offset, chunk)
        offset += len(chunk)
    last_time = end.content.last_time
    file.write(
        offset, framing.seal(framing.seed(found.identity), end.position + 1, end.position, last_time, end.content)
    )
    file.finish(offset + SEAL_BYTES)
    files.rename(name + UNFINISHED, name)
    return Extent(name, found.head.first, end.position, offset + SEAL_BYTES, last_time)
