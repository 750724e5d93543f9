"""Law: `foretell serve`: a broker in this process until it is told to stop; what a broker does is broker.server's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer


def serve(
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="The broker's settings (TOML).")] = None,
    address: Annotated[
        str | None, typer.Option(metavar="URL", help="Where to listen; by default tcp://127.0.0.1:5570.")
    ] = None,
    subscriptions: Annotated[
        Path | None, typer.Option(metavar="SUBS.toml", help="Streams and subscriptions that exist from the start.")
    ] = None,
) -> None:
    """Run the broker. SIGTERM or Ctrl-C ends it in good order."""
    from ..server import ServerConfiguration, read_configuration
    from ..server import serve as serve_broker
    from .loading import text_of

    configuration = ServerConfiguration() if config is None else read_configuration(text_of(config), str(config))
    # What is said on the command line comes before what is written in the file.
    if address is not None:
        configuration = replace(configuration, address=address)
    if subscriptions is not None:
        configuration = replace(configuration, subscriptions=subscriptions)
    serve_broker(configuration, announce)


def announce(line: str) -> None:
    """One line for the operator, at once: whoever started us may be waiting for it in a pipe."""
    print(line, flush=True)
