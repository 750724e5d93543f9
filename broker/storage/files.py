"""A folder of files, with the few operations that storage needs. All disk access goes through here.

Storage uses only `Files`, so that a test can replace it by a disk that loses power, tears writes, is full or lies.
Three rules follow from what POSIX guarantees: bytes are durable only after `sync`; a name (created, renamed or removed)
is durable only after `sync_folder`, whatever was done to the file; and an error of either is final.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
from io import FileIO
from pathlib import Path
from typing import Final, Protocol, final

from .errors import Damaged, Occupied

LOCK: Final = "lock"
_UNLOCKABLE: Final = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP)
"""The errors of systems that cannot lock a folder."""
_KINDS: Final = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
UNFINISHED: Final = ".new"
"""The suffix of a file that is being made. It is ignored, and removed when a journal is opened."""


class File(Protocol):
    """A file that is being written. Methods raise OSError."""

    def write(self, offset: int, data: bytes) -> None:
        """Write all of the data at an offset."""

    def allocate(self, size: int) -> None:
        """Allocate room up to this size, filled with zeros, so that a later write cannot fail with ENOSPC."""

    def sync(self) -> None:
        """Make all written bytes durable. May be called from another thread while this one writes."""

    def finish(self, size: int) -> None:
        """Truncate to this size, make it durable, and close."""

    def close(self) -> None:
        """Close; does nothing the second time."""


class Files(Protocol):
    """A folder. Names are plain file names. Methods raise OSError."""

    def names(self) -> list[str]:
        """The names of the files, sorted."""

    def size(self, name: str) -> int: ...

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        """Read `length` bytes (None: all) from an offset; fewer only at the end of the file."""

    def create(self, name: str) -> File:
        """Create an empty file, in place of one of this name."""

    def rename(self, old: str, new: str) -> None:
        """Rename atomically, in place of a file with the new name."""

    def remove(self, name: str) -> None: ...

    def sync_folder(self) -> None:
        """Make created, renamed and removed names durable."""

    def lock(self) -> None:
        """Lock the folder against every other process until `close`. Raises Occupied."""

    def close(self) -> None: ...


@final
class Folder:
    """A folder of the operating system."""

    __slots__ = ("_locks", "path")

    def __init__(self, path: Path) -> None:
        """Name a folder, without touching it yet."""
        self.path: Final = path
        self._locks: list[int] = []

    @classmethod
    def made(cls, path: Path) -> Folder:
        """The folder, created durably if it is missing. Its parent must exist. Raises OSError."""
        if not path.exists():
            path.mkdir(mode=0o700)
            _sync_folder(path.absolute().parent)
        return cls(path)

    def names(self) -> list[str]:
        # All of them: what has the name of a journal file and is none is refused, by name, when it is read.
        return sorted(entry.name for entry in os.scandir(self.path))

    def size(self, name: str) -> int:
        return (self.path / name).stat().st_size

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        with self._opened(name) as file:
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

    def _opened(self, name: str) -> FileIO:
        """Open a file to be read, without waiting: a named pipe has an end only when somebody writes into it. Raises
        Damaged for what is no file."""
        _check_file(self.path / name)
        return FileIO(os.open(self.path / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb")

    def create(self, name: str) -> File:
        return _OpenFile(self.path / name)

    def rename(self, old: str, new: str) -> None:
        (self.path / old).replace(self.path / new)

    def remove(self, name: str) -> None:
        (self.path / name).unlink()

    def sync_folder(self) -> None:
        _sync_folder(self.path)

    def lock(self) -> None:
        """Lock the folder itself, which cannot be removed while it has files, and a file that names the process.

        The file's lock keeps out earlier versions, and every process where a folder cannot be locked (NFS).
        """
        if self._locks:
            return
        try:
            self._locks.append(os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
            held = _locked(self._locks[0], unless=_UNLOCKABLE)
            if os.path.lexists(self.path / LOCK):
                _check_file(self.path / LOCK)
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
            os.close(self._locks.pop())  # releases the lock


def check_writable(path: Path, size: int) -> None:
    """Write and sync a file of this size for a moment in a folder, or beside it if it is missing. Raises OSError.

    Permissions alone do not say it: root has all of them, and a disk may be full or read-only.
    """
    folder = path if path.exists() else path.absolute().parent
    trial = folder / f"trial-{os.getpid()}{UNFINISHED}"
    file = _OpenFile(trial)
    try:
        file.allocate(size)
        file.sync()
        _sync_folder(folder)
    finally:
        file.close()
        trial.unlink()


def _check_file(path: Path) -> None:
    """Raise Damaged if there is something else than a file in the place of one."""
    kind = stat.S_IFMT(path.stat().st_mode)
    if kind != stat.S_IFREG:
        raise Damaged(f"{path.name}: expected a file, found {_KINDS.get(kind, 'something else')}")


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
    """Whether the lock was acquired, or one of these errors shows that there is no such lock."""
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
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)  # on macOS fsync does not flush the disk's own cache
    else:
        os.fsync(descriptor)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)
