"""Makes an engine from a subscription file that the user names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from .complaint import BadInput, placed

if TYPE_CHECKING:
    from ..engine import Engine
    from ..language.subscription_file import SubscriptionFile

SubscriptionsArgument: TypeAlias = Annotated[
    Path, typer.Argument(metavar="SUBS.toml", help="The streams and subscriptions.", show_default=False)
]
ModelOption: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Start forecasts from the counts of this file.")
]


def load_file(path: Path) -> SubscriptionFile:
    """Read a subscription file without parsing its queries. Raises OSError and errors with their place."""
    from ..language.subscription_file import read_subscription_file

    return read_subscription_file(text_of(path), str(path))


def load_engine(path: Path, lineage: bool = False) -> Engine:
    """Make an engine with everything in a subscription file. Raises OSError and errors with their place.

    With `lineage` all results have one, whatever the file says.
    """
    from ..engine import Engine, Options

    options = Options(cancelling=False)  # a file is told event by event, wherever it is cut into batches
    if not lineage:
        return Engine.load(path, options)
    from ..engine.subscribing.loading import install_all

    file = load_file(path)
    engine = Engine(options)
    with placed(str(path)):
        for stream in file.streams:
            engine.declare(stream)
        install_all(engine, [replace(each, lineage=True) for each in file.subscriptions])
    return engine


def load_model(engine: Engine, path: Path) -> None:
    """Load the counts of a model file into the engine. Raises OSError and errors with the file's place."""
    from ..events.errors import DefinitionError
    from ..forecast.model_file import load_model

    try:
        engine.load_model(load_model(path))
    except DefinitionError as error:
        message = str(error)
        raise BadInput(message if message.startswith(str(path)) else f"{path}: {message}") from None


def text_of(path: Path) -> str:
    """Read a text file of the user. Raises OSError, and BadInput with the line that is not UTF-8."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path}: line {line}: expected UTF-8, found byte 0x{error.object[error.start]:02x}") from None
