"""`foretell sessions`, `cursors` and what changes them: for operators of a running broker. Not here: listing.py."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ..events import DefinitionError, UnknownSubscription, suggestion
from .connection import DEFAULT_BROKER, BrokerOption, connect
from .known_names import CursorNameArgument, StreamNameArgument, SubscriptionNameArgument, session_numbers, stream_names
from .listing import JsonOption, show
from .loading import load_file

_SESSION = ["number", "user", "software", "connected", "subscriptions", "queued", "silent_seconds"]
_CURSOR = ["name", "subscription", "acknowledged", "last", "backlog", "kept_bytes", "dead_letters", "attached"]


def sessions(broker: BrokerOption = DEFAULT_BROKER, json: JsonOption = False) -> None:
    """Show the sessions of all clients, the oldest first."""
    with connect(broker) as client:
        found = client.sessions()
    show(_SESSION, [asdict(each) for each in found], json)


def close_session(
    number: Annotated[
        str,
        typer.Argument(
            metavar="NUMBER", help="Its number in `sessions`.", show_default=False, autocompletion=session_numbers
        ),
    ],
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """End the session of another client."""
    with connect(broker) as client:
        client.close_session(number)
    typer.echo(f"closed session {number}")


def cursors(broker: BrokerOption = DEFAULT_BROKER, json: JsonOption = False) -> None:
    """Show the cursors of durable subscriptions."""
    with connect(broker) as client:
        found = client.cursors()
    show(_CURSOR, [asdict(each) for each in found], json)


def forget(
    cursor: CursorNameArgument,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Delete a cursor with the results that it keeps."""
    with connect(broker) as client:
        client.forget(cursor)
    typer.echo(f"forgot {cursor}")


def move_cursor(
    cursor: CursorNameArgument,
    position: Annotated[
        int, typer.Argument(metavar="POSITION", min=0, help="Results behind it come next.", show_default=False)
    ],
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Move a cursor: results up to the position count as acknowledged, those behind it come next."""
    with connect(broker) as client:
        client.move_cursor(cursor, position)
    typer.echo(f"moved {cursor} to {position}")


def delete_subscription(
    name: SubscriptionNameArgument,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Delete a subscription for all clients that have it."""
    with connect(broker) as client:
        client.delete_subscription(name)
    typer.echo(f"deleted {name}")


def replace_subscription(
    name: SubscriptionNameArgument,
    query: Annotated[str | None, typer.Option(metavar="TEXT", help="The new text.")] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="SUBS.toml", help="Take the text from the subscription of that name here.")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="The language of the text; by default that of the present one.")
    ] = None,
    keep_runs: Annotated[
        bool, typer.Option("--keep-runs", help="Keep its partial matches, if its language can, or change nothing.")
    ] = False,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Replace the text of a subscription for all clients that have it; it begins anew, or keeps its partial matches."""
    if (query is None) is (file is None):
        raise DefinitionError(f"expected --query or --file, found {'neither' if query is None else 'both'}")
    if query is None and file is not None:
        known = {each.name: each for each in load_file(file).subscriptions}
        if name not in known:
            raise UnknownSubscription(f"{file}: expected a subscription {name!r}, found none{suggestion(name, known)}")
        query, language = known[name].query, known[name].language
    assert query is not None
    judged: Any = language  # by the broker
    with connect(broker) as client:
        client.replace_subscription(name, query, judged, keep_runs=keep_runs)
    typer.echo(f"replaced {name}")


def add_attribute(
    stream: StreamNameArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new attribute.", show_default=False)],
    type: Annotated[str, typer.Argument(metavar="TYPE", help="Its type with ?, such as int?.", show_default=False)],
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Add an attribute that may be null to a stream; subscriptions keep their partial matches."""
    with connect(broker) as client:
        client.add_attribute(stream, name, type)
    typer.echo(f"added {name} to {stream}")


def delete_stream(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The stream's name.", show_default=False, autocompletion=stream_names)
    ],
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Delete a stream that no subscription reads or publishes."""
    with connect(broker) as client:
        client.delete_stream(name)
    typer.echo(f"deleted {name}")
