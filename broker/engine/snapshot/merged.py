"""The section of the merged program's runs, which their executor writes.

Not here: machines.
"""

from __future__ import annotations

from typing import Any

from ..executors.merged import End
from .state import EngineState


def save(state: EngineState) -> Any:
    """The runs as plain data. O(runs)."""
    return state.runtime.runs.dump(state.runs, _ends(state))


def restore(state: EngineState, content: Any) -> None:
    """Restore the runs, after all subscriptions have joined."""
    state.runs = state.runtime.runs.load(content, _ends(state))


def _ends(state: EngineState) -> list[End]:
    return [service.end for service in state.catalog.services() if service.end is not None]
