"""The journal: appends records, writes and syncs them in groups, and reads them again.

All records appended since the last write are written together and made durable by one sync (group commit). `written`
and `durable` are the last positions written and synced, `safe` the last position whose answers may be sent in the
chosen mode. Room is allocated before a record is appended (`reserve`), so that a full disk refuses an input before it
has changed anything. An error of a write or a sync is final: `safe` does not move any more, and every call raises
StorageFailed.

Another thread may wait for a sync: `begin` returns it, `settle` notes its end. Nothing else here may be called from
another thread.
"""

from __future__ import annotations

import errno
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NoReturn, final

from ..events.errors import LimitExceeded
from . import framing
from .errors import StorageError, StorageFailed, StorageFull
from .files import UNFINISHED, File, Files
from .framing import Seal, SegmentHead
from .mark import Marker
from .retention import Extent
from .scanning import JournalEntry
from .segments import Segment, Survey, entries, rewrite, survey
from .settings import Durability

_FULL: Final = frozenset((errno.ENOSPC, errno.EDQUOT))


@final
class Sync:
    """A sync in progress: call `run` once, in any thread, then Journal.settle in the journal's thread."""

    __slots__ = ("_file", "ended", "error", "position")

    def __init__(self, file: File, position: int) -> None:
        self._file = file
        self.position: Final = position
        self.ended = False
        self.error: OSError | None = None

    def run(self) -> None:
        try:
            self._file.sync()
        except OSError as error:
            self.error = error
        self.ended = True


@final
class Journal:
    """The log of a broker. The folder must be locked. Raises Damaged, StorageFull and StorageFailed."""

    __slots__ = (
        "_buffer", "_buffered", "_content", "_failure", "_files", "_heads", "_marker", "_pending", "_sealed", "_seed",
        "_segment", "_settings", "_synced_at", "_syncs", "durable", "identity", "position", "torn", "written",
    )  # fmt: skip

    def __init__(
        self, files: Files, identity: bytes, settings: Durability, now: int, found: Survey | None = None
    ) -> None:
        """Open the journal in these files, or begin one with this identity (16 unique bytes).

        Reads the last segment, unless a survey has `found` its end, and writes it anew. `torn`: how many bytes of an
        interrupted write were cut off.
        """
        self._files: Final = files
        self._settings: Final = settings
        self._failure: str | None = None
        self._buffer: list[bytes] = []
        self._buffered = 0
        self._pending: Sync | None = None
        self._syncs = 0
        self._synced_at = now
        self._sealed: list[Extent] = []
        self._heads: dict[str, SegmentHead] = {}
        with self._final("opening the journal"):
            found = found or survey(files)
            for name in files.names():
                if name.endswith(UNFINISHED):
                    files.remove(name)
            if found is not None:
                identity, now = found.identity, found.end.content.last_time
                self._sealed = [extent for extent, _ in found.sealed]
                self._heads = {extent.name: head for extent, head in found.sealed}
                if found.end.content.count:
                    self._sealed.append(rewrite(files, found))
                    self._heads[found.last] = found.head
            self.torn: Final = 0 if found is None else found.end.torn
            self.identity: Final = identity
            self._seed: Final = framing.seed(identity)
            self.position = 0 if found is None else found.position
            self.written = self.durable = self.position
            self._marker: Final = Marker(files, identity)
            self._segment = Segment(files, SegmentHead(identity, self.position + 1, now), self._settings.first_room)
            self._segment.publish()
            self._marker.begin(self._segment.head.first)
            self._heads[self._segment.name] = self._segment.head
            self._content = self._segment.content

    @property
    def first(self) -> int:
        """The position of the oldest record; one more than `position` if there is none."""
        return self._sealed[0].first if self._sealed else self._segment.head.first

    @property
    def time(self) -> int:
        """The time of the newest record, or of the journal's beginning, in microseconds."""
        return self._content.last_time

    @property
    def safe(self) -> int:
        """The last position whose answers may be sent."""
        return self.durable if self._settings.fsync == "always" else self.written

    @property
    def sealed(self) -> tuple[Extent, ...]:
        return tuple(self._sealed)

    @property
    def active_bytes(self) -> int:
        return self._segment.size + self._buffered

    # ---- appending ----

    def reserve(self) -> None:
        """Ensure that one more record of any legal size can be appended. O(1) except once every growth_bytes.

        Call it before handling an input that may be recorded. Raises StorageFull, and then changes nothing.
        """
        self._check()
        if self._segment.size + self._buffered >= self._settings.segment_bytes and self._pending is None:
            self.rotate()
        self._make_room(self._settings.room)

    def append(self, kind: int, payload: bytes, now: int) -> int:
        """Append a record, without writing it yet; its position. Raises StorageFull if nothing was reserved.

        Raises LimitExceeded for a payload of more than record_bytes.
        """
        self._check()
        if len(payload) > self._settings.record_bytes:
            raise LimitExceeded(
                f"record_bytes: the journal accepts records of at most {self._settings.record_bytes:,} bytes, found "
                f"one of {len(payload):,}"
            )
        self._make_room(framing.RECORD_HEAD_BYTES + len(payload) + framing.SEAL_BYTES)
        time = max(now, self._content.last_time)
        count, first_time = self._content.count, self._content.first_time
        record = framing.record(self._seed, kind, self.position + 1, self.durable, time, payload)
        self._buffer.append(record)
        self._buffered += len(record)
        self._content = Seal(count + 1, first_time if count else time, time)
        self.position += 1
        return self.position

    def write(self) -> None:
        """Write all appended records to the file, without a sync."""
        self._check()
        if self._buffer:
            with self._final("writing"):
                self._segment.write(b"".join(self._buffer), self._content)
            self._buffer.clear()
            self._buffered = 0
            self.written = self.position

    def begin(self) -> Sync | None:
        """Write, and return the sync to run; None if there is nothing to sync or another sync is in progress."""
        self.write()
        if self._pending is not None:
            return None
        if self._segment.size >= self._settings.segment_bytes:  # `reserve` cannot while syncs are always in progress
            with suppress(StorageFull):
                self.rotate()
        if self.durable == self.written:
            return None
        self._pending = Sync(self._segment.file, self.written)
        return self._pending

    def begin_due(self, now: int) -> Sync | None:
        """Like `begin`, but return a sync only if the mode requires one by now: `commit` in two parts."""
        self.write()
        if self.due(now) != 0:
            return None
        sync = self.begin()
        if sync is not None:
            self._synced_at = now
        return sync

    def settle(self, sync: Sync) -> None:
        """Note the end of a sync that `begin` returned. Raises StorageFailed if it failed."""
        assert sync is self._pending
        assert sync.ended
        self._pending = None
        if sync.error is not None:
            self.fail("syncing", sync.error)
        self._check()
        self._synced(sync.position)

    def sync(self) -> None:
        """Write, and wait until everything is durable, whatever the mode."""
        self.write()
        if self.durable < self.written:
            with self._final("syncing"):
                self._segment.file.sync()
            self._synced(self.written)

    def commit(self, now: int) -> int:
        """Write, and sync and wait if the mode requires it; returns `safe`."""
        if self.due(now) == 0:
            self.sync()
            self._synced_at = now
        else:
            self.write()
        return self.safe

    def due(self, now: int) -> int | None:
        """Microseconds until `commit` has to sync; None if there is nothing to sync."""
        if self.durable == self.position or self._settings.fsync == "os":
            return None
        if self._settings.fsync == "always" or now < self._synced_at:
            return 0
        return max(0, self._synced_at + self._settings.interval - now)

    def rotate(self) -> None:
        """Seal the segment and begin the next one. Raises StorageFull, and then the segment stays in use."""
        assert self._pending is None, "a sync is under way"
        if not self._content.count:
            return
        head = SegmentHead(self.identity, self.position + 1, self._content.last_time)
        with self._final("beginning a segment"):
            following = Segment(self._files, head, self._settings.first_room)  # first, because it may find no room
        self.sync()  # a seal asserts that all records before it are durable
        with self._final("sealing a segment"):
            self._sealed.append(self._segment.seal(self.durable))
            following.publish()
            self._marker.begin(head.first)
        self._segment = following
        self._heads[following.name] = following.head
        self._content = following.content

    # ---- reading ----

    def read(self, after: int = 0, until: int | None = None) -> Iterator[JournalEntry]:
        """The records behind a position, in order, up to the last one written at the time of the call.

        Raises StorageError if they are no longer kept, and OSError if segments are removed while it runs.
        """
        if after + 1 < self.first:
            raise StorageError(f"records {after + 1} to {self.first - 1} are no longer kept")
        until = self.written if until is None else min(until, self.written)
        names = [*(extent.name for extent in self._sealed), self._segment.name]
        return entries(self._files, [(name, self._heads[name]) for name in names], after, until)

    def before(self, time: int) -> int:
        """The position before the first kept record at or after a time (microseconds). O(a segment)."""
        at = bisect_left([extent.last_time for extent in self._sealed], time)
        start = self._sealed[at].first if at < len(self._sealed) else self._segment.head.first
        for entry in self.read(start - 1):
            if entry.time >= time:
                return entry.position - 1
        return self.written

    def remove(self, names: Iterable[str]) -> None:
        """Remove the oldest sealed segments, in order, each durably before the next."""
        self._check()
        for name in names:
            assert self._sealed[0].name == name
            with self._final("removing a segment"):
                self._files.remove(name)
                self._files.sync_folder()  # otherwise a power loss could leave a gap
            del self._sealed[0], self._heads[name]

    def close(self) -> None:
        """Make everything durable and seal the segment, as far as that is possible."""
        try:
            if self._failure is None:
                self.rotate()
        except StorageFull:
            self.sync()  # the next start seals it
        finally:
            self._segment.close()
            self._marker.close()

    def statistics(self) -> dict[str, int]:
        return {
            "position": self.position,
            "durable": self.durable,
            "first": self.first,
            "segments": len(self._sealed) + 1,
            "bytes": sum(extent.size for extent in self._sealed) + self.active_bytes,
            "syncs": self._syncs,
        }

    def check_invariants(self) -> None:
        """For tests."""
        assert self.durable <= self.written <= self.position
        assert self._segment.head.first + self._content.count == self.position + 1
        assert self._buffered == sum(map(len, self._buffer))
        assert bool(self._buffer) == (self.written < self.position)
        assert self._segment.room >= self._buffered + framing.SEAL_BYTES
        behind = [*(extent.first for extent in self._sealed[1:]), self._segment.head.first]
        assert [extent.last + 1 for extent in self._sealed] == (behind if self._sealed else [])

    def _synced(self, position: int) -> None:
        self.durable = max(self.durable, position)
        self._syncs += 1
        with self._final("marking"):
            self._marker.note(self.durable)

    # ---- failing ----

    def _make_room(self, size: int) -> None:
        missing = self._buffered + size - self._segment.room
        if missing > 0:
            with self._final("making room"):
                self._segment.grow(max(missing, self._settings.growth_bytes))

    @contextmanager
    def _final(self, doing: str) -> Iterator[None]:
        """Make an OSError in the block final, except a full disk while allocating room."""
        try:
            yield
        except OSError as error:
            if error.errno in _FULL and doing in ("making room", "beginning a segment", "opening the journal"):
                raise StorageFull(f"the disk is full ({doing})") from None
            self.fail(doing, error)

    def fail(self, doing: str, error: OSError) -> NoReturn:
        """Stop writing for good because of an error. Raises StorageFailed, as every later call does."""
        if self._failure is None:
            name = f"{error.filename}: " if isinstance(error.filename, str) else ""
            self._failure = f"{doing} failed: {name}{error.strerror or error}; nothing is written any more"
        raise StorageFailed(self._failure)

    def _check(self) -> None:
        if self._failure is not None:
            raise StorageFailed(self._failure)
