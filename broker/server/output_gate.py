"""The way of the kernel's effects out of the broker: `hold` takes them in, `released` gives what may be sent.

Without a journal it is an OutputGate: everything may be sent at once. With a journal it is a DurabilityGate.
"""

from __future__ import annotations

from typing import Any

from ..kernel import Effects, Send
from ..kernel.subscribing import MEMORY
from ..storage import StorageError
from ..wire import Busy
from .logs import LOG
from .replicated_state import ReplicatedState


class OutputGate:
    """Not thread-safe. `failed`: why the broker cannot go on; from then on nothing is released that was not before.

    `durability`: what receipts promise. `state`: what the journal has restored, None without one. `now` is the wall
    clock in microseconds, `whole` says that no batch is in work.
    """

    def __init__(self, durability: str = MEMORY, state: ReplicatedState | None = None) -> None:
        self.durability = durability
        self.state = state
        self.failed: Exception | None = None
        self._sends: list[Send] = []

    def refusal(self) -> Busy | None:
        """Why no record can be taken now; None where there is room."""
        return None

    def hold(self, effects: Effects, now: int) -> None:
        """Take in the effects of one input: its sends come after all earlier ones, and after its records are safe."""
        self._sends += effects.sends

    def released(self) -> list[Send]:
        """What may be sent now, in order, once."""
        sends, self._sends = self._sends, []
        return sends

    def advance(self, now: int, whole: bool) -> None:
        """Settle what the disk has done, and begin what is due."""

    @property
    def holding(self) -> bool:
        """Whether some sends wait for the disk."""
        return False

    @property
    def crowded(self) -> bool:
        """Whether so much waits for the disk that nothing more should be read from clients."""
        return False

    def patience(self, now: int) -> float | None:
        """Seconds until `advance` has something to do of its own accord; None if there is nothing."""
        return None

    def fail(self, error: Exception) -> None:
        """End the broker because of this; the first reason counts."""
        if self.failed is None:
            if isinstance(error, StorageError):
                LOG.error("the broker ends: %s", error)
            self.failed = error

    def finish(self) -> None:
        """Make everything durable, or give up what cannot be. Later effects, without records, are released at once."""

    def close(self, now: int, whole: bool) -> None:
        """After `finish`: save the state, so that the next start has nothing to replay. Raises StorageErrors."""

    def abandon(self) -> None:
        """End without saving anything; does nothing after `close`."""

    def statistics(self) -> dict[str, Any]:
        """Of the journal; empty without one."""
        return {}
