"""Describes the program in words and as data for a diagram: the compiled subscriptions, and the parts that they share.

Here: reading the program for users. Not here: drawing (broker.automaton.diagram).
"""

from __future__ import annotations

from collections.abc import Mapping

from ...automaton.automaton import Automaton
from ...automaton.diagram import Graph
from ...automaton.drawing import automata_diagram
from ...automaton.rewriting.differences import differences
from ...forecast.explanation import chain_lines
from ..disorder.reordering import Reordering
from ..executors.machine_plan import NAMES_SHOWN, Known, counted, stream_name
from ..planner import decision
from ..program.program import Program
from ..subscribing.catalog import Catalog
from ..subscribing.subscriber import Subscriber, branch_name
from .costs import cost_of, plans_of


def diagram(catalog: Catalog, program: Program, disorder: Reordering | None = None) -> Graph:
    """The merged automata: states, stay, rebind and forward arcs, the subscriptions at each end; then machines.

    O(subscriptions), each with its automata.
    """
    merged = program.merged.drawn(_merged(catalog))
    nodes, edges = list(merged.nodes), list(merged.edges)
    written = _rewritten(catalog)
    for known in _machines(catalog, program, disorder):
        plain = [each for each in known if each.name not in written]
        drawings = [plain[0].plan.drawn(plain)] if plain else []
        others = [(each.name, written[each.name]) for each in known if each.name in written]
        drawings += [automata_diagram(known[0].plan.executor, others)] if others else []
        for drawn in drawings:
            nodes += drawn.nodes
            edges += drawn.edges
    return Graph("subscriptions", tuple(nodes), tuple(edges))


def _machines(catalog: Catalog, program: Program, disorder: Reordering | None) -> list[list[Known]]:
    """Subscriptions with a machine, grouped by kind."""
    kinds: dict[str, list[Known]] = {}
    revising = {} if disorder is None else disorder.readers.by_name
    for name, subscriber in catalog.subscriptions.items():
        plan = subscriber.machine
        if plan is not None and name not in program.machines.registrations:
            machine = revising[name].group.reviser if name in revising else None
            kinds.setdefault(plan.kind, []).append(Known(name, plan, machine))
    for name, registration in program.machines.registrations.items():
        known = Known(stream_name(name), registration.plan, registration.matcher.machine)
        kinds.setdefault(registration.plan.kind, []).append(known)
    return [kinds[kind] for kind in sorted(kinds)]


def _rewritten(catalog: Catalog) -> dict[str, Automaton]:
    """By name of a machine, the automaton as it was written, of those that run another one."""
    return {
        stream_name(branch_name(name, branch)): automaton
        for name, subscriber in catalog.subscriptions.items()
        if any(rewriting.counts for rewriting in subscriber.form.rewritings)
        for branch, automaton in enumerate(subscriber.as_written())
    }


def _merged(catalog: Catalog) -> list[tuple[str, Automaton]]:
    """All automata in the merged program as they were written, each with the name of its subscription, if any."""
    found: list[tuple[str, Automaton]] = []
    internal: set[str] = set()
    for name, subscriber in catalog.subscriptions.items():
        if not _is_merged(catalog, name):
            continue
        compiled = subscriber.form.compiled(subscriber.literals)
        for stream, automata in compiled.internal:
            if stream not in internal:
                internal.add(stream)
                found += [("", automaton) for automaton in automata]
        if subscriber.machine is None:
            found += [(name, automaton) for automaton in subscriber.as_written()]
    return found


def _is_merged(catalog: Catalog, name: str) -> bool:
    """Whether a subscription's automata are in the merged program, or will return there."""
    if name in catalog.withdrawn:
        return True
    holding, branches = catalog.holdings.get(name), catalog.subscriptions[name].form.branches
    return len(branches) == (0 if holding is None else len(holding.ends))


def live(program: Program, runs: Mapping[str, int]) -> list[str]:
    """The figures of the merged automata's `runs`, and of each machine with the subscriptions that it serves."""
    lines = [f"now: {_figures(runs)}"] if any(runs.values()) else []
    shared: dict[int, tuple[list[str], str]] = {}
    for name, registration in program.machines.registrations.items():
        machine = registration.matcher.machine
        names, _ = shared.setdefault(id(machine), ([], _figures(machine.statistics())))
        names.append(stream_name(name))
    for names, figures in shared.values():
        more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
        lines.append(f"{', '.join(names[:NAMES_SHOWN])}{more} now: {figures}")
    return lines


def sharing(catalog: Catalog, program: Program, disorder: Reordering | None, name: str) -> list[str]:
    """How one subscription runs now, and what it shares with others, one line each. O(runs of its machine)."""
    subscriber = catalog.subscriptions[name]
    revising = None if disorder is None else disorder.readers.by_name.get(name)
    if revising is not None:
        assert subscriber.machine is not None
        reviser = revising.group.reviser
        return _of_plan(Known(name, subscriber.machine, reviser)) + [
            f"its machine serves {counted(len(revising.group.members), 'subscription')}",
            f"its machine now: {_figures(reviser.statistics())}",
        ]
    lines: list[str] = []
    holding = catalog.holdings.get(name)
    ends = {} if holding is None else holding.ends
    branches = len(subscriber.form.branches)
    for branch in range(branches):
        entered = branch_name(name, branch)
        place = f"automaton {branch + 1}: " if branches > 1 else ""
        if branch in ends:
            for state, others in enumerate(program.merged.shared(ends[branch]), 1):
                lines.append(f"{place}state {state} is in {counted(others, 'automaton', 'automata')}")
            if subscriber.plan is not None:
                lines.append(place + decision(plans_of(subscriber)[branch]))
            lines += [place + line for line in cost_of(plans_of(subscriber)[branch])]
        elif entered in program.machines.registrations:
            lines += [place + line for line in _of_machine(program, entered)]
    lines += _of_machine(program, name) if name in program.machines.registrations and not lines else []
    return lines + rewritings(subscriber)


def rewritings(subscriber: Subscriber) -> list[str]:
    """Which rules have rewritten the automata of a subscription, one line each. O(size of the automata)."""
    written = subscriber.as_written()
    pairs = zip(subscriber.form.rewritings, written, subscriber.automata())
    changed = [(each, old, new) for each, old, new in pairs if each.counts and old != new]
    return [f"rewritten: {each}; as written: {differences(old, new)}" for each, old, new in changed]


def _of_machine(program: Program, name: str) -> list[str]:
    registration = program.machines.registrations[name]
    machine = registration.matcher.machine
    known = Known(stream_name(name), registration.plan, machine)
    return [*_of_plan(known), f"its machine now: {_figures(machine.statistics())}"]


def _of_plan(known: Known) -> list[str]:
    return [decision(known.plan), *cost_of(known.plan), *known.plan.explained([known])]


def _figures(found: Mapping[str, int]) -> str:
    return ", ".join([f"{name.replace('_', ' ')} {count:,}" for name, count in found.items() if count]) or "nothing"


def explain(catalog: Catalog, program: Program, disorder: Reordering | None = None) -> list[str]:
    """States before and after merging, and the cost of lookup in each key space."""
    internal = [end for stream in catalog.internal.values() for end in stream.ends.values()]
    merged = [s.form for name, s in catalog.subscriptions.items() if _is_merged(catalog, name)]
    ends = [end for end in internal if end is not None]
    automata = sum(len(form.branches) for form in merged) + len(ends)
    automatic = [form for form in merged if form.template is not None]
    before = sum(form.states for form in automatic) + sum(map(program.merged.size, ends))
    after = program.merged.statistics()["states"]
    subscriptions = counted(len(catalog.subscriptions), "subscription")
    lines = [subscriptions]
    if automata:
        lines = [f"{subscriptions}, {counted(automata, 'automaton', 'automata')}"]
        lines.append(f"{counted(before, 'state')} before merging, {after} after")
    for known in _machines(catalog, program, disorder):
        lines += [f"{name}: {decision(plan)}" for name, plan, _ in known[:NAMES_SHOWN]]
        lines += [f"{name}: {cost}" for name, plan, _ in known[:NAMES_SHOWN] for cost in cost_of(plan)]
        lines += known[0].plan.explained(known)
    changed = [(n, s) for n, s in catalog.subscriptions.items() if any(r.counts for r in s.form.rewritings)]
    lines += [f"{name}: {line}" for name, subscriber in changed[:NAMES_SHOWN] for line in rewritings(subscriber)]
    if len(changed) > NAMES_SHOWN:
        lines.append(f"and {len(changed) - NAMES_SHOWN} more are rewritten")
    lines += chain_lines(program.forecasts.unpacked())
    return lines + program.merged.explained(catalog.schema_of)
