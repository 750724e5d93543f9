"""Registrations of subscriptions with machines, and what is known of those that a snapshot has.

Here: these forms. Not here: who shares a machine (registry), writing snapshots (broker.engine.snapshot).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

from ..executors.contract import Member
from ..executors.machine_plan import MachinePlan
from ..program.target import Feed
from ..subscribing.subscriber import Subscriber
from .lanes import Lane
from .matchers import Matcher


@final
class Registration:
    """The registration of a subscription, or of one automaton over epochs.

    Such an automaton is one of several of a subscription, or makes an internal stream. `symbols` are those of its
    inputs, `parts` the machines of its parts, which forecasts follow. `firsts`: it is the first of several that share a
    machine as soon as there are others; the closest ones first.
    """

    __slots__ = ("firsts", "lane", "matcher", "member", "parts", "plan", "symbols")

    def __init__(self, plan: MachinePlan, lane: Lane, matcher: Matcher, member: Member, symbols: list[int]) -> None:
        self.plan = plan
        self.lane = lane
        self.matcher = matcher
        self.member = member
        self.symbols = symbols
        self.parts: Sequence[Matcher] = ()
        self.firsts: tuple[First, ...] = ()


class First(NamedTuple):
    """A registration that another executor runs until there are others like it: the plan by which it shares a machine
    with these, and whom it serves."""

    plan: MachinePlan
    subscriber: Subscriber | None
    feed: Feed | None


class SavedPlace(NamedTuple):
    """The registration of a subscription when a snapshot was taken.

    It has the number of its machine, the data by which the machine recognises it, and the numbers of the machines of
    its parts.
    """

    machine: int
    saved: Any
    parts: Sequence[int]


@final
class Restoring:
    """The state of a restore, while subscriptions join again.

    For each machine, by its number: whether it had taken an event, how often it hit a limit, that count at the last
    report, and its executor. Also the saved places by name, and the machines that were made again.
    """

    def __init__(
        self, machines: Sequence[tuple[bool, int, int]], places: dict[str, SavedPlace], executors: dict[int, str]
    ) -> None:
        self.machines = machines
        self.places = places
        self.executors = executors
        self.matchers: dict[int, Matcher] = {}

    def executor(self, name: str) -> str | None:
        """The executor that saved the machine of a registration; None if the registration had no machine."""
        place = self.places.get(name)
        return None if place is None else self.executors.get(place.machine)
