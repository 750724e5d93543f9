"""Executes a plan's cells on Spark: events are moved to the cells, or cells to the events, and a task runs on each.

A prepared history is not shuffled: a cell is one row of `spark.range`, whose worker opens the files itself. Events of a
DataFrame are moved to their cells by one shuffle, sorted by (time, id), which the worker checks. The data that workers
need is broadcast, or with Spark Connect, which has no broadcast, sent with the function.

Here: that, and the number of cells. Not here: the work of a cell (cells), admissible divisions (plan).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, TypeAlias

import pyarrow as pa

from broker.collector import collect_rarely
from broker.events import DefinitionError
from broker.forecast.model_file import Model, write_model

from .cells import Task, run_cell
from .history.form import columns_of
from .history.prepared import History
from .plan.cell import FIRST, Cell, Point
from .plan.choice import plan_for
from .plan.properties import Purpose
from .plan.scheme import KEY, Part, Plan
from .reading import arrived, runs_of
from .shuffling import CELL, cut_points, hot_keys, numbered
from .subscriptions import Subscriptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Source: TypeAlias = History | DataFrame

Carried: TypeAlias = tuple[bytes, str | None, list[Cell]]
"""The data that all workers need: packed subscriptions, the text of a model, and the cells by number."""

BUCKETS_READ_MAX: Final = 8
"""With at most this many cells by key, each reads all of a prepared history; with more, a shuffle is cheaper."""

BatchFunction: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def plan_of(
    spark: SparkSession,
    events: Source,
    subscriptions: Subscriptions,
    scheme: str | None = None,
    purpose: Purpose = "results",
) -> Plan:
    """The plan of a job with these events. Raises as `plan_for`."""
    return plan_for(
        subscriptions,
        purpose,
        scheme=scheme,
        parallelism=parallelism_of(spark),
        shuffled=not isinstance(events, History),
    )


def parallelism_of(spark: SparkSession) -> int:
    """How many tasks Spark runs at once, by its own account, with and without a Spark context (Connect)."""
    from pyspark.sql import functions as F

    return max(1, spark.range(10_000).select(F.spark_partition_id()).distinct().count())


def run_cells(
    spark: SparkSession,
    source: Source,
    subscriptions: Subscriptions,
    plan: Plan | str | None,
    task: Task,
    *,
    model: Model | None = None,
    purpose: Purpose = "results",
) -> DataFrame:
    """The rows of a task over all cells of a plan, in no order.

    `source`: a prepared History, or a DataFrame in the form of a history (history.form). `model`: the model that every
    cell's engine begins with. Cuts and hot keys of a DataFrame are determined at once, if the plan needs them;
    everything else is computed when the DataFrame is used. Raises ForetellError if a query, the model, the history or
    the plan is invalid.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    if not isinstance(plan, Plan):
        plan = plan_of(spark, source, subscriptions, plan, purpose)
    elif plan.purpose != purpose:
        raise DefinitionError(f"plan: expected one that was made for {purpose}, found one for {plan.purpose}")
    if model is not None:
        subscriptions.engine().load_model(model)  # raises if it does not fit
    schema = from_arrow_schema(task.schema)
    text = None if model is None else write_model(model)
    if isinstance(source, History):
        source.check_streams(subscriptions.streams)
        if not any(part.scheme == KEY for part in plan.parts) or plan.buckets <= BUCKETS_READ_MAX:
            cells = plan.cells(_cuts(source, plan.slices))
            if not cells:
                return spark.createDataFrame([], schema)
            carried = _carried(spark, (subscriptions.packed(), text, cells))
            rows = spark.range(0, len(cells), 1, len(cells))
            return rows.mapInArrow(_opening(carried, source, task), schema)
        columns = source.columns
        source = source.events(spark)
    else:
        columns = columns_of(subscriptions.streams)
        _check_columns(source, subscriptions)
    if not plan.parts:
        return spark.createDataFrame([], schema)
    cuts = cut_points(source, plan)
    hot = hot_keys(source, plan, subscriptions.streams, columns)
    cells = plan.cells(cuts, hot)
    reads = {part: reads_of(subscriptions, part) for part in plan.parts}
    brought = numbered(source, plan, cuts, hot, subscriptions.streams, columns, reads)
    spread = brought.repartitionById(len(cells), f"`{CELL}`").sortWithinPartitions("time", "id")
    carried = _carried(spark, (subscriptions.packed(), text, cells))
    return spread.mapInArrow(_taking(carried, task, columns), schema)


def reads_of(subscriptions: Subscriptions, part: Part) -> frozenset[str]:
    """The streams whose events the cells of a part read.

    If all subscriptions see all events, events of any stream advance time, on which results may wait; otherwise only
    the streams that the subscriptions read matter.
    """
    return frozenset(stream for stream, _ in part.keys) if part.keys else frozenset(subscriptions.streams)


def _check_columns(events: DataFrame, subscriptions: Subscriptions) -> None:
    from .history.form import spark_schema

    found = {field.name: field.dataType for field in events.schema.fields}
    for field in spark_schema(subscriptions.streams).fields:
        if field.name not in found:
            raise DefinitionError(f"events: expected the column {field.name!r}, found {', '.join(found)}")
        if found[field.name] != field.dataType:
            raise DefinitionError(
                f"events: column {field.name!r}: expected {field.dataType.simpleString()},"
                f" found {found[field.name].simpleString()}"
            )


def _cuts(history: History, slices: int) -> list[Point]:
    """The cuts of a prepared history: at the beginnings of its files, and between these by time, into equal counts."""
    if not history.rows:
        return []
    size = max(1, history.rows // slices)
    cuts: list[Point] = []
    passed = 0
    for part in history.slices:
        first, last = part.first, part.last
        pieces = max(1, round(part.rows / size))
        for piece in range(pieces):
            if piece == 0 and passed >= (len(cuts) + 1) * size:
                cuts.append(first)
            elif piece and last[0] > first[0]:
                cuts.append((first[0] + (last[0] - first[0]) * piece // pieces, FIRST[1]))
        passed += part.rows
    return [cut for cut in cuts if cut > history.slices[0].first]


# --- workers --------------------------------------------------------------------------------------------------------


def _carried(spark: SparkSession, carried: Carried) -> Callable[[], Carried]:
    """A function by which a worker gets the data that it needs."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        return lambda: carried
    shared = spark.sparkContext.broadcast(carried)
    return lambda: shared.value


def _opening(carried: Callable[[], Carried], history: History, task: Task) -> BatchFunction:
    """The function of a worker that opens files: each of its rows is the number of a cell."""

    def part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        collect_rarely()
        packed, model, cells = carried()
        subscriptions = Subscriptions.unpack(packed)
        columns = history.columns
        for batch in batches:
            for number in batch.column(0).to_pylist():
                cell = cells[number]
                reads = subscriptions.streams if cell.keys is None else [stream for stream, _ in cell.keys.attributes]
                runs = runs_of(cell, history, subscriptions.streams, reads, columns)
                yield from run_cell(cell, subscriptions, runs, task, model=model)

    return part


def _taking(carried: Callable[[], Carried], task: Task, columns: dict[str, tuple[str, ...]]) -> BatchFunction:
    """The function of a worker that receives shuffled events: all belong to one cell, whose number they carry."""

    def part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is None:
            return
        collect_rarely()
        number = first.column(CELL)[0].as_py()
        packed, model, cells = carried()
        subscriptions = Subscriptions.unpack(packed)

        def found() -> Iterator[pa.RecordBatch]:
            yield first
            yield from batches

        runs = arrived(found(), subscriptions.streams, columns)
        yield from run_cell(cells[number], subscriptions, runs, task, model=model)

    return part
