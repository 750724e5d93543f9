"""`foretell reset-time`: resets the time of a stream whose events were far ahead of all others."""

from __future__ import annotations

from typing import Annotated

import typer

from .connection import DEFAULT_BROKER, BrokerOption, connect
from .known_names import stream_names


def reset_time(
    stream: Annotated[
        str,
        typer.Argument(
            metavar="STREAM", help="The name of the stream.", show_default=False, autocompletion=stream_names
        ),
    ],
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Set a stream's newest time back to that of the other streams; partial matches that read it start anew."""
    with connect(broker) as client:
        newest = client.reset_time(stream)
    if newest is None:
        typer.echo("the broker has no newest time now: it accepts events of any time")
    else:
        time, of = newest
        typer.echo(f"the newest time is {time}, of stream {of!r}")
