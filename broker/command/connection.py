"""Connects the shell to a broker, and declares the streams of a subscription file there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from .complaint import placed
from .loading import load_file

if TYPE_CHECKING:
    from client import Client

    from ..language.subscription_file import SubscriptionFile

DEFAULT_BROKER: Final = "tcp://127.0.0.1:5570"

KEYS_VARIABLE: Final = "FORETELL_KEYS"
"""The environment variable that names the file of a client's keys."""

ANSWER_SECONDS_MAX: Final = 5.0
"""The longest wait for an answer of the broker, which may not exist."""

BrokerOption: TypeAlias = Annotated[
    str, typer.Option("--broker", metavar="URL", envvar="FORETELL_BROKER", help="The address of the broker.")
]


def connect(address: str, seconds: float = ANSWER_SECONDS_MAX) -> Client:
    """Connect to the broker at that address, with the keys that FORETELL_KEYS names; wait so long for its answers.
    Raises ForetellError if no broker answers."""
    from client import Client

    return Client(address, seconds, os.environ.get(KEYS_VARIABLE) or None)


def declare_streams(client: Client, path: Path) -> SubscriptionFile:
    """Declare the streams of a subscription file, of which equal ones may exist already; return the whole file."""
    file = load_file(path)
    for stream in file.streams:
        with placed(str(path)):
            client.add_stream(*stream.arguments())
    return file
