"""The program in words and as a picture's data: what subscriptions became and what they share.

Here: reading the program for people. Not here: drawing (broker.automaton.diagram).
"""

from __future__ import annotations

from ..algebra.normal_form import ALWAYS, describe_form
from ..automaton.automaton import describe_arc
from ..automaton.diagram import Edge, Graph
from ..automaton.diagram import Node as Picture
from ..automaton.sharing import Node
from .catalog import Catalog
from .program import Program
from .spaces import Space

NAMES_SHOWN = 8


def diagram(program: Program) -> Graph:
    """The merged automata: states, stay, rebind and forward arcs, and who is served at which end."""
    nodes: list[Picture] = []
    edges: list[Edge] = []
    for node in program.forest.nodes():
        here = f"state {node.number}"
        start = node.parent is None
        stream = _stream(node.state.stream)
        nodes.append(Picture(here, stream if start else f"{node.number}: next {stream}", "start" if start else "state"))
        if node.parent is not None and node.entry is not None:
            edges.append(Edge(f"state {node.parent.number}", here, describe_arc(node.entry)))
            if node.state.theta != ALWAYS:
                edges.append(Edge(here, here, f"NOT ({describe_form(node.state.theta)})", "stay"))
            if node.rebind is not None:
                edges.append(Edge(here, here, describe_arc(node.rebind), "rebind"))
        for end in node.ends.values():
            there = f"end {end.number}"
            nodes.append(Picture(there, _served(program, end.number), "end"))
            edges.append(Edge(here, there, describe_arc(end.arc)))
    return Graph("subscriptions", tuple(nodes), tuple(edges))


def explain(catalog: Catalog, program: Program) -> list[str]:
    """States before and after merging, and which key spaces find what."""
    services = catalog.services()
    before = sum(service.end.node.depth + 1 for service in services)
    after = sum(1 for _ in program.forest.nodes())
    lines = [
        f"{_counted(len(catalog.subscriptions), 'subscription')}, {_counted(len(services), 'automaton', 'automata')}",
        f"{_counted(before, 'state')} before merging, {after} after",
    ]
    waiting: dict[int, int] = {}
    for place in program.all_places():
        waiting[place.space.number] = waiting.get(place.space.number, 0) + 1
    for spaces in program.spaces:
        for space in spaces:
            statics = program.statics[space.number].values()
            arcs = sum(len(s.arcs) for s in statics)
            members = sum(len(p.family) for s in statics for p in s.places if p.family is not None)
            starts = f"{_counted(arcs, 'start arc')} and {_counted(members, 'family member')}"
            places = _counted(waiting.get(space.number, 0), "place")
            keys = _counted(len(statics), "key")
            lines.append(f"{_space(catalog, space)}: {starts} under {keys}, {places} where runs wait")
    return lines


def _counted(number: int, one: str, more: str = "") -> str:
    return f"{number} {one if number == 1 else more or one + 's'}"


def _space(catalog: Catalog, space: Space) -> str:
    schema = catalog.schema_of(space.stream)
    if not space.positions:
        return f"{_stream(space.stream)}, every event"
    names = [str(p) if schema is None else schema.names[p] for p in space.positions]
    return f"{_stream(space.stream)} by {', '.join(names)}"


def _stream(name: str) -> str:
    return f"(right operand {name[1:7]})" if name.startswith("~") else name


def _served(program: Program, end: int) -> str:
    ending = program.ending(end)
    names = list(dict.fromkeys(s.name for s in ending.subscribers))
    if not names:
        return "to another pattern"
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def path(node: Node) -> list[Node]:
    """From the start state's successor down to the node."""
    found: list[Node] = []
    while node.parent is not None:
        found.append(node)
        node = node.parent
    return found[::-1]
