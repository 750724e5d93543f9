"""The question how long it takes until all workers have many subscriptions."""

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
    """Seconds of packing, of sending to all workers, of unpacking in the slowest of them, and bytes."""
    stocks = market(TICKS)
    spark = session(master)
    cases: list[dict[str, Any]] = []
    for count in counts:
        wanted = subscriptions(stocks, max(count, 2))
        begin = time.perf_counter()
        packed = wanted.packed()
        packing = time.perf_counter() - begin
        _sent(spark, b"")  # workers are started
        begin = time.perf_counter()
        found = _sent(spark, packed)
        whole = time.perf_counter() - begin
        unpacking = max(seconds for seconds, _ in found)
        cases.append(
            {
                "subscriptions": count,
                "bytes": len(packed),
                "packing_seconds": round(packing, 3),
                "sending_seconds": round(whole - unpacking, 3),
                "unpacking_seconds": round(unpacking, 3),
                "unpacking_cpu_seconds": round(max(seconds for _, seconds in found), 3),
            }
        )
    spark.stop()
    return {"master": master, "cases": cases}


def _sent(spark: Any, packed: bytes) -> list[tuple[float, float]]:
    """All workers have it and have unpacked it: the wall and CPU seconds of unpacking, a pair for each."""
    shared = spark.sparkContext.broadcast(packed)

    def part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            content = shared.value
            begin, worked = time.perf_counter(), time.process_time()
            if content:
                Subscriptions.unpack(content)
            took = [time.perf_counter() - begin] * batch.num_rows
            busy = [time.process_time() - worked] * batch.num_rows
            yield pa.RecordBatch.from_pydict(
                {"wall": pa.array(took, pa.float64()), "cpu": pa.array(busy, pa.float64())}
            )

    tasks = spark.sparkContext.defaultParallelism
    found = spark.range(0, tasks, 1, tasks).mapInArrow(part, "wall double, cpu double").collect()
    return [(row[0], row[1]) for row in found]
