"""`foretell prepare`: sorts and slices files of events into a history that Spark's workers can open."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from .batch import only_stream, stream_named
from .complaint import BadInput
from .loading import SubscriptionsArgument, load_file
from .parquet_rows import open_parquet
from .reading import AS_DECLARED, FormOptions, Reading, TimeOption, with_form_options
from .spark_session import ConfOption, LogOption, MasterOption, require_spark, spark_session

Format: TypeAlias = Literal["jsonl", "csv", "parquet"]


@with_form_options
def prepare(
    subscriptions: SubscriptionsArgument,
    history: Annotated[list[str], typer.Option(metavar="FILE", help="Files or folders of events; may be repeated.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the prepared history.")],
    format: Annotated[
        Format | None, typer.Option("--format", help="The format of all files; by default by each file's suffix.")
    ] = None,
    stream: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="CSV, Parquet: the stream; by default the only one."),
    ] = None,
    time: TimeOption = None,
    id: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="CSV, Parquet: the column of the ids; by default row numbers.")
    ] = None,
    form: FormOptions = AS_DECLARED,
    rejects_max: Annotated[
        float, typer.Option(metavar="SHARE", help="The share of rows that may be invalid; they are kept apart.")
    ] = 0.0,
    slice_rows: Annotated[int | None, typer.Option(metavar="N", help="The number of events in a slice.")] = None,
    master: MasterOption = None,
    conf: ConfOption = None,
    spark_log: LogOption = None,
) -> None:
    """Prepare events for `train` and `backtest`: sort them by time and arrival, slice them, set invalid rows apart."""
    require_spark()
    from spark_bridge.history.mapping import Columns, Files
    from spark_bridge.history.preparing import prepare as prepared
    from spark_bridge.history.reading import pieces_of
    from spark_bridge.history.writing import SLICE_ROWS
    from spark_bridge.subscriptions import check_units

    streams = load_file(subscriptions).streams
    check_units(streams, str(subscriptions))
    by_name = {each.name: each for each in streams}
    files = Files(tuple(history), None, format)
    asked = form != AS_DECLARED or any(each is not None for each in (stream, time, id))
    if asked or any(_is_foreign(file, kind) for file, kind in files.listed()):
        chosen = only_stream(by_name) if stream is None else stream_named(by_name, stream)
        said = form.said()
        by_name[chosen.name] = chosen = replace(chosen, files=said.over(chosen.files))
        reading = Reading(by_name, None, chosen.name, time)
        files = Files(files.paths, Columns(chosen, reading.time, id), format)
    pieces_of([files], by_name)  # raises errors in headers before Spark starts
    if out.exists() and not out.is_dir():
        raise BadInput(f"{out}: expected a folder, or a place for a new one, found a file")
    if not 0.0 <= rejects_max <= 1.0:
        raise BadInput(f"--rejects-max: expected a share from 0 to 1, found {rejects_max}")
    if slice_rows is not None and slice_rows < 1:
        raise BadInput(f"--slice-rows: expected 1 or more, found {slice_rows}")
    with spark_session(master, conf, spark_log, "prepare") as spark:
        prepared(spark, files, out, by_name, rejects_max=rejects_max, slice_rows=slice_rows or SLICE_ROWS)


def _is_foreign(file: Path, format: Format) -> bool:
    """Return whether the files of this format do not name the stream of their events."""
    if format == "parquet":
        with open_parquet(str(file), str(file)) as table:
            return "stream" not in table.schema_arrow.names
    return format == "csv"
