"""The interface of an executor that runs all its automata as one merged program, and of that program's runs.

Such an executor stores the common parts of its automata once, inside the lookup of events by value. So it also finds
the symbols that an event satisfies, for the machines of all other executors. Its automata are over epochs.

Here: that interface. Not here: its plan (machine_plan), executors with a machine for each automaton (contract), the
form of its completions (completions).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from mypy_extensions import i64

from ...automaton.automaton import Automaton
from ...automaton.diagram import Graph
from ...events.instant import FOREVER
from ...events.schema import Row, Schema
from ..index.spaces import Space
from ..matches.completions import Completions
from ..matches.sources import PartialMatch, WaitingRun
from ..program.directory import Directory
from ..program.recipient import Recipient
from ..program.target import Feed
from ..program.watcher import EventWatcher, Watcher

NO_EVENT: Final = 0

End: TypeAlias = object
"""The end of an automaton in the merged program; opaque outside the executor."""

SchemaOf: TypeAlias = Callable[[str], Schema | None]
"""A stream's schema, None where there is none."""


class MergedAutomata:
    """The merged automata of all current subscribers. `directory`: finds what an event concerns."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory

    def runs(self) -> MergedRuns:
        """Runs of the program, initially none."""
        raise AssertionError

    def add(self, automaton: Automaton, subscriber: Recipient | None, feed: Feed | None) -> End:
        """Merge an automaton into the program, for a subscriber, a stream, or both. O(states of the automaton)."""
        raise AssertionError

    def remove(self, end: End, subscriber: Recipient | None, feed: Feed | None) -> None:
        """Undo one `add`. O(states of the automaton, and subscribers of the end)."""
        raise AssertionError

    def watch(self, end: End, watcher: Watcher, states: list[int]) -> None:
        """Report the runs of an automaton to a watcher.

        `states`: the watcher's number of each state, by depth. O(states).
        """
        raise AssertionError

    def unwatch(self, end: End, watcher: Watcher, states: list[int]) -> None:
        """Undo one `watch`. O(states, and watchers there)."""
        raise AssertionError

    def concerns(self, cause: object, end: End) -> bool:
        """Whether the cause of an exception is a part of this automaton."""
        raise AssertionError

    # --- for users ----------------------------------------------------------------------------------------------

    def size(self, end: End) -> int:
        """The number of states that the automaton would have alone."""
        raise AssertionError

    def statistics(self) -> dict[str, int]:
        """Counts of the program's size."""
        raise AssertionError

    def explained(self, schema_of: SchemaOf) -> list[str]:
        """How events find what they concern, in lines."""
        raise AssertionError

    def waiting_states(self, end: End) -> list[object]:
        """Where the runs of an automaton wait, for `MergedRuns.waiting_runs`. O(its states)."""
        raise AssertionError

    def shared(self, end: End) -> list[int]:
        """By state of an automaton, how many automata have it. O(its states)."""
        raise AssertionError

    def drawn(self, automata: Sequence[tuple[str, Automaton]]) -> Graph:
        """Automata as they are merged, each with the name of its subscription, "" for other automata."""
        raise AssertionError

    def references(self) -> int:
        """The number of automata that were added."""
        raise AssertionError

    def check_invariants(self) -> None:
        """Raise AssertionError if its parts contradict each other."""
        raise AssertionError


class MergedRuns:
    """The runs of a program, and the current event.

    `item` is the event's contribution to a trace, `link` to a lineage, `index` its number in the results. `alone`: no
    run that this event affects will see another event of its epoch. `symbols` are those of machines' inputs that it
    satisfies. `due`: once time has passed it, `expire` has something to drop. `foretold`: is told of each event of a
    stretch, if anybody has to be.
    """

    def __init__(self) -> None:
        self.now: int | None = None  # the newest epoch, None before the first event
        self.now_at: Callable[[str], int | None] | None = None  # that of a stream, if not all share one order of time
        self.due: i64 = FOREVER
        self.found = Completions()
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
        self.foretold: EventWatcher | None = None

    def schedule(self) -> Any:
        """When the runs of the current order of time are swept."""
        return None

    def schedules(self, order_of: Callable[[str], Hashable]) -> dict[Any, Any]:
        """Such a schedule for each order of streams, by order. O(runs)."""
        return {}

    def resume(self, now: int | None, schedule: Any) -> None:
        """Go on with another order of time."""
        self.now = now

    def visit(self, spaces: list[Space]) -> None:
        """Apply the current event to all that it concerns."""
        raise AssertionError

    def stretch(self, stream: int, first: i64, upto: i64) -> i64:
        """Apply events of the batch whose matches `found` has, each of which ends when it begins, from number `first`
        on to at most below `upto`; returns behind the last one. O(affected runs).

        The first one is later than the newest event; after the last one another follows in the batch. The last one
        may not have ended for `foretold`.
        """
        return first

    def expire(self, now: int) -> None:
        """Drop the runs that no event can affect any more, if it is time to."""
        raise AssertionError

    def refresh(self) -> None:
        """Update the runs after a change of the program. O(changes), plus an occasional purge."""
        raise AssertionError

    def clear(self, spaces: list[int]) -> None:
        """Drop the runs in spaces that the program has removed."""
        raise AssertionError

    def purge(self) -> None:
        """Remove the runs that no subscription needs any more. O(runs)."""
        raise AssertionError

    def go_back(self, time: int | None) -> None:
        """Set the newest time back. The runs that are still needed have seen no later time. O(runs)."""
        raise AssertionError

    def live(self) -> list[PartialMatch]:
        """The runs that a later event can still affect, in a fixed order. O(runs)."""
        raise AssertionError

    def waiting_runs(self, states: list[object], since: int) -> Iterator[WaitingRun | None]:
        """The runs born after `since` in these states, made as they are read; None for each other run looked at."""
        raise AssertionError

    def dump(self, runs: Sequence[PartialMatch], ends: Sequence[End]) -> Any:
        """These live runs as lists, numbers and strings. O(runs).

        `ends`: all of the program, in the order of the subscriptions alone, so that another process finds the same.
        """
        raise AssertionError

    def load(self, data: Any, ends: Sequence[End]) -> list[PartialMatch]:
        """The inverse, after all subscriptions have joined: the runs in their order."""
        raise AssertionError

    def statistics(self) -> dict[str, int]:
        """Counts of its state. O(runs)."""
        raise AssertionError

    def check_invariants(self) -> None:
        """Raise AssertionError if runs and program contradict each other. O(runs)."""
        raise AssertionError
