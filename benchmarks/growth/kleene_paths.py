"""Memory and time of runs that keep many events: `python -m benchmarks.growth.kleene_paths [CASE ...] [--events N ...]`

    python -m benchmarks.growth.kleene_paths readme closing --events 1000 4000 20000

All events are of one key and in the window, so that without a bound each begins a run and extends all others. Each
trial is a process of its own, which says its processor time an event, and by how much its resident set grew at most
(VmHWM of /proc/self/status, set back before the first event; Linux). `PYTHONPATH` says which build is measured. Where
runs end (`readme`, `braces_end`, `least`) both are flat; where they may not, memory grows with the events and not with
their square, and time an event with the runs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from broker.engine import Engine

from ..memory_trial import resident

BATCH: Final = 100
STEP: Final = 10_000  # microseconds between two events
SECONDS_MAX: Final = 600
ATTRIBUTES: Final = {"ip": "string", "status": "string", "v": "int"}
DENIED: Final = "[ip] AND a[1].status = 'denied' AND a[i].status = 'denied'"
CASES: Final[dict[str, tuple[str, str, dict[str, Any]]]] = {
    "readme": ("sase", f"SEQ(E+ a[]) WHERE partition_contiguity(a[]) {{ {DENIED} AND a.LEN = 3 }}", {}),
    "braces_end": ("sase", "SEQ(E{2,3} a[]) WHERE partition_contiguity(a[]) { [ip] }", {}),
    "least": ("sase", f"SEQ(E+ a[]) WHERE skip_till_next_match(a[]) {{ {DENIED} AND max(a[].v) < 3 }}", {}),
    "closing": (
        "sase",
        f"SEQ(E+ a[], E b) WHERE partition_contiguity(a[], b) {{ {DENIED} AND a.LEN >= 3 AND b.status = 'ok' }}",
        {},
    ),
    "no_lineage": (
        "sase",
        f"SEQ(E+ a[], E b) WHERE partition_contiguity(a[], b) {{ {DENIED} AND a.LEN >= 3 AND b.status = 'ok' }}",
        {"lineage": False},
    ),
    "braces": ("sase", "SEQ(E a, E{2,} b[], E c) WHERE skip_till_next_match(a, b[], c) { c.status = 'ok' }", {}),
    "two": ("sase", "SEQ(E+ a[], E+ b[], E c) WHERE skip_till_next_match(a[], b[], c) { c.status = 'ok' }", {}),
    "sum": ("sase", "SEQ(E+ a[]) WHERE partition_contiguity(a[]) { [ip] AND sum(a[].v) > 1000000000000 }", {}),
    "afa": (
        "afa",
        "FROM E REGISTER n INT = 0 START s FINAL f s -> w WHEN status = 'denied' w -> w SET n = n + 1 "
        "w -> f WHEN status = 'ok'",
        {},
    ),
}


def trial(case: str, events: int) -> dict[str, Any]:
    """One case in this process."""
    language, query, options = CASES[case]
    if language == "sase":
        query = f"PATTERN {query} WITHIN 1 hour" + (" OUTPUT nonoverlap" if case == "sum" else "")
    engine = Engine()
    engine.add_stream("E", ATTRIBUTES)
    engine.subscribe("q", language, query, **options)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the greatest resident set is the present one
    before = resident("VmRSS")
    begun = time.process_time()
    matches, told = 0, []
    for first in range(0, events, BATCH):
        at = range(first, min(events, first + BATCH))
        for each in engine.publish("E", [n * STEP for n in at], [("x", "denied", n) for n in at], list(at)):
            if each.kind == "incomplete":
                told.append((each.limit, each.suspends))
            else:
                matches += 1
    spent = time.process_time() - begun
    grown = resident("VmHWM") - before
    return {
        "case": case, "events": events, "us_an_event": round(1e6 * spent / events, 1), "mb": round(grown / 1e6, 1),
        "matches": matches, "incomplete": len(told), "suspended": any(ends for _, ends in told),
    }  # fmt: skip


def apart(case: str, events: int) -> dict[str, Any]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.growth.kleene_paths", case, "--events", str(events), "--here"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_MAX, check=True)
    except subprocess.TimeoutExpired:
        return {"case": case, "events": events, "stopped": f"after {SECONDS_MAX} s"}
    except subprocess.CalledProcessError as error:
        return {"case": case, "events": events, "stopped": error.stderr.strip().rpartition("\n")[2]}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth.kleene_paths", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; by default all")
    parser.add_argument("--events", nargs="+", type=int, default=[1_000, 4_000, 20_000], metavar="N")
    parser.add_argument("--here", action="store_true", help="in this process")
    chosen = parser.parse_args(arguments)
    for case in chosen.cases or CASES:
        for events in chosen.events:
            print(json.dumps((trial if chosen.here else apart)(case, events)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
