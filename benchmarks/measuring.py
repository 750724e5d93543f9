"""How things are measured here: in own processes, in turn, several times, and told as least, median, most.

Not here: what is measured (questions), what one process does (trial), where it ran (provenance).
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias, final

ROOT: Final = Path(__file__).parents[1]
SECONDS_MAX: Final = 1_800  # a trial
DIGITS: Final = 4  # significant ones in a result: more would be noise

Say: TypeAlias = Callable[[str], None]


class BenchmarkError(Exception):
    """A benchmark that cannot be run, or that found something else than it should; one line."""


@final
@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: of a market of `market` ticks the first `warm`, untimed, and the next `events`.

    `subscriptions` is the most that a case may have; cases that would have more have that many. `data`: where what is
    not part of the project lies, by name.
    """

    market: int
    warm: int
    events: int
    repetitions: int
    subscriptions: int
    data: Mapping[str, Path] = field(default_factory=dict)


FULL: Final = Effort(market=1_000_000, warm=5_000, events=100_000, repetitions=5, subscriptions=100_000)
QUICK: Final = Effort(market=20_000, warm=1_000, events=10_000, repetitions=1, subscriptions=2_000)


@final
@dataclass(frozen=True, slots=True)
class Spread:
    """Repeated measurements of one thing."""

    least: float
    median: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        found = sorted(values)
        return cls(*(float(f"{x:.{DIGITS}g}") for x in (found[0], statistics.median(found), found[-1])))


def trial(
    module: str,
    job: Mapping[str, Any],
    python: str = sys.executable,
    folder: str | Path = ROOT,
    under: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
) -> Any:
    """What `python -m module` says, in JSON, to a job in JSON. Another interpreter may be a rival's.

    `folder` is where Foretell's packages are taken from; the benchmarks are always these. `under` is a command that
    runs it, `variables` are added to the environment. Raises BenchmarkError with the last line of its complaint.
    """
    command = [*under, python, "-m", module]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(job),
            capture_output=True,
            text=True,
            cwd=folder,
            # Before what is installed.
            env={**os.environ, **(variables or {}), "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
            timeout=SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BenchmarkError(f"{module}: no result after {SECONDS_MAX} s") from None
    if done.returncode:
        complaint = done.stderr.strip().splitlines() or ["no complaint"]
        raise BenchmarkError(f"{module}: exit status {done.returncode}: {complaint[-1]}")
    return json.loads(done.stdout)


def in_turn(
    jobs: Mapping[str, Mapping[str, Any]], repetitions: int, module: str, say: Say, folder: str | Path = ROOT
) -> dict[str, list[Any]]:
    """Each job that many times, a round of all after the other: a slow minute of the machine meets all of them."""
    trials = {name: partial(trial, module, job, folder=folder) for name, job in jobs.items()}
    return taken_in_turn(trials, repetitions, say)


def taken_in_turn(measurements: Mapping[str, Callable[[], Any]], repetitions: int, say: Say) -> dict[str, list[Any]]:
    """The same for measurements that differ in more than their job."""
    found: dict[str, list[Any]] = {name: [] for name in measurements}
    for repetition in range(repetitions):
        for name, measure in measurements.items():
            say(f"{name}, {repetition + 1} of {repetitions}")
            found[name].append(measure())
    return found


def agreed(name: str, what: str, values: Sequence[Any]) -> Any:
    """The one value that all repetitions must have. Raises BenchmarkError."""
    if any(value != values[0] for value in values):
        raise BenchmarkError(f"{name}: {what} differ between repetitions: {sorted(set(map(str, values)))}")
    return values[0]
