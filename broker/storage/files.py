"""A folder of files, and the few operations that storage needs. All disk access goes through here.

All of storage goes through `Files`, so that a test can put a disk in its place that loses power, tears writes, is full
or lies. Three rules follow from what POSIX promises: bytes are durable after `sync` and not before; a name (created,
renamed or removed) is durable after `sync_folder`, whatever was done to the file; and an error of either is final.
"""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from pathlib import Path
from typing import Final, Protocol, final

from .errors import Occupied

LOCK: Final = "lock"
_UNLOCKABLE: Final = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP)
"""What systems say of a folder that cannot be locked."""
UNFINISHED: Final = ".new"
"""The suffix of a file that is being made: of no meaning, and removed when a journal is opened."""


class File(Protocol):
    """A file that is being written. Methods raise OSError."""

    def write(self, offset: int, data: bytes) -> None:
        """All of the data, at this place."""

    def allocate(self, size: int) -> None:
        """Make room, filled with zeros, up to this size: writing there needs none any more. ENOSPC if there is none."""

    def sync(self) -> None:
        """Make durable what was written. May be called from another thread, while this one writes."""

    def finish(self, size: int) -> None:
        """Cut to this size, make all of it durable, and close."""

    def close(self) -> None:
        """Close; does nothing the second time."""


class Files(Protocol):
    """A folder. Names are plain file names. Methods raise OSError."""

    def names(self) -> list[str]:
        """Sorted."""

    def size(self, name: str) -> int: ...

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Fewer bytes only at the end of the file."""

    def create(self, name: str) -> File:
        """Empty; what had this name is gone."""

    def rename(self, old: str, new: str) -> None:
        """At once; what had the new name is gone."""

    def remove(self, name: str) -> None: ...

    def sync_folder(self) -> None:
        """Make durable which names there are, and of which files."""

    def lock(self) -> None:
        """Keep every other process out until `close`. Raises Occupied."""

    def close(self) -> None: ...


@final
class Folder:
    """A folder of the operating system."""

    __slots__ = ("_locks", "path")

    def __init__(self, path: Path) -> None:
        """Nothing is touched yet."""
        self.path: Final = path
        self._locks: list[int] = []

    @classmethod
    def made(cls, path: Path) -> Folder:
        """The folder, made durably if it is missing. Its parent must exist. Raises OSError."""
        if not path.exists():
            path.mkdir(mode=0o700)
            _sync_folder(path.absolute().parent)
        return cls(path)

    def names(self) -> list[str]:
        # Folders too: one that has the name of a file of ours is refused with its name when it is read.
        return sorted(entry.name for entry in os.scandir(self.path) if entry.is_file() or entry.is_dir())

    def size(self, name: str) -> int:
        return (self.path / name).stat().st_size

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        with (self.path / name).open("rb", buffering=0) as file:
            file.seek(offset)
            if length is None:
                return file.readall()
            pieces: list[bytes] = []
            while length > 0:
                piece = file.read(length)
                if not piece:
                    break
                pieces.append(piece)
                length -= len(piece)
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def create(self, name: str) -> File:
        return _OpenFile(self.path / name)

    def rename(self, old: str, new: str) -> None:
        (self.path / old).replace(self.path / new)

    def remove(self, name: str) -> None:
        (self.path / name).unlink()

    def sync_folder(self) -> None:
        _sync_folder(self.path)

    def lock(self) -> None:
        """The folder itself is locked, which nobody can remove as long as it has files; the file says by whom.

        The file is locked too: that keeps out earlier versions, and everybody where a folder cannot be locked (NFS).
        """
        if self._locks:
            return
        try:
            self._locks.append(os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            held = _locked(self._locks[0], unless=_UNLOCKABLE)
            self._locks.append(os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            if not (held and _locked(self._locks[1])):
                holder = os.read(self._locks[1], 20).decode("ascii", "replace").strip()
                who = f"process {holder}" if holder else "another process"
                raise Occupied(f"{self.path}: {who} works on this folder")
            os.truncate(self._locks[1], 0)
            os.pwrite(self._locks[1], f"{os.getpid()}\n".encode(), 0)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        while self._locks:
            os.close(self._locks.pop())  # which gives up the lock


@final
class _OpenFile:
    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)

    def write(self, offset: int, data: bytes) -> None:
        done = os.pwrite(self._descriptor, data, offset)
        while done < len(data):
            done += os.pwrite(self._descriptor, memoryview(data)[done:], offset + done)

    def allocate(self, size: int) -> None:
        if sys.platform == "linux":
            try:
                os.posix_fallocate(self._descriptor, 0, size)
                return
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                    raise
        there = os.fstat(self._descriptor).st_size
        self.write(there, bytes(max(0, size - there)))

    def sync(self) -> None:
        if sys.platform == "linux":
            os.fdatasync(self._descriptor)  # sizes too, where they grow; not the times
        else:
            _sync(self._descriptor)

    def finish(self, size: int) -> None:
        try:
            os.ftruncate(self._descriptor, size)
            _sync(self._descriptor)
        finally:
            self.close()

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _locked(descriptor: int, unless: tuple[int, ...] = ()) -> bool:
    """Whether nobody else holds this lock, or, by one of these errors, there is no such lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in unless:
            raise
    return True


def _sync(descriptor: int) -> None:
    if sys.platform == "darwin":
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)  # where fsync stops at the disk's own memory
    else:
        os.fsync(descriptor)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)
