"""The form in which the engine knows an executor that runs all its automata as one program, and the runs of that.

Such an executor keeps what its automata have in common once, and stands where an event is looked up by its values: so
it also finds the symbols that the event satisfies, for the machines of all other executors. Its automata are over
epochs.

Here: that form. Not here: its plan (machine_plan), executors with a machine for each automaton (contract), what they
complete (epoch_matches).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from mypy_extensions import i64

from ...automaton.automaton import Automaton
from ...automaton.diagram import Graph
from ...events.instant import FOREVER
from ...events.schema import Row, Schema
from ..directory import Directory
from ..index.spaces import Space
from ..literals import Literals
from ..recipes import Recipe
from ..subscriber import Subscriber
from ..target import Feed
from ..watcher import Watcher
from .epoch_matches import EpochMatches
from .matches import PartialMatch

NO_EVENT: Final = 0

End: TypeAlias = object
"""Where an automaton ends in the merged program; only the executor looks into it."""

SchemaOf: TypeAlias = Callable[[str], Schema | None]
"""A stream's schema, None where there is none."""


class MergedOrder(NamedTuple):
    """What is in the program, in the order of the subscriptions alone, so that another process finds the same."""

    ends: Sequence[End]
    members: Sequence[tuple[Recipe, Literals]]


class MergedAutomata:
    """The automata, as long as somebody is served with their matches. `directory`: where events find them."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory

    def runs(self) -> MergedRuns:
        """Runs of it, none as yet."""
        raise AssertionError

    def add(self, automaton: Automaton, subscriber: Subscriber | None, feed: Feed | None) -> End:
        """Merge an automaton in, for a subscriber, a stream, or both. O(states of the automaton)."""
        raise AssertionError

    def remove(self, end: End, subscriber: Subscriber | None, feed: Feed | None) -> None:
        """Undo one `add`. O(states of the automaton, and subscribers of the end)."""
        raise AssertionError

    def join(self, recipe: Recipe, subscriber: Subscriber) -> bool:
        """Enter a subscription that may do without states of its own; False where it needs them."""
        raise AssertionError

    def leave(self, recipe: Recipe, subscriber: Subscriber, branch: int) -> None:
        """Undo one `join`, of that branch; nothing where it was refused."""
        raise AssertionError

    def watch(self, end: End, watcher: Watcher, states: list[int]) -> None:
        """Have somebody told of the runs of an automaton. `states`: what it calls the states, by depth. O(states)."""
        raise AssertionError

    def unwatch(self, end: End, watcher: Watcher, states: list[int]) -> None:
        """Undo one `watch`. O(states, and watchers there)."""
        raise AssertionError

    def concerns(self, cause: object, end: End) -> bool:
        """Whether what has raised an exception is a part of this automaton."""
        raise AssertionError

    def concerns_member(self, cause: object, recipe: Recipe, literals: Literals) -> bool:
        """Whether it is a part of what was joined like this."""
        raise AssertionError

    # --- for people ---------------------------------------------------------------------------------------------

    def size(self, end: End) -> int:
        """How many states an automaton would have alone."""
        raise AssertionError

    def statistics(self) -> dict[str, int]:
        """How large the program is."""
        raise AssertionError

    def explained(self, schema_of: SchemaOf) -> list[str]:
        """How events find what concerns them, in lines."""
        raise AssertionError

    def drawn(self, automata: Sequence[tuple[str, Automaton]]) -> Graph:
        """Automata as they are merged, each with the name of whom it serves, "" for other automata."""
        raise AssertionError

    def references(self) -> int:
        """How many automata were added."""
        raise AssertionError

    def check_invariants(self) -> None:
        """Raise AssertionError where its parts contradict each other."""
        raise AssertionError


class MergedRuns:
    """The runs of a program, and the current event: `item` is what it adds to a trace, `link` to a lineage, `index`
    where results refer to; `alone`: no other event of its epoch will be seen by a run that this one affects. `symbols`
    are those of machines' inputs that it satisfies. `due`: once time is past it, `expire` has something to drop."""

    def __init__(self) -> None:
        self.now: int | None = None  # the newest epoch, None before the first event
        self.due: i64 = FOREVER
        self.found = EpochMatches([], [], [], [])
        self.begun = 0  # runs ever started
        self.row: Row = ()
        self.time: i64 = NO_EVENT
        self.start: i64 = NO_EVENT
        self.length = 1
        self.item: i64 = 0
        self.link: Any = None
        self.index = 0
        self.alone = False
        self.symbols: list[int] = []

    def visit(self, spaces: list[Space]) -> None:
        """The current event to all that it concerns."""
        raise AssertionError

    def expire(self, now: int) -> None:
        """Drop what no event can affect any more, where it is due."""
        raise AssertionError

    def refresh(self) -> None:
        """Follow a changed program. O(what changed), but for a purge now and then."""
        raise AssertionError

    def clear(self, spaces: list[int]) -> None:
        """Drop what is in spaces that the program has given up."""
        raise AssertionError

    def purge(self) -> None:
        """Remove the runs of what no subscription needs any more. O(runs)."""
        raise AssertionError

    def go_back(self, time: int | None) -> None:
        """The newest time is that one again; no run that is needed has seen a later one. O(runs)."""
        raise AssertionError

    def live(self) -> list[PartialMatch]:
        """The runs that a later event can still affect, in a fixed order. O(runs)."""
        raise AssertionError

    def dump(self, runs: Sequence[PartialMatch], order: MergedOrder) -> Any:
        """These live runs as lists, numbers and strings. O(runs)."""
        raise AssertionError

    def load(self, data: Any, order: MergedOrder) -> list[PartialMatch]:
        """The inverse, once all subscriptions are there: the runs in their order."""
        raise AssertionError

    def statistics(self) -> dict[str, int]:
        """What it keeps. O(runs)."""
        raise AssertionError

    def check_invariants(self) -> None:
        """Raise AssertionError where runs and program contradict each other. O(runs)."""
        raise AssertionError
