"""One measurement of events held back, in an own process: a job in, figures out as JSON.

    python -m benchmarks.afa.flights_trial < job.json

The departures from New York in 2013 in the order of their schedule, or as they are reported: when a flight departs.
Its time is that of the schedule; departures of one minute are in the order of their flight numbers, a microsecond
apart. The subscription is three departures in a row of one aircraft that are late by more than 15 minutes.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from importlib.machinery import EXTENSION_SUFFIXES
from time import process_time
from typing import Final, Literal, TypedDict

import msgpack

from broker.command.demo.flights import ABSENT, flights
from broker.engine import Engine, results
from broker.events.schema import Row

from ..ticks import BATCH, market, packed
from ..unit import BATCHES, unit_seconds

ATTRIBUTES: Final = {"tail": "string", "flight": "int", "delay": "int"}
MINUTE: Final = 60_000_000
LATENESS: Final = 24 * 60 * MINUTE
QUERIES: Final = {
    "cayuga": """FILTER{delay > 15}(
  FILTER{delay > 15}(FILTER{delay > 15}(Departures) NEXT{$2.tail = $1.tail} Departures)
  NEXT{$2.tail = $1.tail} Departures)""",
    "sase": """PATTERN SEQ(Departures a, Departures b, Departures c)
WHERE partition_contiguity(a, b, c) { [tail] AND a.delay > 15 AND b.delay > 15 AND c.delay > 15 }
WITHIN 400 days""",
}

Language = Literal["cayuga", "sase"]


class FlightsJob(TypedDict):
    """`reported`: events come as they are reported, and the stream holds them back; else they come in order."""

    language: Language
    reported: bool


class FlightsFigures(TypedDict):
    """CPU seconds, but for counts. `overtaken`: the events that came after one with a later time."""

    compiled: bool
    events: int
    overtaken: int
    cpu: float
    unit: float
    matches: int


def scheduled() -> list[tuple[int, Row]]:
    """The time and the values of each flight that departed, by time."""
    kept = [
        (
            int(datetime(2013, int(f["month"]), int(f["day"]), int(f["sched_dep_time"]) // 100,
                         int(f["sched_dep_time"]) % 100, tzinfo=UTC).timestamp()) * 1_000_000,
            int(f["flight"]),
            (f["tailnum"], int(f["flight"]), int(f["dep_delay"])),
        )
        for f in flights()
        if f["dep_time"] != ABSENT
    ]  # fmt: skip
    kept.sort(key=lambda each: each[:2])
    found: list[tuple[int, Row]] = []
    for minute, _, row in kept:
        earliest = found[-1][0] + 1 if found and found[-1][0] >= minute else minute
        found.append((earliest, row))
    return found


def delay_of(row: Row) -> int:
    """The minutes, 0 where they are null."""
    return row[2] if isinstance(row[2], int) else 0


def measure(job: FlightsJob) -> FlightsFigures:
    """Publish the year, and count what is found."""
    wire = packed(market(BATCH * BATCHES).ticks)
    events = [(time, number, row) for number, (time, row) in enumerate(scheduled(), 1)]
    if job["reported"]:
        events.sort(key=lambda each: (each[0] + delay_of(each[2]) * MINUTE, each[1]))
    overtaken = newest = 0
    for time, _, _ in events:
        overtaken += time < newest
        newest = max(newest, time)
    engine = Engine()
    if job["reported"]:
        engine.add_stream("Departures", ATTRIBUTES, disorder="buffer", lateness=LATENESS)
    else:
        engine.add_stream("Departures", ATTRIBUTES)
    engine.subscribe("late", language=job["language"], query=QUERIES[job["language"]])
    batches = [events[at : at + BATCH] for at in range(0, len(events), BATCH)]
    # As decoding makes them: in the order in which they come.
    columns = [tuple(map(list, zip(*msgpack.unpackb(msgpack.packb(batch), use_list=False)))) for batch in batches]
    begun = process_time()
    matches = 0
    for times, ids, rows in columns:
        matches += sum(1 for _ in engine.publish("Departures", times, rows, ids=ids))
    if job["reported"]:
        matches += sum(1 for _ in engine.punctuate(newest + 1))
    spent = process_time() - begun
    return FlightsFigures(
        compiled=(results.__file__ or "").endswith(tuple(EXTENSION_SUFFIXES)), events=len(events), overtaken=overtaken,
        cpu=spent, unit=unit_seconds(wire), matches=matches,
    )  # fmt: skip


if __name__ == "__main__":
    print(json.dumps(measure(json.load(sys.stdin))))
