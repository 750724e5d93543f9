"""Composite subscriptions for people: the paper's machines, what merging them saves, and how tuples are counted.

Here: reading the catalog for that. Not here: machines themselves (automaton.machines), the rest of an explanation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ....algebra.constant_conditions import remarks
from ....automaton.diagram import Graph
from ....automaton.machines import decompose, machine_lines, machines_diagram, merge, merged_diagram, merged_lines
from ...catalog import Catalog
from ...executors.tuple_counts import Machine
from .registry import Assembly, assembly_of

SHOWN: Final = 8  # subscriptions whose machines are told one by one
PREFIX: Final = "composite "


def _assemblies(catalog: Catalog) -> Iterator[tuple[str, Assembly]]:
    for name, subscriber in catalog.subscriptions.items():
        assembly = assembly_of(subscriber.form)
        if assembly is not None:
            yield name, assembly


def composite_diagram(catalog: Catalog) -> Graph:
    """One subscription as its machines (P-ToPSS, figure 5), several as their merged states (figure 6)."""
    known = [(name, decompose(assembly.composite)) for name, assembly in _assemblies(catalog)]
    if not known:
        return Graph("", (), ())
    graph = machines_diagram("", known[0][1]) if len(known) == 1 else merged_diagram("", merge(known))
    nodes = tuple(replace(node, key=PREFIX + node.key) for node in graph.nodes)
    edges = tuple(replace(e, source=PREFIX + e.source, target=PREFIX + e.target) for e in graph.edges)
    return Graph("", nodes, edges)


def composite_lines(catalog: Catalog) -> list[str]:
    """What was made of each, in lines; of more than a few only what merging saves."""
    known = list(_assemblies(catalog))
    if not known:
        return []
    lines: list[str] = []
    for name, assembly in known[:SHOWN]:
        lines += [f"{name}: {line}" for line in machine_lines(decompose(assembly.composite))]
        lines.append(f"{name}: {_counting(assembly)}")
        lines += [f"{name}: {remark}" for remark in remarks(assembly.composite)]
    if len(known) > SHOWN:
        lines.append(f"and {len(known) - SHOWN} more composite subscriptions")
    if len(known) > 1:
        merged = merged_lines(merge([(name, decompose(assembly.composite)) for name, assembly in known]))
        lines += [f"composite subscriptions: {line}" for line in merged]
    return lines


def _counting(assembly: Assembly) -> str:
    if assembly.words is not None or assembly.paths is None:
        return f"counted with all others in one trie of contiguous words, {len(assembly.words or ())} of them its own"
    machine = Machine(assembly.paths, assembly.tuples)
    return f"{len(assembly.paths.states)} states of its path automaton; tuples by {machine.method}"
