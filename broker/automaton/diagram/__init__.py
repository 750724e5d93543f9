"""Diagrams: a graph given as data, drawn as text, DOT, Mermaid or SVG. Not here: automata.

    graph = Graph("jumps", (Node("0", "Stock", "start"), Node("1", "jumps", "end")), (Edge("0", "1", "price > 10"),))
    print(draw(graph, "text"))

Each format is a module with a pure function ``Graph -> str``: equal graphs give equal characters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from .dot import draw_dot
from .graph import Edge, EdgeKind, Graph, Node, NodeKind
from .mermaid import draw_mermaid
from .svg import draw_svg
from .text import draw_text

Format = Literal["text", "dot", "mermaid", "svg"]

DRAWINGS: dict[Format, Callable[[Graph], str]] = {
    "text": draw_text,
    "dot": draw_dot,
    "mermaid": draw_mermaid,
    "svg": draw_svg,
}


def draw(graph: Graph, format: Format) -> str:
    """The drawing of ``graph``, ending in a newline. Time and space are O(n log n) in states, arcs and label length."""
    return DRAWINGS[format](graph)


__all__ = ["DRAWINGS", "Edge", "EdgeKind", "Format", "Graph", "Node", "NodeKind", "draw"]
