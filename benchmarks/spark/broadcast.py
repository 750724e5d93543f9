"""Law: the question how long it takes until all workers have many subscriptions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from spark_bridge import Subscriptions

from ..ticks import market
from .history import session, subscriptions

TICKS = 20_000  # that thresholds are drawn around


def ask(counts: list[int], master: str) -> dict[str, Any]:
    """Seconds of packing, of sending with unpacking in workers, and bytes."""
    stocks = market(TICKS)
    spark = session(master)
    cases: list[dict[str, Any]] = []
    for count in counts:
        wanted = subscriptions(stocks, max(count, 2))
        begin = time.perf_counter()
        packed = wanted.packed()
        packing = time.perf_counter() - begin
        _unpacked_everywhere(spark, b"")  # workers are started
        begin = time.perf_counter()
        found = _unpacked_everywhere(spark, packed)
        cases.append(
            {
                "subscriptions": count,
                "bytes": len(packed),
                "packing_seconds": round(packing, 3),
                "sending_and_unpacking_seconds": round(time.perf_counter() - begin, 3),
                "unpacking_seconds": round(max(found), 3),
            }
        )
    spark.stop()
    return {"master": master, "cases": cases}


def _unpacked_everywhere(spark: Any, packed: bytes) -> list[float]:
    shared = spark.sparkContext.broadcast(packed)

    def part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            begin = time.perf_counter()
            if shared.value:
                Subscriptions.unpack(shared.value)
            took = [time.perf_counter() - begin] * batch.num_rows
            yield pa.RecordBatch.from_pydict({"seconds": pa.array(took, pa.float64())})

    tasks = spark.sparkContext.defaultParallelism
    return [row[0] for row in spark.range(0, tasks, 1, tasks).mapInArrow(part, "seconds double").collect()]
