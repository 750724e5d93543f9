"""Having a subscription's runs, or its machine, watched by its forecasts, and no longer.

Here: what is watched where. Not here: forecasts themselves, the subscription's coming and going (engine).
"""

from __future__ import annotations

from .catalog import Holding
from .forecasts.plan import Plan
from .notices import Notice
from .program import Program
from .subscriber import Subscriber
from .target import Target


def foretell(program: Program, plan: Plan, subscriber: Subscriber, holding: Holding) -> None:
    """Forecasts for a subscription that was just put in force. O(states, keys)."""
    seat = program.machines.seats.get(subscriber.name)
    if seat is None:
        outlook = program.forecasts.join(plan, subscriber, None, None, [])
    else:
        parts = [] if plan.division is None else plan.division.parts
        machines = program.machines.divide(subscriber.name, [(part.automaton, part.operands) for part in parts])
        outlook = program.forecasts.join(plan, subscriber, seat.lane, seat.matcher, machines)
        seat.matcher.watchers = [*(seat.matcher.watchers or ()), outlook]
    for branch, service in enumerate(holding.services):
        program.watch(service.end, outlook, plan.numbers[branch])


def foretell_no_more(program: Program, subscriber: Subscriber, holding: Holding | None) -> list[tuple[Target, Notice]]:
    """Undo it; what was foretold and will never be known."""
    plan = subscriber.form.plan
    if not isinstance(plan, Plan) or holding is None:
        return []
    outlook = program.forecasts.outlooks[subscriber.name]
    seat = program.machines.seats.get(subscriber.name)
    if seat is not None:
        seat.matcher.watchers = [other for other in seat.matcher.watchers or () if other is not outlook] or None
        program.machines.unite(subscriber.name)
    for branch, service in enumerate(holding.services):
        program.unwatch(service.end, outlook, plan.numbers[branch])
    return program.forecasts.leave(subscriber.name)
