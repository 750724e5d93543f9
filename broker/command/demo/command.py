"""`foretell demo`: a broker process, a publisher of real flights, and a subscriber to patterns, within a minute.

The command publishes the flights of some days in order, as fast as `seconds` asks, and prints notifications as they
arrive. Publisher and subscriber are two clients of the broker, like two programs.
"""

from __future__ import annotations

import subprocess
import sys
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..complaint import BadInput

if TYPE_CHECKING:
    from client import Client, Subscription

    from .flights import Movement

GLANCE_SECONDS: Final = 0.02
"""How long to wait for one subscription before polling the others."""

STOP_SECONDS_MAX: Final = 10.0

LESSON_EVENTS: Final = 500
"""How many departures of earlier days are published at once."""


def demo(
    first: Annotated[str, typer.Option(metavar="DATE", help="The first day, in 2013.")] = "2013-03-07",
    days: Annotated[int, typer.Option(min=1, max=365, help="The number of days.")] = 2,
    seconds: Annotated[
        float, typer.Option(min=0.0, max=3600.0, help="The duration in seconds; 0: as fast as possible.")
    ] = 25.0,
) -> None:
    """Publish real flights and show the matches. The default days end in the snow storm of 8 March 2013."""
    from rich.console import Console

    from client import Client

    from .flights import movements
    from .screen import Screen

    day = _day(first)
    flown = movements(day, days)
    if not flown:
        raise BadInput(f"--first: expected a day of 2013, found {first}, after which there are no flights")
    new_year = date(day.year, 1, 1)
    earlier = movements(new_year, (day - new_year).days) if day > new_year else []
    before = [movement for movement in earlier if movement.stream == "Departures" and movement.time < flown[0].time]
    screen = Screen(Console(highlight=False))
    with broker_process() as address, Client(address) as publisher, Client(address) as subscriber:
        screen.opening(len(flown), day, days, seconds, address)
        foretelling = teach(before, publisher, subscriber)
        screen.learning(len(before), day)
        counts, publishing = show(flown, publisher, subscriber, foretelling, seconds, screen.notification)
        quality = subscriber.statistics()["engine"]["forecasts"][foretelling.name]
        foretelling.close()
    screen.summary(len(flown), publishing, counts)
    screen.quality(quality)


def teach(before: Sequence[Movement], publisher: Client, subscriber: Client) -> Subscription:
    """Publish earlier departures, from which the predictive subscription learns."""
    from .patterns import LATE_AGAIN, MOVEMENT, STREAMS

    for stream in STREAMS:
        publisher.add_stream(stream, dict(MOVEMENT), key="tail")
    asked = dict(LATE_AGAIN.forecast or {})
    found = subscriber.subscribe(LATE_AGAIN.name, "ptopss", LATE_AGAIN.query, forecast=asked)
    for begin in range(0, len(before), LESSON_EVENTS):
        lesson = before[begin : begin + LESSON_EVENTS]
        publisher.publish_batch("Departures", [m.time for m in lesson], [m.row for m in lesson])
        while found.poll() is not None:
            pass
    subscriber.ping()
    while found.poll() is not None:
        pass
    return found


def show(
    flown: Sequence[Movement],
    publisher: Client,
    subscriber: Client,
    foretelling: Subscription,
    seconds: float,
    tell: Callable[[Mapping[str, Any]], None],
) -> tuple[dict[str, int], float]:
    """Publish the movements over so many seconds and print every notification.

    Return the number of notifications by subscription, and how many seconds publishing took.
    """
    from .patterns import PATTERNS

    reading = [subscriber.subscribe(pattern.name, language="cayuga", query=pattern.query) for pattern in PATTERNS]
    counts = {pattern.name: 0 for pattern in PATTERNS}

    def listen(until: float) -> None:
        """Print what arrives until that moment, at least what has already arrived."""
        while True:
            for subscription in (*reading, foretelling):
                while (notification := subscription.poll()) is not None:
                    if subscription is not foretelling:
                        counts[subscription.name] += 1
                    tell(notification.line())
            rest = until - clock.monotonic()
            if rest <= 0:
                return
            clock.sleep(min(rest, GLANCE_SECONDS))

    publishing = 0.0
    began, begin = clock.monotonic(), flown[0].time
    span = max(flown[-1].time - begin, 1)
    # Events of one minute and one stream are one batch.
    for (time, stream), group in groupby(flown, key=lambda movement: (movement.time, movement.stream)):
        listen(began + (time - begin) / span * seconds)
        rows = [movement.row for movement in group]
        asked = clock.monotonic()
        publisher.publish_batch(stream, [time] * len(rows), rows)
        publishing += clock.monotonic() - asked
    # The broker answers in order: all earlier notifications have arrived before the answer to a ping.
    subscriber.ping()
    listen(clock.monotonic())
    for subscription in reading:
        subscription.close()
    return counts, publishing


def _day(written: str) -> date:
    try:
        return date.fromisoformat(written)
    except ValueError:
        raise BadInput(f"--first: expected a date such as 2013-03-07, found {written!r}") from None


@contextmanager
def broker_process() -> Iterator[str]:
    """Start a broker process on a free loopback port and yield its address. SIGTERM stops it at the end."""
    command = [sys.executable, "-m", "broker.command", "serve", "--address", "tcp://127.0.0.1:0"]
    # In its own session the broker does not get Ctrl-C from the terminal; this process stops it in order.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            word, _, address = process.stdout.readline().strip().rpartition(" ")
            if word != "listening on":
                raise BadInput("the demonstration's broker ended before it listened")
            yield address
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
