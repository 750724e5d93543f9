"""`foretell partial`: runs the embedded engine on a file of events and prints what one subscription still waits for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .batch import EventBatch, answers
from .complaint import placed
from .loading import SubscriptionsArgument, load_engine
from .progress import progress
from .reading import FormatOption, TimeOption, open_events
from .results import json_line
from .run import apply_control

if TYPE_CHECKING:
    from ..engine.match import Match


def partial(
    subscriptions: SubscriptionsArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The subscription.")],
    events: Annotated[str, typer.Option(metavar="FILE", help="The events; '-' is standard input.")],
    format: FormatOption = None,
    stream: Annotated[
        str | None, typer.Option(metavar="NAME", help="CSV, Parquet: the stream; by default the only one.")
    ] = None,
    time: TimeOption = None,
    count: Annotated[int, typer.Option(metavar="N", min=1, help="Print at most N partial matches.")] = 1_000,
) -> None:
    """Print the partial matches that a subscription has after the events of a file."""
    engine = load_engine(subscriptions)
    engine.partial_matches(name, 0)  # refuses what has none, before any event is read

    def publish(batch: EventBatch) -> Sequence[Match]:
        return engine.publish(batch.stream, batch.times, batch.rows, batch.ids, batch.starts)

    with open_events(events, engine.streams, format, stream, time) as reading, progress(reading) as advance:
        for item in reading.items:
            if isinstance(item, EventBatch):
                for _ in answers(item, f"{reading.place}: {reading.unit}", publish):
                    pass  # results are not asked for
            else:
                with placed(f"{reading.place}: {reading.unit} {item.place}"):
                    apply_control(engine, item)
            advance(item.position)
    for begun in engine.partial_matches(name, count):
        sys.stdout.write(json_line(begun))
