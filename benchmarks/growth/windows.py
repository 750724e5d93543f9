"""Time and memory of windows by how many starts are open: `python -m benchmarks.growth.windows [CASE ...]`.

    python -m benchmarks.growth.windows events time --starts 1000 10000 100000 1000000

An event comes each microsecond, all of one partition, so that `LAST n EVENTS` and `LAST n us` have n open starts. Each
trial is a process of its own, which plays twice as many events as starts and some more, reads the results, and says its
processor time for each of the last events, the longest batch, and how much its greatest resident set has grown for each
open start. `beyond` has a limit of half the starts. `PYTHONPATH` says which build is measured. All are flat: time and
bytes do not depend on the number of starts, nor on whether a limit is reached; the longest batch grows with it, since
columns are copied once in as many events.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from array import array
from typing import Any, Final

from broker.engine import Engine, Options

BATCH: Final = 100
MEASURED: Final = 20_000
CASES: Final = {
    "events": "LAST {n} EVENTS",
    "time": "LAST {n} us",
    "every": "LAST {n} EVENTS EVERY 1 EVENT",
    "clock": "LAST {n} us EVERY {tenth} us",
    "session": "SESSION {n} us",
    "beyond": "LAST {n} EVENTS",
    "beyond_clock": "EVERY {n} us",
}


def trial(case: str, starts: int) -> dict[str, Any]:
    """One case in this process."""
    options = Options(nodes_max=starts // 2) if case.startswith("beyond") else Options()
    engine = Engine(options)
    engine.add_stream("S", {"k": "string", "v": "float"})
    window = CASES[case].format(n=starts, tenth=starts // 10)
    engine.subscribe("q", "window", f"FROM S WINDOW {window} AGGREGATE sum(v) AS s, max(v) AS m")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    events = 2 * starts + MEASURED
    begun, longest, results, incomplete = time.process_time(), 0.0, 0, 0
    for first in range(0, events, BATCH):
        if first == 2 * starts:
            begun = time.process_time()
        at = time.process_time()
        numbers = array("d", [float(n * 7919 % 1009) for n in range(first, first + BATCH)])
        columns = {"k": ["x"] * BATCH, "v": numbers}
        for match in engine.publish_columns("S", columns, list(range(first, first + BATCH))):
            if match.kind == "incomplete":
                incomplete += 1
            else:
                results += len(match.data) > 0
        longest = max(longest, time.process_time() - at)
    spent = time.process_time() - begun
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "case": case, "starts": starts, "us_an_event": round(1e6 * spent / MEASURED, 2),
        "longest_batch_ms": round(1e3 * longest, 1), "bytes_a_start": round(1024 * grown / starts),
        "results": results, "incomplete": incomplete,
    }  # fmt: skip


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all by default")
    reader.add_argument("--starts", nargs="+", type=int, default=[1_000, 10_000, 100_000, 1_000_000])
    reader.add_argument("--here", action="store_true", help="one trial in this process")
    chosen = reader.parse_args()
    for case in chosen.cases or CASES:
        for starts in chosen.starts:
            if chosen.here:
                print(json.dumps(trial(case, starts)))
                continue
            command = [sys.executable, "-m", "benchmarks.growth.windows", case, "--starts", str(starts), "--here"]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
