"""`foretell check`: checks a subscription file, and events for it, without running any."""

from __future__ import annotations

from typing import Annotated

import typer

from .complaint import escaped
from .file_times import TimeUnitOption
from .loading import SubscriptionsArgument, load_engine
from .reading import FormatOption, Reading, StreamOption, TimeOption
from .sources import files_of


def check(
    subscriptions: SubscriptionsArgument,
    events: Annotated[
        list[str] | None,
        typer.Option("--events", metavar="FILE", help="Look through these events, too: types, nulls, order, keys."),
    ] = None,
    format: FormatOption = None,
    stream: StreamOption = None,
    time: TimeOption = None,
    time_unit: TimeUnitOption = None,
) -> int:
    """Check a subscription file, and events for it; status 2 if something is wrong."""
    from ..engine.languages.table import language_of

    engine = load_engine(subscriptions)
    for name, definition in engine.subscriptions.items():
        language = language_of(definition)
        syntax = language.parse(definition.query)
        reads = ", ".join(dict.fromkeys(language.reads(syntax)))
        publishing = "" if syntax.publish is None else f", publishes {syntax.publish}"
        typer.echo(f"ok {name}: {language.name}, reads {reads}{publishing}")
        plan = engine.catalog.subscriptions[name].machine
        for advice in [] if plan is None else plan.advice():
            typer.echo(f"   {name}: {advice}")
    if not events:
        return 0
    from .scanning import scan

    worst = 0
    for verdict, finding in scan(Reading(engine.streams, format, stream, time, time_unit), files_of(events)):
        worst = 2 if verdict == "bad" else worst
        typer.echo(f"{verdict} {escaped(finding)}")
    return worst
