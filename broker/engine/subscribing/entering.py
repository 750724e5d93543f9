"""Enters a subscription into the program: its states or machine, and the streams between its parts.

Not here: removing it again (leaving), names (catalog), compiling (query_compiler).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ...automaton.automaton import Automaton
from ...events.errors import LimitExceeded
from ..compiler.query_compiler import Parsed
from ..disorder.joined import salt_of
from ..parts import EngineParts
from ..planner import Wanted, followed, plan_again, plan_of
from ..program.program import Program
from ..program.target import Feed
from .catalog import Catalog
from .forecasting import start_forecasts
from .holdings import Holding, InternalStream
from .subscriber import Subscriber, branch_name

Internal: TypeAlias = tuple[tuple[str, tuple[Automaton, ...]], ...]  # internal streams and the automata that feed them


def install(engine: EngineParts, parsed: Parsed, since: int, widths: Mapping[str, int] | None = None) -> None:
    """Compile and activate a subscription as of a time. `widths`: as in Catalog.compile. Raises as `Engine.subscribe`
    does."""
    activate(engine, engine.catalog.compile(parsed, since, None, widths or {}))


def activate(engine: EngineParts, subscriber: Subscriber) -> None:
    """Enter one more subscription. Raises as `enter` does, and LimitExceeded if there are enough."""
    most = engine.options.subscriptions_max
    if len(engine.catalog.subscriptions) >= most:
        raise LimitExceeded(f"an engine may have at most {most} subscriptions (subscriptions_max)")
    enter(engine, subscriber)


def enter(engine: EngineParts, subscriber: Subscriber) -> None:
    """Activate a compiled subscription. O(its size). Raises DefinitionError or LimitExceeded."""
    catalog, program, disorder = engine.catalog, engine.program, engine.disorder
    form = subscriber.form
    if subscriber.name in catalog.withdrawn:  # a suspended subscription is registered again
        catalog.enter(subscriber, None)
        if disorder is not None:
            disorder.enter(subscriber, None)
        return
    plan = subscriber.plan
    if plan is not None:
        program.forecasts.check(plan, subscriber)
    revises = disorder is not None and disorder.copies.can_revise(subscriber)
    if disorder is not None:
        disorder.copies.check(subscriber, revises)
    internal: Sequence[str] = ()
    if form.template is not None and form.template.compiled.internal:
        internal = _attach_internal(catalog, program, form.template.compiled.internal, subscriber.since)
    machine = subscriber.machine
    if machine is not None and disorder is not None and revises:
        if machine.alone:  # company shares events in order
            machine = subscriber.machine = plan_again(machine, machine.alone[-1], "it revises its results alone")
        feed = _publishes(program, subscriber, True)
        disorder.readers.join(subscriber, machine, disorder.copies.restoring is not None)
    else:
        feed = _publishes(program, subscriber, form.changing is not None)
        if machine is not None:
            program.machines.join(subscriber.name, machine, subscriber, feed)
    ends: dict[int, object] = {}
    for branch, template in enumerate(form.branches):
        own = subscriber if branch == 0 else subscriber.at_branch(branch)
        chosen = followed(template.plan(subscriber.literals), subscriber.lineage is True)
        end = program.enter(branch_name(subscriber.name, branch), chosen, own, feed)
        if end is not None:
            ends[branch] = end
    holding: Holding | None = None
    if ends or internal or feed is not None:  # most hold nothing, which costs no memory
        holding = Holding(ends, list(internal), feed)
    catalog.enter(subscriber, holding)
    if disorder is not None:
        disorder.enter(subscriber, holding)
        disorder.copies.arrange()
    engine.runtime.refresh()
    if plan is not None:
        start_forecasts(program, plan, subscriber, ends)


def _publishes(program: Program, subscriber: Subscriber, salted: bool) -> Feed | None:
    """`salted`: equal results of others are told apart, as they are where results are revised."""
    publish = subscriber.form.publish
    if publish is None:
        return None
    salt = salt_of(subscriber) if salted else 0
    return Feed(program.directory.stream(publish), subscriber.since, (publish, subscriber.name), salt)


def _attach_internal(catalog: Catalog, program: Program, internal: Internal, since: int) -> list[str]:
    """Make the streams that are not there yet, or use the others once more; returns their names."""
    for name, automata in internal:
        known = catalog.internal.get(name)
        if known is not None:
            known.users += 1
            continue
        feed = Feed(program.directory.stream(name), since, (name, ""))
        plans = {f"{name} {at}": plan_of(Wanted(each), program.options) for at, each in enumerate(automata)}
        ends = {entered: program.enter(entered, plan, None, feed) for entered, plan in plans.items()}
        catalog.internal[name] = InternalStream(1, feed, ends)
    return [name for name, _ in internal]
