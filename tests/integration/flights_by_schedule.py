"""The flights of 2013 as the acceptance counts them: those that departed, in scheduled order, which is their time."""

from __future__ import annotations

from typing import Final

from broker.command.demo.flights import ABSENT, flights

KEPT: Final = 328_521
MATCHES: Final = 6_643
"""Three departures in a row of one aircraft, each late by more than 15 minutes, overlapping; `counted` agrees."""

ATTRIBUTES: Final = {"tail": "string", "flight": "int", "delay": "int"}

QUERY: Final = """
SELECT tail, delay_1_1 AS first, delay_1 AS second, delay AS third FROM
  FILTER{delay > 15}(
    FILTER{delay > 15}(FILTER{delay > 15}(Departures) NEXT{$2.tail = $1.tail} Departures)
    NEXT{$2.tail = $1.tail} Departures)
"""

SUBSCRIPTIONS: Final = f"""
[streams.Departures]
attributes = {{ tail = "string", flight = "int", delay = "int" }}
key = "tail"

[subscriptions.three-late]
language = "cayuga"
query = '''{QUERY}'''
lineage = true
"""


def departures() -> list[tuple[str, int, int]]:
    """(tail, flight, delay) of every flight that departed, by scheduled departure, then flight number."""
    kept = [
        (
            (int(f["month"]), int(f["day"]), int(f["sched_dep_time"]), int(f["flight"])),
            (f["tailnum"], int(f["flight"]), int(f["dep_delay"])),
        )
        for f in flights()
        if f["dep_time"] != ABSENT
    ]
    # Stable: what also has the flight number in common stays in the order of the file.
    kept.sort(key=lambda pair: pair[0])
    return [row for _, row in kept]


def counted(rows: list[tuple[str, int, int]]) -> list[list[int]]:
    """The lineages that the query must find, by counting late departures in a row, without any engine."""
    in_a_row: dict[str, list[int]] = {}
    found: list[list[int]] = []
    for position, (tail, _, delay) in enumerate(rows, 1):
        late = in_a_row.setdefault(tail, [])
        if delay > 15:
            late.append(position)
            if len(late) >= 3:
                found.append(late[-3:])
        else:
            late.clear()
    return found
