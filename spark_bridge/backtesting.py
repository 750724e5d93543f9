"""Backtests: every match, forecast and resolution of a history, with the ids that the broker would give.

    backtest(spark, events, subscriptions, model=None, plan=None) -> DataFrame (results.MATCH_SCHEMA)

The rows are those of the embedded engine over the same events followed by `finish`, in no order. Here: the task and
that call. Not here: dividing (plan), executing (execution), judging forecasts (evaluation).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import pyarrow as pa

from .cells import Work
from .results import MATCH_SCHEMA, batches_of, row_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from broker.forecast.model_file import Model

    from .execution import Source
    from .plan.scheme import Plan
    from .subscriptions import Subscriptions


@final
@dataclass(frozen=True, slots=True)
class Backtest:
    """The task: the results that a cell owns."""

    @property
    def schema(self) -> pa.Schema:
        return MATCH_SCHEMA

    def part(self, work: Work) -> Iterator[pa.RecordBatch]:
        yield from batches_of(row_of(match) for found in work.answers() for match in found)


def backtest(
    spark: SparkSession,
    events: Source,
    subscriptions: Subscriptions,
    *,
    model: Model | None = None,
    plan: Plan | str | None = None,
) -> DataFrame:
    """All results of the events: a row for each match, forecast, resolution and `incomplete`.

    `events`: a prepared History, or a DataFrame in the form of a history. `model`: a trained model that forecasts begin
    with; they continue to learn, as in the broker. `plan`: the name of a scheme, or a whole plan; by default one is
    chosen. Nothing is computed before the DataFrame is used. Raises ForetellError if a query, the model or the plan is
    invalid.
    """
    from .execution import run_cells

    return run_cells(spark, events, subscriptions, plan, Backtest(), model=model)
