"""Describes the merged program in words and as data for a diagram: key spaces, and shared states.

Not here: the description of all subscriptions (engine/inspection/explanation), drawing (broker.automaton.diagram).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....algebra.normal_form import ALWAYS, describe_form
from ....algebra.timed_stream import untimed
from ....automaton.automaton import Automaton, describe_arc
from ....automaton.diagram import Edge, Graph, Node
from ....automaton.sharing import Forest
from ....events.event import TIME_NAMES
from ...index.columns import BLOCK
from ...index.spaces import Space
from ...program.directory import Directory
from ...program.transition import Place
from ..machine_plan import NAMES_SHOWN, counted, stream_name
from ..merged import SchemaOf

# Nanoseconds of an event, a lookup in a key space, a tried arc, a search in columns, a scanned member.
EVENT_COST: Final = 180.0
PROBE_COST: Final = 30.0
ARC_COST: Final = 15.0
SEARCH_COST: Final = 60.0


def drawn(automata: Sequence[tuple[str, Automaton]]) -> Graph:
    """The automata merged again, as they were written. O(automata)."""
    forest = Forest()
    served: dict[int, list[str]] = {}
    for name, automaton in automata:
        names = served.setdefault(forest.insert(automaton)[0].number, [])
        if name:
            names.append(name)
    nodes: list[Node] = []
    edges: list[Edge] = []
    for node in forest.nodes():
        here = f"state {node.number}"
        start = node.parent is None
        stream = stream_name(node.state.stream)
        nodes.append(Node(here, stream if start else f"{node.number}: next {stream}", "start" if start else "state"))
        if node.parent is not None and node.entry is not None:
            edges.append(Edge(f"state {node.parent.number}", here, describe_arc(node.entry)))
            if node.state.theta != ALWAYS:
                edges.append(Edge(here, here, f"NOT ({describe_form(node.state.theta)})", "stay"))
            if node.rebind is not None:
                edges.append(Edge(here, here, describe_arc(node.rebind), "rebind"))
        for end in node.ends.values():
            there = f"end {end.number}"
            nodes.append(Node(there, _served(served[end.number]), "end"))
            edges.append(Edge(here, there, describe_arc(end.arc)))
    return Graph("", tuple(nodes), tuple(edges))


def explained(directory: Directory, places: Sequence[Place], schema_of: SchemaOf) -> list[str]:
    """What each key space finds, and the cost of an event."""
    lines: list[str] = []
    waiting: dict[int, int] = {}
    for place in places:
        waiting[place.space.number] = waiting.get(place.space.number, 0) + 1
    for spaces in directory.spaces:
        lines += [_space_line(directory, space, waiting.get(space.number, 0), schema_of) for space in spaces]
        if spaces:
            lines.append(_cost_line(directory, spaces))
    return lines


def _space_line(directory: Directory, space: Space, places: int, schema_of: SchemaOf) -> str:
    """What a key space finds, and the structures that find it."""
    statics = list(directory.statics[space.number].values())
    arcs = sum(map(len, statics))
    indexed = sum(len(static) for static in statics if static.indexed())
    how = f" ({indexed} in an arc index)" if indexed else ""
    under = f" under {counted(len(statics), 'key')}"
    starts = counted(arcs, "start arc") + how + under if arcs else "nothing starts here"
    return f"{_space(space, schema_of)}: {starts}; {counted(places, 'place')} where runs wait"


def _cost_line(directory: Directory, spaces: list[Space]) -> str:
    """The cost of an event of the stream if all keys with a cell are equally frequent.

    This is a rough model with rounded constants, near the compiled times of W4. It leaves out the cost of runs.
    """
    cost = EVENT_COST
    for space in spaces:
        statics = list(directory.statics[space.number].values())
        cost += PROBE_COST
        each = [
            ARC_COST * len(s) if not s.indexed() else SEARCH_COST + ARC_COST * len(s) / BLOCK
            for s in statics
        ]
        cost += sum(each) / max(1, len(each))
    stream = stream_name(spaces[0].stream)
    return f"{stream}: {counted(len(spaces), 'probe')} an event, about {cost / 1000:.1f} us compiled before runs step"


def _space(space: Space, schema_of: SchemaOf) -> str:
    schema = schema_of(untimed(space.stream))
    if not space.positions:
        return f"{stream_name(space.stream)}, every event"
    names = [str(p) if schema is None else (*schema.names, *TIME_NAMES)[p] for p in space.positions]
    return f"{stream_name(space.stream)} by {', '.join(names)}"


def _served(names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    if not names:
        return "to another pattern"
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more
