"""The contract of machines that take events in any order and revise their results (AFA, 4).

A late event, a withdrawn one or a changed arc may add results and withdraw others. Here: that interface, beside the one
for events in order (contract). Not here: such machines (an executor's folder), who gets which event and what becomes of
the changes (disorder).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from mypy_extensions import i64

from ...automaton.arc_updates import ChangedArcs
from ...automaton.automaton import Automaton
from ...events.schema import Row
from ..matches.sources import Item, MatchSource, WaitingRun
from .contract import KeptState

Revision: TypeAlias = tuple[bool, MatchSource]
"""A result that was added (true) or withdrawn, as a source of one match."""


class Reviser(KeptState):
    """The partial matches of automata over events that are not final yet. They read the same streams, and differ in
    results only: those whose plans are `alike` may share one, each as a member with a number."""

    def join(self, automaton: Automaton, number: int) -> int:
        """Add a member, before the first event; `number`: -1 for the next one. Returns its number."""
        raise AssertionError

    def leave(self, number: int) -> None:
        """Remove a member of several. O(1), and now and then O(runs)."""
        raise AssertionError

    def begun(self) -> bool:
        """Whether an event has come, so that none may join any more."""
        raise AssertionError

    def take(self, stream: i64, time: i64, number: i64, item: Item, row: Row) -> None:
        """Process an event of the automaton's source with the index `stream`. Events of one time are in the order of
        their numbers, which are their ids. Raises Exhausted or LimitExceeded, after which nothing else may be asked.
        """
        raise AssertionError

    def retract(self, stream: i64, time: i64, number: i64, row: Row) -> None:
        """Withdraw an event that was taken so and that no punctuation has passed."""
        raise AssertionError

    def punctuate(self, time: int) -> None:
        """Promise that no event before that time comes or is withdrawn any more."""
        raise AssertionError

    def punctuate_key(self, key: Row, time: int) -> None:
        """Promise so of the events with that key, the values of BY."""
        raise AssertionError

    def write(self, number: int, changed: ChangedArcs) -> None:
        """Replace the arcs of a member. O(arcs that differ, and events in the interval), and O(runs) the first time for
        one of several."""
        raise AssertionError

    def settled(self, number: int, time: int) -> Any:
        """A member's state before the events from a time on, before which none changes any more, in the form that the
        `load` of an executor in order takes; None if no event has come. O(state, and events from then on)."""
        raise AssertionError

    def settle(self) -> list[tuple[int, Revision]]:
        """The changes of results since the last call, without those that cancel, each with the number of the member
        whose it is. O(changes)."""
        raise AssertionError

    def keys(self) -> int:
        """The number of key values with state."""
        raise AssertionError

    def waiting_runs(self, number: int) -> Iterator[WaitingRun] | None:
        """A member's partial matches as they stand, for users; None if the executor does not list them."""
        return None

    def statistics(self) -> dict[str, int]:
        """Counts of its state, under the names of its plan's `figures`."""
        raise AssertionError
