"""Starts and ends a subscription's forecasts. In between, its runs or its machine report to them.

Here: connecting forecasts to the program. Not here: forecasts themselves, registering subscriptions (engine).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...forecast.plan import ForecastPlan
from ..dispatch.registrations import Registration
from ..forecasts.listening import RunListener
from ..notices import Notice
from ..program.program import Program
from ..program.target import Target
from .subscriber import Subscriber, branch_name


def start_forecasts(
    program: Program, plan: ForecastPlan, subscriber: Subscriber, ends: Mapping[int, object]
) -> None:
    """Start forecasts for a subscription that was just activated. O(states, keys). `ends`: as in Holding."""
    registration = _machine(program, subscriber)
    if registration is None:
        listener = RunListener(program.forecasts.join(plan, subscriber, None, []), plan.windows)
    else:
        parts = [] if plan.division is None else plan.division.parts
        machines = program.machines.divide(subscriber.name, [(part.automaton, part.operands) for part in parts])
        found = program.forecasts.join(plan, subscriber, registration, machines)
        listener = RunListener(found, plan.windows)
        registration.matcher.watchers = [*(registration.matcher.watchers or ()), listener]
    listener.subscription.listener = listener
    for branch in range(len(subscriber.form.branches)):
        if branch in ends:
            program.merged.watch(ends[branch], listener, plan.numbers[branch])
        else:
            group = program.machines.registrations[branch_name(subscriber.name, branch)]
            group.plan.watch(group.matcher.machine, group.member, listener, plan.numbers[branch])


def end_forecasts(
    program: Program, subscriber: Subscriber, ends: Mapping[int, object]
) -> list[tuple[Target, Notice]]:
    """End a subscription's forecasts; returns the forecasts that stay without an outcome."""
    plan = subscriber.plan
    if plan is None:
        return []
    listener = program.forecasts.subscriptions[subscriber.name].listener
    assert listener is not None
    registration = _machine(program, subscriber)
    if registration is not None:
        matcher = registration.matcher
        matcher.watchers = [other for other in matcher.watchers or () if other is not listener] or None
        program.machines.unite(subscriber.name)
    for branch in range(len(subscriber.form.branches)):
        if branch in ends:
            program.merged.unwatch(ends[branch], listener, plan.numbers[branch])
        else:
            group = program.machines.registrations[branch_name(subscriber.name, branch)]
            group.plan.unwatch(group.matcher.machine, group.member)
    return program.forecasts.leave(subscriber.name)


def _machine(program: Program, subscriber: Subscriber) -> Registration | None:
    """The registration of its machine, which a forecast asks for its progress; None if runs are reported instead."""
    found = program.machines.registrations.get(subscriber.name)
    return None if found is None or found.plan.reports_runs else found
