"""Copies a broker's folder consistently, even while a broker works in it. The source is not changed.

Checkpoints are copied first: the records that they need are kept as long as they are, and all records up to them are
durable. Sealed segments never change. Of the last segment the copy contains the whole records at the time of reading,
an exact prefix. All files are checked while they are copied, and damaged ones are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from . import checkpoint as checkpoints_of
from .checkpoint import KEPT, Checkpoint, checkpoints
from .errors import Damaged, StorageError
from .examination import examine
from .files import Files
from .framing import SEAL_BYTES, SegmentHead
from .mark import Mark, read_mark, write_mark
from .scanning import CHUNK_BYTES, SegmentEnd, head_of
from .segments import check_mark, end_of, segment_names, survey

ATTEMPTS: Final = 5
"""How often a copy is tried, because a file may be removed meanwhile."""


@final
@dataclass(frozen=True, slots=True)
class Copied:
    """The positions of the last record and of the newest checkpoint (0 for none), and what was written."""

    position: int
    checkpoint: int
    files: int
    bytes: int


def copy(source: Files, target: Files) -> Copied:
    """Fill an empty target. O(bytes). Raises Damaged for damage in the source, StorageError, OSError."""
    if target.names():
        raise StorageError("expected an empty folder to copy to, found files in it")
    for attempt in range(ATTEMPTS):
        try:
            return _copied(source, target)
        except FileNotFoundError:  # retention or a newer checkpoint has removed it meanwhile
            if attempt == ATTEMPTS - 1:
                raise
            for name in target.names():
                target.remove(name)
    raise AssertionError("the last attempt returns or raises")


def _copied(source: Files, target: Files) -> Copied:
    for position, name in checkpoints(source)[:KEPT]:
        found = checkpoints_of.read(source, name)
        if not isinstance(found, Checkpoint):
            raise Damaged(found)
        _copy_file(source, target, name, source.size(name), checkpoints_of.checkpoint_name(position))
    mark = read_mark(source)
    whole: set[str] = set()
    last: tuple[SegmentHead, SegmentEnd] | None = None
    ended = False
    while not ended:
        names = [name for name in segment_names(source) if name not in whole]
        ended = not names
        for name in names:
            head = head_of(source, name)
            end = end_of(source, name, head)
            _copy_file(source, target, name, end.offset + (SEAL_BYTES if end.sealed else 0), name)
            last = head, end
            if end.sealed:
                whole.add(name)
            elif name == segment_names(source)[-1]:
                ended = True
            else:
                break  # it was sealed after it was read
    if last is None:
        raise StorageError("expected a journal to copy, found none")
    head, end = last
    check_mark(mark, head, end)  # refuses a journal whose end is missing
    write_mark(target, Mark(head.identity, head.first, end.position))
    target.sync_folder()
    return _checked(target)


def _copy_file(source: Files, target: Files, name: str, size: int, new: str) -> None:
    file = target.create(new)
    try:
        offset = 0
        while offset < size:
            chunk = source.read(name, offset, min(CHUNK_BYTES, size - offset))
            if not chunk:
                raise FileNotFoundError(f"{name} has become shorter")
            file.write(offset, chunk)
            offset += len(chunk)
        file.finish(size)
    except BaseException:
        file.close()
        raise


def _checked(target: Files) -> Copied:
    """Read the copy as a start would."""
    for finding in examine(target):
        if finding.damage:
            raise Damaged(finding.line())
    found = survey(target)
    assert found is not None, "the copy has a segment"
    newest = max((position for position, _ in checkpoints(target)), default=0)
    names = target.names()
    return Copied(found.position, newest, len(names), sum(map(target.size, names)))
