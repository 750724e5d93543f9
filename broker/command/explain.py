"""`foretell explain`: shows the merged automata of a subscription file or of a running broker, and their indexes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Literal, TypeAlias, get_args

import typer

from ..events import suggestion
from .complaint import BadInput
from .connection import DEFAULT_BROKER, BrokerOption, connect
from .loading import load_engine, load_model

Drawing: TypeAlias = Literal["text", "dot", "mermaid", "svg"]
DRAWINGS: Final[Mapping[str, Drawing]] = MappingProxyType({each: each for each in get_args(Drawing)})
_PIXELS: Final = ("png", "jpg", "jpeg", "gif", "pdf", "webp")


def _drawing(format: str) -> Drawing:
    """The format of a picture. Raises BadInput."""
    if format in DRAWINGS:
        return DRAWINGS[format]
    hint = suggestion(format, DRAWINGS)
    if format.lower() in _PIXELS:
        kind = format.lower()
        hint = f"; browsers show svg, and Graphviz makes {kind}: foretell explain ... --format dot | dot -T{kind}"
    raise BadInput(f"--format: expected {', '.join(DRAWINGS)}, found {format!r}{hint}")


def explain(
    subscriptions: Annotated[
        Path | None,
        typer.Argument(metavar="SUBS.toml", help="A subscription file; else the running broker.", show_default=False),
    ] = None,
    format: Annotated[
        str, typer.Option(metavar="text|dot|mermaid|svg", help="'text' for the terminal; the others are pictures.")
    ] = "text",
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the chains of forecasts with the counts of this file.")
    ] = None,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Show the automata of the merged subscriptions or, with a model, the chains of their forecasts."""
    drawing = _drawing(format)
    if subscriptions is None:
        if model is not None:
            raise BadInput("--model: expected a subscription file beside it, found none")
        with connect(broker) as client:
            typer.echo(client.explain(drawing), nl=False)
        return
    from ..automaton.diagram import draw
    from ..forecast.explanation import chain_lines

    engine = load_engine(subscriptions)
    if model is None:
        typer.echo(draw(engine.diagram(), drawing), nl=False)
        said = engine.explain() if format == "text" else []
    else:
        load_model(engine, model)
        chains = engine.chains()
        if not chains.nodes:
            raise BadInput(f"{subscriptions}: expected a subscription with a forecast, found none")
        # Chains are easier to read as lines than as a drawing in characters.
        drawn = [draw(chains, drawing).removesuffix("\n")]
        said = chain_lines(engine.program.forecasts.unpacked()) if format == "text" else drawn
    for line in said:
        typer.echo(line)
