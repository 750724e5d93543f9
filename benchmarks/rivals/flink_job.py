"""One workload in Flink SQL's MATCH_RECOGNIZE, through PyFlink, in an interpreter of its own; no Foretell here.

    benchmarks/rivals/.venv/bin/python -m benchmarks.rivals.flink_job < job.json

The job: a CSV file of ticks, and queries, each row of which stands for `n` matches. One process, one JVM with Flink's
own mini-cluster, parallelism 1, streaming mode, event time with an ascending watermark. N queries are one, joined by
UNION ALL: Flink reads the file once for all of them. With `mode` batch it runs in Flink's batch mode, where a count is
one row anyway.

Flink's time for matching cannot be seen from outside. So a job that only reads the same file and counts its rows runs
before each one that matches; the questions take the difference. A window of 99 days, longer than the file, makes one
row of the counts: a count that changes with each row would cost more than all else. Times are the jobs' own net run
times, in seconds; the passes after the first one have a warm JVM.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from pyflink.table import (  # type: ignore[import-not-found]  # installed for the rival only
    EnvironmentSettings,
    TableEnvironment,
)

TABLE: Final = """
CREATE TABLE stock (
  name STRING, price DOUBLE, volume BIGINT, t BIGINT,
  ts AS TO_TIMESTAMP_LTZ(t * {ms}, 3), WATERMARK FOR ts AS ts
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""
ALL: Final = "SELECT 1 AS n, name, t, ts AS moment FROM stock"
COUNT: Final = """
SELECT SUM(n) FROM TABLE(TUMBLE(TABLE counted, DESCRIPTOR(moment), INTERVAL '99' DAY))
GROUP BY window_start, window_end
"""
COUNT_ALL: Final = "SELECT SUM(n) FROM counted"
BUFFERS: Final = "512 mb"  # of the network: each pattern is an exchange by key


def opened(ticks: str, batch: bool = False, milliseconds: int = 1) -> Any:
    """An environment with the ticks of a file as its table, one in so many milliseconds."""
    mode = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    tables = TableEnvironment.create(mode)
    settings = tables.get_config()
    settings.set("parallelism.default", "1")
    settings.set("taskmanager.memory.network.min", BUFFERS)
    settings.set("taskmanager.memory.network.max", BUFFERS)
    tables.execute_sql(TABLE.format(path=ticks, ms=milliseconds))
    return tables


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Seconds of reading and of reading and matching, a pass after the other, and how many there were of each."""
    batch = job.get("mode") == "batch"
    tables = opened(job["ticks"], batch)
    queries = " UNION ALL ".join(job["queries"])
    reading: list[float] = []
    whole: list[float] = []
    events = matches = 0
    for _ in range(job["passes"]):
        rows, seconds = run(tables, ALL, COUNT_ALL if batch else COUNT)
        events = sum(row[0] for row in rows)
        reading.append(seconds)
        rows, seconds = run(tables, queries, COUNT_ALL if batch else COUNT)
        matches = sum(row[0] for row in rows)
        whole.append(seconds)
    return {
        "events": events,
        "matches": matches,
        "reading": reading,
        "whole": whole,
    }


def run(tables: Any, query: str, count: str) -> tuple[list[Any], float]:
    """What a query over the rows of another one gives, and the seconds that its job ran."""
    tables.execute_sql(f"CREATE TEMPORARY VIEW counted AS {query}")
    result = tables.execute_sql(count)
    with result.collect() as rows:
        found = list(rows)
    seconds = result.get_job_client().get_job_execution_result().result().get_net_runtime() / 1000
    tables.execute_sql("DROP TEMPORARY VIEW counted")
    return found, seconds


if __name__ == "__main__":
    answer = measure(json.load(sys.stdin))
    print(json.dumps(answer))
