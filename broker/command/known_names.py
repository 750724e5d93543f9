"""The names that a shell completes: streams, subscriptions, cursors and sessions of the broker, or of the file that is
named before.

Whatever goes wrong, nothing is completed: a broker that does not answer soon, wrong keys, a wrong file. Not here: the
scripts of the shells (completion).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from ..events import ForetellError
from .connection import DEFAULT_BROKER, connect
from .loading import load_file

if TYPE_CHECKING:
    from client import Client

SECONDS_MAX: Final = 1.0
"""How long a person who presses Tab waits for a broker."""
BROKER_VARIABLE: Final = "FORETELL_BROKER"


def stream_names(context: typer.Context, incomplete: str) -> list[str]:
    """The streams that begin so."""
    return _beginning(incomplete, context, lambda client: (each.name for each in client.streams()))


def subscription_names(context: typer.Context, incomplete: str) -> list[str]:
    """The subscriptions that begin so; of a command that reads a subscription file those of the file."""
    file = context.params.get("subscriptions")
    if file is None and "subscriptions" in context.params:
        file = next(iter(context.args), None)  # where an option waits for its value, nothing else is parsed yet
    if file is not None:
        try:
            return _sorted(incomplete, (each.name for each in load_file(Path(file)).subscriptions))
        except (ForetellError, OSError):
            return []
    return _beginning(incomplete, context, lambda client: (each.name for each in client.subscriptions()))


def cursor_names(context: typer.Context, incomplete: str) -> list[str]:
    """This user's cursors that begin so."""
    return _beginning(incomplete, context, lambda client: (each.name for each in client.cursors()))


def session_numbers(context: typer.Context, incomplete: str) -> list[str]:
    """The sessions whose numbers begin so, for an administrator."""
    return _beginning(incomplete, context, lambda client: (each.number for each in client.sessions()))


def _beginning(incomplete: str, context: typer.Context, names: Callable[[Client], Iterable[str]]) -> list[str]:
    address = context.params.get("broker") or os.environ.get(BROKER_VARIABLE) or DEFAULT_BROKER
    try:
        with connect(str(address), SECONDS_MAX) as client:
            return _sorted(incomplete, names(client))
    except (ForetellError, OSError):
        return []


def _sorted(incomplete: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(incomplete))


StreamNameArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="STREAM", help="The stream's name.", show_default=False, autocompletion=stream_names)
]
SubscriptionNameArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="The subscription's name.", show_default=False, autocompletion=subscription_names
    ),
]
CursorNameArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="CURSOR", help="The cursor's name.", show_default=False, autocompletion=cursor_names)
]
