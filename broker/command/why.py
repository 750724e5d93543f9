"""`foretell why`: why a match of a file of events was reported."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .loading import SubscriptionsArgument
from .questions import EventsAskedOption, engine_and_events
from .reading import StreamOption, TimeOption
from .results import json_line


def why(
    subscriptions: SubscriptionsArgument,
    match: Annotated[str, typer.Argument(metavar="ID", help="The id of the match, as run prints it.")],
    events: EventsAskedOption,
    subscription: Annotated[
        str | None, typer.Option(metavar="NAME", help="The subscription of the match; by default all are tried.")
    ] = None,
    stream: StreamOption = None,
    time: TimeOption = None,
) -> None:
    """Tell why a match was reported: each event with the conditions that it fulfilled, and what was passed over."""
    engine, found = engine_and_events(subscriptions, events, stream, time)
    sys.stdout.write(json_line(engine.why(match, found, subscription).line()))
