"""`foretell check`: checks a subscription file, and events for it, without running any. It reports all errors."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ..events.errors import ForetellError
from .complaint import BadInput, at, escaped, one_line
from .file_times import TimeUnitOption
from .loading import SubscriptionsArgument, text_of
from .reading import AS_DECLARED, FormatOption, FormOptions, Reading, StreamOption, TimeOption, with_form_options
from .sources import files_of

if TYPE_CHECKING:
    from ..engine import Engine
    from ..language.subscription_file import SubscriptionFile

SHOWN_MAX: Final = 24
"""So many attributes of a result are shown with their types."""
_PUBLISH: Final = re.compile(r"\bPUBLISH\s+(\w+)", re.IGNORECASE)


@with_form_options
def check(
    subscriptions: SubscriptionsArgument,
    events: Annotated[
        list[str] | None,
        typer.Option("--events", metavar="FILE", help="Look through these events, too: types, nulls, order, keys."),
    ] = None,
    groups: Annotated[
        bool,
        typer.Option("--groups", help="Say of each subscription what it shares with others, or what keeps it out."),
    ] = False,
    events_format: FormatOption = None,
    stream: StreamOption = None,
    time: TimeOption = None,
    time_unit: TimeUnitOption = None,
    form: FormOptions = AS_DECLARED,
) -> int:
    """Check a subscription file, and events for it; status 2 if something is wrong."""
    from ..engine.inspection.sharing import sharing

    engine, file, wrong = checked(subscriptions)
    for name in engine.subscriptions:
        for line in explained(engine, file, name):
            typer.echo(line)
        if groups:
            for line in sharing(engine.catalog, engine.program, name):
                typer.echo(f"   {name}: {line}")
    if wrong:
        sys.stdout.flush()
        for error in wrong[:-1]:
            print(f"foretell: {one_line(str(error))}", file=sys.stderr)
        raise wrong[-1]
    if not events:
        return 0
    from .scanning import scan

    worst = 0
    reading = Reading(engine.streams, events_format, stream, time, time_unit, form=form.said())
    for verdict, finding in scan(reading, files_of(events)):
        worst = 2 if verdict == "bad" else worst
        typer.echo(f"{verdict} {escaped(finding)}")
    return worst


def checked(path: Path) -> tuple[Engine, SubscriptionFile, list[BadInput]]:
    """`checked_text` of a file. Raises OSError, too."""
    return checked_text(text_of(path), str(path))


def checked_text(text: str, place: str) -> tuple[Engine, SubscriptionFile, list[BadInput]]:
    """An engine with what is right in a file's text, the file, and all errors. Raises an error of the file as a whole.

    What reads the stream of a wrong subscription is not judged.
    """
    from ..engine import Engine
    from ..engine.program.target import ALWAYS_SINCE
    from ..engine.subscribing.entering import install
    from ..engine.subscribing.holdings import in_order
    from ..events import DefinitionError
    from ..language.subscription_file import read_subscription_file

    definitions: list[DefinitionError] = []
    file = read_subscription_file(text, place, definitions)
    wrong = [BadInput(str(error)) for error in definitions]
    engine = Engine()
    for stream in file.streams:
        try:
            engine.declare(stream)
        except ForetellError as error:
            wrong.append(at(place, error))
    # Streams that are not known because of another error: what reads them is not judged.
    missing = {name for name in tomllib.loads(text).get("streams", {}) if name not in engine.streams}
    parsed = []
    for definition in file.subscriptions:
        try:
            one = engine.catalog.parse(definition)
            engine.catalog.check_publish(definition.name, one.publish, definition.query)
            parsed.append(one)
        except ForetellError as error:
            wrong.append(at(place, error))
            missing |= set(_PUBLISH.findall(definition.query))
    try:
        ordered = in_order(parsed)
    except ForetellError as error:
        wrong.append(at(place, error))
        ordered = []
    for one in ordered:
        if missing.isdisjoint(one.reads()):
            try:
                install(engine, one, ALWAYS_SINCE)
                continue
            except ForetellError as error:
                wrong.append(at(place, error))
        if one.publish is not None:
            missing.add(one.publish)
    return engine, file, wrong


def explained(engine: Engine, file: SubscriptionFile, name: str) -> Iterator[str]:
    """What a subscription reads and publishes, and what is probably not meant."""
    from ..engine.inspection.costs import warnings_of_cost
    from ..engine.languages.table import language_of

    definition = engine.subscriptions[name]
    language = language_of(definition)
    syntax = language.parse(definition.query)
    reads = list(dict.fromkeys(language.reads(syntax)))
    publishing = "" if syntax.publish is None else f", publishes {syntax.publish}"
    hidden = ", hidden" if name in file.hidden else ""
    yield f"ok {name}: {language.name}, reads {', '.join(reads)}{publishing}{hidden}"
    given = engine.catalog.subscriptions[name].form.schema.declared()
    shown = [f"{attribute} {kind}" for attribute, kind in given.items()]
    more = f", and {len(shown) - SHOWN_MAX:,} more" if len(shown) > SHOWN_MAX else ""
    if shown:
        yield f"   {name}: gives {', '.join(shown[:SHOWN_MAX])}{more}"
    if hidden and syntax.publish is None:
        yield f"warning {name}: hidden has no results, as it publishes no stream"
    for warned in engine.warnings(definition.query, definition.language):
        yield f"warning {name}: {escaped(warned)}"
    for silent in engine.warnings_of_streams(name):
        yield f"warning {name}: {silent}"
    subscriber = engine.catalog.subscriptions[name]
    for costly in warnings_of_cost(subscriber):
        yield f"warning {name}: {costly}"
    plan = subscriber.machine
    for advice in [] if plan is None else plan.advice():
        yield f"   {name}: {advice}"
