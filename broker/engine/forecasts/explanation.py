"""Forecasts for people: each subscription's chain, with the probabilities that its counts say, in lines and as a
picture's data.

Here: reading the outlooks. Not here: drawing (broker.automaton.diagram), other explanations.
"""

from __future__ import annotations

from typing import Final

from ...automaton.diagram import Edge, Graph, Node
from ...events.instant import format_duration
from ...forecast.forecaster import Forecaster
from .outlook import Outlook
from .registry import Forecasts
from .states import States

STATES_SHOWN: Final = 24
SHOWN_MIN: Final = 0.01  # what is less likely is left out: mostly it has never been seen


def chain_lines(forecasts: Forecasts) -> list[str]:
    """What is counted, and by state: where it leads and how likely a match is. O(states x edges)."""
    lines: list[str] = []
    for name, outlook in forecasts.outlooks.items():
        keyed = [attributes for _, attributes in outlook.scope.positions.items() if attributes]
        unit = "an event of the key" if keyed else "an event of the stream"
        written = outlook.settings.written["within"]
        within = f"{written} events" if outlook.pace is None else format_duration(outlook.settings.duration)
        chains = _chains(name, outlook)
        if outlook.combination is None:
            what = f"a chain of {outlook.states.final + 1} states"
        else:
            what = f"approximately, from those of {len(chains)} parts ({outlook.combination.kind}) as if independent"
        lines.append(
            f"{name}: forecasts of a match within {within} from {outlook.settings.threshold:g} on; {what}, a step is"
            f" {unit}; version {outlook.version}"
        )
        for title, states, forecaster in chains:
            if outlook.combination is not None:
                lines.append(f"{title}: a chain of {states.final + 1} states; version {forecaster.version}")
            lines += _state_lines(title, states, forecaster, outlook.settings.steps)
    return lines


def _chains(name: str, outlook: Outlook) -> list[tuple[str, States, Forecaster]]:
    """The chains that say something, and what they are called: the subscription's, or those of its parts."""
    if outlook.combination is None:
        return [(name, outlook.states, outlook.forecaster)]
    return [(f"{name}, part {part.number}", part.states, part.forecaster) for part in outlook.combination.parts]


def _state_lines(title: str, states: States, forecaster: Forecaster, steps: int) -> list[str]:
    lines: list[str] = []
    pool = forecaster.pool
    rows, passage = pool.chain().rows, pool.passage(forecaster.horizon)
    for state in range(min(states.final + 1, STATES_SHOWN)):
        row = rows[state] if state < states.final else pool.chain().continuations.get(state, rows[state])
        if row.weight <= 0.0:
            lines.append(f"{title}: {states.label(state)}: nothing counted yet")
            continue
        likely = sorted(zip(row.chances, row.targets), reverse=True)
        where = ", ".join(f"{states.label(target)}: {chance:.3f}" for chance, target in likely if chance > SHOWN_MIN)
        soon = f"{passage.next(state, steps):.3f} for a match within {steps}; " if steps else ""
        lines.append(f"{title}: {states.label(state)}: {soon}next {where} ({row.weight:,.0f} counted)")
    if states.final + 1 > STATES_SHOWN:
        lines.append(f"{title}: and {states.final + 1 - STATES_SHOWN} more states")
    return lines


def chain_diagram(forecasts: Forecasts) -> Graph:
    """The chains of all predictive subscriptions side by side: their states, each with how likely a match is within the
    horizon where that is in events, and what is likely to follow."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    chains = [
        (title, outlook.settings.steps, states, forecaster)
        for name, outlook in forecasts.outlooks.items()
        for title, states, forecaster in _chains(name, outlook)
    ]
    for title, steps, states, forecaster in chains:
        _draw(title, "" if len(chains) == 1 else f"{title}: ", states, forecaster, steps, nodes, edges)
    what = "forecasts: how likely a match is"
    if len(chains) == 1:
        title, steps, _, _ = chains[0]
        what = f"{title}: how likely a match is" + (f" within {steps}" if steps else "")
    return Graph(what, tuple(nodes), tuple(edges))


def _draw(
    name: str,
    prefix: str,
    states: States,
    forecaster: Forecaster,
    steps: int,
    nodes: list[Node],
    edges: list[Edge],
) -> None:
    chain, passage = forecaster.pool.chain(), forecaster.pool.passage(forecaster.horizon)
    for state in range(states.final + 1):
        row = chain.rows[state] if state < states.final else chain.continuations.get(state, chain.rows[state])
        soon = f": {passage.next(state, steps):.3f}" if steps and row.weight > 0.0 else ""
        kind = "start" if state == 0 else "end" if state == states.final else "state"
        title = f"{prefix}{states.label(state)}" if state in (0, states.final) else states.label(state)
        nodes.append(Node(f"{name} {state}", title + soon, kind))  # type: ignore[arg-type]
        if row.weight <= 0.0:
            continue
        for target, chance in zip(row.targets, row.chances):
            if chance > SHOWN_MIN:
                edges.append(Edge(f"{name} {state}", f"{name} {target}", f"{chance:.3f}", "forward"))
