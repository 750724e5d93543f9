"""`foretell run`: runs the embedded engine on a file of events and writes results to standard output."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from ..events import (
    ForetellError,
    Punctuation,
    Retraction,
    Row,
    StreamDefinition,
    SubscribeLine,
    UnsubscribeLine,
    UpdateLine,
)
from .batch import Control, EventBatch, answers
from .build import PURE, UNCOMPILED, build
from .complaint import BadInput, placed
from .loading import SubscriptionsArgument, load_engine, load_model
from .progress import progress
from .reading import EventReader, FormatOption, TimeOption, open_events
from .results import Printable, ResultWriter


class EmbeddedEngine(Protocol):
    """The part of the engine that this module uses."""

    @property
    def streams(self) -> Mapping[str, StreamDefinition]: ...
    @property
    def told(self) -> int | None: ...
    def publish(
        self,
        stream: str,
        times: Sequence[int],
        rows: Sequence[Row],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> Sequence[Printable]: ...
    def subscribe(
        self,
        name: str,
        language: str = ...,
        query: str = ...,
        lineage: bool | None = None,
        report: str | None = None,
        forecast: Mapping[str, Any] | None = None,
        results: str | None = None,
    ) -> object: ...
    def unsubscribe(self, name: str) -> Sequence[Printable]: ...
    def punctuate(self, time: int, stream: str | None = None, where: str | None = None) -> Sequence[Printable]: ...
    def retract(self, id: int) -> Sequence[Printable]: ...
    def update(
        self,
        name: str,
        insert: Sequence[str] = (),
        delete: Sequence[str] = (),
        start: int | None = None,
        end: int | None = None,
    ) -> Sequence[Printable]: ...
    def finish(self) -> Sequence[Printable]: ...


def run(
    subscriptions: SubscriptionsArgument,
    events: Annotated[str, typer.Option(metavar="FILE", help="The events; '-' is standard input.")],
    format: FormatOption = None,
    stream: Annotated[
        str | None, typer.Option(metavar="NAME", help="CSV, Parquet: the stream; by default the only one.")
    ] = None,
    time: TimeOption = None,
    save_model: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the counts of forecasts.")] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Start forecasts from the counts of this file.")
    ] = None,
) -> None:
    """Match the events of a file; write results as JSON lines to standard output."""
    engine = load_engine(subscriptions)
    if model is not None:
        load_model(engine, model)
    if save_model is not None and not save_model.absolute().parent.is_dir():
        raise BadInput(f"{save_model}: expected a folder that exists, found none of the name {save_model.parent}")
    with open_events(events, engine.streams, format, stream, time) as reading:
        match_events(engine, reading, ResultWriter(sys.stdout))
    if save_model is not None:
        from ..forecast.model_file import save_model as save

        found = engine.model()
        if not found.counts.versions() and not engine.program.forecasts.subscriptions:
            raise BadInput(f"{subscriptions}: expected a subscription with a forecast for --save-model, found none")
        save(found, save_model)
    if build() == PURE:
        print(f"foretell: {UNCOMPILED}", file=sys.stderr)


def match_events(engine: EmbeddedEngine, reading: EventReader, results: ResultWriter) -> None:
    """Publish a file to the engine. Writes all results of the events before an error, then raises the error."""

    from ..engine.results import expanded

    def publish(batch: EventBatch) -> Sequence[Printable]:
        return engine.publish(batch.stream, batch.times, batch.rows, batch.ids, batch.starts)

    try:
        with progress(reading) as advance:
            for item in reading.items:
                if isinstance(item, EventBatch):
                    for found in answers(item, f"{reading.place}: {reading.unit}", publish):
                        results.add(expanded(found), engine.told)
                else:
                    with placed(f"{reading.place}: {reading.unit} {item.place}"):
                        results.add(expanded(apply_control(engine, item)), engine.told)
                advance(item.position)
    except ForetellError:
        results.finish()
        raise
    results.add(expanded(engine.finish()), engine.told)
    results.finish()


def apply_control(engine: EmbeddedEngine, control: Control) -> Sequence[Printable]:
    """Do what a line that is no event asks for; returns what comes of it."""
    match control.line:
        case SubscribeLine(name, language, query, lineage, report, forecast, results):
            engine.subscribe(name, language, query, lineage, report, forecast, results)
            return []
        case UnsubscribeLine(name):
            return engine.unsubscribe(name)
        case Punctuation(time, stream, where):
            return engine.punctuate(time, stream, where)
        case Retraction(id):
            return engine.retract(id)
        case UpdateLine(name, insert, delete, since, until):
            return engine.update(name, insert, delete, since, until)
