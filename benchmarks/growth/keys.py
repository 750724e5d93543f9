"""What keys that never return leave behind their window: `python -m benchmarks.growth.keys [KIND ...]`.

    python -m benchmarks.growth.keys AFA window --keys 10000 100000 1000000

Each key has one event, four microseconds behind the one before it, and its window has passed after ten. Each trial is a
process of its own, which says by how much its resident set has grown since a first tenth of the keys, for each of the
others, and its processor time for each of them. `PYTHONPATH` says which build is measured. All are flat: bytes a key
fall with the number of keys, since what is kept is that of some thousand keys, however many there were.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any, Final

from broker.engine import Engine

from ..memory_trial import resident

BATCH: Final = 1_000
KINDS: Final = {
    "AFA": ("afa", "FROM S BY k START a FINAL c a -> b WHEN n = 1 b -> c WHEN n = 2 WITHIN 10"),
    "CEL": ("cayuga", "SELECT * FROM FILTER{n = 1}(S) NEXT{$2.k = $1.k AND $2.n = 2 AND DUR < 10} S"),
    "P-ToPSS": ("ptopss", "FROM S BY k\na: n = 1\nb: n = 2\nMATCH a ; b WITHIN 10"),
    "SASE+": ("sase", "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { [k] AND b.n = 2 } WITHIN 10"),
    "window": ("window", "FROM S BY k WINDOW AFTER any* MATCHING [n = 1] any* [n = 2] WITHIN 10"),
    "last": ("window", "FROM S BY k WINDOW LAST 10 us AGGREGATE count(*) AS c, sum(n) AS s"),
    "every": ("window", "FROM S BY k WINDOW EVERY 10 us AGGREGATE count(*) AS c"),
    "session": ("window", "FROM S BY k WINDOW SESSION 10 us AGGREGATE max(n) AS c"),
}
ORDERS: Final[dict[str, dict[str, Any]]] = {"in order": {}, "speculate": {"disorder": "speculate", "lateness": 5}}


def trial(kind: str, order: str, keys: int) -> dict[str, Any]:
    """One case in this process."""
    engine = Engine()
    engine.add_stream("S", {"k": "string", "n": "int"}, key="k", **ORDERS[order])
    language, text = KINDS[kind]
    engine.subscribe("q", language, text, lineage=False)
    before, begun = resident(), time.process_time()
    for first in range(0, keys, BATCH):
        if first == keys // 10:
            before, begun = resident(), time.process_time()
        rows = [(f"k{number}", 1) for number in range(first, first + BATCH)]
        engine.publish("S", list(range(4 * first, 4 * (first + BATCH), 4)), rows, list(range(first, first + BATCH)))
    spent, measured = time.process_time() - begun, keys - keys // 10
    return {
        "kind": kind, "order": order, "keys": keys, "bytes_a_key": round((resident() - before) / measured, 1),
        "us_an_event": round(1e6 * spent / measured, 2),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of {', '.join(KINDS)}; all without one")
    parser.add_argument("--keys", nargs="+", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--trial", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.trial:
        kind, order = given.kinds
        print(json.dumps(trial(kind, order, given.keys[0])))
        return
    for kind in given.kinds or KINDS:
        for order in ORDERS:
            for keys in given.keys:
                command = [sys.executable, "-m", "benchmarks.growth.keys", kind, order, "--trial", "--keys", str(keys)]
                print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="", flush=True)


if __name__ == "__main__":
    main()
