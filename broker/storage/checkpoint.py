"""A checkpoint: the broker's state at one position of its journal, as a file that exists whole or not at all.

    head     magic, format, identity, position, time, digest of the state, length of the body, nothing
    body     the state's own bytes
    tail     BLAKE2b of all before

It is written under another name, made durable and renamed. Two checkpoints are kept: if the newer one is unreadable,
the older one and more of the journal give the same state. An unreadable checkpoint is put aside, never removed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from struct import Struct
from typing import Final, final

from .errors import StorageFull
from .files import UNFINISHED, Files
from .framing import IDENTITY_BYTES

FORMAT: Final = 1
KEPT: Final = 2
DIGEST_BYTES: Final = 32
ASIDE: Final = ".bad"
"""The suffix of an unreadable checkpoint."""

_MAGIC: Final = b"FtState\n"
_HEAD: Final = Struct(f"<8sII{IDENTITY_BYTES}sQq{DIGEST_BYTES}sQ")
_NAME: Final = re.compile(r"([0-9]{20})\.checkpoint")


@final
@dataclass(frozen=True, slots=True)
class Checkpoint:
    """`body`: the state after the record at `position`. `digest`: the state's own digest of 32 bytes."""

    identity: bytes
    position: int
    time: int
    digest: bytes
    body: bytes


def digest(*parts: bytes) -> bytes:
    """A digest of these bytes, concatenated."""
    found = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        found.update(part)
    return found.digest()


def checkpoint_name(position: int) -> str:
    return f"{position:020}.checkpoint"


def checkpoints(files: Files) -> list[tuple[int, str]]:
    """The position and name of each checkpoint, the newest first, without reading them."""
    found = [(int(match.group(1)), name) for name in files.names() if (match := _NAME.fullmatch(name))]
    return sorted(found, reverse=True)


def write(files: Files, checkpoint: Checkpoint) -> None:
    """Make a checkpoint durable, then remove all but the newest KEPT.

    All records up to its position must be durable. Raises StorageFull, and then changes nothing; OSError.
    """
    name = checkpoint_name(checkpoint.position)
    head = _HEAD.pack(
        _MAGIC,
        FORMAT,
        0,
        checkpoint.identity,
        checkpoint.position,
        checkpoint.time,
        checkpoint.digest,
        len(checkpoint.body),
    )
    tail = digest(head, checkpoint.body)
    size = len(head) + len(checkpoint.body) + len(tail)
    file = files.create(name + UNFINISHED)
    try:
        file.allocate(size)
    except OSError as error:
        file.close()
        files.remove(name + UNFINISHED)
        raise StorageFull(f"{name}: a checkpoint of {size:,} bytes: {error.strerror or error}") from None
    file.write(0, head)
    file.write(len(head), checkpoint.body)
    file.write(len(head) + len(checkpoint.body), tail)
    file.finish(size)
    files.rename(name + UNFINISHED, name)
    files.sync_folder()
    for _, older in checkpoints(files)[KEPT:]:
        files.remove(older)


def read(files: Files, name: str) -> Checkpoint | str:
    """The checkpoint, or its error in one line that begins with its name."""
    data = files.read(name)
    if len(data) < _HEAD.size + DIGEST_BYTES:
        return f"{name}: expected a checkpoint, found {len(data)} bytes"
    magic, form, _, identity, position, time, state, length = _HEAD.unpack_from(data)
    if magic != _MAGIC:
        return f"{name}: offset 0: expected a checkpoint, found something else"
    if digest(data[:-DIGEST_BYTES]) != data[-DIGEST_BYTES:]:
        return f"{name}: its digest is not that of its {len(data):,} bytes"
    if form != FORMAT:
        return f"{name}: expected format {FORMAT}, found format {form}"
    if length != len(data) - _HEAD.size - DIGEST_BYTES or checkpoint_name(position) != name:
        return f"{name}: expected its own name and length in its head, found position {position} and {length:,} bytes"
    return Checkpoint(identity, position, time, state, data[_HEAD.size : -DIGEST_BYTES])


def put_aside(files: Files, name: str) -> None:
    """Rename an unreadable checkpoint, so that it is kept for inspection and not read again."""
    files.rename(name, name + ASIDE)
