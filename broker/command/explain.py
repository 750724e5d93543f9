"""`foretell explain`: shows the merged automata of a subscription file, and its indexes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from .complaint import BadInput
from .loading import SubscriptionsArgument, load_engine, load_model

Drawing: TypeAlias = Literal["text", "dot", "mermaid", "svg"]


def explain(
    subscriptions: SubscriptionsArgument,
    format: Annotated[Drawing, typer.Option(help="'text' for the terminal; the others are pictures.")] = "text",
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the chains of forecasts with the counts of this file.")
    ] = None,
) -> None:
    """Show the automata of the merged subscriptions or, with a model, the chains of their forecasts."""
    from ..automaton.diagram import draw
    from ..engine.forecasts.explanation import chain_lines

    engine = load_engine(subscriptions)
    if model is None:
        typer.echo(draw(engine.diagram(), format), nl=False)
        said = engine.explain() if format == "text" else []
    else:
        load_model(engine, model)
        chains = engine.chains()
        if not chains.nodes:
            raise BadInput(f"{subscriptions}: expected a subscription with a forecast, found none")
        # Chains are easier to read as lines than as a drawing in characters.
        said = chain_lines(engine.program.forecasts) if format == "text" else [draw(chains, format).removesuffix("\n")]
    for line in said:
        typer.echo(line)
