"""Draws a graph as text for a terminal: each state with its arcs below it, full labels, ASCII except for the labels."""

from __future__ import annotations

from collections import Counter

from .graph import Edge, EdgeKind, Graph, NodeKind
from .label import cells, plain

_NODE_MARK: dict[NodeKind, str] = {"start": ">", "state": "o", "end": "#", "gate": "?"}
_NODE_NOTE: dict[NodeKind, str] = {"start": " (start)", "state": "", "end": " (match)", "gate": " (gate)"}
_EDGE_MARK: dict[EdgeKind, str] = {"forward": "-->", "stay": "...", "rebind": "<->", "trigger": "~~>"}
_LOOP_NAME: dict[EdgeKind, str] = {"forward": "itself", "stay": "stay", "rebind": "rebind", "trigger": "itself"}
_EDGE_ORDER: tuple[EdgeKind, ...] = ("stay", "rebind", "forward", "trigger")
_TARGET_COLUMNS_MAX = 40  # a longer state name gets its arc's label on a line of its own


def draw_text(graph: Graph) -> str:
    """One paragraph for each state, in the order of the graph's nodes; loops before the arcs that leave it.

    A final state without arcs has no paragraph: it appears where it is reached.
    """
    names = _names(graph)
    leaving: dict[str, list[Edge]] = {node.key: [] for node in graph.nodes}
    for edge in graph.edges:
        leaving[edge.source].append(edge)
    reached = {edge.target for edge in graph.edges}

    title = plain(graph.title)
    paragraphs = [f"{title}\n{'=' * cells(title)}"] if title else []
    paragraphs += [
        "\n".join([f"{_NODE_MARK[node.kind]} {names[node.key]}", *_arcs(leaving[node.key], names)])
        for node in graph.nodes
        if node.kind != "end" or leaving[node.key] or node.key not in reached
    ]
    return "\n\n".join(paragraphs) + "\n"


def _names(graph: Graph) -> dict[str, str]:
    """The name of each state: its label, numbered if several have the same one."""
    labels = {node.key: plain(node.label) or plain(node.key) for node in graph.nodes}
    total = Counter(labels.values())
    used: Counter[str] = Counter()
    names: dict[str, str] = {}
    for node in graph.nodes:
        label = labels[node.key]
        used[label] += 1
        number = f" [{used[label]}]" if total[label] > 1 else ""
        names[node.key] = label + number + _NODE_NOTE[node.kind]
    return names


def _arcs(edges: list[Edge], names: dict[str, str]) -> list[str]:
    lines: list[str] = []
    ordered = sorted(edges, key=lambda edge: _EDGE_ORDER.index(edge.kind))
    targets = [_LOOP_NAME[edge.kind] if edge.is_loop else names[edge.target] for edge in ordered]
    column = max((cells(target) for target in targets if cells(target) <= _TARGET_COLUMNS_MAX), default=0)
    for edge, target in zip(ordered, targets, strict=True):
        label = plain(edge.label)
        word = "by" if edge.kind == "trigger" else "if"
        head = f"    {_EDGE_MARK[edge.kind]} {target}"
        if not label:
            lines.append(head)
        elif cells(target) > _TARGET_COLUMNS_MAX:
            lines += [head, f"          {word} {label}"]
        else:
            lines.append(f"{head}{' ' * (column - cells(target))}  {word} {label}")
    return lines
