"""`foretell reset-time`: a stream whose events were ahead of all others' begins anew."""

from __future__ import annotations

from typing import Annotated

import typer

from .connection import DEFAULT_BROKER, BrokerOption, connect


def reset_time(
    stream: Annotated[str, typer.Argument(metavar="STREAM", help="The name of the stream.", show_default=False)],
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Set the newest time back to that of the other streams; what reads this one begins anew."""
    with connect(broker) as client:
        newest = client.reset_time(stream)
    if newest is None:
        typer.echo("there is no newest time any more: events of any time may come")
    else:
        time, of = newest
        typer.echo(f"the newest time is {time}, of stream {of!r}")
