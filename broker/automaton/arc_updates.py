"""Updates: arcs that come and go while a subscription runs (AFA, 2.3).

Here: an update as a value, and what a language provides for it. Not here: a language's arcs (languages), the repair of
what has been found (executors), whether an update is allowed (disorder).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..events.instant import FOREVER
from .automaton import Automaton


class ArcUpdate(NamedTuple):
    """Arcs to insert, as texts, and the names of arcs to delete, both for the events of [begin, end)."""

    insert: tuple[str, ...]
    delete: tuple[str, ...]
    begin: int
    end: int


class ChangedArcs(NamedTuple):
    """An automaton whose arcs are others for the events of [begin, end)."""

    automaton: Automaton
    begin: int
    end: int


class ChangingArcs:
    """The arcs of a subscription at one time; immutable."""

    @property
    def automaton(self) -> Automaton:
        """The automaton with these arcs."""
        raise AssertionError

    def updated(self, update: ArcUpdate, settled: int = -FOREVER) -> ChangingArcs:
        """The arcs after an update. No event before `settled` asks for its arcs any more: those that ended are left
        out. O(arcs). Raises QueryError for a text that is no such arc, DefinitionError for a name that no arc has."""
        raise AssertionError

    def after(self, updates: Sequence[ArcUpdate]) -> ChangingArcs:
        """The arcs after several updates, in their order. O(updates, arcs, and what the updates change). Raises as
        `updated` does."""
        raise AssertionError

    def difference(
        self, text: str, updates: Sequence[ArcUpdate], wanted: object, begin: int
    ) -> tuple[list[str], list[str]]:
        """The arcs to insert, as texts, and the names of those to delete at `begin`, so that a subscription says what
        the syntax `wanted` says. `text` and `updates`: what it says now. Raises DefinitionError if no arcs do that."""
        raise AssertionError
