"""A plain graph as data: what a drawing needs to know of an automaton, and nothing that only the automaton knows.

No pattern, predicate or program is imported here: whoever has an automaton says in words what stands on its states and
arcs. A graph is immutable, checked when it is made, and the same graph always gives the same drawing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

NodeKind = Literal["start", "state", "end", "gate"]
EdgeKind = Literal["forward", "stay", "rebind", "trigger"]


@final
@dataclass(frozen=True, slots=True)
class Node:
    """A state or a gate. ``key`` names it within its graph and is never shown; ``label`` is any text."""

    key: str
    label: str
    kind: NodeKind = "state"


@final
@dataclass(frozen=True, slots=True)
class Edge:
    """An arc between the nodes with the keys ``source`` and ``target``; ``label`` is its guard and update, any text.

    A trigger moves nothing: it starts one automaton, or tells it something, from another.
    """

    source: str
    target: str
    label: str
    kind: EdgeKind = "forward"

    @property
    def is_loop(self) -> bool:
        return self.source == self.target


@final
@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges in the order in which they are to be read; several automata may stand side by side in it.

    Raises ValueError when two nodes share a key or an edge names a node that is not there.
    """

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def __post_init__(self) -> None:
        keys: set[str] = set()
        for node in self.nodes:
            if node.key in keys:
                raise ValueError(f"two nodes of one graph have the key {node.key!r}")
            keys.add(node.key)
        for edge in self.edges:
            for key in (edge.source, edge.target):
                if key not in keys:
                    raise ValueError(f"an edge names the node {key!r}, which the graph does not have")

    def positions(self) -> dict[str, int]:
        """The index of each node by its key."""
        return {node.key: index for index, node in enumerate(self.nodes)}
