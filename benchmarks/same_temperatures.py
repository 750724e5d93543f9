"""The archive of daily temperatures through the engine: is what was found before found again, with the same ids?

    python -m benchmarks.same_temperatures --data PATH

PATH is the Parquet file that forecasts.temperatures describes; it is no part of the project, so that the digests of
flights, prices and logins are a test (tests/integration/test_same_results.py) and these are not. Prints a line a
subscription; exit status 1 where one differs. The digests were made by version 0.1.0 before its engine was rebuilt.
"""

from __future__ import annotations

import argparse
import json
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from broker.engine import Engine

from .forecasts.temperatures import HOT, days

STATIONS: Final = 6  # every so manyth station
PIECE: Final = 1_000
_HOT: Final = f"temp > {HOT}"
SUBSCRIPTIONS: Final[dict[str, dict[str, Any]]] = {
    "five": {"language": "ptopss", "query": f"FROM Weather BY station\na, b, c, d, e: {_HOT}\nMATCH a, b, c, d, e"},
    "apart": {
        "language": "ptopss",
        "query": f"FROM Weather BY station\na, b, c: {_HOT}\nMATCH a; b @(t(b) - t(a) < 3 days); c WITHIN 6 days",
        "report": "completions",
    },
    "warmer": {
        "query": f"SELECT station, temp FROM FILTER{{DUR > 3 days}}(FILTER{{{_HOT}}}(Weather) "
        "FOLD{$2.station = $.station, $2.temp > $.temp, $.temp AS temp} Weather)",
        "lineage": True,
    },
    "above": {
        "language": "sase",
        "query": "PATTERN SEQ(Weather a, Weather+ b[]) WHERE skip_till_next_match(a, b[]) { [station] "
        f"AND a.{_HOT} AND b[1].temp > a.temp AND b[i].temp > avg(b[..i-1].temp) }} "
        "WITHIN 8 days RETURN a.station, b.LEN, max(b[].temp)",
    },
    "predicted": {
        "language": "ptopss",
        "query": f"FROM Weather BY station\na, b, c, d, e: {_HOT}\nMATCH a, b, c, d, e",
        "forecast": {"within": 10, "threshold": 0.5},
    },
}
FOUND: Final[dict[str, str]] = {
    "five": "7818 ebc46394ba11ac6f",
    "apart": "11091 13c6eceda7795e89",
    "warmer": "25613 dc62df9b382e998f",
    "above": "25469 2aff6fbb5c02be3e",
    "predicted": "24612 e1f6dc8634119213",
}


def digests(path: Path) -> dict[str, str]:
    """By subscription, how many lines there are and the digest of them all in order."""
    sample = days(path).sample(STATIONS)
    walk = sample.walk
    rows = [(walk.names[run], temperature) for run, temperature in zip(walk.runs, sample.temperatures)]
    engine = Engine()
    engine.add_stream("Weather", {"station": "string", "temp": "float"}, key="station")
    for name, options in SUBSCRIPTIONS.items():
        engine.subscribe(name, **options)
    counts = dict.fromkeys(SUBSCRIPTIONS, 0)
    states = {name: blake2b(digest_size=8) for name in SUBSCRIPTIONS}
    for first in range(0, len(rows), PIECE):
        for result in engine.publish("Weather", walk.times[first : first + PIECE], rows[first : first + PIECE]):
            line = result.line()
            counts[line["subscription"]] += 1
            states[line["subscription"]].update(json.dumps(line, sort_keys=True).encode() + b"\n")
    return {name: f"{counts[name]} {state.hexdigest()}" for name, state in states.items()}


def main() -> int:
    """Exit status 1 where a digest differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.same_temperatures", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the Parquet file of the archive")
    found = digests(parser.parse_args().data)
    for name, digest in found.items():
        print(f"{name:12} {digest:28} {'as before' if FOUND.get(name) == digest else f'before: {FOUND.get(name)}'}")
    return int(found != FOUND)


if __name__ == "__main__":
    sys.exit(main())
