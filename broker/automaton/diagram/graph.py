"""A plain graph as data for drawings. It does not depend on automata: the caller supplies the labels as text.

A graph is immutable and checked when it is constructed, and equal graphs give equal drawings.
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

    A trigger is not a transition: one automaton starts another, or reports its match to it.
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
    """Nodes and edges in reading order; a graph may contain several automata.

    Raises ValueError if two nodes have the same key or an edge names an unknown node.
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
