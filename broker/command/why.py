"""`foretell why`: why a match was reported, of a file of events or by a broker."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .connection import DEFAULT_BROKER, BrokerOption, connect
from .file_times import TimeUnitOption
from .known_names import subscription_names
from .questions import REASONS_WAIT_SECONDS, EventsAskedOption, asked_of_file, engine_and_events
from .reading import AS_DECLARED, FormatOption, FormOptions, SortOption, StreamOption, TimeOption, with_form_options
from .results import json_line


@with_form_options
def why(
    words: Annotated[
        list[str],
        typer.Argument(metavar="[SUBS.toml] ID", help="The id of the match; with --events the file before it."),
    ],
    events: EventsAskedOption = None,
    events_format: FormatOption = None,
    subscription: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The subscription of the match; by default all are tried.",
            autocompletion=subscription_names,
        ),
    ] = None,
    stream: StreamOption = None,
    time: TimeOption = None,
    time_unit: TimeUnitOption = None,
    form: FormOptions = AS_DECLARED,
    sort: SortOption = False,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Tell why a match was reported: each event with the conditions that it fulfilled, and what was passed over."""
    path, match = asked_of_file(words, events, "ID")
    if path is None:
        with connect(broker, REASONS_WAIT_SECONDS) as client:
            told = client.why(match, subscription)
    else:
        engine, found = engine_and_events(path, events or (), events_format, stream, time, time_unit, form, sort)
        told = engine.why(match, found, subscription).line()
    sys.stdout.write(json_line(told))
