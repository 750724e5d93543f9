"""SASE+ subscriptions for people: their automata, how their runs are kept, and with whom they share them.

Here: reading the catalog and the program for that. Not here: the automata and plans themselves (automaton.drawing,
executors.kleene.explanation), the rest of an explanation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ....automaton.diagram import Edge, Graph, Node
from ....automaton.drawing import automaton_diagram
from ...catalog import Catalog
from ...executors.kleene.explanation import plan_lines
from .registry import KleeneAssembly, Kleenes, kleene_assembly_of

SHOWN: Final = 8  # subscriptions that are told one by one, and names at one end


def _assemblies(catalog: Catalog) -> Iterator[tuple[str, KleeneAssembly]]:
    for name, subscriber in catalog.subscriptions.items():
        assembly = kleene_assembly_of(subscriber.form)
        if assembly is not None:
            yield name, assembly


def kleene_diagram(catalog: Catalog) -> Graph:
    """Each automaton once, with the names of those that it serves. O(subscriptions)."""
    served: dict[object, tuple[KleeneAssembly, list[str]]] = {}
    for name, assembly in _assemblies(catalog):
        served.setdefault(assembly.automaton, (assembly, []))[1].append(name)
    nodes: list[Node] = []
    edges: list[Edge] = []
    for number, (assembly, names) in enumerate(served.values()):
        prefix = f"pattern {number} "
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        graph = automaton_diagram("", assembly.automaton, ", ".join(names[:SHOWN]) + more)
        nodes += [replace(node, key=prefix + node.key) for node in graph.nodes]
        edges += [replace(e, source=prefix + e.source, target=prefix + e.target) for e in graph.edges]
    return Graph("", tuple(nodes), tuple(edges))


def kleene_lines(catalog: Catalog, kleenes: Kleenes) -> list[str]:
    """What was made of each, in lines; of more than a few how they share."""
    known = list(_assemblies(catalog))
    if not known:
        return []
    lines: list[str] = []
    for name, assembly in known[:SHOWN]:
        lines += [f"{name}: {line}" for line in plan_lines(assembly.plan)]
        seat = kleenes.seats.get(name)
        lines.append(f"{name}: how runs are kept: {'suspended' if seat is None else seat.matcher.machine.method}")
    if len(known) > SHOWN:
        lines.append(f"and {len(known) - SHOWN} more patterns")
    machines = len({id(kleenes.seats[name].matcher) for name, _ in known if name in kleenes.seats})
    if len(known) > 1:
        asked = sum(len(assembly.plan.inputs) for _, assembly in known)
        distinct = {(given.stream, given.guard) for _, a in known for given in a.plan.inputs}
        sets = "set" if machines == 1 else "sets"
        lines.append(f"patterns: {len(known)} subscriptions with {machines} {sets} of runs")
        lines.append(f"patterns: {asked} conditions on single events, {len(distinct)} of them different, in the index")
    return lines
