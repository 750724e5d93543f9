"""The command line that compares builds: `python -m benchmarks.compare FOLDER FOLDER [...]`.

    python -m pip wheel --no-deps . && python -m zipfile -e foretell-*.whl /tmp/after
    python -m benchmarks.compare /tmp/before /tmp/after --repetitions 7

Each folder holds the unpacked packages of one build. W1 to W5, Kleene and composite workloads run on each in turn, a
process a trial, so that a slow minute of the machine meets all builds. Told are the units of cost of an event, and the
ratio to the first folder, round by round; a build that finds other matches than the first one is an error.

Not here: targets (`table`), and what an optimisation saves (`ablations`).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgpack
from rich.console import Console
from rich.table import Table

from . import workloads
from .composite_workload import Settings
from .kleene import queries
from .measuring import BenchmarkError, Spread, agreed, taken_in_turn, trial
from .report import spread
from .ticks import BATCH, Market, market, packed

WARM: Final = 5_000
EVENTS: Final = 100_000
MARKET: Final = 1_000_000
COMPOSITES: Final = 100  # events a subscription; the second half is measured
CEL, SASE, PTOPSS = "benchmarks.trial", "benchmarks.kleene.trial", "benchmarks.composite_trial"

Jobs = Mapping[str, tuple[str, Mapping[str, Any]]]


def jobs(stocks: Market, events: int, folder: Path) -> Jobs:
    """Module and job of each workload. Writes the streams into the folder."""
    ticks, letters = folder / "ticks.msgpack", folder / "letters.msgpack"
    ticks.write_bytes(msgpack.packb(packed(stocks.ticks[: WARM + events])))
    letters.write_bytes(msgpack.packb(packed(queries.letter_ticks(WARM + events))))
    common = {"warm": WARM // BATCH, "read": 0}
    cel: dict[str, Mapping[str, str]] = {"W1": {"q": workloads.W1}, "W2": {"q": workloads.W2}}
    for count in (10_000, 100_000):
        cel[f"W4 N={count:,}"] = workloads.texts(workloads.w4(stocks, count))
        cel[f"W5 N={count:,}"] = workloads.texts(workloads.w5(stocks, count))
    sase: dict[str, dict[str, tuple[str, str]]] = {
        "W3": {"q": ("sase", queries.query_3(500))},
        "max W=5,000": {"q": ("sase", queries.query_3(5_000, "max"))},
        "pairs N=10,000": {
            name: ("sase", text) for name, text in queries.pair_texts(queries.pairs(stocks, 10_000, 100)).items()
        },
    }
    made: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for name, texts in cel.items():
        made[name] = (CEL, {**common, "ticks": str(ticks), "subscriptions": texts})
    for name, pairs in sase.items():
        made[name] = (SASE, {**common, "ticks": str(ticks), "subscriptions": pairs})
    letter = {"q": ("sase", queries.letters(19))}
    made["letters"] = (SASE, {**common, "ticks": str(letters), "subscriptions": letter, "counted": True})
    load = Settings()
    half = COMPOSITES * load.count // 2
    stream = {"name": "paper", "kind": "paper", "cuts": [half, 2 * half], "fresh": False}
    made["composites"] = (PTOPSS, {"ticks": str(ticks), "settings": asdict(load), "streams": [stream]})
    return made


def units(figures: Mapping[str, Any]) -> float:
    """Units of cost an event; of composites, in the second half of the stream, without full garbage collections."""
    if "courses" not in figures:
        return float(figures["cpu"] / figures["events"] / figures["unit"])
    part = figures["courses"]["paper"]["slices"][-1]
    return float((part["cpu"] - part["collecting"]) / part["events"] / figures["unit"])


def matches(figures: Mapping[str, Any]) -> int:
    if "courses" not in figures:
        return int(figures["matches"])
    return sum(part["matches"] for part in figures["courses"]["paper"]["slices"])


def compare(folders: list[Path], asked: Jobs, repetitions: int, say: Callable[[str], None]) -> Table:
    """Run all. Raises BenchmarkError where a build fails or finds other matches."""
    measurements: dict[str, Callable[[], Any]] = {
        f"{name} {number}": partial(trial, module, job, folder=folder)
        for name, (module, job) in asked.items()
        for number, folder in enumerate(folders)
    }
    found = taken_in_turn(measurements, repetitions, say)
    shown = Table(caption="units of cost an event, and ratios to the first build: least / median / most")
    for heading in ("workload", "build", "compiled", "units", "ratio"):
        shown.add_column(heading)
    for name in asked:
        first = found[f"{name} 0"]
        for number, folder in enumerate(folders):
            own = found[f"{name} {number}"]
            agreed(name, "matches", [matches(figures) for figures in (*first, *own)])
            ratios = Spread.of(units(a) / units(b) for a, b in zip(own, first))
            compiled = "yes" if own[0]["compiled"] else "no"
            shown.add_row(name, str(folder), compiled, spread(Spread.of(map(units, own)), 2), spread(ratios, 3))
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description="Builds, beside each other.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="the packages of a build, unpacked")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N", help="of each trial (default: 5)")
    parser.add_argument("--events", type=int, default=EVENTS, metavar="N", help=f"timed (default: {EVENTS:,})")
    parser.add_argument("--only", action="append", default=[], metavar="WORKLOAD", help="those whose name begins so")
    chosen = parser.parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(prefix="foretell-compare-") as folder, console.status("making ticks") as status:
        asked = jobs(market(MARKET), chosen.events, Path(folder))
        if chosen.only:
            asked = {name: job for name, job in asked.items() if name.startswith(tuple(chosen.only))}
        try:
            shown = compare([path.resolve() for path in chosen.folders], asked, chosen.repetitions, status.update)
        except BenchmarkError as error:
            print(f"compare: {error}", file=sys.stderr)
            return 1
    console.print(shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
