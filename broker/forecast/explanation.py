"""Explains forecasts to users: each subscription's chain with its probabilities, in lines and as data for a diagram.

Here: reading the chains. Not here: drawing (broker.automaton.diagram), other explanations.
"""

from __future__ import annotations

from typing import Final

from ..automaton.diagram import Edge, Graph, Node
from ..events.instant import format_duration
from .forecaster import Forecaster
from .learning import Forecasters
from .progress import Progress
from .subscription import SubscriptionForecaster

STATES_SHOWN: Final = 24
SHOWN_MIN: Final = 0.01  # less likely transitions are left out: most of them were never seen


def chain_lines(forecasts: Forecasters) -> list[str]:
    """The counts, and for each state its successors and the probability of a match. O(states x edges)."""
    lines: list[str] = []
    for name, own in forecasts.items():
        keyed = [attributes for _, attributes in own.stream.positions.items() if attributes]
        unit = "an event of the key" if keyed else "an event of the stream"
        written = own.settings.written["within"]
        within = f"{written} events" if own.arrivals is None else format_duration(own.settings.duration)
        chains = _chains(name, own)
        if own.combination is None:
            what = f"a chain of {own.final + 1} states"
        else:
            what = f"approximately, from those of {len(chains)} parts ({own.combination.connective}) as if independent"
        lines.append(
            f"{name}: forecasts of a match within {within} from {own.settings.threshold:g} on; {what}, a step is"
            f" {unit}; version {own.forecaster.version}"
        )
        for title, progress, forecaster in chains:
            if own.combination is not None:
                lines.append(f"{title}: a chain of {forecaster.form.states} states; version {forecaster.version}")
            lines += _state_lines(title, progress, forecaster, own.settings.steps)
    return lines


def _chains(name: str, own: SubscriptionForecaster) -> list[tuple[str, Progress, Forecaster]]:
    """The chains that forecast, each with its title and the source of its state labels."""
    if own.combination is None:
        return [(name, own.progress, own.forecaster)]
    return [(f"{name}, part {part.number}", part.progress, part.forecaster) for part in own.combination.parts]


def _state_lines(title: str, progress: Progress, forecaster: Forecaster, steps: int) -> list[str]:
    lines: list[str] = []
    pool, final = forecaster.pool, forecaster.form.states - 1
    rows, passage = pool.chain().rows, pool.passage(forecaster.horizon)
    for state in range(min(final + 1, STATES_SHOWN)):
        row = rows[state] if state < final else pool.chain().continuations.get(state, rows[state])
        if row.weight <= 0.0:
            lines.append(f"{title}: {progress.label(state)}: nothing counted yet")
            continue
        likely = sorted(zip(row.chances, row.targets), reverse=True)
        where = ", ".join(f"{progress.label(target)}: {chance:.3f}" for chance, target in likely if chance > SHOWN_MIN)
        soon = f"{passage.next(state, steps):.3f} for a match within {steps}; " if steps else ""
        lines.append(f"{title}: {progress.label(state)}: {soon}next {where} ({row.weight:,.0f} counted)")
    if final + 1 > STATES_SHOWN:
        lines.append(f"{title}: and {final + 1 - STATES_SHOWN} more states")
    return lines


def chain_diagram(forecasts: Forecasters) -> Graph:
    """The chains of all predictive subscriptions side by side: their states with probabilities and likely successors.

    A state has the probability of a match within the horizon, if the horizon is in events.
    """
    nodes: list[Node] = []
    edges: list[Edge] = []
    chains = [
        (title, own.settings.steps, progress, forecaster)
        for name, own in forecasts.items()
        for title, progress, forecaster in _chains(name, own)
    ]
    for title, steps, progress, forecaster in chains:
        _draw(title, "" if len(chains) == 1 else f"{title}: ", progress, forecaster, steps, nodes, edges)
    what = "forecasts: how likely a match is"
    if len(chains) == 1:
        title, steps, _, _ = chains[0]
        what = f"{title}: how likely a match is" + (f" within {steps}" if steps else "")
    return Graph(what, tuple(nodes), tuple(edges))


def _draw(
    name: str,
    prefix: str,
    progress: Progress,
    forecaster: Forecaster,
    steps: int,
    nodes: list[Node],
    edges: list[Edge],
) -> None:
    chain, passage = forecaster.pool.chain(), forecaster.pool.passage(forecaster.horizon)
    final = forecaster.form.states - 1
    for state in range(final + 1):
        row = chain.rows[state] if state < final else chain.continuations.get(state, chain.rows[state])
        soon = f": {passage.next(state, steps):.3f}" if steps and row.weight > 0.0 else ""
        kind = "start" if state == 0 else "end" if state == final else "state"
        title = f"{prefix}{progress.label(state)}" if state in (0, final) else progress.label(state)
        nodes.append(Node(f"{name} {state}", title + soon, kind))  # type: ignore[arg-type]
        if row.weight <= 0.0:
            continue
        for target, chance in zip(row.targets, row.chances):
            if chance > SHOWN_MIN:
                edges.append(Edge(f"{name} {state}", f"{name} {target}", f"{chance:.3f}", "forward"))
