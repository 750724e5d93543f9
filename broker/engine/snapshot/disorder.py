"""The sections of what may still change: who revises, and events and results that are not final.

An engine without any of it writes none of them.

Not here: how an executor writes a machine's state (its own folder).
"""

from __future__ import annotations

from typing import Any

from ..disorder.looking import dump, load
from .state import EngineState


def save_revising(state: EngineState) -> Any:
    """The names of the subscriptions that revise their results."""
    disorder = state.engine.disorder
    return None if disorder is None else list(disorder.readers.by_name)


def restore_revising(state: EngineState, content: Any) -> None:
    """Keep them for the subscriptions, which are made again later."""
    state.revising = frozenset(content)


def save(state: EngineState) -> Any:
    """Events that are not final, and the state of subscriptions that revise. O(both)."""
    disorder = state.engine.disorder
    return None if disorder is None else dump(disorder)


def restore(state: EngineState, content: Any) -> None:
    """The inverse, after all subscriptions have joined."""
    disorder = state.engine.disorder
    assert disorder is not None
    load(disorder, content)
