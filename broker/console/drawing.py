"""Draws one subscription for a page, from its text and the streams: in a thread of the console, not in the loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..automaton.diagram.svg import draw_svg
from ..engine import Engine
from ..events import ForetellError, StreamDefinition
from ..language.subscription import SubscriptionDefinition


def drawn(definition: SubscriptionDefinition, streams: Sequence[StreamDefinition]) -> dict[str, Any]:
    """The automaton as a picture, and how it is run. A subscription that reads what another publishes has none."""
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
    return picture_of(engine, definition.name)


def picture_of(engine: Engine, name: str) -> dict[str, Any]:
    """The picture of an engine that has one subscription, with those that publish what it reads."""
    graph = replace(engine.diagram(), title=f"The automaton of {name}")
    return {"svg": draw_svg(graph, standalone=False), "explain": engine.explain()}
