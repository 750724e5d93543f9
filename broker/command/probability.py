"""`foretell probability`: prints how likely the next match of one key is, as a JSON line."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .connection import DEFAULT_BROKER, BrokerOption, connect
from .known_names import subscription_names
from .results import json_line


def probability(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="The name of the subscription.", show_default=False, autocompletion=subscription_names
        ),
    ],
    key: Annotated[
        list[str] | None,
        typer.Option("--key", metavar="VALUE", help="The key's value; once for each attribute of the key."),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option("--within", metavar="N|DURATION", help="The horizon; by default the subscription's own."),
    ] = None,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Print how likely the next match of one key is, within a horizon from the key's last event."""
    horizon = int(within) if within is not None and within.isdecimal() else within
    with connect(broker) as client:
        found = client.probability(name, key or None, horizon)
    sys.stdout.write(json_line(found.line()))
