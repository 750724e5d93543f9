"""A disk in memory that does everything a real one may do to who trusts it: for simulations, from one seed.

What is written stays pending until it is synced; names stay pending until the folder is. A loss of power keeps some
sectors of the pending writes and some of the pending names, in no order, and forgets the others. A sync that fails
drops what was pending and leaves it readable in memory, as page caches do; the next one succeeds and brings nothing
back. Names that a failed sync of the folder concerned stay pending, as in a file system with a journal of its own.
"""

from __future__ import annotations

import errno
import sys
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType

import broker.storage
from broker.storage import Occupied
from broker.storage.files import File
from broker.storage.mark import MARK, SLOT_BYTES

STORAGE = str(Path(broker.storage.__file__).parent)
SECTOR = 32
"""Bytes that are written whole or not at all; small, so that small records are torn."""

Site = tuple[str, int]
"""A line of broker/storage: its file's name and its number."""


class PowerLoss(BaseException):
    """The machine stops here. Nothing of ours may catch it."""


@dataclass(eq=False)
class Inode:
    """`cache` is what reading shows, `durable` what a loss of power leaves; `pending` leads from one to the other."""

    cache: bytearray = field(default_factory=bytearray)
    durable: bytearray = field(default_factory=bytearray)
    pending: list[tuple[int, bytes] | int] = field(default_factory=list)

    def change(self, change: tuple[int, bytes] | int) -> None:
        apply(self.cache, change)
        self.pending.append(change)

    def sync(self, count: int | None = None) -> None:
        """All pending changes are durable, or so many, the oldest."""
        done = self.pending[:count]
        for change in done:
            apply(self.durable, change)
        del self.pending[: len(done)]

    def lose(self, random: Random, share: float) -> None:
        """Each sector of each pending write survives with this probability, and so does each change of size."""
        for change in self.pending:
            if isinstance(change, int):
                if random.random() < share:
                    apply(self.durable, change)
                continue
            offset, data = change
            at = 0
            while at < len(data):
                behind = min(len(data), (offset + at) // SECTOR * SECTOR + SECTOR - offset)
                if random.random() < share:
                    apply(self.durable, (offset + at, data[at:behind]))
                at = behind
        self.pending.clear()
        self.cache[:] = self.durable


def apply(content: bytearray, change: tuple[int, bytes] | int) -> None:
    """A write at an offset, or a new size."""
    if isinstance(change, int):
        content.extend(bytes(max(0, change - len(content))))
        del content[change:]
        return
    offset, data = change
    content.extend(bytes(max(0, offset - len(content))))
    content[offset : offset + len(data)] = data


class SimulatedFiles:
    """The folder. `losing_power_after` and `failing_after` count calls that change something; None: never.

    `skipped` is a line of broker/storage whose syncs report success and do nothing.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.cache: dict[str, Inode] = {}
        self.durable: dict[str, Inode] = {}
        self.pending: list[tuple[str | None, str | None, Inode | None]] = []
        self.losing_power_after: int | None = None
        self.failing_after: int | None = None
        self.capacity: int | None = None
        self.skipped: Site | None = None
        self.sites: set[Site] = set()
        self.locked = False
        self.calls = 0
        self.syncs = 0

    # ---- what storage sees ----

    def names(self) -> list[str]:
        return sorted(self.cache)

    def size(self, name: str) -> int:
        return len(self._at(name).cache)

    def read(self, name: str, offset: int = 0, length: int | None = None) -> bytes:
        cache = self._at(name).cache
        return bytes(cache[offset:] if length is None else cache[offset : offset + length])

    def create(self, name: str) -> File:
        self.step()
        inode = Inode()
        self.cache[name] = inode
        self.pending.append((None, name, inode))
        return SimulatedFile(self, inode)

    def rename(self, old: str, new: str) -> None:
        self.step()
        inode = self._at(old)
        del self.cache[old]
        self.cache[new] = inode
        self.pending.append((old, new, inode))

    def remove(self, name: str) -> None:
        self.step()
        self._at(name)
        del self.cache[name]
        self.pending.append((name, None, None))

    def sync_folder(self) -> None:
        self.step()
        if self.fails():
            raise OSError(errno.EIO, "simulated failure of a folder's sync")
        if not self.skips():
            self.settle_names()

    def lock(self) -> None:
        if self.locked:
            raise Occupied("another process works on this folder")
        self.locked = True

    def close(self) -> None:
        self.locked = False

    # ---- what happens to it ----

    def kill(self) -> None:
        """The process ends, the machine goes on."""
        self.locked = False
        self.losing_power_after = self.failing_after = None

    def lose_power(self) -> None:
        """The machine stops and starts again."""
        self.kill()
        share = self.random.choice((0.0, 0.5, 0.9, 1.0))
        for change in self.pending:
            if self.random.random() < share:
                self._rename(change)
        self.pending.clear()
        inodes = {id(inode): inode for names in (self.cache, self.durable) for inode in names.values()}
        share = self.random.choice((0.0, 0.5, 0.9, 1.0))
        for inode in inodes.values():
            inode.lose(self.random, share)
        self.cache = dict(self.durable)

    def flip(self, name: str, bit: int) -> None:
        """One bit of a file, for good; or back."""
        inode = self._at(name)
        for content in (inode.cache, inode.durable):
            content[bit // 8] ^= 1 << bit % 8

    def contents(self) -> dict[str, bytes]:
        """Every file."""
        return {name: bytes(inode.cache) for name, inode in self.cache.items()}

    @classmethod
    def holding(cls, contents: dict[str, bytes]) -> SimulatedFiles:
        """A disk with these files, durable."""
        files = cls(Random(0))
        for name, content in contents.items():
            files.cache[name] = files.durable[name] = Inode(bytearray(content), bytearray(content))
        return files

    # ---- inside ----

    def settle_names(self, count: int | None = None) -> None:
        """All pending changes of names are durable, or so many, the oldest."""
        done = self.pending[:count]
        for change in done:
            self._rename(change)
        del self.pending[: len(done)]

    def step(self) -> None:
        self.calls += 1
        if self.losing_power_after is not None:
            self.losing_power_after -= 1
            if self.losing_power_after < 0:
                raise PowerLoss

    def fails(self) -> bool:
        if self.failing_after is None:
            return False
        self.failing_after -= 1
        return self.failing_after < 0 and self.failing_after > -2

    def skips(self) -> bool:
        """Whether the sync that is being called is one that is left out; takes note of where it is called from."""
        frame: FrameType | None = sys._getframe(2)
        skipped = False
        while frame is not None:
            folder, _, name = frame.f_code.co_filename.rpartition("/")
            if folder == STORAGE:
                self.sites.add((name, frame.f_lineno))
                skipped = skipped or (name, frame.f_lineno) == self.skipped
            frame = frame.f_back
        return skipped

    def check_room(self, inode: Inode, size: int) -> None:
        used = sum(len(each.cache) for each in self.cache.values())
        growth = size - len(inode.cache)
        if self.capacity is not None and growth > 0 and used + growth > self.capacity:
            raise OSError(errno.ENOSPC, "No space left on device")

    def _at(self, name: str) -> Inode:
        if name not in self.cache:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", name)
        return self.cache[name]

    def _rename(self, change: tuple[str | None, str | None, Inode | None]) -> None:
        old, new, inode = change
        if old is not None:
            self.durable.pop(old, None)
        if new is not None and inode is not None:
            self.durable[new] = inode


def forgetful(contents: dict[str, bytes]) -> dict[str, bytes]:
    """The files of a folder without the slot of its mark that is never synced, which a loss of power may take."""
    mark = contents[MARK]
    return contents | {MARK: mark[: 2 * SLOT_BYTES] + bytes(len(mark) - 2 * SLOT_BYTES)}


class SimulatedFile:
    def __init__(self, files: SimulatedFiles, inode: Inode) -> None:
        self.files = files
        self.inode = inode

    def write(self, offset: int, data: bytes) -> None:
        self.files.step()
        self.files.check_room(self.inode, offset + len(data))
        self.inode.change((offset, data))

    def allocate(self, size: int) -> None:
        self.files.step()
        self.files.check_room(self.inode, size)
        if size > len(self.inode.cache):
            self.inode.change(size)

    def sync(self) -> None:
        self.files.step()
        self._sync(self.files.skips())

    def finish(self, size: int) -> None:
        self.files.step()
        self.inode.change(size)
        self._sync(self.files.skips())

    def close(self) -> None:
        pass

    def _sync(self, skipped: bool) -> None:
        self.files.syncs += 1
        if self.files.fails():
            self.inode.pending.clear()
            raise OSError(errno.EIO, "simulated failure of a sync")
        if not skipped:
            self.inode.sync()
