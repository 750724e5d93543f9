"""Removes a subscription from the program, because it is unsubscribed or because a defect of this program suspends it.

A condition that raises an error serves exactly the subscriptions below its arc: these are suspended. They stay in the
catalog, by name and definition, and have nothing in the program any more.

Not here: machines that are dropped in place (account), names (catalog).
"""

from __future__ import annotations

from typing import TypeAlias

from ..dispatch.dispatcher import Dispatcher
from ..dispatch.matchers import Matcher
from ..matches.batch_events import Fault
from ..notices import Notice
from ..parts import EngineParts
from ..program.account import FAILED, reason_of
from ..program.program import Program
from ..program.target import Outcome, Target
from ..program.transition import NO_SYMBOL, Transition
from ..results import Results, results_of_moment
from .catalog import Catalog
from .forecasting import end_forecasts
from .holdings import Holding
from .subscriber import Subscriber, branch_name

Censored: TypeAlias = list[tuple[Target, Notice]]


def unsubscribe(engine: EngineParts, subscriber: Subscriber) -> Results:
    """Remove a subscription from everywhere; the results are its open forecasts. Raises DefinitionError if others need
    it."""
    engine.catalog.check_leave(subscriber)
    return remove(engine, subscriber)


def remove(engine: EngineParts, subscriber: Subscriber) -> Results:
    """Remove a subscription that no other needs, or whose replacement follows."""
    catalog, program, disorder, name = engine.catalog, engine.program, engine.disorder, subscriber.name
    left: list[str] = []
    censored: Censored = []
    if disorder is not None:
        disorder.leave(subscriber)
    if catalog.withdrawn.pop(name, None) is None:
        censored, left = withdraw(catalog, program, subscriber)
    now = 0 if engine.now is None else engine.now
    results = results_of_moment(now, {})
    for target, notice in censored:
        results.notify(0, target, notice)
    catalog.leave(subscriber)
    engine.runtime.result_ids.forget(subscriber)
    if disorder is not None:
        disorder.copies.arrange()
    engine.runtime.refresh()
    publish = subscriber.form.publish
    unread = [*subscriber.form.timed_streams(), *left]
    forget(catalog, program, engine.runtime, unread if publish is None else [*unread, publish])
    return results


def withdraw(catalog: Catalog, program: Program, subscriber: Subscriber) -> tuple[Censored, list[str]]:
    """Take all that only this subscription needs out of the program. O(its size).

    Returns notices of its censored forecasts, and the internal streams that it read. The caller refreshes the runtime.
    """
    name = subscriber.name
    holding = catalog.holdings.pop(name, None) or Holding()
    censored = end_forecasts(program, subscriber, holding.ends)
    if subscriber.machine is not None and name in program.machines.registrations:
        program.machines.leave(name, subscriber, holding.feed)
    for branch in range(len(subscriber.form.branches)):
        own = subscriber if branch == 0 else subscriber.at_branch(branch)
        program.withdraw(branch_name(name, branch), holding.ends.get(branch), own, holding.feed)
    for stream in reversed(holding.internal):
        shared = catalog.internal[stream]
        shared.users -= 1
        if not shared.users:
            for entered, end in shared.ends.items():
                program.withdraw(entered, end, None, shared.feed)
            del catalog.internal[stream]
    return censored, holding.internal


def forget(catalog: Catalog, program: Program, runtime: Dispatcher, streams: list[str]) -> None:
    """Drop those of these streams that have no publisher any more, and timed streams without readers."""
    for stream in streams:
        if stream not in catalog.internal and stream not in catalog.published and stream not in catalog.timed:
            runtime.runs.clear(program.directory.forget(stream))


def suspend_failed(catalog: Catalog, program: Program, runtime: Dispatcher, results: Results, event: int) -> None:
    """Suspend the subscriptions for which a condition raised an error at an event. O(subscriptions) after an error.

    Raises the error again if it concerns no subscription.
    """
    faults = list(results.found.faults)
    results.found.faults.clear()
    concerned: dict[str, Fault] = {}
    for fault in faults:
        names = culprits(catalog, program, fault)
        if not names:
            raise fault.error
        for name in names:
            concerned.setdefault(name, fault)
    for name, fault in concerned.items():
        subscriber = catalog.subscriptions[name]
        reason = reason_of(fault.error)
        catalog.withdrawn[name] = (reason, int(runtime.runs.time))
        target = Target(Outcome((), ()), subscriber)
        censored, left = withdraw(catalog, program, subscriber)
        for other, notice in censored:
            results.notify(event, other, notice)
        results.found.give_up(event, target, reason)
        if reason == FAILED:
            results.failures.append((event, [target], fault.error))
        runtime.refresh()
        forget(catalog, program, runtime, left)


def culprits(catalog: Catalog, program: Program, fault: Fault) -> list[str]:
    """The names of the subscriptions behind a merged automaton or machine that raised an error. O(subscriptions)."""
    cause, merged = fault.cause, program.merged
    served: list[str] = []  # by a machine, by name
    if isinstance(cause, Matcher):
        registrations = program.machines.registrations
        served = [name for name, registration in registrations.items() if registration.matcher is cause]
    elif isinstance(cause, Transition) and cause.symbol != NO_SYMBOL:
        served = program.machines.users(cause)

    def below(name: str, end: object | None) -> bool:
        return name in served if end is None else merged.concerns(cause, end)

    found = []
    for name, subscriber in catalog.subscriptions.items():
        if name in catalog.withdrawn:
            continue
        holding = catalog.holdings.get(name) or Holding()
        automata = [(branch_name(name, at), holding.ends.get(at)) for at in range(len(subscriber.form.branches) or 1)]
        for stream in holding.internal:
            automata += catalog.internal[stream].ends.items()
        if any(below(entered, end) for entered, end in automata):
            found.append(name)
    return found
