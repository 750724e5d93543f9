"""The compiled program: the structure of all subscriptions that the dispatcher reads.

Here: its parts, and the choice of the part for an automaton over epochs. A change costs the size of the subscription,
not of the program. Not here: runs (a program never holds one), names and text (catalog), merging automata or sharing
machines (executors, dispatch.registry).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import final

from ..dispatch.registry import FIRST, Registry
from ..executors.machine_plan import MachinePlan
from ..forecasts.registry import Forecasts
from ..options import Options
from ..planner import EXECUTORS, MERGED, plan_again
from ..subscribing.subscriber import Subscriber
from .directory import Directory
from .target import Feed


@final
class Program:
    """The directory, which finds everything that an event concerns: merged automata, and machines."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.directory = Directory(options)
        self.merged = MERGED.automata(self.directory)
        self.machines = Registry(self.directory, options, EXECUTORS, plan_again)
        self.forecasts = Forecasts(self.directory)
        self._first: dict[Hashable, str] = {}  # by what alike plans have in common, the automaton that is merged
        self._common: dict[str, Hashable] = {}  # the inverse

    def enter(
        self,
        name: str,
        plan: MachinePlan,
        subscriber: Subscriber | None,
        feed: Feed | None,
    ) -> object | None:
        """Add an automaton over epochs for a subscriber, a stream, or both. O(its size).

        `name`: the automaton's own. Returns its end in the merged program; None if it has a machine, of that name.
        """
        restoring = self.machines.restoring
        if restoring is not None and plan.merged is (name in restoring.places):
            again = plan_again(plan, restoring.executor(name) or MERGED.executor)
            if again.merged and plan.merges_first:
                self._merge_first(name, plan.alike(self.options))
            plan = again
        elif restoring is None and feed is None and plan.merges_first and MERGED.executor not in self.options.off:
            # A merged one that publishes would keep the matches of machines from being told as blocks.
            alike = plan.alike(self.options)
            if alike not in self._first and not self.machines.has(alike):
                self._merge_first(name, alike)
                plan = plan_again(plan, MERGED.executor, FIRST)
        if plan.merged:
            return self.merged.add(plan.automaton, subscriber, feed)
        self.machines.join(name, plan, subscriber, feed)
        return None

    def _merge_first(self, name: str, alike: Hashable) -> None:
        """Note that an automaton is merged, although plans alike have machines."""
        self._first[alike] = name
        self._common[name] = alike

    def withdraw(self, name: str, end: object | None, subscriber: Subscriber | None, feed: Feed | None) -> None:
        """Undo one `enter`, which has returned this end. O(its size, and subscribers of its end)."""
        if end is None:
            self.machines.leave(name, subscriber, feed)
        else:
            self.merged.remove(end, subscriber, feed)
            alike = self._common.pop(name, None)
            if self._first.get(alike) == name:
                del self._first[alike]

    def check_invariants(self) -> None:
        """Raise AssertionError if the parts contradict each other."""
        self.merged.check_invariants()
        self.directory.check_invariants()
        self.machines.check_invariants()
        self.forecasts.check_invariants()
