"""How the shell reaches a broker, and how a subscription file is declared there."""

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
"""How long a person waits for a broker, that may not be there, to answer."""

BrokerOption: TypeAlias = Annotated[
    str, typer.Option("--broker", metavar="URL", envvar="FORETELL_BROKER", help="The address of the broker.")
]


def connect(address: str) -> Client:
    """A client of the broker at that address, with keys where there are some. Raises ForetellError if there is none."""
    from client import Client

    return Client(address, ANSWER_SECONDS_MAX, os.environ.get(KEYS_VARIABLE) or None)


def declare_streams(client: Client, path: Path) -> SubscriptionFile:
    """Declares the streams of a subscription file, of which equal ones may exist already; returns all of the file."""
    file = load_file(path)
    for stream in file.streams:
        with placed(str(path)):
            client.add_stream(
                stream.name,
                stream.schema.declared(),
                stream.key,
                stream.disorder,
                stream.lateness,
                stream.speculation,
            )
    return file
