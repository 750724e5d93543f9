"""Law: `foretell explain`: what a subscription file becomes: its automata, merged into one program, and its indexes."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from .loading import SubscriptionsArgument, load_engine

Drawing: TypeAlias = Literal["text", "dot", "mermaid", "svg"]


def explain(
    subscriptions: SubscriptionsArgument,
    format: Annotated[Drawing, typer.Option(help="text for the terminal; the others are pictures.")] = "text",
) -> None:
    """Show the automaton into which the subscriptions merge."""
    from ..automaton.diagram import draw

    engine = load_engine(subscriptions)
    typer.echo(draw(engine.diagram(), format), nl=False)
    if format == "text":
        for line in engine.explain():
            typer.echo(line)
