"""The command line that compares two builds: `python -m benchmarks.compare NAME=FOLDER NAME=FOLDER [OPTIONS]`.

    python -m pip wheel --no-deps . && python -m zipfile -e foretell-*.whl /tmp/after
    python -m benchmarks.compare 1ec1b20=/tmp/before c2e8f01=/tmp/after --instructions --repetitions 7

Each folder holds the unpacked packages of one build, whose name is its commit. `--instructions` counts them, which a
busy machine does not disturb: they decide whether a build does more work. `--repetitions` measures processor time, a
process a trial, the builds in turn, so that a slow minute of the machine meets both. A build that finds other matches
than the first one is an error. `--out` keeps the answer, beside what is already known of the same two builds.

Not here: targets (`table`), what an optimisation saves (`ablations`), the page that shows the answer.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, Final, Protocol

from rich.console import Console
from rich.table import Table

from .comparison import counting, through_broker
from .comparison.embedded import EmbeddedTrials
from .comparison.loads import READ, loads
from .comparison.page import WORSE, rows
from .measuring import BenchmarkError, Say, Spread
from .provenance import provenance
from .report import write
from .ticks import market

MARKET: Final = 1_000_000
WARM: Final = 5_000
TIMED, COUNTED = 100_000, 2_000  # events
COMPILED, UNCOMPILED = "builds", "builds_uncompiled"  # names of the kept answers

Builds = Mapping[str, Path]


class Trials(Protocol):
    """A load: by phase, what each thing costs that is done."""

    def counted(self, build: Path, dumps: Path) -> dict[str, float]: ...

    def timed(self, build: Path) -> dict[str, float]: ...


def trials(events: int, folder: Path, data: Mapping[str, Path], only: Sequence[str]) -> Iterator[tuple[str, Trials]]:
    """Those whose name begins so; all, if none is named."""
    prefixes = tuple(only) or ("",)
    for name in through_broker.LOADS:
        if name.startswith(prefixes):
            yield name, through_broker.BrokerTrials(name)
    if all(prefix.startswith("broker") for prefix in prefixes):
        return
    for name, made in loads(market(MARKET), WARM + events + READ, data).items():
        if name.startswith(prefixes):
            yield name, EmbeddedTrials(name, made(), WARM, folder)


def counted(name: str, asked: Trials, builds: Builds, dumps: Path, say: Say) -> Iterator[dict[str, Any]]:
    """Instructions, of one trial: they repeat. Raises BenchmarkError."""
    found = []
    for build, folder in builds.items():
        say(f"{name}: counting {build}")
        found.append(asked.counted(folder, dumps / name.replace(" ", "-").replace(",", "") / build))
    for phase in found[0]:
        each = [round(counts[phase]) for counts in found]
        yield {"load": name, "of": phase, "each": each, "ratio": round(each[1] / each[0], 4)}


def timed(name: str, asked: Trials, builds: Builds, repetitions: int, say: Say) -> Iterator[dict[str, Any]]:
    """Microseconds of processor time, and the ratio of each round. Raises BenchmarkError."""
    found: list[list[dict[str, float]]] = [[], []]
    for repetition in range(repetitions):
        for own, (build, folder) in zip(found, builds.items(), strict=True):
            say(f"{name}: {build}, {repetition + 1} of {repetitions}")
            own.append(asked.timed(folder))
    for phase in found[0][0]:
        before, after = ([seconds[phase] for seconds in own] for own in found)
        yield {
            "load": name,
            "of": phase,
            "each": [asdict(Spread.of(own)) for own in (before, after)],
            "ratio": asdict(Spread.of(b / a for a, b in zip(before, after, strict=True) if a)),
        }


def compared(chosen: argparse.Namespace, builds: Builds, folder: Path, say: Say) -> dict[str, Any]:
    """Counts and times of what was asked for; each load is kept as soon as it is known. Raises BenchmarkError."""
    data = {name: Path(path) for name, _, path in (each.partition("=") for each in chosen.data)}
    dumps = chosen.dumps or folder / "dumps"
    answer: dict[str, Any] = {**provenance(), "builds": list(builds), "repetitions": chosen.repetitions}
    answer |= {"counted": [], "timed": []}
    if chosen.instructions:
        counting.build_counter(folder)
        for name, asked in trials(COUNTED, folder, data, chosen.only):
            answer["counted"] += counted(name, asked, builds, dumps, say)
            keep(answer, builds, chosen.out)
    if chosen.repetitions:
        for name, asked in trials(TIMED, folder, data, chosen.only):
            answer["timed"] += timed(name, asked, builds, chosen.repetitions, say)
            keep(answer, builds, chosen.out)
    return answer


def keep(answer: dict[str, Any], builds: Builds, folder: Path | None) -> None:
    if folder is not None:
        name = COMPILED if all(map(compiled, builds.values())) else UNCOMPILED
        write(folder, name, merged(answer, folder / f"{name}.json"))


def merged(answer: dict[str, Any], file: Path) -> dict[str, Any]:
    """The answer, with what a file knows of the same builds and was not measured again."""
    known = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    if known.get("builds") != answer["builds"]:
        return answer
    made = dict(answer)
    for kind in ("counted", "timed"):
        found = {(row["load"], row["of"]): row for row in known[kind]}
        made[kind] = list((found | {(row["load"], row["of"]): row for row in answer[kind]}).values())
    made["repetitions"] = answer["repetitions"] or known["repetitions"]
    return made


def table(answer: Mapping[str, Any]) -> Table:
    before, after = answer["builds"]
    shown = Table(caption="ratios of rounds: least / median / most")
    shown.add_column("load")
    shown.add_column("of")
    for heading in (f"instructions, {before}", after, "ratio", f"us, {before}", after, "ratios"):
        shown.add_column(heading, justify="right")
    for row in rows(answer):
        style = "bold red" if row.counted is not None and row.counted > WORSE else None
        shown.add_row(row.load, row.of, *row.instructions, row.ratio, *row.microseconds, row.ratios, style=style)
    return shown


def compiled(build: Path) -> bool:
    return any(file.name.endswith(tuple(EXTENSION_SUFFIXES)) for file in (build / "broker").rglob("*"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare", description="Builds, beside each other.")
    parser.add_argument("builds", nargs=2, metavar="NAME=FOLDER", help="the packages of a build, unpacked")
    parser.add_argument("--instructions", action="store_true", help="count them (needs valgrind and a C compiler)")
    parser.add_argument("--repetitions", type=int, default=0, metavar="N", help="of each timed trial (default: none)")
    parser.add_argument("--only", action="append", default=[], metavar="LOAD", help="those whose name begins so")
    parser.add_argument("--data", action="append", default=[], metavar="NAME=PATH", help="temperatures, stocks")
    parser.add_argument("--dumps", type=Path, metavar="DIR", help="keep what callgrind_annotate reads")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep the answer there")
    chosen = parser.parse_args()
    builds = {name: Path(path).resolve() for name, _, path in (each.partition("=") for each in chosen.builds)}
    if len(builds) < 2:
        parser.error("the builds have one name")
    console = Console(width=None if sys.stdout.isatty() else 150)
    with tempfile.TemporaryDirectory(prefix="foretell-compare-") as folder, console.status("compare") as status:
        try:
            answer = compared(chosen, builds, Path(folder), status.update)
        except BenchmarkError as error:
            print(f"compare: {error}", file=sys.stderr)
            return 1
    console.print(table(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
