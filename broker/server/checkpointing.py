"""Saves the broker's state as checkpoints, one at a time, so that a start has little to replay.

A thread waits for the disk. If saving the state blocks the loop, the next checkpoint comes after at least REST times
that duration. If a copy of the process saves it, the next comes after as long as it took, so that checkpoints use at
most half of another processor. Not here: serialising the state (saving.py).
"""

from __future__ import annotations

import logging
import time
from typing import Final, final

from ..storage import Store
from ..storage.store import Writing
from .logs import LOG, say
from .replicated_state import ReplicatedState
from .saving import InLoop, Saved, Saving
from .worker import Hands

REST: Final = 20
"""Checkpoints take at most 1/REST of the loop's time."""


@final
class Checkpointing:
    """Begins a checkpoint when there are `checkpoint_bytes` of new records, and settles it when it is written."""

    __slots__ = (
        "_begun", "_checkpoint_bytes", "_given", "_held_microseconds", "_made", "_refused", "_rest_until", "_saved",
        "_saving", "_state", "_store", "_worker", "_writing",
    )  # fmt: skip

    def __init__(
        self, store: Store, state: ReplicatedState, checkpoint_bytes: int, saving: Saving | None, worker: Hands
    ) -> None:
        self._store: Final = store
        self._state: Final = state
        self._checkpoint_bytes: Final = checkpoint_bytes
        self._saving: Final = InLoop() if saving is None else saving
        self._worker: Final = worker
        self._saved: Saved | None = None
        self._writing: Writing | None = None
        self._given = False  # whether the worker has it
        self._begun = self._rest_until = 0.0
        self._made = self._refused = self._held_microseconds = 0

    @property
    def waits_for_sync(self) -> bool:
        """Whether a checkpoint cannot be written before the records up to its position are durable."""
        return self._writing is not None and not self._given

    def advance(self, now: int, whole: bool, syncing: bool) -> None:
        """Begin a checkpoint if one is due, or continue the one in progress.

        `whole`: no batch is in work, so the state is a fold over the records. Raises StorageFailed.
        """
        store, writing = self._store, self._writing
        if writing is None:
            if whole and store.unsaved_bytes >= self._checkpoint_bytes and time.monotonic() >= self._rest_until:
                self._begin(now)
        elif writing.ended:
            self._end(writing)
            if writing.refused is None and not syncing:
                store.retain(now)
        elif not self._given and store.journal.durable >= writing.position:
            self._given = True
            self._worker.give(writing)

    def _begin(self, now: int) -> None:
        self._begun = time.monotonic()
        saved = self._serialised(self._saving)
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

    def _serialised(self, saving: Saving) -> Saved | None:
        """Serialise the state; None after an error, which costs only this checkpoint: the journal has all records."""
        try:
            return saving.begin(self._state)
        except Exception:
            LOG.exception("the state could not be saved, which is a mistake in the broker")
            self._store.unsaved_bytes = 0  # try again after as many
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

    def discard(self) -> None:
        """End a copy of the process without waiting for it: at the end the state is saved anew, or not at all."""
        saved, self._saved = self._saved, None
        if saved is not None:
            saved.discard()

    def release_thread(self) -> None:
        """Wait for the worker's tasks."""
        self._worker.close()

    def settle(self) -> None:
        """Note, after `release_thread`, whether the last checkpoint was written. Raises StorageFailed."""
        writing, self._writing = self._writing, None
        if writing is not None and writing.ended:
            self._store.settle_checkpoint(writing)

    def save_last(self, now: int) -> None:
        """Save the state in the loop, when no client is served any more. Raises StorageErrors."""
        saved = self._serialised(InLoop())
        writing = None if saved is None else self._store.begin_checkpoint(saved, now)
        if writing is not None:
            writing.run()
            self._end(writing)

    def statistics(self) -> dict[str, int]:
        """Totals of checkpoints."""
        return {
            "checkpoints_made": self._made,
            "checkpoints_refused": self._refused,
            "checkpoint_held_microseconds": self._held_microseconds,
        }
