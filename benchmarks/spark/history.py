"""The market as a prepared history, subscriptions on it, and the session; nothing is measured here.

Beyond a million ticks the market is repeated: its prices end where they began, so that repetitions join.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from broker.events import Schema, StreamDefinition
from broker.language.subscription import SubscriptionDefinition
from spark_bridge import History, Subscriptions
from spark_bridge.history.form import arrow_schema
from spark_bridge.history.writing import write_history

from .. import workloads
from ..measuring import ROOT
from ..ticks import ATTRIBUTES, STANDARD, STREAM, Market

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STOCK: Final = StreamDefinition(STREAM, Schema.declare(dict(ATTRIBUTES)), "name")
FORECAST: Final = {"within": 10, "threshold": 0.5}
ROWS: Final = 50_000  # of a batch that is written


def history(stocks: Market, events: int, folder: Path, one_key: bool = False) -> History:
    """So many events, in slices of a fifth. `one_key`: all of them have the same name. O(events)."""
    write_history(folder, {STREAM: STOCK}, _batches(stocks, events, one_key), slice_rows=max(1, events // 5))
    return History.open(folder)


def _batches(stocks: Market, events: int, one_key: bool) -> Iterator[pa.RecordBatch]:
    schema, ticks = arrow_schema({STREAM: STOCK}), stocks.ticks
    for begin in range(0, events, ROWS):
        numbers = range(begin + 1, min(begin + ROWS, events) + 1)
        rows = [ticks[(number - 1) % len(ticks)] for number in numbers]
        own = {name: [row[place] for row in rows] for place, name in enumerate(ATTRIBUTES)}
        if one_key:
            own["name"] = ["S00"] * len(rows)
        order = pa.array(numbers, pa.int64())
        columns = {"time": order, "id": order, "start": order, "stream": pa.array([STREAM] * len(rows)), **own}
        yield pa.RecordBatch.from_pydict({field.name: columns[field.name] for field in schema}, schema)


def subscriptions(stocks: Market, count: int, forecasts: bool = True) -> Subscriptions:
    """W1, or so many of W4."""
    texts = {"q0": workloads.W1} if count == 1 else workloads.texts(workloads.w4(stocks, count))
    forecast = FORECAST if forecasts else None
    return Subscriptions(
        [STOCK], [SubscriptionDefinition(name, "cayuga", text, False, None, forecast) for name, text in texts.items()]
    )


def session(master: str, memory: str = "2g", reuse: bool = True) -> SparkSession:
    """A quiet one of its own; `reuse`: workers live on from task to task."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    path = [*filter(None, [os.environ.get("PYTHONPATH")]), str(ROOT)]  # what is compiled comes first, where it is named
    os.environ["PYTHONPATH"] = os.pathsep.join(path)  # workers import this package
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("foretell benchmarks")
    for name, value in {
        "spark.driver.memory": memory,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.python.worker.reuse": str(reuse).lower(),
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


MARKET_MAX: Final = STANDARD
"""Ticks of a market; more events repeat it."""
