"""Whether a subscription shares its runs with others, and what keeps it from that, as `foretell check` says it.

Here: one subscription in words. Not here: the whole program in words (explanation), costs (costs).
"""

from __future__ import annotations

from typing import Final

from ..planner import decision
from ..program.program import Program
from ..subscribing.catalog import Catalog
from .costs import cost_of, plans_of

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
            found.append(COLUMNS)
            continue
        registration = program.machines.registrations.get(entered)
        plan, company = planned, None
        if registration is not None:
            plan = registration.plan
            company = plan.company(registration.matcher.machine)
        found.append(decision(plan) if company is None else company)
        cost = cost_of(plan)
        if cost is not None:
            found.append(f"cost of an event: {cost}")
    return found
