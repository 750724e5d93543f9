"""What an event costs a subscription, estimated from its automaton and its executor, for `explain` and `check`.

Here: that estimate, and warnings. Not here: how many runs an automaton may have (automaton.analyses.growth), measured
costs (benchmarks).
"""

from __future__ import annotations

from typing import Final

from ...automaton.analyses.growth import growth_of
from ..executors.machine_plan import MachinePlan
from ..planner import followed
from ..subscribing.subscriber import Subscriber

COST: Final = "cost of an event: "


def plans_of(subscriber: Subscriber) -> list[MachinePlan]:
    """The plan of each of its automata. O(size of the automata)."""
    if subscriber.machine is not None:
        return [subscriber.machine]
    lineage = subscriber.lineage is True
    return [followed(branch.plan(subscriber.literals), lineage) for branch in subscriber.form.branches]


def cost_of(plan: MachinePlan) -> list[str]:
    """What an event costs, as a line; none if the executor says it itself."""
    growth = growth_of(plan.automaton)
    if growth is None:
        return []
    return [COST + (f"{plan.pays}; {growth}" if plan.pays else f"it visits each run: {growth}")]


def warnings_of_cost(subscriber: Subscriber) -> list[str]:
    """That the cost of an event grows with the subscription's own runs, or that what it keeps grows for ever."""
    found: list[str] = []
    for plan in plans_of(subscriber):
        growth = growth_of(plan.automaton)
        if growth is None:
            continue
        if not plan.pays and (growth.power > 1 or growth.doubles or growth.for_ever):
            found.append(f"the cost of an event grows with the subscription's own runs: {growth}")
        elif growth.for_ever:
            found.append(f"what it keeps grows for ever, without WITHIN: {growth}")
    return list(dict.fromkeys(found))
