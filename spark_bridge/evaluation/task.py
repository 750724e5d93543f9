"""The task of a worker: runs a cell's events through the engine, with a judge beside each forecast.

Here: the task and its table. Not here: counting outcomes (broker.forecast.judging), measures (measures).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, final

import pyarrow as pa

from broker.forecast.judging import COLUMNS

from ..cells import Work
from ..results import batch_of

BATCH_ROWS: Final = 16_384

HISTOGRAM_SCHEMA: Final = pa.schema(
    [
        ("subscription", pa.string()),
        ("context", pa.string()),  # a JSON list, as in training
        ("horizon", pa.int64()),  # events of the key
        ("bucket", pa.int64()),  # thousandths, rounded up
        *((name, pa.int64()) for name in COLUMNS),
    ]
)
"""The rows that cells yield. Sums of equal subscriptions, contexts, horizons and buckets add up."""


@final
@dataclass(frozen=True, slots=True)
class Evaluation:
    """The task: the outcomes of a cell's forecasts, over these horizons. `frozen`: the model stays as it is at the
    beginning of the cell; otherwise it learns as in the broker."""

    horizons: tuple[int, ...]
    frozen: bool

    @property
    def schema(self) -> pa.Schema:
        return HISTOGRAM_SCHEMA

    def part(self, work: Work) -> Iterator[pa.RecordBatch]:
        forecasts = work.engine.program.forecasts
        judges = forecasts.judge(self.horizons, forecasts.trained if self.frozen else None)
        for stream, times, rows, ids, starts in work.runs():
            work.engine.publish(stream, times, rows, ids, starts)
        found: list[tuple[Any, ...]] = []
        for name, judge in judges.items():
            judge.close()
            for context, horizon, bucket, sums in judge.records():
                found.append((name, json.dumps(list(context)), horizon, bucket, *sums))
                if len(found) == BATCH_ROWS:
                    yield batch_of(found, HISTOGRAM_SCHEMA)
                    found = []
        if found:
            yield batch_of(found, HISTOGRAM_SCHEMA)
