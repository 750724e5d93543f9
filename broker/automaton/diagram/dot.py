"""Draws a graph in Graphviz's DOT language. Here: quoting and attributes. Not here: layout, which Graphviz does."""

from __future__ import annotations

from .graph import EdgeKind, Graph, NodeKind
from .label import plain, wrap

_NODE_COLUMNS, _EDGE_COLUMNS, _LINES_MAX = 26, 34, 4
_NODE_STYLE: dict[NodeKind, str] = {
    "start": 'color="#0969da", fillcolor="#ddf4ff"',
    "state": 'color="#57606a", fillcolor="#f6f8fa"',
    "end": 'color="#1a7f37", fillcolor="#dafbe1", peripheries=2',
    "gate": 'color="#8250df", fillcolor="#fbefff", shape=hexagon, style=filled',
}
_EDGE_STYLE: dict[EdgeKind, str] = {
    "forward": "style=solid",
    "stay": "style=dotted",
    "rebind": "style=dashed",
    "trigger": 'style=dashed, color="#8250df", arrowhead=empty',
}


def draw_dot(graph: Graph) -> str:
    """A digraph from left to right; nodes are named n0, n1, ... in order; labels are wrapped, tooltips are not."""
    position = graph.positions()
    lines = [
        "digraph automata {",
        f"  graph [rankdir=LR, fontname=Helvetica, labelloc=t, label={_quoted((plain(graph.title),))}]",
        '  node [shape=box, style="rounded,filled", fontname=Helvetica, fontsize=12]',
        "  edge [fontname=Courier, fontsize=10]",
    ]
    for index, node in enumerate(graph.nodes):
        label = wrap(node.label, _NODE_COLUMNS, _LINES_MAX)
        lines.append(f"  n{index} [label={_quoted(label)}, tooltip={_tooltip(node.label)}, {_NODE_STYLE[node.kind]}]")
    for edge in graph.edges:
        label = wrap(edge.label, _EDGE_COLUMNS, _LINES_MAX)
        lines.append(
            f"  n{position[edge.source]} -> n{position[edge.target]} "
            f"[label={_quoted(label)}, tooltip={_tooltip(edge.label)}, {_EDGE_STYLE[edge.kind]}]"
        )
    return "\n".join([*lines, "}"]) + "\n"


def _tooltip(text: str) -> str:
    """The tooltip, never empty, because Graphviz would show the node's internal name instead."""
    return _quoted((plain(text) or " ",))


def _quoted(lines: tuple[str, ...]) -> str:
    r"""A quoted string, ``\n`` between lines; a backslash would start an escape such as ``\N``, an ``&`` an entity."""
    escaped = (line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
