"""The sections of what may still change: options and updates of subscriptions, events that are not final, and results.

An engine without any of it writes none of them.

Not here: how an executor writes a machine's state (its own folder).
"""

from __future__ import annotations

from typing import Any

from ...automaton.arc_updates import ArcUpdate
from ..disorder.looking import dump, load
from ..subscribing.updating import update_again
from .state import EngineState


def save_options(state: EngineState) -> Any:
    """The option `results` of each subscription that has it, and the names of those that revise."""
    named = {name: s.results for name, s in state.catalog.subscriptions.items() if s.results is not None}
    disorder = state.engine.disorder
    revising = [] if disorder is None else list(disorder.readers.by_name)
    return None if disorder is None and not named else [named, revising]


def restore_options(state: EngineState, content: Any) -> None:
    """Keep the options for the subscriptions, which are made again later."""
    named, revising = content
    state.results, state.revising = dict(named), frozenset(revising)


def save_updates(state: EngineState) -> Any:
    """The updates of each subscription that has some."""
    subscribers = state.catalog.subscriptions.items()
    return [[name, [list(update) for update in s.updates]] for name, s in subscribers if s.updates] or None


def restore_updates(state: EngineState, content: Any) -> None:
    """Apply them to subscriptions whose machines are still empty."""
    for name, updates in content:
        made = [ArcUpdate(tuple(insert), tuple(delete), begin, end) for insert, delete, begin, end in updates]
        update_again(state.program, state.runtime, state.engine.disorder, state.catalog.subscriptions[name], made)


def save(state: EngineState) -> Any:
    """Events that are not final, and the state of subscriptions that revise. O(both)."""
    disorder = state.engine.disorder
    return None if disorder is None else dump(disorder)


def restore(state: EngineState, content: Any) -> None:
    """The inverse, after all subscriptions have joined."""
    disorder = state.engine.disorder
    assert disorder is not None
    load(disorder, content)
