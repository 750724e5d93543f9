"""One workload in Flink SQL's windows, through PyFlink, in an interpreter of its own; no Foretell here.

    benchmarks/rivals/.venv/bin/python -m benchmarks.rivals.flink_windows_job < job.json

As flink_job, whose table and way of counting it uses: a job that only reads the file runs before each one that makes
windows, and the question takes the difference. The query gives a row a window with its sum `s` and its time `moment`.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

from .flink_job import ALL, COUNT, opened, run

MILLISECONDS: Final = 10  # between ticks, so that no session has a gap just as long as Flink's: its watermark decides
TOTAL: Final = COUNT.replace("SUM(n)", "COUNT(s), SUM(s)")


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Seconds of reading and of reading and making windows, a pass after the other."""
    tables = opened(job["ticks"], milliseconds=MILLISECONDS)
    reading: list[float] = []
    whole: list[float] = []
    events = windows = 0
    total = 0.0
    for _ in range(job["passes"]):
        ((events,),), seconds = run(tables, ALL, COUNT)
        reading.append(seconds)
        rows, seconds = run(tables, job["query"], TOTAL)
        windows, total = sum(row[0] for row in rows), sum(row[1] for row in rows)
        whole.append(seconds)
    return {"events": events, "windows": windows, "total": total, "reading": reading, "whole": whole}


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
