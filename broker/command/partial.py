"""`foretell partial`: runs the embedded engine on a file of events and prints what one subscription still waits for."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .batch import EventBatch, answers
from .complaint import placed
from .file_times import TimeUnitOption
from .known_names import subscription_names
from .loading import SubscriptionsArgument, load_engine
from .progress import progress
from .reading import AS_DECLARED, FormatOption, FormOptions, Reading, StreamOption, TimeOption, with_form_options
from .results import json_line
from .run import EventsOption, apply_control
from .sorting import sources
from .sources import files_of

if TYPE_CHECKING:
    from ..engine.match import Match


@with_form_options
def partial(
    subscriptions: SubscriptionsArgument,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The subscription.", autocompletion=subscription_names)],
    events: EventsOption,
    events_format: FormatOption = None,
    stream: StreamOption = None,
    time: TimeOption = None,
    time_unit: TimeUnitOption = None,
    form: FormOptions = AS_DECLARED,
    count: Annotated[int, typer.Option(metavar="N", min=1, help="Print at most N partial matches.")] = 1_000,
) -> None:
    """Print the partial matches that a subscription has after the events of a file."""
    engine = load_engine(subscriptions)
    engine.partial_matches(name, 0)  # refuses what has none, before any event is read

    def publish(batch: EventBatch) -> Sequence[Match]:
        return engine.publish(batch.stream, batch.times, batch.rows, batch.ids, batch.starts)

    reading = Reading(engine.streams, events_format, stream, time, time_unit, form=form.said())
    for source in sources(reading, files_of(events)):
        with progress(source) as advance:
            for item in source.items:
                if isinstance(item, EventBatch):
                    for _ in answers(item, source.where, publish):
                        pass  # results are not asked for
                else:
                    with placed(source.where(item.place)):
                        apply_control(engine, item)
                advance(item.position)
    for begun in engine.partial_matches(name, count):
        sys.stdout.write(json_line(begun))
