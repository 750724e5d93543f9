"""The compiled program: what the dispatcher reads of all subscriptions.

Here: its parts, and which of them an automaton over epochs goes to. A change costs the size of the subscription, not of
the program. Not here: runs (a program never holds one), names and text (catalog), how automata are merged or machines
shared (executors, dispatch.registry).
"""

from __future__ import annotations

from typing import final

from ..automaton.automaton import Automaton
from .catalog import Service
from .directory import Directory
from .dispatch.registry import Registry
from .forecasts.registry import Forecasts
from .options import Options
from .planner import EXECUTORS, MERGED, Wanted, plan_again, plan_of
from .subscriber import Subscriber
from .target import Feed


@final
class Program:
    """The directory, and through it everything that an event can concern: automata that are merged, and machines."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.directory = Directory(options)
        self.merged = MERGED.automata(self.directory)
        self.machines = Registry(self.directory, options, EXECUTORS, plan_again)
        self.forecasts = Forecasts(self.directory)

    def enter(
        self,
        name: str,
        automaton: Automaton,
        subscriber: Subscriber | None,
        feed: Feed | None,
        forecast: bool = False,
    ) -> Service:
        """Have an automaton over epochs serve a subscriber, a stream, or both. `name`: its own; `forecast`: one asks
        where its runs are. O(its size)."""
        plan = plan_of(Wanted(automaton, forecast), self.options)
        restoring = self.machines.restoring
        if restoring is not None and plan.merged is (name in restoring.places):
            plan = plan_again(plan, restoring.executor(name) or MERGED.executor)
        if plan.merged:
            return Service(name, self.merged.add(automaton, subscriber, feed), subscriber, feed)
        self.machines.join(name, plan, subscriber, feed)
        return Service(name, None, subscriber, feed)

    def withdraw(self, service: Service) -> None:
        """Undo one `enter`. O(its size, and subscribers of its end)."""
        if service.end is None:
            self.machines.leave(service.name, service.subscriber, service.feed)
        else:
            self.merged.remove(service.end, service.subscriber, service.feed)

    def check_invariants(self) -> None:
        """Raise AssertionError where the parts contradict each other."""
        self.merged.check_invariants()
        self.directory.check_invariants()
        self.machines.check_invariants()
        self.forecasts.check_invariants()
