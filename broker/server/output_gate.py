"""The gate that the kernel's effects pass on their way out: `hold` takes them, `released` returns what may be sent.

Without a journal it is an OutputGate, which releases everything at once. With a journal it is a DurabilityGate.
"""

from __future__ import annotations

from typing import Any

from ..events import Unsupported
from ..kernel import Effects, ReasonsWanted, Send
from ..kernel.subscribing import MEMORY
from ..storage import StorageError
from ..wire import Busy
from .logs import LOG
from .replicated_state import ReplicatedState


class OutputGate:
    """The gate without a journal. Not thread-safe.

    `failed`: the error that ends the broker; from then on nothing more is released. `durability`: what receipts
    promise. `state`: the state that the journal has restored, None without one. `now`: the wall clock in microseconds.
    `whole`: no batch is in work.
    """

    def __init__(self, durability: str = MEMORY, state: ReplicatedState | None = None) -> None:
        self.durability = durability
        self.state = state
        self.failed: Exception | None = None
        self._sends: list[Send] = []

    def refusal(self) -> Busy | None:
        """The error with which to refuse requests while there is no room for a record; None if there is room."""
        return None

    def hold(self, effects: Effects, now: int) -> None:
        """Take the effects of one input. Its messages follow all earlier ones, once its records are safe."""
        self._sends += effects.sends

    def ask_reasons(self, wanted: ReasonsWanted) -> None:
        """Find the reasons that somebody without a session wants, who is told. Raises Unsupported without a journal."""
        raise Unsupported("reasons are found in the journal, and this broker has none")

    def released(self) -> list[Send]:
        """Take out the messages that may be sent now, in order."""
        sends, self._sends = self._sends, []
        return sends

    def advance(self, now: int, whole: bool) -> None:
        """Process ended disk operations, and begin those that are due."""

    @property
    def position(self) -> int:
        """The last record that was taken; 0 without a journal."""
        return 0

    @property
    def safe(self) -> int:
        """The last record behind which messages may be sent."""
        return 0

    @property
    def holding(self) -> bool:
        """Whether messages wait for the disk."""
        return False

    @property
    def crowded(self) -> bool:
        """Whether so many messages wait for the disk that the socket should not be read."""
        return False

    def patience(self, now: int) -> float | None:
        """Seconds until `advance` is due by time; None if nothing is due."""
        return None

    def fail(self, error: Exception) -> None:
        """End the broker with an error; the first one stays."""
        if self.failed is None:
            if isinstance(error, StorageError):
                LOG.error("the broker ends: %s", error)
            self.failed = error

    def finish(self) -> None:
        """Make everything durable, or drop what cannot be. Later effects, without records, are released at once."""

    def close(self, now: int, whole: bool) -> None:
        """Save the state, after `finish`, so that the next start has nothing to replay. Raises StorageErrors."""

    def abandon(self) -> None:
        """End without saving anything; does nothing after `close`."""

    def statistics(self) -> dict[str, Any]:
        """The statistics of the journal; empty without one."""
        return {}
