"""Whether a subscription shares its runs with others, and what keeps it from that, as `foretell check` says it.

Here: one subscription in words, and which subscriptions run together. Not here: the whole program in words
(explanation), costs (costs).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..disorder.reordering import Reordering
from ..planner import decision
from ..program.program import Program
from ..subscribing.catalog import Catalog
from .costs import COST, IN_COLUMNS, cost_of, plans_of

REVISED: Final = 0
COLUMNS: Final = "sorted columns, which it shares with all others whose conditions read the same attributes"


def sharing(catalog: Catalog, program: Program, name: str) -> list[str]:
    """For each automaton what it shares, or why it has no group, and the cost of an event. O(size of the automata)."""
    subscriber = catalog.subscriptions[name]
    holding = catalog.holdings.get(name)
    apart = set() if holding is None else {service.name for service in holding.services}
    found: list[str] = []
    for branch, planned in enumerate(plans_of(subscriber)):
        entered = name if branch == 0 else f"{name} {branch}"
        if subscriber.machine is None and subscriber.form.recipes[branch] is not None and entered not in apart:
            found += [COLUMNS, f"{COST}{IN_COLUMNS}"]
            continue
        registration = program.machines.registrations.get(entered)
        plan, company = planned, None
        if registration is not None:
            plan = registration.plan
            company = plan.company(registration.matcher.machine)
        found.append(decision(plan) if company is None else company)
        cost = cost_of(plan)
        if cost is not None:
            found.append(f"{COST}{cost}")
    return found


def machines_of(
    catalog: Catalog, program: Program, disorder: Reordering | None, names: Sequence[str]
) -> list[list[int]]:
    """For each subscription the numbers of the machines that run it, equal where these are shared; REVISED for one
    whose results may be withdrawn, and none where merged automata run it, or for a name that is not known. O(names)."""
    revised = {} if disorder is None else disorder.readers.by_name
    found: list[list[int]] = []
    for name in names:
        holding = catalog.holdings.get(name)
        entered = [name] if holding is None else [service.name for service in holding.services]
        known = [program.machines.registrations.get(each) for each in entered]
        numbers = [registration.matcher.number for registration in known if registration is not None]
        found.append([REVISED] if name in revised else numbers)
    return found
