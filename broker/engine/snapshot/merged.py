"""The section of the merged program's runs, which their executor writes.

Not here: machines.
"""

from __future__ import annotations

from typing import Any

from .state import EngineState


def save(state: EngineState) -> Any:
    """The runs as plain data. O(runs)."""
    return state.runtime.runs.dump(state.runs, state.catalog.ends())


def restore(state: EngineState, content: Any) -> None:
    """Restore the runs, after all subscriptions have joined."""
    state.runs = state.runtime.runs.load(content, state.catalog.ends())
