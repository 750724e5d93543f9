"""`foretell serve`: runs a broker in this process until it is stopped; `broker.server` is the broker."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .loading import ModelOption

if TYPE_CHECKING:
    from ..console.playground_pages import PlaygroundPages
    from ..server import ServerConfiguration


def serve(
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="The broker's settings (TOML).")] = None,
    address: Annotated[
        str | None, typer.Option(metavar="URL", help="The address to listen on; by default tcp://127.0.0.1:5570.")
    ] = None,
    subscriptions: Annotated[
        Path | None, typer.Option(metavar="SUBS.toml", help="Streams and subscriptions that exist from the start.")
    ] = None,
    model: ModelOption = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Let other machines read and change everything, without keys.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only check whether a broker could start with these settings.")
    ] = False,
) -> None:
    """Run a broker. SIGTERM or Ctrl-C stops it in order; SIGHUP makes it read limits and users again."""
    from ..server import check as check_configuration
    from ..server import serve as serve_broker

    def read() -> ServerConfiguration:
        return configured(config, address, subscriptions, insecure, model)

    if check:
        print(check_configuration(read()))
        return
    serve_broker(read(), announce, None if config is None else read, _playground)


def _playground(token: str) -> AbstractContextManager[PlaygroundPages]:
    """The playground of the console, which is loaded when there is one."""
    from .playground.application import playground_of_console

    return playground_of_console(token)


def configured(
    config: Path | None,
    address: str | None,
    subscriptions: Path | None,
    insecure: bool,
    model: Path | None = None,
) -> ServerConfiguration:
    """Combine the options with the configuration file; options take precedence. Raises OSError and errors with their
    place."""
    from ..server import ServerConfiguration, read_configuration
    from ..server.security.exposure import check_writers
    from .loading import text_of

    said: dict[str, Any] = {"address": address, "subscriptions": subscriptions, "insecure": insecure or None}
    said["model"] = model
    said = {name: value for name, value in said.items() if value is not None}
    if config is None:
        return ServerConfiguration(**said)
    check_writers(config)
    return read_configuration(text_of(config), str(config), said)


def announce(line: str) -> None:
    """Print a line for the operator and flush it, because the parent process may be waiting for it on a pipe."""
    print(line, flush=True)
