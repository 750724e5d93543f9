"""A broker's folder: journal, checkpoints and retention, in the order that keeps it safe.

    lock                               held by the broker that works here
    00000000000000000001.journal       segments, each named for its first record
    00000000000000004711.checkpoint    the state after that record; two are kept

How a broker uses it. At the start: `Store(...)`, `replay(state)`, which only read, so that a start which is refused has
changed nothing; then `open`. For each input: `reserve`, then the kernel, then
`append` for each record among its effects. After a group of inputs: `commit`, or `begin` and `settle` if another thread
waits for the disk. The broker holds effects back until `safe` has reached the last record appended before them.
"""

from __future__ import annotations

from typing import Any, Final, Protocol, final

from ..kernel.records import Record
from . import checkpoint as checkpoints_of
from .checkpoint import Checkpoint, checkpoints
from .errors import Damaged
from .files import UNFINISHED, Files
from .journal import Journal, Sync
from .records import encode
from .recovery import RecoverableState, Recovery, recover
from .retention import plan
from .segments import survey
from .settings import Durability


class SavedState(Protocol):
    """The serialised state of one moment; serialising it may still be in progress."""

    def take(self) -> tuple[bytes, bytes]:
        """Wait for the digest (32 bytes) and the bytes; call it once, in any thread. Raises if serialising failed."""


@final
class Writing:
    """A checkpoint to be written: call `run` once, in any thread, then Store.settle_checkpoint in the store's thread.

    Wait until `journal.durable` has reached `position`: a checkpoint must not contain records that a power loss may
    still remove from the journal. `refused`: why it was not written, with nothing changed: no room, or no state.
    """

    __slots__ = ("_files", "_identity", "_saved", "_time", "ended", "error", "position", "refused")

    def __init__(self, files: Files, identity: bytes, position: int, time: int, saved: SavedState) -> None:
        self._files = files
        self._identity = identity
        self._time = time
        self._saved = saved
        self.position: Final = position
        self.ended = False
        self.error: OSError | None = None
        self.refused: Exception | None = None

    def run(self) -> None:
        try:
            made = Checkpoint(self._identity, self.position, self._time, *self._saved.take())
        except Exception as error:  # whatever it is, the disk is as it was
            self.refused = error
        else:
            self._write(made)
        self.ended = True

    def _write(self, made: Checkpoint) -> None:
        try:
            checkpoints_of.write(self._files, made)
        except OSError as error:
            self.error = error
        except Exception as error:  # also a mistake of the broker: the thread that waits has to learn of it
            self.refused = error


@final
class Store:
    """Locks the folder and reads it, and writes there from `open` on. Raises StorageErrors, and OSError until then.

    `journal`: there is none before `open`.
    """

    __slots__ = ("_checkpoints", "_files", "_found", "_identity", "_now", "_recovery", "_settings", "journal",
                 "unsaved_bytes")  # fmt: skip

    journal: Journal

    def __init__(self, files: Files, identity: bytes, settings: Durability, now: int) -> None:
        """`identity`: 16 unique bytes for a new journal; ignored if there is one. `now`: microseconds."""
        self._files: Final = files
        self._settings: Final = settings
        self._identity: Final = identity
        self._now: Final = now
        self._recovery: Recovery | None = None
        self._checkpoints: list[int] = []
        self.unsaved_bytes = 0
        """Roughly the bytes appended since the newest checkpoint, which the next start has to replay."""
        files.lock()
        try:
            for name in files.names():
                if name.endswith(UNFINISHED):
                    files.read(name, 0, 1)  # refuses what is no file and could not be removed
            self._found: Final = survey(files)
            there = checkpoints(files)
            if there and self._found is None:
                raise Damaged(f"{there[0][1]}: expected the journal of this checkpoint beside it, found none")
        except BaseException:
            files.close()
            raise

    @property
    def safe(self) -> int:
        """The last position whose answers may be sent."""
        return self.journal.safe

    def replay(self, state: RecoverableState) -> Recovery:
        """Bring a new state to the journal's end, and read every record if `check` says so. Changes no file. Raises
        Damaged."""
        found = self._found
        if self._settings.check == "all" and found is not None:
            for _ in found.read(self._files, found.first - 1):
                pass
        self._recovery = recover(self._files, found, state)
        return self._recovery

    def open(self) -> None:
        """Open the journal for writing, behind what was replayed. Raises StorageErrors."""
        recovery = self._recovery
        assert recovery is not None
        self.journal = Journal(self._files, self._identity, self._settings, self._now, self._found)
        for position, name in checkpoints(self._files):
            if position > recovery.checkpoint:
                checkpoints_of.put_aside(self._files, name)
            else:
                self._checkpoints.append(position)
        self.unsaved_bytes = self.journal.statistics()["bytes"] if recovery.replayed else 0

    def recover(self, state: RecoverableState) -> Recovery:
        """`replay`, and `open`."""
        recovery = self.replay(state)
        self.open()
        return recovery

    def reserve(self) -> None:
        """Reserve room before an input that may be recorded. Raises StorageFull and StorageFailed."""
        self.journal.reserve()

    def append(self, record: Record, now: int) -> int:
        """Append a record; its position."""
        kind, payload = encode(record)
        self.unsaved_bytes += len(payload)
        return self.journal.append(kind, payload, now)

    def commit(self, now: int) -> int:
        """Write a group of records, and wait for the disk if the mode requires it; returns `safe`."""
        return self.journal.commit(now)

    def begin(self) -> Sync | None:
        """`commit` in two parts, for waiting in another thread: run the returned sync, then `settle` it."""
        return self.journal.begin()

    def begin_due(self, now: int) -> Sync | None:
        """Like `begin`, but sync only if the mode requires it by now; otherwise only write."""
        return self.journal.begin_due(now)

    def settle(self, sync: Sync) -> None:
        self.journal.settle(sync)

    def checkpoint(self, state: RecoverableState, now: int) -> Checkpoint | None:
        """Write a checkpoint of a state that includes all appended records; None if this position has one already.

        Raises StorageFull; the store can be used on without it.
        """
        position = self.journal.position
        self.journal.sync()  # a checkpoint must not contain records that the journal may still lose
        if self._checkpoints[:1] == [position]:
            return None
        made = Checkpoint(self.journal.identity, position, now, state.digest(), state.save())
        try:
            checkpoints_of.write(self._files, made)
        except OSError as error:
            self.journal.fail("writing a checkpoint", error)
        self._checkpoints = [position, *self._checkpoints[: checkpoints_of.KEPT - 1]]
        return made

    def begin_checkpoint(self, saved: SavedState, now: int) -> Writing | None:
        """`checkpoint` in two parts: run the result once `journal.durable` has reached the journal's present end.

        `saved`: the state of this moment. None if this position has a checkpoint already.
        """
        position = self.journal.position
        self.unsaved_bytes = 0
        if self._checkpoints[:1] == [position]:
            return None
        return Writing(self._files, self.journal.identity, position, now, saved)

    def settle_checkpoint(self, writing: Writing) -> None:
        """Note the outcome of a checkpoint that `begin_checkpoint` returned. Raises StorageFailed if it failed."""
        assert writing.ended
        if writing.error is not None:
            self.journal.fail("writing a checkpoint", writing.error)
        if writing.refused is None:
            self._checkpoints = [writing.position, *self._checkpoints[: checkpoints_of.KEPT - 1]]

    def retain(self, now: int) -> None:
        """Remove segments according to retention."""
        needed_after = self._checkpoints[-1] if len(self._checkpoints) >= checkpoints_of.KEPT else 0
        journal = self.journal
        journal.remove(plan(journal.sealed, journal.active_bytes, needed_after, self._settings.retention, now))

    def statistics(self) -> dict[str, Any]:
        return {
            "fsync": self._settings.label(),
            **self.journal.statistics(),
            "checkpoints": len(self._checkpoints),
            "checkpoint": self._checkpoints[0] if self._checkpoints else 0,
        }

    def check_invariants(self) -> None:
        """For tests."""
        self.journal.check_invariants()
        assert self._checkpoints == sorted(self._checkpoints, reverse=True)
        assert all(position <= self.journal.durable for position in self._checkpoints)

    def abandon(self) -> None:
        """Unlock the folder without writing anything more; uncommitted records are lost."""
        self._files.close()

    def close(self) -> None:
        """Make everything durable as far as possible, and unlock the folder."""
        try:
            self.journal.close()
        finally:
            self._files.close()
