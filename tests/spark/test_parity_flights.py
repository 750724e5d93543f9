"""Acceptance: a year of real flights on Spark: the 6,643 matches that counting without any engine finds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from integration.flights_by_schedule import KEPT, MATCHES, SUBSCRIPTIONS, counted, departures

from spark_bridge.backtesting import backtest
from spark_bridge.history.form import arrow_schema
from spark_bridge.history.prepared import History
from spark_bridge.history.writing import write_history
from spark_bridge.subscriptions import Subscriptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
def test_three_late_departures_in_a_row(spark: SparkSession, tmp_path: Path) -> None:
    rows = departures()
    expected = counted(rows)
    assert (len(rows), len(expected)) == (KEPT, MATCHES)
    subscriptions = Subscriptions.of_text(SUBSCRIPTIONS)
    places = pa.array(range(1, len(rows) + 1), pa.int64())
    named = dict(zip(("tail", "flight", "delay"), zip(*rows)))
    columns = {"time": places, "id": places, "start": places, "stream": ["Departures"] * len(rows), **named}
    schema = arrow_schema(subscriptions.streams)
    table = pa.table({name: columns[name] for name in schema.names}, schema)
    write_history(tmp_path / "flights", subscriptions.streams, table.to_batches(), slice_rows=100_000)

    told = backtest(spark, History.open(tmp_path / "flights"), subscriptions, plan="key").collect()

    assert sorted(row.lineage for row in told) == sorted(expected)
    assert len({row.id for row in told}) == MATCHES
    for row in told[:100]:
        line = json.loads(row.line)
        tail, delays = rows[row.end - 1][0], [rows[place - 1][2] for place in row.lineage]
        assert line["data"] == {"tail": tail} | dict(zip(("first", "second", "third"), delays, strict=True))
