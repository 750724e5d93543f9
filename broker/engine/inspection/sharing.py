"""Whether a subscription shares its runs with others, and what keeps it from that, as `foretell check` says it.

Here: one subscription in words, and which subscriptions run together. Not here: the whole program in words
(explanation), costs (costs).
"""

from __future__ import annotations

from heapq import nlargest
from itertools import islice
from typing import Final, NamedTuple, final

from ..disorder.reordering import Reordering
from ..dispatch.matchers import Matcher
from ..planner import decision
from ..program.program import Program
from ..subscribing.catalog import Catalog
from ..subscribing.subscriber import branch_name
from .costs import cost_of, plans_of

REVISES: Final = "it revises results, as events come in any order"


def sharing(catalog: Catalog, program: Program, name: str) -> list[str]:
    """For each automaton what it shares, or why it has no group, and the cost of an event. O(size of the automata)."""
    found: list[str] = []
    for branch, planned in enumerate(plans_of(catalog.subscriptions[name])):
        registration = program.machines.registrations.get(branch_name(name, branch))
        plan, company = planned, None
        if registration is not None:
            plan = registration.plan
            company = plan.company(registration.matcher.machine)
        found.append(decision(plan) if company is None else company)
        found += cost_of(plan)
    return found


@final
class MachineSeen(NamedTuple):
    """A machine: one of the subscriptions that it runs, how many these are, or parts of them, and how it runs them, in
    lines. `name` is "" where it makes the stream of an expression that several subscriptions have in common."""

    name: str
    subscriptions: int
    lines: list[str]


@final
class MachinesSeen(NamedTuple):
    """The machines that run most, of `total`. `more`: there are others, at which nobody has looked."""

    listed: list[MachineSeen]
    total: int
    more: bool


def machines(
    catalog: Catalog, program: Program, disorder: Reordering | None, most: int, looked: int
) -> MachinesSeen:
    """The machines that run most subscriptions, of so many that are looked at. O(looked)."""
    running = (matcher for lane in program.machines.lanes.values() for matcher in lane.matchers if matcher.served)
    found = list(islice(running, looked + 1))
    listed = [_seen(catalog, program, matcher) for matcher in nlargest(most, found[:looked], key=_served)]
    revising = [] if disorder is None else disorder.readers.companies()
    for group in revising:
        name = next(iter(group.members.values())).subscriber.name
        listed.append(MachineSeen(name, len(group.members), [REVISES]))
    total = min(len(found), looked) + len(revising)
    return MachinesSeen(nlargest(most, listed, key=_size), total, len(found) > looked)


def _seen(catalog: Catalog, program: Program, matcher: Matcher) -> MachineSeen:
    entered, known = matcher.first, program.machines.registrations
    if not entered:  # the first one has left; O(registrations), rarely
        entered = next(name for name, each in known.items() if each.matcher is matcher)
    plan = known[entered].plan
    company = plan.company(matcher.machine)
    lines = [decision(plan) if company is None else company, *cost_of(plan)]
    name = entered if entered in catalog.subscriptions else entered.rpartition(" ")[0]
    return MachineSeen(name if name in catalog.subscriptions else "", matcher.served, lines)


def _served(matcher: Matcher) -> int:
    return matcher.served


def _size(seen: MachineSeen) -> int:
    return seen.subscriptions


def company_of(catalog: Catalog, program: Program, name: str) -> int:
    """How many parts of subscriptions the machines of one run, the largest number; 0 if it has none."""
    branches = len(catalog.subscriptions[name].form.branches) or 1
    known = [program.machines.registrations.get(branch_name(name, branch)) for branch in range(branches)]
    return max([each.matcher.served for each in known if each is not None], default=0)
