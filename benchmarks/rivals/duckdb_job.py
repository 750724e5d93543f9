"""One workload in DuckDB's SQL, in an interpreter of its own; no Foretell here.

    benchmarks/rivals/.venv-duckdb/bin/python -m benchmarks.rivals.duckdb_job < job.json

The ticks of a CSV file are in a table in memory before the clock runs. One thread; CPU time of the process, the best of
`passes`. The query gives a row a window; what is measured counts the rows and adds up their sums.
"""

from __future__ import annotations

import json
import sys
from time import process_time
from typing import Any

import duckdb  # type: ignore[import-not-found]  # installed for the rival only


def measure(job: dict[str, Any]) -> dict[str, Any]:
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    columns = "{'name': 'VARCHAR', 'price': 'DOUBLE', 'volume': 'BIGINT', 't': 'BIGINT'}"
    connection.execute(f"CREATE TABLE stock AS FROM read_csv('{job['ticks']}', header = false, columns = {columns})")
    (events,) = connection.execute("SELECT count(*) FROM stock").fetchone()
    seconds: list[float] = []
    windows, total = 0, 0.0
    for _ in range(job["passes"]):
        begun = process_time()
        windows, total = connection.execute(f"SELECT count(*), sum(s) FROM ({job['query']})").fetchone()
        seconds.append(process_time() - begun)
    return {"events": events, "windows": windows, "total": total or 0.0, "cpu": min(seconds)}


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
