"""`foretell why-not`: why a subscription has not matched, on a file of events or in a broker."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from ..events import parse_instant
from .connection import DEFAULT_BROKER, BrokerOption, connect
from .file_times import TimeUnitOption
from .known_names import subscription_names
from .questions import REASONS_WAIT_SECONDS, EventsAskedOption, asked_of_file, engine_and_events
from .reading import AS_DECLARED, FormatOption, FormOptions, SortOption, StreamOption, TimeOption, with_form_options
from .results import json_line


@with_form_options
def why_not(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[SUBS.toml] NAME",
            help="The subscription; with --events the file with it first.",
            autocompletion=subscription_names,
        ),
    ],
    events: EventsAskedOption = None,
    events_format: FormatOption = None,
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
    time_unit: TimeUnitOption = None,
    form: FormOptions = AS_DECLARED,
    sort: SortOption = False,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Tell which partial matches came nearest to a match, and which conditions of which events stopped them."""
    path, subscription = asked_of_file(words, events, "NAME")
    moment = None if until is None else parse_instant(int(until) if until.lstrip("-").isdigit() else until)
    asked = None if key is None else _value(key)
    if path is None:
        with connect(broker, REASONS_WAIT_SECONDS) as client:
            told = client.why_not(subscription, key=asked, events=wanted or (), time=moment)
    else:
        engine, found = engine_and_events(path, events or (), events_format, stream, time, time_unit, form, sort)
        told = engine.why_not(subscription, found, asked, wanted or (), moment).line()
    sys.stdout.write(json_line(told))


def _value(text: str) -> Any:
    """A number or a list if it is one in JSON, else the text itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text
