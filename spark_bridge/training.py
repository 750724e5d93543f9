"""Trains on a history: transition counts and gaps, bit for bit those of a broker that has seen the events.

    train(spark, events, subscriptions, model=None, plan=None) -> DataFrame (COUNT_SCHEMA)
    model_of(counts, subscriptions, model=None) -> Model        what `save_model` writes and the broker loads

A row is a count, a bucket of gaps (without states), or a clock: `kind` says which. The counts of a plan's cells add up
to those of the whole (broker.forecast.counts), so the DataFrame holds sums, and a rerun gives the same ones. Counts
that decay follow the time of the newest event, which the `clock` rows hold.

Here: the task and these two. Not here: dividing (plan), executing (execution), the file (broker.forecast.model_file).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, final

import pyarrow as pa

from broker.engine import Engine
from broker.events import DefinitionError
from broker.forecast.counts import Context, GenerationClock
from broker.forecast.model_file import Model

from .cells import Work
from .results import batches_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .execution import Source
    from .plan.scheme import Plan
    from .subscriptions import Subscriptions

COUNT: Final = "count"
GAP: Final = "gap"
CLOCK: Final = "clock"

COUNT_SCHEMA: Final = pa.schema(
    [
        ("kind", pa.string()),  # count, gap or clock
        ("subscription", pa.string()),
        ("version", pa.string()),  # its name and a digest of the meaning of its states
        ("context", pa.string()),  # a JSON list; "[]" is the pool of all contexts
        ("generation", pa.int64()),  # of a count: its time in generations; of a clock: the newest
        ("state", pa.int64()),  # of a gap: its bucket
        ("next_state", pa.int64()),
        ("count", pa.int64()),
        ("total", pa.int64()),  # of a gap: the sum in microseconds; of a clock: the width of a generation
    ]
)
"""The rows that cells yield and `train` sums. `state` and `next_state` are states of the chain."""

NAMED: Final = 7
"""The number of columns that say what was counted; the others are numbers that add up."""
SUMMED: Final = COUNT_SCHEMA.names[:NAMED]

Record: TypeAlias = tuple[str, str, str, str, int, int | None, int | None, int | None, int]


@final
@dataclass(frozen=True, slots=True)
class Training:
    """The task: the counts that a cell's events have added to those of the model."""

    @property
    def schema(self) -> pa.Schema:
        return COUNT_SCHEMA

    def part(self, work: Work) -> Iterator[pa.RecordBatch]:
        engine = work.engine
        # A broker that begins with a model forecasts by it, which may decide when it updates a key (half_life).
        before: dict[tuple[object, ...], tuple[int | None, int]] = {
            record[:NAMED]: (record[7], record[8]) for record in records_of(engine)
        }
        for stream, times, rows, ids, starts in work.runs():
            engine.publish(stream, times, rows, ids, starts)
        yield from batches_of(_added(records_of(engine), before), COUNT_SCHEMA)


def _added(records: Iterable[Record], before: Mapping[tuple[object, ...], tuple[int | None, int]]) -> Iterator[Record]:
    """The new records, and the growth of the others. Records that have decayed meanwhile are left out, because they
    decay again when the counts are added."""
    for record in records:
        kind, name, version, context, generation, state, following, count, total = record
        known, sum_before = before.get(record[:NAMED], (None, 0))
        if kind == CLOCK or count is None or known is None:
            yield record
        elif count > known:
            yield kind, name, version, context, generation, state, following, count - known, total - sum_before


def records_of(engine: Engine) -> Iterator[Record]:
    """All counts of an engine, as records."""
    model = engine.model()
    newest: dict[str, GenerationClock] = {}
    for version in model.counts.versions():
        newest[version] = model.counts.clock_of(version)
    for subscription in engine.program.forecasts.subscriptions.values():
        for forecaster in subscription.forecasters():  # one without counts may still have a clock
            version, own = forecaster.version, forecaster.clock()
            if version not in newest or newest[version].generation < own.generation:
                newest[version] = own
    for version, clock in newest.items():
        yield CLOCK, _name(version), version, "[]", clock.generation, None, None, None, clock.width
    for version, context, generation, state, following, count in model.counts.records():
        written = json.dumps(list(context))
        yield COUNT, _name(version), version, written, generation, state, following, count, 0
    for (version, context), gaps in model.gaps.items():
        for bucket, count, total in gaps.records():
            yield GAP, _name(version), version, json.dumps(list(context)), 0, bucket, None, count, total


def model_from(records: Iterable[Record]) -> Model:
    """The model of the records of one or more cells, which add up in any order. O(records)."""
    model = Model()
    counted: list[Record] = []
    for record in records:
        kind, _, version, context, generation, state, _, count, total = record
        if kind == CLOCK:
            known = model.counts.clocks.get(version)
            newest = generation if known is None else max(generation, known.generation)
            model.counts.clocks[version] = _clock(total, newest)
        elif kind == GAP:
            model.gaps_of(version, _context(context)).put(_whole(state), _whole(count), total)
        else:
            counted.append(record)
    for _, _, version, context, generation, state, following, count, _ in counted:
        table = model.counts.table(version, _context(context))
        table.put(generation, _whole(state), _whole(following), _whole(count))
    return model


def _clock(width: int, generation: int) -> GenerationClock:
    clock = GenerationClock()
    clock.width, clock.generation = width, generation
    return clock


def _name(version: str) -> str:
    return version.rpartition("@")[0]


def _context(written: str) -> Context:
    return tuple(json.loads(written))


def _whole(number: int | None) -> int:
    if number is None:
        raise DefinitionError("expected counts as `train` makes them, found a null among them")
    return number


def train(
    spark: SparkSession,
    events: Source,
    subscriptions: Subscriptions,
    *,
    model: Model | None = None,
    plan: Plan | str | None = None,
) -> DataFrame:
    """The counts of the events, summed over the plan's cells. With `model` only the new counts; `model_of` adds both.

    `events` and `plan` as for `backtest`. Raises ForetellError if a query, the model or the plan is invalid.
    """
    from pyspark.sql import functions as F

    from .execution import run_cells

    if not any(definition.forecast is not None for definition in subscriptions.definitions.values()):
        raise DefinitionError("expected a subscription with a forecast to train, found none")
    counted = run_cells(spark, events, subscriptions, plan, Training(), model=model, purpose="counts")
    summed = counted.where(F.col("kind") != CLOCK).groupBy(*SUMMED).agg(F.sum("count"), F.sum("total"))
    newest = counted.where(F.col("kind") == CLOCK)
    latest = newest.groupBy("kind", "subscription", "version", "context", "total").agg(
        F.max("generation").alias("generation")
    )
    return summed.toDF(*COUNT_SCHEMA.names).unionByName(latest, allowMissingColumns=True)


def model_of(counts: DataFrame, *, model: Model | None = None) -> Model:
    """The model with the counts of `train`, added to those of `model`. Collects the counts; O(counts)."""
    found = Model()
    if model is not None:
        found.merge(model)
    found.merge(model_from(tuple(row) for row in counts.select(*COUNT_SCHEMA.names).toLocalIterator()))
    return found
