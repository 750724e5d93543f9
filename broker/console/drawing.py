"""Draws one subscription for a page, from its text and the streams: in a thread of the console, not in the loop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ..automaton.automaton import Automaton, Kind, TimeModel
from ..automaton.diagram import Graph
from ..automaton.diagram.svg import draw_svg
from ..automaton.drawing import automaton_diagram, nodes_of_states
from ..engine import Engine
from ..events import ForetellError, QueryError, StreamDefinition
from ..language.subscription import SubscriptionDefinition

COUNTED_STATES_MAX: Final = 60
"""States of all automata up to which they are drawn one by one, with counts; a larger picture is that of `explain`."""
_PLACE: Final = re.compile(r"line (\d+), column (\d+)")


def drawn(definition: SubscriptionDefinition, streams: Sequence[StreamDefinition]) -> dict[str, Any]:
    """The automaton as a picture, where its states and arcs are in it, how it is run alone, and the attributes of its
    key. A subscription that reads what another publishes has none."""
    engine = Engine()
    try:
        for stream in streams:
            engine.declare(stream)
        engine.subscribe(
            definition.name, definition.language, definition.query, definition.lineage, definition.report,
            definition.forecast, definition.results,
        )  # fmt: skip
    except ForetellError as error:
        return {"svg": None, "explain": [f"It cannot be drawn by itself: {error}"]}
    found = _counted(engine, definition.name) or picture_of(engine, definition.name)
    return {**found, "keys": _keys(engine, definition.name)}


def drawn_together(
    definitions: Sequence[SubscriptionDefinition], streams: Sequence[StreamDefinition]
) -> dict[str, Any]:
    """The merged automata of several subscriptions as a picture, what they share in lines, and what could not be drawn
    with its reason: subscriptions that read what others publish, which are not among them."""
    engine = Engine()
    wanted, left = list(definitions), dict[str, str]()
    for stream in streams:
        engine.declare(stream)
    while wanted:
        left = {}
        for each in wanted:
            try:
                engine.subscribe(
                    each.name, each.language, each.query, each.lineage, each.report, each.forecast, each.results
                )
            except ForetellError as error:
                left[each.name] = str(error)
        if len(left) == len(wanted):
            break
        wanted = [each for each in wanted if each.name in left]
    graph = replace(engine.diagram(), title="The merged automata")
    return {"svg": draw_svg(graph, standalone=False), "explain": engine.explain(), "left": list(left.values())}


def checked(definition: SubscriptionDefinition, streams: Sequence[StreamDefinition]) -> dict[str, Any]:
    """The mistakes and warnings of a text, with line and column from 0 where they have a place; its picture if none.

    The streams that other subscriptions publish are not known here.
    """
    engine = Engine()
    try:
        for stream in streams:
            engine.declare(stream)
        engine.subscribe(definition.name, definition.language, definition.query)
        warnings = engine.warnings(definition.query, definition.language)
    except ForetellError as error:
        place = None
        if isinstance(error, QueryError):
            place = error.line, error.column
        return {"findings": [_finding("error", str(error), place)], "svg": None}
    found = [_finding("warning", each, _place(each)) for each in warnings]
    return {"findings": found, **picture_of(engine, definition.name)}


def _finding(severity: str, message: str, place: tuple[int, int] | None) -> dict[str, Any]:
    line, column = (None, None) if place is None else (place[0] - 1, place[1] - 1)
    return {"severity": severity, "message": message, "line": line, "column": column}


def _place(warning: str) -> tuple[int, int] | None:
    found = _PLACE.match(warning)
    return None if found is None else (int(found[1]), int(found[2]))


def picture_of(engine: Engine, name: str) -> dict[str, Any]:
    """The picture of an engine that has one subscription, with those that publish what it reads."""
    graph = replace(engine.diagram(), title=f"The automaton of {name}")
    return {"svg": draw_svg(graph, standalone=False), "explain": engine.explain()}


def _counted(engine: Engine, name: str) -> dict[str, Any] | None:
    """A picture of the subscription's own automata. `places`: automaton, state and the index of its node; `ways`:
    automaton, arc and the index of its edge. None where states are not drawn one by one."""
    automata = engine.catalog.subscriptions[name].automata()
    sizes = [len(automaton.states) for automaton in automata]
    if not all(sizes) or sum(sizes) > COUNTED_STATES_MAX or any(each.machines is not None for each in automata):
        return None
    if any(each.time is TimeModel.LIFETIMES for each in automata):
        graph = engine.diagram()
        keys = [[f"{name} state {at}" for at in range(len(each.states) + len(each.operands))] for each in automata]
    else:
        graph, keys = Graph("", (), ()), []
        for number, automaton in enumerate(automata):
            prefix = f"{number} "
            own = automaton_diagram("", automaton, name)
            nodes = tuple([replace(node, key=prefix + node.key) for node in own.nodes])
            edges = tuple([replace(e, source=prefix + e.source, target=prefix + e.target) for e in own.edges])
            graph = Graph("", (*graph.nodes, *nodes), (*graph.edges, *edges))
            keys.append([prefix + key for key in nodes_of_states(automaton)])
    positions = graph.positions()
    edges_at: dict[tuple[str, str, bool], int] = {}
    for at, edge in enumerate(graph.edges):
        if edge.kind != "stay":
            edges_at.setdefault((edge.source, edge.target, edge.kind == "rebind"), at)
    places = [
        [number, state, positions[key]]
        for number, own_keys in enumerate(keys)
        for state, key in enumerate(own_keys[: len(automata[number].states)])
        if key in positions
    ]
    ways = []
    for number, automaton in enumerate(automata):
        for arc, (source, target, loops) in enumerate(_ends(automaton, keys[number])):
            place = edges_at.get((source, target, loops))
            if place is not None:
                ways.append([number, arc, place])
    ends = [at for at, node in enumerate(graph.nodes) if node.kind == "end"]
    picture = draw_svg(replace(graph, title=f"The automaton of {name}"), standalone=False)
    return {"svg": picture, "explain": engine.explain(), "places": places, "ways": ways, "ends": ends}


def _ends(automaton: Automaton, keys: Sequence[str]) -> list[tuple[str, str, bool]]:
    """By arc the nodes that it joins, and whether it is drawn as a loop that takes events."""
    several = automaton.time is TimeModel.LIFETIMES
    found = []
    for arc in automaton.arcs:
        final = several and arc.target >= automaton.final
        target = keys[automaton.final + arc.operand if final else arc.target]
        found.append((keys[arc.source], target, arc.kind is Kind.LOOP and arc.source == arc.target))
    return found


def _keys(engine: Engine, name: str) -> list[dict[str, str]]:
    """The attributes whose values tell its partial matches apart: its partition, or else the key of its stream."""
    subscriber = engine.catalog.subscriptions[name]
    for automaton in subscriber.automata():
        for source in automaton.sources[:1]:
            if source.key:
                attributes = [source.schema.attributes[position] for position in source.key]
                return [{"name": each.name, "type": each.type} for each in attributes]
    for stream, _ in subscriber.form.sources:
        definition = engine.streams.get(stream)
        if definition is not None and definition.key is not None:
            return [{"name": definition.key, "type": definition.schema.declared()[definition.key]}]
    return []
