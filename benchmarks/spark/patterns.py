"""The question what a pattern costs that window functions of Spark SQL and MATCH_RECOGNIZE can also express.

W1: the next tick of a symbol is above 1.01 times this one. All must find as many matches. Flink runs in batch mode, in
a process of its own, with an environment that is made on demand; where it cannot be, the answer says why.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spark_bridge import backtest

from ..measuring import BenchmarkError, trial
from ..rivals import flink
from ..ticks import STREAM, market
from ..workloads import W1_FACTOR
from .history import MARKET_MAX, history, session, subscriptions

WINDOWED = f"""
SELECT count(*) FROM (
  SELECT price, lag(price) OVER (PARTITION BY name ORDER BY time, id) AS before FROM ticks WHERE stream = '{STREAM}'
) WHERE price > {W1_FACTOR} * before
"""


def ask(events: int, master: str, repetitions: int, folder: Path, with_flink: bool) -> dict[str, Any]:
    """Seconds of each, best of the repetitions, in one session that has been warmed by the first."""
    stocks = market(min(events, MARKET_MAX))
    prepared, wanted = history(stocks, events, folder / "history"), subscriptions(stocks, 1, forecasts=False)
    spark = session(master)
    prepared.events(spark).createOrReplaceTempView("ticks")

    def ours(source: Any) -> int:
        return int(backtest(spark, source, wanted, plan="key").count())

    contestants: dict[str, Callable[[], int]] = {
        "Foretell, files read": lambda: ours(prepared),
        "Foretell, shuffled": lambda: ours(prepared.events(spark)),
        "Spark SQL, lag": lambda: int(spark.sql(WINDOWED).collect()[0][0]),
    }
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    matches: dict[str, int] = {}
    for _ in range(repetitions + 1):
        for name, contestant in contestants.items():
            begin = time.perf_counter()
            matches[name] = contestant()
            seconds[name].append(time.perf_counter() - begin)
    spark.stop()
    missing = None
    if with_flink:
        try:
            found = _flink(stocks.ticks, events, repetitions + 1, folder)
            matches["Flink SQL, batch"], seconds["Flink SQL, batch"] = found["matches"], found["whole"]
        except BenchmarkError as error:
            missing = str(error)
    if len(set(matches.values())) != 1:
        raise BenchmarkError(f"expected as many matches of all, found {matches}")
    cases = [{"contestant": name, "seconds": [round(s, 3) for s in seconds[name][1:]]} for name in seconds]
    return {"events": events, "master": master, "matches": max(matches.values()), "cases": cases, "missing": missing}


def _flink(ticks: Any, events: int, passes: int, folder: Path) -> dict[str, Any]:
    file = folder / "ticks.csv"
    with file.open("w", newline="") as output:
        writer = csv.writer(output)
        for number in range(events):
            writer.writerow([*ticks[number % len(ticks)], number + 1])
    python = flink.interpreter(lambda doing: None)
    job = {**flink.job(file, flink.W1, passes), "mode": "batch"}
    found: dict[str, Any] = trial("benchmarks.rivals.flink_job", job, python)
    return found
