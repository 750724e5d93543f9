"""`foretell update`: changes the arcs of a subscription while it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from ..events import DefinitionError
from .connection import DEFAULT_BROKER, BrokerOption, connect
from .known_names import SubscriptionNameArgument


def update(
    name: SubscriptionNameArgument,
    insert: Annotated[list[str] | None, typer.Option(metavar="ARC", help="An arc to insert; may be repeated.")] = None,
    delete: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="The name of an arc to delete; may be repeated.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="For events from this time on; by default from now on.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="For events before this time; by default without end.")
    ] = None,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Insert and delete arcs of a subscription: all of them, or none. Its clients keep their partial matches."""
    if not insert and not delete:
        raise DefinitionError("expected --insert or --delete, found neither")
    with connect(broker) as client:
        client.update(name, insert or (), delete or (), _time(since), _time(until))
    typer.echo(f"updated {name}")


def _time(text: str | None) -> int | str | None:
    """A number is microseconds; any other text is left to the client, which names what is wrong with it."""
    return int(text) if text is not None and text.lstrip("-").isdecimal() else text
