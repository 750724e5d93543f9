"""The question whether a worker's memory grows with the events of one key."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import pyarrow as pa

from spark_bridge.cells import Work
from spark_bridge.execution import run_cells
from spark_bridge.training import Training

from ..ticks import market
from .history import MARKET_MAX, history, session, subscriptions


@final
@dataclass(frozen=True, slots=True)
class Peak:
    """The task: training, of which only the worker's largest memory is told, in KiB."""

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([("peak", pa.int64())])

    def part(self, work: Work) -> Iterator[pa.RecordBatch]:
        for batch in Training().part(work):
            assert batch.num_rows
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        yield pa.RecordBatch.from_pydict({"peak": pa.array([peak], pa.int64())}, self.schema)


def ask(events: int, master: str, folder: Path) -> dict[str, Any]:
    """MiB of the largest worker, with a quarter of the events, with half, with all; all of one key."""
    stocks = market(min(events, MARKET_MAX))
    wanted = subscriptions(stocks, 1)
    spark = session(master, reuse=False)
    cases: list[dict[str, Any]] = []
    for size in (events // 4, events // 2, events):
        prepared = history(stocks, size, folder / f"one-key-{size}", one_key=True)
        for name, source in (("read", prepared), ("shuffled", prepared.events(spark))):
            found = run_cells(spark, source, wanted, "key", Peak(), purpose="counts").collect()
            cases.append({"events": size, "history": name, "peak_mib": round(max(row[0] for row in found) / 1024, 1)})
    spark.stop()
    return {"master": master, "cases": cases}
