"""`foretell publish`: sends the events of a file to a broker, and its retractions, punctuations and updates.

What the broker refuses is reported with its place; the rest goes on.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..events import EventError, Punctuation, Retraction, UpdateLine
from .batch import BATCH_EVENTS, Control, EventBatch, answers, stream_named
from .complaint import BadInput, placed
from .connection import DEFAULT_BROKER, BrokerOption, connect, declare_streams
from .progress import progress
from .reading import EventReader, FormatOption, TimeOption, open_events

if TYPE_CHECKING:
    from client import Client, Receipt


def publish(
    stream: Annotated[str, typer.Argument(metavar="STREAM", help="The stream of the events.", show_default=False)],
    file: Annotated[str, typer.Argument(metavar="FILE", help="The events; '-' is standard input.", show_default=False)],
    format: FormatOption = None,
    time: TimeOption = None,
    batch: Annotated[
        int, typer.Option(metavar="N", min=1, max=BATCH_EVENTS, help="The most events in one batch.")
    ] = BATCH_EVENTS,
    subscriptions: Annotated[
        Path | None, typer.Option(metavar="SUBS.toml", help="Declare the streams of this file first.")
    ] = None,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Publish a file: events, retractions, punctuations, updates. What is late is refused, the rest taken."""
    with connect(broker) as client:
        if subscriptions is not None:
            declare_streams(client, subscriptions)
        definition = stream_named({known.name: known for known in client.streams()}, stream)
        with open_events(file, {stream: definition}, format, stream, time) as reading:
            taken, refused = publish_events(client, reading, batch)
    typer.echo(f"{taken} events published to {stream}")
    if refused:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        raise BadInput(refused[0] + more)


def publish_events(client: Client, reading: EventReader, size: int) -> tuple[int, list[str]]:
    """Publish, and return how many events the broker has taken, and a line for each that it has refused.

    Raises the first other error, with its place; the events before it are published.
    """
    taken = 0
    refused: list[str] = []
    place = f"{reading.place}: {reading.unit}"

    def send(part: EventBatch) -> tuple[EventBatch, Receipt]:
        return part, client.publish_batch(part.stream, part.times, part.rows, part.ids, part.starts)

    with progress(reading) as advance:
        for item in reading.items:
            if not isinstance(item, EventBatch):
                with placed(f"{place} {item.place}"):
                    try:
                        _change(client, item)
                    except EventError as error:
                        refused.append(f"{place} {item.place}: {error}")
                advance(item.position)
                continue
            for begin in range(0, len(item.times), size):
                for part, receipt in answers(item.part(begin, begin + size), place, send):
                    taken += receipt.count
                    refused += [f"{place} {part.places[event.index]}: {event.reason}" for event in receipt.refused]
            advance(item.position)
    return taken, refused


def _change(client: Client, item: Control) -> None:
    """Send a line that is not an event. Raises EventError if the broker refuses it and others may follow."""
    match item.line:
        case Retraction(id):
            client.retract(id)
        case Punctuation(time, stream, where):
            client.punctuate(time, stream, where)
        case UpdateLine(name, insert, delete, since, until):
            client.update(name, insert, delete, since, until)
        case _:
            raise BadInput("expected an event, a retraction, a punctuation or an update, found a subscription")
