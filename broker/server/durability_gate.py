"""Appends records to the journal, and holds what the kernel sends until it is as durable as it promises.

What the kernel sends after a record is held, in order, until that record is safe in the mode that was chosen. Syncs and
checkpoints are waited for in threads of their own, so that the loop goes on; while one sync is under way, what comes is
gathered for the next (group commit). How the bytes of a checkpoint are come by is saving's: whatever the loop stands
still for it, the next one comes after REST times as long at the earliest, and one that is made beside the loop rests as
long as it took, so that it takes half of another processor at most. There is one at a time.

Whatever goes wrong with the disk but that it is full ends the broker: nothing is sent any more that is not safe.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final, final

from ..kernel import Record, Send
from ..storage import StorageFull, Store, Sync
from ..storage.store import Writing
from ..wire import Busy
from .logs import LOG, say
from .replicated_state import ReplicatedState
from .saving import InLoop, Saved, Saving
from .worker import Hands, Worker

HELD_MAX: Final = 16_384
"""Held messages from which on nothing is read from the socket: a disk that is slow slows publishers down."""

FULL_RETRY_MICROSECONDS: Final = 1_000_000
"""When to try again what a full disk has refused."""

REST: Final = 20
"""Checkpoints take at most one part in so many of the loop's time."""


@final
class DurabilityGate:
    """What the loop asks of durability; not thread-safe. `told` is called from other threads: call `advance` then.

    The history's engine and receipts are those of the kernel. Methods raise StorageFailed, after which nothing is to be
    sent. `checkpoint_bytes`: of records, from which on there is a new checkpoint.
    """

    def __init__(
        self,
        store: Store,
        history: ReplicatedState,
        durability: str,
        checkpoint_bytes: int,
        told: Callable[[], None],
        hands: Callable[[str, Callable[[], None]], Hands] = Worker,
        saving: Saving | None = None,
    ) -> None:
        self.history: Final = history
        self.durability: Final = durability
        self._store: Final = store
        self._checkpoint_bytes: Final = checkpoint_bytes
        self._held: deque[tuple[int, Send]] = deque()
        self._sync: Sync | None = None
        self._way: Final = InLoop() if saving is None else saving
        self._saved: Saved | None = None
        self._writing: Writing | None = None
        self._given = False
        self._begun = self._rest_until = 0.0
        self._full = self._made = self._refused = self._held_microseconds = 0
        self._syncing: Final = hands("foretell sync", told)
        self._saving: Final = hands("foretell checkpoint", told)

    # ---- what the kernel has done ----

    def check_room(self) -> None:
        """Before an input that may be recorded. Raises Busy where the disk is full, and StorageFailed."""
        try:
            self._store.reserve()
        except StorageFull as error:
            self._full += 1
            raise Busy(f"{error}: nothing is taken until there is room", FULL_RETRY_MICROSECONDS) from None

    def keep(self, records: Iterable[Record], sends: Iterable[Send], now: int) -> None:
        """Append the records; hold the messages until they are safe."""
        for record in records:
            self._store.append(record, now)
        position = self._store.journal.position
        self._held.extend([(position, send) for send in sends])

    def released(self) -> list[Send]:
        """What is safe by now."""
        held, safe = self._held, self._store.safe
        sends: list[Send] = []
        while held and held[0][0] <= safe:
            sends.append(held.popleft()[1])
        return sends

    def advance(self, now: int, whole: bool = True) -> None:
        """After some inputs: go on with what the disk has done, and begin what it is to do.

        `whole`: no batch is in work, and so the state is a fold over the records.
        """
        store = self._store
        if self._sync is not None and self._sync.ended:
            sync, self._sync = self._sync, None
            store.settle(sync)
        self._save(now, whole)
        if self._sync is None:
            waited_for = self._writing is not None and not self._given
            self._sync = store.begin() if waited_for else store.begin_due(now)
            if self._sync is not None:
                self._syncing.give(self._sync)

    @property
    def holding(self) -> bool:
        """Whether something waits to be safe."""
        return bool(self._held)

    @property
    def crowded(self) -> bool:
        """Whether so much waits that nothing more should be taken."""
        return len(self._held) >= HELD_MAX

    def patience(self, now: int) -> float | None:
        """Seconds until there is something to do by itself; None if there is nothing."""
        due = None if self._sync is not None else self._store.journal.due(now)
        return None if due is None else due / 1_000_000

    # ---- checkpoints ----

    def _save(self, now: int, whole: bool) -> None:
        store, writing = self._store, self._writing
        if writing is None:
            if whole and store.unsaved_bytes >= self._checkpoint_bytes and time.monotonic() >= self._rest_until:
                self._begin(now)
        elif writing.ended:
            self._end(writing)
            if writing.refused is None and self._sync is None:
                store.retain({}, now)
        elif not self._given and store.journal.durable >= writing.position:
            self._given = True
            self._saving.give(writing)

    def _begin(self, now: int) -> None:
        self._begun = time.monotonic()
        saved = self._said(self._way)
        held = time.monotonic() - self._begun
        self._rest_until = self._begun + held + REST * held
        self._held_microseconds = int(held * 1_000_000)
        self._given = False
        if saved is None:
            return
        self._writing = self._store.begin_checkpoint(saved, now)
        if self._writing is None:
            saved.discard()
        else:
            self._saved = saved

    def _said(self, way: Saving) -> Saved | None:
        """A mistake of ours costs the checkpoint and not the broker: the journal has everything."""
        try:
            return way.begin(self.history)
        except Exception:
            LOG.exception("the state could not be saved, which is a mistake in the broker")
            self._store.unsaved_bytes = 0  # again after as many
            self._refused += 1
            return None

    def _end(self, writing: Writing) -> None:
        saved, self._saved, self._writing = self._saved, None, None
        if saved is not None and saved.beside:
            ended = time.monotonic()
            self._rest_until = max(self._rest_until, ended + (ended - self._begun))
        self._store.settle_checkpoint(writing)
        if writing.refused is None:
            self._made += 1
        else:
            self._refused += 1
            say(logging.WARNING, "no checkpoint", reason=str(writing.refused))

    # ---- the end ----

    def finish(self) -> list[Send]:
        """In good order: everything is made durable, whatever the mode; what may be sent then: all that is held."""
        self._stop_saving()
        self.release_threads()
        if self._sync is not None:
            sync, self._sync = self._sync, None
            self._store.settle(sync)
        if self._writing is not None and self._writing.ended:
            self._store.settle_checkpoint(self._writing)
        self._writing = None
        self._store.journal.sync()
        sends = [send for _, send in self._held]
        self._held.clear()
        return sends

    def close(self, now: int, whole: bool = True) -> None:
        """After `finish`: save the state, so that the next start has nothing to replay. Raises StorageErrors.

        Where the end has come in the middle of a batch, the next start replays all of it.
        """
        saved = self._said(InLoop()) if whole else None  # nobody is served any more
        writing = None if saved is None else self._store.begin_checkpoint(saved, now)
        if writing is not None:
            writing.run()
            self._end(writing)
        self._store.close()

    def abandon(self) -> None:
        """Not in good order: nothing is written any more, others are let in."""
        self._stop_saving()
        self.release_threads()
        self._held.clear()
        self._store.abandon()

    def release_threads(self) -> None:
        """Wait for what the disk is doing."""
        self._syncing.close()
        self._saving.close()

    def _stop_saving(self) -> None:
        """What is made beside the loop is not waited for: at the end the state is saved anew, or not any more."""
        saved, self._saved = self._saved, None
        if saved is not None:
            saved.discard()

    def statistics(self) -> dict[str, Any]:
        """Of the journal, and of what waits for it."""
        return {
            **self._store.statistics(),
            "held": len(self._held),
            "refused_full": self._full,
            "checkpoints_made": self._made,
            "checkpoints_refused": self._refused,
            "checkpoint_held_microseconds": self._held_microseconds,
        }
