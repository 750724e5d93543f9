"""A journal that is examined and begun at once, as a broker without a port would have it."""

from __future__ import annotations

from broker.engine import Engine
from broker.server.opening import Journalling, examined
from broker.server.replicated_state import ReplicatedState
from broker.storage import Recovery, Store


def opened(
    journal: Journalling, wanted: Engine, model: str | None, now: int
) -> tuple[Store, ReplicatedState, Recovery]:
    """`examined`, and begun: the store, the state, and the recovery's outcome."""
    start = examined(journal, wanted, model, now)
    start.begin()
    return start.store, start.state, start.recovery
