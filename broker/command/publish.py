"""`foretell publish`: sends the events of a file to a broker, and its retractions, punctuations and updates.

What the broker refuses is reported with its place; the rest goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from warnings import catch_warnings

import typer

from ..events import EventError, ForetellError, GapLine, LateEvent, Punctuation, Retraction, UpdateLine
from .bad_events import STOP, BadEvents, OnBadOption, handled, values_of
from .batch import BATCH_EVENTS, Control, EventBatch, answers, stream_named
from .column_rows import ColumnRows
from .complaint import BadInput, placed
from .connection import DEFAULT_BROKER, BrokerOption, connect, declare_streams
from .file_times import NOW, TimeUnitOption
from .known_names import stream_names
from .progress import progress
from .reading import (
    AS_DECLARED,
    EventReader,
    FormatOption,
    FormOptions,
    Reading,
    SortOption,
    TimeOption,
    with_form_options,
)
from .sorting import sources
from .sources import files_of

if TYPE_CHECKING:
    from client import Client, Receipt


@with_form_options
def publish(
    stream: Annotated[
        str,
        typer.Argument(
            metavar="STREAM", help="The stream of the events.", show_default=False, autocompletion=stream_names
        ),
    ],
    file: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="The events; '-' is standard input. Patterns work.", show_default=False),
    ],
    events_format: FormatOption = None,
    time: TimeOption = None,
    time_unit: TimeUnitOption = None,
    form: FormOptions = AS_DECLARED,
    sort: SortOption = False,
    on_bad: OnBadOption = STOP,
    batch: Annotated[
        int, typer.Option(metavar="N", min=1, max=BATCH_EVENTS, help="The most events in one batch.")
    ] = BATCH_EVENTS,
    subscriptions: Annotated[
        Path | None, typer.Option(metavar="SUBS.toml", help="Declare the streams of this file first.")
    ] = None,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Publish files: events, retractions, punctuations, updates. What is late is refused, the rest taken."""
    taken, refused = 0, list[str]()
    files = files_of(file)
    with connect(broker) as client, handled(on_bad) as bad:
        declared = () if subscriptions is None else declare_streams(client, subscriptions).streams
        own = next((each for each in declared if each.name == stream), None)
        definition = stream_named({known.name: known for known in client.streams()}, stream)
        said = form.said()
        if own is not None:
            said, time_unit = said.over(own.files), time_unit or own.time_unit
        # Beyond this the times are microseconds, whatever the unit that the file or the broker says.
        reading = Reading({stream: definition}, events_format, stream, time, time_unit, bad, said)
        reading.times.now = time == NOW
        if sort and reading.times.now:
            raise BadInput("--sort: expected times by which events are sorted, found --time now")
        client.set_time_unit(stream, "us")
        for source in sources(reading, files, sort):
            count, late = publish_events(client, source, batch, bad, reading.times.now)
            taken += count
            refused += late
    typer.echo(f"{taken} events published to {stream}")
    if refused:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        raise BadInput(refused[0] + more)


def publish_events(
    client: Client, reading: EventReader, size: int, bad: BadEvents | None = None, now: bool = False
) -> tuple[int, list[str]]:
    """Publish, and return how many events the broker has taken, and a line for each refused one that is not left out.

    Raises the first other error, with its place; the events before it are published. `now`: the broker gives the times.
    """
    from client import RefusedWarning

    taken = 0
    refused: list[str] = []
    goes_on = bad is not None and not bad.stops

    def send(part: EventBatch) -> tuple[EventBatch, Receipt]:
        times, starts = (None, None) if now else (part.times, part.starts)
        if isinstance(part.rows, ColumnRows):
            return part, client.publish_columns(part.stream, part.rows.columns, times, part.ids, starts)
        return part, client.publish_batch(part.stream, times, part.rows, part.ids, starts)

    def leave_out(place: str, error: ForetellError, part: EventBatch) -> None:
        if bad is not None:
            bad.refuse(place, error, values_of(part, {}))

    with catch_warnings(action="ignore", category=RefusedWarning), progress(reading) as advance:  # told with its line
        for item in reading.items:
            if not isinstance(item, EventBatch):
                with placed(reading.where(item.place)):
                    try:
                        _change(client, item)
                    except EventError as error:
                        refused.append(f"{reading.where(item.place)}: {error}")
                advance(item.position)
                continue
            for begin in range(0, len(item.times), size):
                part = item.part(begin, begin + size)
                for sent, receipt in answers(part, reading.where, send, leave_out if goes_on else None):
                    taken += receipt.count
                    for event in receipt.refused:
                        at = reading.where(sent.places[event.index])
                        if bad is not None and goes_on:
                            bad.refuse(at, LateEvent(event.reason), values_of(sent, {}, event.index))
                        else:
                            refused.append(f"{at}: {event.reason}")
            advance(item.position)
    return taken, refused


def _change(client: Client, item: Control) -> None:
    """Send a line that is not an event. Raises EventError if the broker refuses it and others may follow."""
    match item.line:
        case Retraction(id):
            client.retract(id)
        case Punctuation(time, stream, where):
            client.punctuate(time, stream, where)
        case GapLine(stream, first, last):
            client.declare_gap(stream, first, last)
        case UpdateLine(name, insert, delete, since, until):
            client.update(name, insert, delete, since, until)
        case _:
            raise BadInput("expected an event, a retraction, a punctuation, a gap or an update, found a subscription")
