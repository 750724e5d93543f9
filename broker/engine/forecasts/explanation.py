"""Forecasts for people: each subscription's chain, with the probabilities that its counts say, in lines and as a
picture's data.

Here: reading the outlooks. Not here: drawing (broker.automaton.diagram), other explanations.
"""

from __future__ import annotations

from typing import Final

from ...automaton.diagram import Edge, Graph, Node
from ...events.instant import format_duration
from .outlook import Outlook
from .registry import Forecasts

STATES_SHOWN: Final = 24
SHOWN_MIN: Final = 0.0005  # what is less likely is left out of a picture


def chain_lines(forecasts: Forecasts) -> list[str]:
    """What is counted, and by state: where it leads and how likely a match is. O(states x edges)."""
    lines: list[str] = []
    for name, outlook in forecasts.outlooks.items():
        states = outlook.states
        keyed = [attributes for _, attributes in outlook.scope.positions.items() if attributes]
        unit = "an event of the key" if keyed else "an event of the stream"
        written = outlook.settings.written["within"]
        within = f"{written} events" if outlook.pace is None else format_duration(outlook.settings.duration)
        lines.append(
            f"{name}: forecasts of a match within {within} from {outlook.settings.threshold:g} on; a chain of"
            f" {states.final + 1} states, a step is {unit}; version {outlook.version}"
        )
        pool = outlook.forecaster.pool
        rows, passage = pool.chain().rows, pool.passage(outlook.forecaster.horizon)
        for state in range(min(states.final + 1, STATES_SHOWN)):
            row = rows[state] if state < states.final else pool.chain().continuations.get(state, rows[state])
            if row.weight <= 0.0:
                lines.append(f"{name}: {states.label(state)}: nothing counted yet")
                continue
            likely = sorted(zip(row.chances, row.targets), reverse=True)
            where = ", ".join(f"{chance:.3f} {states.label(target)}" for chance, target in likely if chance > SHOWN_MIN)
            steps = outlook.settings.steps
            soon = f"; a match within {steps}: {passage.next(state, steps):.3f}" if steps else ""
            lines.append(f"{name}: {states.label(state)}: {where} ({row.weight:.0f} counted){soon}")
        if states.final + 1 > STATES_SHOWN:
            lines.append(f"{name}: and {states.final + 1 - STATES_SHOWN} more states")
    return lines


def chain_diagram(forecasts: Forecasts) -> Graph:
    """The chains of all predictive subscriptions side by side: their states, and what is likely to follow each."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    for name, outlook in forecasts.outlooks.items():
        _draw(name, outlook, nodes, edges)
    return Graph("forecasts", tuple(nodes), tuple(edges))


def _draw(name: str, outlook: Outlook, nodes: list[Node], edges: list[Edge]) -> None:
    states = outlook.states
    chain, steps = outlook.forecaster.pool.chain(), outlook.settings.steps
    passage = outlook.forecaster.pool.passage(outlook.forecaster.horizon)
    for state in range(states.final + 1):
        row = chain.rows[state] if state < states.final else chain.continuations.get(state, chain.rows[state])
        soon = f"\nwithin {steps}: {passage.next(state, steps):.3f}" if steps and row.weight > 0.0 else ""
        kind = "start" if state == 0 else "end" if state == states.final else "state"
        title = f"{name}: {states.label(state)}" if state in (0, states.final) else states.label(state)
        nodes.append(Node(f"{name} {state}", title + soon, kind))  # type: ignore[arg-type]
        if row.weight <= 0.0:
            continue
        for target, chance in zip(row.targets, row.chances):
            if chance > SHOWN_MIN:
                edges.append(Edge(f"{name} {state}", f"{name} {target}", f"{chance:.3f}", "forward"))
