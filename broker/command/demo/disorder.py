"""`foretell demo --disorder`: real flights in the order in which they left, matched in the order of their schedule.

A late flight is a late event. Patterns are over the schedule, so that a flight that leaves hours late comes between
others that have been reported long ago, and withdraws what they have led to. Not here: the plain demonstration
(`command`), what is printed (`disorder_screen`).
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final
from warnings import catch_warnings

from .disorder_screen import DisorderScreen
from .flights import Departure
from .patterns import MOVEMENT, REVISED, STREAMS
from .standing import StandingMatches

if TYPE_CHECKING:
    from client import Client

LATENESS: Final = 6 * 3_600_000_000
"""The promise of the stream in microseconds: a flight that leaves later after its time is refused."""

DEPARTURES: Final = STREAMS[0]


def show_disorder(
    reported: Sequence[Departure], publisher: Client, subscriber: Client, seconds: float, screen: DisorderScreen
) -> tuple[dict[str, StandingMatches], int]:
    """Publish the reports over so many seconds, and print what is found, withdrawn and final.

    Return what became of the matches by subscription, and how many reports the broker refused as too late.
    """
    from client import RefusedWarning

    publisher.add_stream(DEPARTURES, dict(MOVEMENT), disorder="speculate", lateness=LATENESS)
    reading = [subscriber.subscribe(pattern.name, pattern.language, pattern.query) for pattern in REVISED]
    standing = {pattern.name: StandingMatches() for pattern in REVISED}

    def listen(now: int, arrived: Sequence[Departure]) -> None:
        """Print what the broker has found in the reports that arrived at `now`."""
        # The broker answers in order: all earlier notifications have arrived before the answer to a ping.
        subscriber.ping()
        for subscription in reading:
            matches = standing[subscription.name]
            while (notification := subscription.poll()) is not None:
                line = notification.line()
                took = matches.take(line, now)
                screen.result(line, now, arrived, took, len(matches.told))

    refused = 0
    began, begin = clock.monotonic(), reported[0].at
    span = max(reported[-1].at - begin, 1)
    for at, group in groupby(reported, key=lambda report: report.at):
        clock.sleep(max(0.0, began + (at - begin) / span * seconds - clock.monotonic()))
        minute = list(group)
        times, rows, ids = zip(*((report.scheduled, report.row, report.id) for report in minute))
        with catch_warnings(action="ignore", category=RefusedWarning):  # they are counted, and told at the end
            refused += len(publisher.publish_batch(DEPARTURES, times, rows, ids).refused)
        listen(at, minute)
    publisher.punctuate(max(report.scheduled for report in reported) + 1)
    listen(reported[-1].at, ())
    for subscription in reading:
        subscription.close()
    return standing, refused


def overtaken(reported: Sequence[Departure]) -> int:
    """Count the reports that came after one of a flight that was due later."""
    newest, count = reported[0].scheduled, 0
    for report in reported:
        count += report.scheduled < newest
        newest = max(newest, report.scheduled)
    return count
