"""Time of an event by how many subscriptions search its text: `python -m benchmarks.growth.texts [--members N ...]`.

    python -m benchmarks.growth.texts --members 4000 100000

Subscriptions `contains(text, ...)`, `ends_with`, `LIKE~ '*..*'` and alternatives of three parts, each of a text of its
own made of two common words and a number, in a process of its own: loading them, one more, and 2,000 events with texts
of some 120 characters, of which few match. Figures are of processor time. The cost of an event should grow by much less
than the members, and one more should cost as little with many as with few. `PYTHONPATH` says which build is measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any, Final

from broker.engine import Engine

BATCH: Final = 100
MEASURED: Final = 2_000
MORE: Final = 100
SYLLABLES: Final = ("ka", "re", "mi", "to", "lu", "sen", "dor", "pha", "win", "gel", "bra", "ost", "ith", "cy", "nu")
CONDITIONS: Final = {
    "contains": "contains(text, '{0}')",
    "ends_with": "ends_with(text, '{0}')",
    "LIKE~": "text LIKE~ '*{0}*'",
    "three": "(contains(text, '{0}a') OR contains(text, '{0}b') OR text LIKE '*{0}')",
}


def word(number: int) -> str:
    found = ""
    for _ in range(3):
        number, at = divmod(number * 7919 % 1_000_003, len(SYLLABLES))
        found += SYLLABLES[at]
    return found


def part(number: int) -> str:
    return f"{word(number % 977)}-{word(number % 1013 + 5)}{number}"


def text(number: int, members: int) -> str:
    """A text of words, with the part of one member in a text of a hundred."""
    words = [word(number * 31 + place) for place in range(16)]
    if number % 100 == 0:
        words[-1] = part(number * 7919 % members)
    return " ".join(words)


def trial(condition: str, members: int) -> dict[str, Any]:
    """One case in this process."""
    engine = Engine()
    engine.add_stream("S", {"text": "string"})
    begun = time.process_time()
    for number in range(members):
        query = f"FILTER{{{CONDITIONS[condition].format(part(number))}}}(S)"
        engine.subscribe(f"q{number}", "cayuga", query)
    loaded = time.process_time() - begun
    engine.publish("S", [0], [("warm",)])
    found = 0

    def publish(first: int) -> float:
        nonlocal found
        rows = [(text(number, members),) for number in range(first, first + BATCH)]
        begun = time.process_time()
        found += len(engine.publish("S", list(range(first, first + BATCH)), rows))
        return time.process_time() - begun

    for first in range(0, MEASURED, BATCH):
        publish(first + 1)
    spent = sum(publish(first + 1) for first in range(MEASURED, 2 * MEASURED, BATCH))
    longest, all_more = 0.0, 0.0
    for number in range(members, members + MORE):
        begun = time.process_time()
        engine.subscribe(f"q{number}", "cayuga", f"FILTER{{{CONDITIONS[condition].format(part(number))}}}(S)")
        engine.publish("S", [2 * MEASURED + number], [("warm",)])
        took = time.process_time() - begun
        longest, all_more = max(longest, took), all_more + took
    return {
        "condition": condition, "members": members, "load_s": round(loaded, 2),
        "us_an_event": round(1e6 * spent / MEASURED, 1), "one_more_ms": round(1e3 * all_more / MORE, 3),
        "longest_ms": round(1e3 * longest, 2), "matches": found,
    }  # fmt: skip


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--conditions", nargs="+", default=list(CONDITIONS), choices=list(CONDITIONS))
    reader.add_argument("--members", nargs="+", type=int, default=[400, 4_000, 100_000])
    reader.add_argument("--here", action="store_true", help="one trial in this process")
    chosen = reader.parse_args()
    for condition in chosen.conditions:
        for members in chosen.members:
            if chosen.here:
                print(json.dumps(trial(condition, members)))
                continue
            own = ["--conditions", condition, "--members", str(members), "--here"]
            subprocess.run([sys.executable, "-m", "benchmarks.growth.texts", *own], check=True)


if __name__ == "__main__":
    main()
