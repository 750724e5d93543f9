"""Evaluates the forecasts of a history on Spark: cells to histograms, histograms to measures.

    histograms(spark, events, subscriptions, model=None, horizons=..) -> DataFrame (task.HISTOGRAM_SCHEMA)
    measured(histograms, thresholds, by=..) -> DataFrame              a row for each group, horizon and threshold
    reliability_of(histograms, by=..) -> DataFrame                    a row for each group, horizon and bin
    evaluate(..) -> DataFrame                                         the first two at once

The events are read once for all thresholds and horizons. Histograms are small tables of integers; keep them to compute
further measures. With or without a model, forecasts learn from event to event over all keys, as in the broker.
`learn=False` evaluates a fixed model, which can be divided by key.

Here: those calls. Not here: counting (task), arithmetic (measures).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from broker.events import DefinitionError, shown, suggestion
from broker.forecast.judging import BUCKETS, COLUMNS

from ..results import batch_of
from .measures import MEASURES, RELIABILITY, event_horizons, measures, reliability, thousandths
from .task import Evaluation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from broker.forecast.model_file import Model

    from ..execution import Source
    from ..plan.scheme import Plan
    from ..subscriptions import Subscriptions

BY: Final = ("subscription", "context")
_TYPES: Final = {"long": pa.int64(), "double": pa.float64()}


def evaluate(
    spark: SparkSession,
    events: Source,
    subscriptions: Subscriptions,
    *,
    model: Model | None = None,
    thresholds: Iterable[float],
    horizons: Iterable[int],
    by: Sequence[str] = BY,
    learn: bool = True,
    plan: Plan | str | None = None,
) -> DataFrame:
    """The columns `by`, horizon, threshold and MEASURES, a row for each group, horizon and threshold; see `measured`.

    `thresholds`: whole thousandths from 0 to less than 1; `horizons`: events of the key. `model`: a trained model.
    `learn`: forecasts continue to learn from event to event, as in the broker; False: the model stays fixed. `events`
    and `plan` as for `backtest`. Raises ForetellError if an argument is invalid.
    """
    wanted, groups = thousandths(thresholds), _groups(by)
    counted = histograms(spark, events, subscriptions, model=model, horizons=horizons, learn=learn, plan=plan)
    return _measured(counted, wanted, groups)


def histograms(
    spark: SparkSession,
    events: Source,
    subscriptions: Subscriptions,
    *,
    model: Model | None = None,
    horizons: Iterable[int],
    learn: bool = True,
    plan: Plan | str | None = None,
) -> DataFrame:
    """The outcomes of all forecasts as integer sums, by subscription, context, horizon and bucket of probability.

    Raises DefinitionError if no subscription has a forecast, if a forecast is composed of parts, and for `learn=False`
    without a model.
    """
    from pyspark.sql import functions as F

    from ..execution import run_cells

    asked = tuple(event_horizons(horizons))
    if not learn and model is None:
        raise DefinitionError("expected a model to evaluate as it stands, found none: train one, or let it learn")
    forecasts = subscriptions.engine().program.forecasts
    if not forecasts.subscriptions:
        raise DefinitionError("expected a subscription with a forecast to evaluate, found none")
    forecasts.judge(asked)
    purpose: Any = "results" if learn else "counts"
    task = Evaluation(asked, not learn)
    counted = run_cells(spark, events, subscriptions, plan, task, model=model, purpose=purpose)
    key = ("subscription", "context", "horizon", "bucket")
    return counted.groupBy(*key).agg(*(F.sum(name).alias(name) for name in COLUMNS))


def measured(histograms: DataFrame, thresholds: Iterable[float], by: Sequence[str] = BY) -> DataFrame:
    """The measures of histograms: the columns `by`, horizon, threshold and MEASURES.

    Groups are by subscription and context, by either, or all together (`by=()`); a coarser group is the sum of finer
    ones. Raises DefinitionError for other thresholds or groups.
    """
    return _measured(histograms, thousandths(thresholds), _groups(by))


def reliability_of(histograms: DataFrame, by: Sequence[str] = BY) -> DataFrame:
    """A reliability diagram's data: the columns `by`, horizon and RELIABILITY, a row for each nonempty bin."""
    names = [*_groups(by), "horizon"]
    return _by_group(histograms, names, RELIABILITY, reliability)


def _measured(counted: DataFrame, wanted: list[int], groups: list[str]) -> DataFrame:
    columns = (("threshold", "double"), *MEASURES)

    def rows(own: dict[int, list[int]]) -> list[tuple[Any, ...]]:
        return [(bucket / BUCKETS, *row) for bucket, row in zip(wanted, measures(own, wanted))]

    return _by_group(counted, [*groups, "horizon"], columns, rows)


def _by_group(counted: DataFrame, names: list[str], columns: Sequence[tuple[str, str]], rows: Any) -> DataFrame:
    """Apply a function to the histogram of each group; its rows, preceded by the group."""
    from pyspark.sql import functions as F

    kinds = {name: "long" if name == "horizon" else "string" for name in names}
    schema = ", ".join(f"`{name}` {kind}" for name, kind in [*kinds.items(), *columns])
    arrow = pa.schema(
        [
            *((name, pa.int64() if kind == "long" else pa.string()) for name, kind in kinds.items()),
            *((name, _TYPES[kind]) for name, kind in columns),
        ]
    )
    width = len(names)

    def part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for group, own in _grouped(batches, width):
            found = [(*group, *row) for row in rows(own)]
            if found:
                yield batch_of(found, arrow)

    summed = counted.groupBy(*names, "bucket").agg(*(F.sum(name).alias(name) for name in COLUMNS))
    ordered = summed.repartition(*names).sortWithinPartitions(*names, "bucket")
    return ordered.select(*names, "bucket", *COLUMNS).mapInArrow(part, schema)


def _grouped(batches: Iterable[pa.RecordBatch], width: int) -> Iterator[tuple[tuple[Any, ...], dict[int, list[int]]]]:
    """Each group with its histogram, from sorted rows of `width` values of the group, a bucket and its sums."""
    group: tuple[Any, ...] | None = None
    own: dict[int, list[int]] = {}
    for batch in batches:
        for row in zip(*(column.to_pylist() for column in batch.columns)):
            if row[:width] != group:
                if group is not None:
                    yield group, own
                group, own = row[:width], {}
            own[row[width]] = list(row[width + 1 :])
    if group is not None:
        yield group, own


def _groups(by: Sequence[str]) -> list[str]:
    for name in by:
        if name not in BY:
            near = suggestion(str(name), BY)
            raise DefinitionError(f"expected groups by 'subscription' and 'context', found {shown(name)}{near}")
    return [name for name in BY if name in by]
