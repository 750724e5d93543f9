"""The archive of daily temperatures as a walk, and what is known of it exactly. The archive itself is never kept.

It is the University of Dayton's, of 157 stations in the United States and 167 elsewhere, 1995 to 2014, which the
P-ToPSS paper used: a Parquet file with the columns station, date and temp_f (degrees Fahrenheit, null where missing).
The subscription is the paper's, five days in a row above 30 C: `FROM Weather BY station MATCH hot, hot, hot, hot, hot`.
State r is "exactly r hot days in a row", 5 is "five or more": each day in it completes a match.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, final

from broker.events.schema import Row
from broker.forecast.chain import Shape, counted_chain, shape
from broker.forecast.counts import CountTable, GenerationClock
from broker.forecast.passage import first_passage

from ..measuring import BenchmarkError
from .through_engine import Feed
from .walks import DAY, Walk, transitions

LENGTH: Final = 5
HOT: Final = 86.0  # degrees Fahrenheit: 30 C
BANDS: Final = (50.0, 68.0, 86.0)  # 10, 20 and 30 C
PARTIAL: Final = frozenset(range(1, LENGTH))
TEST_FROM: Final = int(datetime(2007, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000

Fractions = tuple[tuple[int, int], ...]


@final
@dataclass(frozen=True, slots=True)
class Known:
    """What any engine must find in the archive: P(next day hot | r) as fractions, and the first passage within 10."""

    fractions: Fractions
    within_ten: tuple[str, ...]  # as printed


EVENTS: Final = 2_156_111
MATCHES: Final = 40_388
RUNS: Final = 3_087
WHOLE: Final = Known(
    ((17127, 2079529), (9168, 17123), (5817, 9168), (4086, 5817), (3087, 4086)),
    ("0.0088021", "0.1854677", "0.3409926", "0.5338824", "0.7573024"),
)
BEFORE: Final = Known(
    ((10340, 1303810), (5460, 10340), (3413, 5460), (2407, 3413), (1825, 2407)),
    ("0.008302", "0.181430", "0.338314", "0.537709", "0.759880"),
)


@final
@dataclass(frozen=True, slots=True)
class Days:
    """The walk of the subscription, and each day's temperature, in degrees Fahrenheit, with its band."""

    walk: Walk
    temperatures: list[float]
    bands: list[int]

    def feed(self) -> Feed:
        """What an engine is told of it."""
        walk = self.walk

        def row(event: int) -> Row:
            return walk.names[walk.runs[event]], self.temperatures[event]

        return Feed({"station": "string", "temp": "float"}, "station", f"temp > {HOT}", LENGTH, row)

    def sample(self, every: int) -> Days:
        """Every so manyth station alone."""
        walk = self.walk
        kept = [event for event, run in enumerate(walk.runs) if run % every == 0]
        part = Walk(
            walk.names[::every],
            [walk.runs[event] // every for event in kept],
            [walk.times[event] for event in kept],
            [walk.states[event] for event in kept],
            walk.final,
        )
        return Days(part, [self.temperatures[event] for event in kept], [self.bands[event] for event in kept])


def form() -> Shape:
    """What the engine knows of the chain before anything is counted: a state leads on, stays, or falls back."""
    following = [range(min(state + 1, LENGTH) + 1) for state in range(LENGTH + 1)]
    return shape(LENGTH + 1, {LENGTH}, range(LENGTH), following)


def days(path: Path) -> Days:
    """The archive in the order of days, then stations. Raises BenchmarkError where it cannot be read."""
    stations, dates, temperatures = archive(path)
    order = sorted(range(len(dates)), key=lambda row: (dates[row], stations[row]))
    names = sorted(set(stations))
    number = {name: place for place, name in enumerate(names)}
    walk = Walk(names, [], [], [], LENGTH)
    found: list[float] = []
    bands: list[int] = []
    hot = [0] * len(names)
    for row in order:
        run, day, temperature = number[stations[row]], dates[row], temperatures[row]
        hot[run] = min(hot[run] + 1, LENGTH) if temperature > HOT else 0
        walk.runs.append(run)
        walk.times.append(day * DAY)
        walk.states.append(hot[run])
        found.append(temperature)
        bands.append(sum(temperature > cut for cut in BANDS))
    return Days(walk, found, bands)


def archive(path: Path) -> tuple[list[str], list[int], list[float]]:
    """Station, day since 1970, degrees Fahrenheit, without nulls."""
    try:
        from pyarrow import ArrowException
        from pyarrow.compute import is_valid
        from pyarrow.parquet import read_table
    except ImportError:
        raise BenchmarkError("temperatures: pyarrow is missing: pip install 'foretell[parquet]'") from None
    try:
        found = read_table(path, columns=["station", "date", "temp_f"])
        found = found.filter(is_valid(found["temp_f"]))
        since = date(1970, 1, 1).toordinal()
        each_day = {day: day.toordinal() - since for day in found["date"].unique().to_pylist()}
        dates = [each_day[day] for day in found["date"].to_pylist()]
        return found["station"].to_pylist(), dates, found["temp_f"].to_pylist()
    except (OSError, ArrowException, AttributeError) as error:
        raise BenchmarkError(f"temperatures: {path}: {str(error).splitlines()[0]}") from None


def found(walk: Walk, before: int | None = None) -> Known:
    """The same of a walk, or of what lies before a time.

    A station's first day is a step from "no hot day behind it" in the figures of the whole archive; those of the part
    before 2007 leave it out.
    """
    counted = transitions(walk, before, first=before is None)
    leaving = [sum(n for (state, _), n in counted.items() if state == each) for each in range(LENGTH)]
    passage = first_passage(counted_chain(_table(counted), form(), smoothing=0.0), 10)
    digits = 7 if before is None else 6
    return Known(
        tuple((counted.get((state, state + 1), 0), leaving[state]) for state in range(LENGTH)),
        tuple(f"{passage.within(state, 10):.{digits}f}" for state in range(LENGTH)),
    )


def exact(walk: Walk) -> list[dict[str, Any]]:
    """Each known figure of the archive beside the one found, and whether they are equal."""
    whole, early = found(walk), found(walk, TEST_FROM)
    figures: Mapping[str, tuple[object, object]] = {
        "events": (EVENTS, len(walk)),
        "matches, overlapping": (MATCHES, walk.matches()),
        "runs that reach five": (RUNS, whole.fractions[-1][0]),
        "fractions, whole archive": (WHOLE.fractions, whole.fractions),
        "within 10, whole archive": (WHOLE.within_ten, whole.within_ten),
        "fractions, before 2007": (BEFORE.fractions, early.fractions),
        "within 10, before 2007": (BEFORE.within_ten, early.within_ten),
    }
    return [{"what": what, "found": got, "holds": got == known} for what, (known, got) in figures.items()]


def _table(counted: Mapping[tuple[int, int], int]) -> CountTable:
    table = CountTable(GenerationClock())
    for (state, following), times in counted.items():
        table.add(state, following, times)
    return table


def generated(walk: Walk, horizon: int) -> list[list[float]]:
    """The paper's chain of five days, corrected (departures, first passage), of what lies before 2007: curves."""
    passage = first_passage(counted_chain(_table(transitions(walk, TEST_FROM)), form()), horizon)
    return [passage.curve(state) for state in range(LENGTH + 1)]
