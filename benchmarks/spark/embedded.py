"""The rival of Spark: processes of the embedded engine, each with its share of the work, on the same Parquet.

    python -m benchmarks.spark.embedded < job.json        one of them; says `ready`, waits for a line, says what it took

The work is divided as Spark would, by key or by subscription: what is compared is how the shares are run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spark_bridge import History, Subscriptions, plan_for
from spark_bridge.cells import run_cell
from spark_bridge.reading import runs_of
from spark_bridge.training import Training

from ..measuring import ROOT, BenchmarkError


def together(history: History, subscriptions: Subscriptions, scheme: str, processes: int, folder: Path) -> float:
    """Wall seconds of all shares at once, once all processes are ready. Raises BenchmarkError where one fails."""
    packed = folder / "subscriptions.packed"
    packed.write_bytes(subscriptions.packed())
    running: list[subprocess.Popen[str]] = []
    try:
        for number in range(processes):
            job = {
                "history": history.path,
                "subscriptions": str(packed),
                "scheme": scheme,
                "share": number,
                "of": processes,
            }
            process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.spark.embedded", json.dumps(job)],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            running.append(process)
        for process in running:
            _expect(process, "ready")
        begin = time.perf_counter()
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in running:
            _expect(process, "done")
        return time.perf_counter() - begin
    finally:
        for process in running:
            process.kill()
            process.communicate()


def _expect(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if line != word:
        raise BenchmarkError(f"embedded: expected {word!r}, found {line!r}")


def share(job: dict[str, Any]) -> None:
    """One process: a cell of the plan, and nothing of Spark."""
    history = History.open(job["history"])
    subscriptions = Subscriptions.unpack(Path(job["subscriptions"]).read_bytes())
    count = job["of"]
    plan = plan_for(subscriptions, "counts", scheme=job["scheme"], buckets=count, shards=count)
    cells: Sequence[Any] = plan.cells([])
    print("ready", flush=True)
    sys.stdin.readline()
    if job["share"] < len(cells):
        cell = cells[job["share"]]
        reads = list(subscriptions.streams)
        runs = runs_of(cell, history, subscriptions.streams, reads, history.columns)
        for batch in run_cell(cell, subscriptions, runs, Training()):
            assert batch.num_rows
    print("done", flush=True)


if __name__ == "__main__":
    share(json.loads(sys.argv[1]))
