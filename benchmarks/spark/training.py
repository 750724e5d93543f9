"""The question how fast counts are trained on Spark, beside two processes of the embedded engine."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from spark_bridge import model_of, train

from ..ticks import market
from .embedded import together
from .history import MARKET_MAX, history, session, subscriptions

SCHEMES = ("key", "shards")


def ask(events: int, counts: list[int], master: str, repetitions: int, folder: Path) -> dict[str, Any]:
    """Seconds by number of subscriptions: Spark once it is started, and the processes. They take turns."""
    stocks = market(min(events, MARKET_MAX))
    prepared = history(stocks, events, folder / "history")
    begin = time.perf_counter()
    spark = session(master)
    warm = history(stocks, min(events, 20_000), folder / "warm")
    model_of(train(spark, warm, subscriptions(stocks, 1)))
    started = time.perf_counter() - begin
    cases: list[dict[str, Any]] = []
    for count in counts:
        wanted = subscriptions(stocks, count)
        on_spark: list[float] = []
        alone: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
        for _ in range(repetitions):
            begin = time.perf_counter()
            model_of(train(spark, prepared, wanted))
            on_spark.append(time.perf_counter() - begin)
            for scheme in SCHEMES:
                if scheme == "key" or count > 1:
                    alone[scheme].append(together(prepared, wanted, scheme, 2, folder))
        best = min(min(seconds) for seconds in alone.values() if seconds)
        cases.append(
            {
                "subscriptions": count,
                "spark_seconds": [round(seconds, 3) for seconds in on_spark],
                "embedded_seconds": {scheme: [round(each, 3) for each in found] for scheme, found in alone.items()},
                "spark_events_per_second": round(events / min(on_spark)),
                "share_of_embedded": round(best / min(on_spark), 3),
            }
        )
    spark.stop()
    return {"events": events, "master": master, "start_seconds": round(started, 2), "cases": cases}
