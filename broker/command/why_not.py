"""`foretell why-not`: why a subscription has not matched on a file of events."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from ..events import parse_instant
from .loading import SubscriptionsArgument
from .questions import EventsAskedOption, engine_and_events
from .reading import StreamOption, TimeOption
from .results import json_line


def why_not(
    subscriptions: SubscriptionsArgument,
    subscription: Annotated[str, typer.Argument(metavar="NAME", help="The subscription.")],
    events: EventsAskedOption,
    key: Annotated[
        str | None, typer.Option(metavar="VALUE", help="Only what began with this value of BY, or of the stream's key.")
    ] = None,
    wanted: Annotated[
        list[int] | None, typer.Option(metavar="ID", help="An event that should have been in a match; may be repeated.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="As things stood at this time: microseconds, or ISO-8601.")
    ] = None,
    stream: StreamOption = None,
    time: TimeOption = None,
) -> None:
    """Tell which partial matches came nearest to a match, and which conditions of which events stopped them."""
    engine, found = engine_and_events(subscriptions, events, stream, time)
    moment = None if until is None else parse_instant(int(until) if until.lstrip("-").isdigit() else until)
    asked = None if key is None else _value(key)
    sys.stdout.write(json_line(engine.why_not(subscription, found, asked, wanted or (), moment).line()))


def _value(text: str) -> Any:
    """A number or a list if it is one in JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
