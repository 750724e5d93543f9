"""`foretell run`: runs the embedded engine on a file of events and writes results to standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from ..build import PURE, UNCOMPILED, build
from ..collector import collect_rarely
from ..events import (
    ForetellError,
    GapLine,
    Punctuation,
    Retraction,
    SubscribeLine,
    UnsubscribeLine,
    UpdateLine,
    suggestion,
)
from .bad_events import STOP, BadEvents, OnBadOption, handled, values_of
from .batch import Control, EventBatch, answers
from .column_rows import ColumnRows
from .complaint import BadInput, placed
from .contributing import Contributing
from .file_times import TimeUnitOption
from .incompleteness import Incompleteness
from .known_names import subscription_names
from .loading import ModelOption, SubscriptionsArgument, load_engine, load_file, load_model
from .progress import ProgressOption
from .progress import progress as showing
from .reading import (
    AS_DECLARED,
    EventReader,
    FormatOption,
    FormOptions,
    Reading,
    SortOption,
    StreamOption,
    TimeOption,
    with_form_options,
)
from .result_files import ResultFormat, TimesAs, sink_of
from .results import Printable, ResultSink, ResultSinks, ResultWriter
from .sorting import sources
from .sources import files_of
from .summary import Summary

if TYPE_CHECKING:
    from ..engine import Engine

EventsOption: TypeAlias = Annotated[
    list[str],
    typer.Option(
        "--events", metavar="FILE", help="The events; '-' is standard input. A pattern, or repeated, for several files."
    ),
]


@with_form_options
def run(
    subscriptions: SubscriptionsArgument,
    events: EventsOption,
    events_format: FormatOption = None,
    format: Annotated[
        ResultFormat | None,
        typer.Option(help="The format of the results: by default that of --out, or JSON lines; parquet needs --out."),
    ] = None,
    stream: StreamOption = None,
    time: TimeOption = None,
    time_unit: TimeUnitOption = None,
    form: FormOptions = AS_DECLARED,
    sort: SortOption = False,
    on_bad: OnBadOption = STOP,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Write results of this subscription only; may be repeated.",
            autocompletion=subscription_names,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write results to this file, by its suffix or --format."),
    ] = None,
    times: Annotated[TimesAs, typer.Option(help="Times in results: microseconds, or ISO-8601.")] = "us",
    with_events: Annotated[
        bool, typer.Option("--with-events", help="Results list their events with values, not only the ids.")
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Print a line a subscription at the end instead of the results.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Draw the matches by key over time, and the forecasts.")
    ] = None,
    save_model: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the counts of forecasts.")] = None,
    model: ModelOption = None,
    progress: ProgressOption = None,
) -> int:
    """Match the events of a file; write results as JSON lines to standard output."""
    collect_rarely()
    engine = load_engine(subscriptions, lineage=with_events)
    if model is not None:
        load_model(engine, model)
    if save_model is not None and not save_model.absolute().parent.is_dir():
        raise BadInput(f"{save_model}: expected a folder that exists, found none of the name {save_model.parent}")
    files, said = files_of(events), form.said()
    known = Contributing(engine.streams, lambda: engine.events) if with_events else None
    wanted = chosen(subscriptions, only or (), engine.subscriptions)
    missing = Incompleteness()
    complete = _completion(wanted, known, missing, load_file(subscriptions).hidden)
    sinks: list[ResultSink] = [] if summary and out is None else [sink_of(out, format, sys.stdout, times)]
    if plot is not None:
        from .result_picture import ResultPicture

        sinks.append(ResultPicture(plot, {key for each in engine.streams.values() if (key := each.key) is not None}))
    if summary:
        sinks.append(Summary([name for name in engine.subscriptions if wanted(name)], sys.stdout))
    with (
        handled(on_bad) as bad,
        closing(ResultSinks(sinks)) as sink,
    ):
        results = ResultWriter(sink, complete)
        reading = Reading(engine.streams, events_format, stream, time, time_unit, bad, said)
        for source in sources(reading, files, sort):
            match_events(engine, source, results, bad, known, progress)
        finish(engine, results)
    if save_model is not None:
        from ..forecast.model_file import save_model as save

        found = engine.model()
        if not found.counts.versions() and not engine.program.forecasts.subscriptions:
            raise BadInput(f"{subscriptions}: expected a subscription with a forecast for --save-model, found none")
        save(found, save_model)
    if build() == PURE:
        print(f"foretell: {UNCOMPILED}", file=sys.stderr)
    return missing.tell(sys.stderr)


def chosen(subscriptions: Path, only: Collection[str], known: Collection[str]) -> Callable[[str], bool]:
    """Which subscriptions' results are written: those of `only`, or all that are not hidden. Raises BadInput."""
    for name in only:
        if name not in known:
            hint = suggestion(name, known)
            raise BadInput(f"--only: expected a subscription of {subscriptions}, found {name!r}{hint}")
    hidden = load_file(subscriptions).hidden
    return (lambda name: name in only) if only else (lambda name: name not in hidden)


def _completion(
    wanted: Callable[[str], bool], known: Contributing | None, missing: Incompleteness, hidden: Collection[str]
) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
    """What is written of a result. `hidden`: subscriptions on whose results those depend that are written."""

    def complete(line: dict[str, Any]) -> dict[str, Any] | None:
        name = line.get("subscription", "")
        if wanted(name) or name in hidden:
            missing.note(line)
        if not wanted(name):
            return None
        return line if known is None else known.line(line)

    return complete


def finish(engine: Engine, results: ResultWriter) -> None:
    """Report what waited for the end of the events."""
    from ..engine.results import expanded

    results.add(expanded(engine.finish()), engine.reported_until)
    results.finish()


def match_events(
    engine: Engine,
    reading: EventReader,
    results: ResultWriter,
    bad: BadEvents | None = None,
    known: Contributing | None = None,
    bar: bool | None = None,
) -> None:
    """Publish a file to the engine. Writes all results of the events before an error, then raises the error.

    `bar`: whether it is shown how far that is.
    """

    from ..engine.results import expanded

    def publish(batch: EventBatch) -> Sequence[Printable]:
        if known is not None:
            known.note(batch)
        if isinstance(batch.rows, ColumnRows):
            return engine.publish_columns(batch.stream, batch.rows.columns, batch.times, batch.ids, batch.starts)
        return engine.publish(batch.stream, batch.times, batch.rows, batch.ids, batch.starts)

    def leave_out(place: str, error: ForetellError, batch: EventBatch) -> None:
        if bad is not None:
            bad.refuse(place, error, values_of(batch, engine.streams))

    try:
        with showing(reading, bar) as advance:
            for item in reading.items:
                if isinstance(item, EventBatch):
                    for found in answers(item, reading.where, publish, None if bad is None or bad.stops else leave_out):
                        results.add(expanded(found), engine.reported_until)
                else:
                    with placed(reading.where(item.place)):
                        results.add(expanded(apply_control(engine, item)), engine.reported_until)
                advance(item.position)
    except ForetellError:
        results.finish()
        raise


def apply_control(engine: Engine, control: Control) -> Sequence[Printable]:
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
        case GapLine(stream, first, last):
            return engine.declare_gap(stream, first, last)
        case UpdateLine(name, insert, delete, since, until):
            return engine.update(name, insert, delete, since, until)
