"""Draws one subscription for a page, from its text and the streams: in a thread of the console, not in the loop."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ..automaton.diagram.svg import draw_svg
from ..engine import Engine
from ..events import ForetellError, QueryError, StreamDefinition
from ..language.subscription import SubscriptionDefinition

_PLACE: Final = re.compile(r"line (\d+), column (\d+)")


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
