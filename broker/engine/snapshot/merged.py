"""The section of the merged program's runs, which their executor writes.

Not here: machines.
"""

from __future__ import annotations

from typing import Any

from ..executors.merged import MergedOrder
from .state import EngineState


def save(state: EngineState) -> Any:
    """The runs as plain data. O(runs)."""
    return state.runtime.runs.dump(state.runs, _order(state))


def restore(state: EngineState, content: Any) -> None:
    """Restore the runs, after all subscriptions have joined."""
    state.runs = state.runtime.runs.load(content, _order(state))


def _order(state: EngineState) -> MergedOrder:
    catalog = state.catalog
    return MergedOrder(
        [service.end for service in catalog.services() if service.end is not None],
        [
            (recipe, subscriber.literals)
            for subscriber in catalog.subscriptions.values()
            if subscriber.name not in catalog.withdrawn
            for _, recipe in catalog.memberships(subscriber)
        ],
    )
