"""Draws a graph as a Mermaid flowchart, for Markdown that renders it. Here: quoting and shapes."""

from __future__ import annotations

import json

from .graph import EdgeKind, Graph, NodeKind
from .label import plain, wrap

_NODE_COLUMNS, _EDGE_COLUMNS, _LINES_MAX = 26, 34, 4
_NODE_SHAPE: dict[NodeKind, tuple[str, str]] = {
    "start": ("([", "])"),
    "state": ("(", ")"),
    "end": ("[[", "]]"),
    "gate": ("{{", "}}"),
}
_ARROW: dict[EdgeKind, str] = {"forward": "-->", "stay": "-.->", "rebind": "==>", "trigger": "-.->"}
_HARMLESS = frozenset(" .,:=+-/_'")  # and letters and digits; all else is an entity: quotes, $$, %%, backticks, tags


def draw_mermaid(graph: Graph) -> str:
    """A flowchart from left to right; nodes are named n0, n1, ... in order, labels are wrapped."""
    position = graph.positions()
    lines = []
    if title := plain(graph.title):
        lines += ["---", f"title: {json.dumps(title)}", "---"]
    lines.append("flowchart LR")
    for index, node in enumerate(graph.nodes):
        before, after = _NODE_SHAPE[node.kind]
        label = _escaped(wrap(node.label, _NODE_COLUMNS, _LINES_MAX))
        lines.append(f'  n{index}{before}"{label}"{after}:::{node.kind}Node')
    for edge in graph.edges:
        label = _escaped(wrap(edge.label, _EDGE_COLUMNS, _LINES_MAX))
        text = f'|"{label}"|' if edge.label.strip() else ""
        lines.append(f"  n{position[edge.source]} {_ARROW[edge.kind]}{text} n{position[edge.target]}")
    lines += [
        "  classDef startNode fill:#ddf4ff,stroke:#0969da,color:#1f2328",
        "  classDef stateNode fill:#f6f8fa,stroke:#57606a,color:#1f2328",
        "  classDef endNode fill:#dafbe1,stroke:#1a7f37,color:#1f2328",
        "  classDef gateNode fill:#fbefff,stroke:#8250df,color:#1f2328",
    ]
    return "\n".join(lines) + "\n"


def _escaped(lines: tuple[str, ...]) -> str:
    """Lines with Mermaid's ``#code;`` for special characters; never empty, because Mermaid needs a label."""
    return "<br/>".join("".join(_character(c) for c in line) for line in lines) or " "


def _character(character: str) -> str:
    return character if character.isalnum() or character in _HARMLESS else f"#{ord(character)};"
