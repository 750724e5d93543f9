"""Running contests in an own process, with the rivals compiled where Foretell is.

Here: compiling, running, and that all agree on what is left. Not here: a contest itself (rivals_trial).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..builds import SECONDS_MAX, Build
from ..measuring import BenchmarkError, Say, Spread, trial
from .rivals_trial import Contest, ContestFigures

TRIAL: Final = "benchmarks.afa.rivals_trial"
SOURCE: Final = Path(__file__).with_name("rivals.py")


def contests(
    named: Mapping[str, Mapping[str, Contest]], form: Build, rounds: int, say: Say
) -> dict[str, dict[str, ContestFigures]]:
    """By name of a group, what became of each of its contests; a process a group, in which they take turns.

    Raises BenchmarkError."""
    found: dict[str, dict[str, ContestFigures]] = {}
    with tempfile.TemporaryDirectory(prefix="foretell-rivals-") as name:
        folder = _compiled(Path(name), say) if form.compiled else None
        for group, jobs in named.items():
            say(f"{group}: {len(jobs)} contests")
            asked = {"jobs": list(jobs.values()), "rounds": rounds, "folder": folder}
            found[group] = dict(zip(jobs, trial(TRIAL, asked, folder=form.folder), strict=True))
            _agree(group, jobs, found[group])
    return found


def _compiled(folder: Path, say: Say) -> str:
    """Where the rivals are, compiled."""
    say("compiling the rivals")
    shutil.copy(SOURCE, folder)
    command = [sys.executable, "-m", "mypyc", SOURCE.name]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    if done.returncode:
        raise BenchmarkError(f"{SOURCE.name}: {(done.stderr.strip().splitlines() or ['no complaint'])[-1]}")
    return str(folder)


def _agree(group: str, jobs: Mapping[str, Contest], found: Mapping[str, ContestFigures]) -> None:
    """Raises BenchmarkError where two have got the same events, and other results are left."""
    first: dict[str, str] = {}
    for name, job in jobs.items():
        query = "Q1" if job["query"] == "CAN" else job["query"]
        same = str([query, *(job.get(each) for each in ("events", "within", "k", "up", "ignored"))])
        if "changes" in job:
            continue  # what restarts finds other results; each is checked by itself
        if found[first.setdefault(same, name)]["checksum"] != found[name]["checksum"]:
            raise BenchmarkError(f"{group}: other results are left of {name} than of {first[same]}")


def units(figures: ContestFigures) -> Spread:
    """What an event costs."""
    return Spread.of(each / figures["events"] / figures["unit"] for each in figures["cpu"])


def a_second(figures: ContestFigures) -> Spread:
    """Thousands of events in a second."""
    return Spread.of(figures["events"] / each / 1_000 for each in figures["cpu"])
