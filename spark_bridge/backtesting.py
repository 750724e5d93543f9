"""What would have been told: every match, forecast and resolution of a history, with the broker's ids.

    backtest(spark, events, subscriptions, model=None, plan=None) -> DataFrame (results.MATCH_SCHEMA)

The rows are those of the embedded engine over the same events followed by `finish`, as a bag. Here: the task and that
call. Not here: dividing (plan), executing (execution), judging forecasts (evaluation).
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
    """All results of the events: one row a match, forecast, resolution, or word of a limit.

    `events`: a prepared History, or a DataFrame in the form of a history. `model`: what was trained before, from which
    forecasts begin; they go on learning, as in the broker. `plan`: a scheme by name, or a whole plan; by default one is
    chosen. Nothing is computed before the DataFrame is used. Raises ForetellError where a query, the model or the plan
    does not fit.
    """
    from .execution import run_cells

    return run_cells(spark, events, subscriptions, plan, Backtest(), model=model)
