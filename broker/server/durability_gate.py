"""Appends records to the journal, and holds the kernel's messages until their records are durable.

The gate holds the messages that the kernel sends after a record, in order, until that record is safe in the chosen
mode. A thread waits for each sync, so that the loop continues; records that arrive during a sync wait for the next one
(group commit). Not here: checkpoints (checkpointing.py).

Any failure of the disk ends the broker, except a full disk. After a failure no message is sent whose record is not
safe.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Final, final

from ..events import ForetellError
from ..kernel import Effects, ReasonsWanted, Send
from ..storage import StorageError, StorageFull, Store, Sync
from ..wire import Busy
from .checkpointing import Checkpointing
from .journal_reasons import JournalReasons
from .output_gate import OutputGate
from .replicated_state import ReplicatedState
from .saving import Saving
from .worker import Hands, Worker

HELD_MAX: Final = 16_384
"""With this many held messages the broker stops reading the socket, so that a slow disk slows publishers down."""

FULL_RETRY_MICROSECONDS: Final = 1_000_000
"""When to retry a request that was refused because the disk is full."""


@final
class DurabilityGate(OutputGate):
    """The gate with a journal. Other threads call `notify` when a disk operation has ended; call `advance` then.

    The state's engine, receipts and cursors are those of the kernel. `checkpoint_bytes`: the size of records between
    checkpoints.
    """

    def __init__(
        self,
        store: Store,
        state: ReplicatedState,
        durability: str,
        checkpoint_bytes: int,
        notify: Callable[[], None],
        hands: Callable[[str, Callable[[], None]], Hands] = Worker,
        saving: Saving | None = None,
    ) -> None:
        super().__init__(durability, state)
        self._store: Final = store
        self._held: deque[tuple[int, Send]] = deque()  # with the position of the last record before it
        self._sync: Sync | None = None
        self._refused = 0
        self._finished = self._closed = False
        self._syncing: Final = hands("foretell sync", notify)
        self._checkpointing: Final = Checkpointing(
            store, state, checkpoint_bytes, saving, hands("foretell checkpoint", notify)
        )
        self._reasons: Final = JournalReasons(store.journal, state.engine, lambda: hands("foretell reasons", notify))

    def refusal(self) -> Busy | None:
        try:
            self._store.reserve()
        except StorageFull as error:
            self._refused += 1
            return Busy(f"{error}: the broker accepts nothing until there is room", FULL_RETRY_MICROSECONDS)
        except StorageError as error:
            self.fail(error)
            return Busy(str(error), FULL_RETRY_MICROSECONDS)
        return None

    def hold(self, effects: Effects, now: int) -> None:
        if self._finished:
            self._sends += effects.sends
            return
        try:
            for record in effects.records:
                self._store.append(record, now)
        except ForetellError as error:
            self.fail(error)  # the kernel is ahead of the journal
            return
        position = self._store.journal.position
        self._held.extend([(position, send) for send in effects.sends])
        for wanted in effects.reasons:
            refused = self._reasons.ask(wanted)
            if refused is not None:
                self._held.append((position, refused))

    def ask_reasons(self, wanted: ReasonsWanted) -> None:
        refused = self._reasons.ask(wanted)
        if refused is not None and wanted.tell is not None:
            wanted.tell(refused.message)

    def released(self) -> list[Send]:
        sends, self._sends = self._sends, []
        if self.failed is None:
            held, safe = self._held, self._store.safe
            while held and held[0][0] <= safe:
                sends.append(held.popleft()[1])
        return sends

    def advance(self, now: int, whole: bool) -> None:
        if self.failed is None:
            try:
                self._advance(now, whole)
            except StorageError as error:
                self.fail(error)

    def _advance(self, now: int, whole: bool) -> None:
        store = self._store
        self._settle()
        self._held.extend([(store.journal.position, answer) for answer in self._reasons.advance()])
        self._checkpointing.advance(now, whole, self._sync is not None)
        if self._sync is None:
            self._sync = store.begin() if self._checkpointing.waits_for_sync else store.begin_due(now)
            if self._sync is not None:
                self._syncing.give(self._sync)

    def _settle(self) -> None:
        sync = self._sync
        if sync is not None and sync.ended:
            self._sync = None
            self._store.settle(sync)

    @property
    def position(self) -> int:
        return self._store.journal.position

    @property
    def safe(self) -> int:
        return self._store.safe

    @property
    def holding(self) -> bool:
        return bool(self._held)

    @property
    def crowded(self) -> bool:
        return len(self._held) >= HELD_MAX

    def patience(self, now: int) -> float | None:
        due = None if self._sync is not None else self._store.journal.due(now)
        return None if due is None else due / 1_000_000

    # ---- the end ----

    def finish(self) -> None:
        if self.failed is None:
            try:
                self._finish()
            except StorageError as error:
                self.fail(error)
        self._finished = True
        if self.failed is not None:
            self.abandon()

    def _finish(self) -> None:
        self._checkpointing.discard()
        self._release_threads()
        self._settle()
        self._checkpointing.settle()
        self._store.journal.sync()
        self._sends += [send for _, send in self._held]
        self._held.clear()

    def close(self, now: int, whole: bool) -> None:
        """Save the state and close the store. In the middle of a batch no state is saved; the next start replays it."""
        self._closed = True
        if whole:
            self._checkpointing.save_last(now)
        self._store.close()

    def abandon(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._checkpointing.discard()
        self._release_threads()
        self._held.clear()
        self._store.abandon()

    def _release_threads(self) -> None:
        """Wait for the disk operations in progress."""
        self._reasons.close()
        self._syncing.close()
        self._checkpointing.release_thread()

    def statistics(self) -> dict[str, Any]:
        return {
            **self._store.statistics(),
            "held": len(self._held),
            "refused_full": self._refused,
            **self._checkpointing.statistics(),
        }
