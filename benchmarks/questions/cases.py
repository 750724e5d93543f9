"""Cases of the embedded engine: a set of subscriptions, its number of matches, its trials, what they found.

Not here: which cases a question has, and how it shows them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, TypedDict

import msgpack

from ..measuring import BenchmarkError, Effort, Spread, agreed
from ..ticks import BATCH, Market, packed, to_csv
from ..trial import CEL, Figures, Job

READ_BATCHES: Final = 100  # the last 10,000 events' matches are read
READ_MIN: Final = 100  # fewer matches tell nothing of what one costs
MICRO: Final = 1e6


class Cost(TypedDict):
    """What every trial tells of its time: CPU seconds of so many events, and of decoding one."""

    events: int
    cpu: float
    unit: float


@dataclass(frozen=True, slots=True)
class Case:
    """Subscriptions by name, and how many matches they must have on all events.

    `read`: of how many batches, at the end, the matches are read. `batches`: how many batches of 100 are published as
    one. `options`: the engine's switches.
    """

    subscriptions: Mapping[str, str]
    matches: int
    read: int = READ_BATCHES
    batches: int = 1
    options: Mapping[str, bool] = field(default_factory=dict)
    language: str = CEL

    def job(self, ticks: Path, warm: int) -> Job:
        return Job(
            ticks=str(ticks),
            warm=warm,
            read=self.read,
            subscriptions=dict(self.subscriptions),
            batches=self.batches,
            options=dict(self.options),
            language=self.language,
        )


@contextmanager
def tick_file(stocks: Market, events: int, name: str = "ticks.msgpack") -> Iterator[Path]:
    """A temporary file of the first ticks, packed, or, where its name says so, CSV."""
    with tempfile.TemporaryDirectory(prefix="foretell-benchmark-") as folder:
        file = Path(folder) / name
        if file.suffix == ".csv":
            to_csv(file, stocks.ticks[:events])
        else:
            file.write_bytes(msgpack.packb(packed(stocks.ticks[:events])))
        yield file


def checked(name: str, case: Case, repetitions: list[Figures]) -> list[Figures]:
    """The same figures. Raises BenchmarkError where the engine's matches are not those of the plain loops."""
    matches = agreed(name, "matches", [figures["matches"] for figures in repetitions])
    if matches != case.matches:
        raise BenchmarkError(f"{name}: {matches} matches, a plain loop finds {case.matches}")
    return repetitions


def workload(stocks: Market, effort: Effort) -> dict[str, Any]:
    """What identifies the events."""
    return {
        "seed": stocks.seed,
        "market": len(stocks.ticks),
        "digest": stocks.digest(),
        "warm": effort.warm,
        "events": effort.events,
    }


def warm_batches(effort: Effort) -> int:
    return effort.warm // BATCH


def units(repetitions: Sequence[Cost]) -> Spread:
    """The cost of an event in units, each of its own process."""
    return Spread.of(map(cost, repetitions))


def cost(figures: Cost) -> float:
    """Units an event."""
    return figures["cpu"] / figures["events"] / figures["unit"]


def summary(name: str, count: int, repetitions: list[Figures]) -> dict[str, Any]:
    """Rates by wall time; costs by CPU time, in microseconds and in units of the same process."""
    first = repetitions[0]
    columns = {
        "events_per_second": [f["events"] / f["wall"] for f in repetitions],
        "microseconds_per_event": [f["cpu"] / f["events"] * MICRO for f in repetitions],
        "unit_microseconds": [f["unit"] * MICRO for f in repetitions],
        "units_per_event": [cost(f) for f in repetitions],
        "microseconds_per_subscribe": [f["subscribe"] / count * MICRO for f in repetitions],
    }
    if first["read_matches"] >= READ_MIN:
        columns["microseconds_per_match_read"] = [f["read"] / f["read_matches"] * MICRO for f in repetitions]
        by_columns = [f["read_columns"] / f["read_matches"] * MICRO for f in repetitions]
        columns["microseconds_per_match_in_columns"] = by_columns
    return {
        "name": name,
        "subscriptions": count,
        "matches": first["matches"],
        "matches_read": first["read_matches"],
        "states": first["states"],
        "runs": first["runs"],
        **{column: asdict(Spread.of(values)) for column, values in columns.items()},
    }
