"""`foretell top`: shows what a broker is doing at regular intervals: a screen on a terminal, JSON lines otherwise."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from .complaint import escaped
from .connection import DEFAULT_BROKER, BrokerOption, connect
from .results import json_line

if TYPE_CHECKING:
    from rich.console import Group

    from client import Client

RATES: Final = (
    ("events/s", "broker", "events"),
    ("results/s", "broker", "results"),
    ("notifications/s", "broker", "notifications_sent"),
    ("missed/s", "broker", "notifications_missed"),
    ("late/s", "broker", "events_refused_late"),
    ("withdrawn/s", "broker", "events_withdrawn"),
    ("retractions/s", "broker", "retractions"),
    ("denied/s", "broker", "denied"),
)
NAMED: Final = (
    ("streams", "by_stream", ("events", "events_refused"), ()),
    (
        "subscriptions", "by_subscription", ("results", "notifications_sent", "notifications_missed"),
        ("subscribers", "notifications_queued"),
    ),
)  # fmt: skip
"""Tables by name: their title, their group of the statistics, what is shown as rates, what as levels."""
SHOWN_MAX: Final = 20
"""Rows of such a table on a terminal, the busiest first; JSON lines have all."""
LEVELS: Final = (
    ("sessions", "broker", "sessions"),
    ("streams", "broker", "streams"),
    ("subscriptions", "broker", "subscriptions"),
    ("queued", "broker", "notifications_queued"),
    ("queued bytes", "broker", "notifications_queued_bytes"),
    ("states", "engine", "states"),
    ("runs", "engine", "runs"),
    ("not final", "engine", "buffered_events"),
    ("finality behind us", "engine", "finality_behind"),
    ("batch p50 us", "loop", "request_microseconds_p50"),
    ("batch p99 us", "loop", "request_microseconds_p99"),
    ("up s", "loop", "uptime_seconds"),
)


def top(
    interval: Annotated[float, typer.Option(metavar="S", min=0.1, help="Seconds between two updates.")] = 1.0,
    count: Annotated[int | None, typer.Option(metavar="N", min=1, help="End after N updates.")] = None,
    broker: BrokerOption = DEFAULT_BROKER,
) -> None:
    """Show what a broker is doing, until Ctrl-C."""
    with connect(broker) as client:
        looks = _looks(client, interval, count)
        if not sys.stdout.isatty():
            for look in looks:
                sys.stdout.write(json_line(look))
                sys.stdout.flush()
            return
        from rich.live import Live

        with Live(auto_refresh=False) as live:
            for look in looks:
                live.update(screen(broker, look), refresh=True)


def look_at(
    before: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]], seconds: float
) -> dict[str, Any]:
    """Return rates between two statistics taken so many seconds apart, then levels, without those that the broker
    lacks; then the same by stream and by subscription."""
    look: dict[str, Any] = {}
    for title, group, name in RATES:
        number = _number(now, group, name)
        if number is not None:
            look[title] = round((number - (_number(before, group, name) or 0)) / seconds, 1)
    for title, group, name in LEVELS:
        number = _number(now, group, name)
        if number is not None:
            look[title] = number
    for title, group, rates, levels in NAMED:
        rows = {name: row for name, row in now.get(group, {}).items() if isinstance(row, Mapping)}
        if rows:
            look[f"{title} by name"] = {
                name: {
                    **{f"{each}/s": _rate(before.get(group, {}), now[group], name, each, seconds) for each in rates},
                    **{each: _number(now[group], name, each) or 0 for each in levels},
                }
                for name in rows
            }
    return look


def _rate(before: Mapping[str, Any], now: Mapping[str, Any], name: str, figure: str, seconds: float) -> float:
    """Return a count's rate; a name that was made anew has begun at 0."""
    grown = (_number(now, name, figure) or 0) - (_number(before, name, figure) or 0)
    return round(max(0, grown) / seconds, 1)


def _number(statistics: Mapping[str, Mapping[str, Any]], group: str, name: str) -> float | None:
    """Return a statistic if it is a number."""
    value = statistics.get(group, {}).get(name)
    return value if isinstance(value, int | float) else None


def screen(address: str, look: Mapping[str, Any]) -> Group:
    """Return the figures as tables."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(title=address, title_justify="left")
    table.add_column("", justify="left")
    table.add_column("", justify="right")
    tables = [table]
    for title, value in look.items():
        if not isinstance(value, Mapping):
            table.add_row(title, f"{value:,}")
        elif value:
            busiest = sorted(value.items(), key=lambda each: (-next(iter(each[1].values())), each[0]))[:SHOWN_MAX]
            tables.append(Table(title=title, title_justify="left"))
            for column in ("", *busiest[0][1]):
                tables[-1].add_column(column, justify="right" if column else "left")
            for name, row in busiest:
                tables[-1].add_row(Text(escaped(name)), *[f"{figure:,}" for figure in row.values()])
    return Group(*tables)


def _looks(client: Client, interval: float, count: int | None) -> Iterator[dict[str, Any]]:
    before, then = client.statistics(), time.monotonic()
    for _ in iter(int, 1) if count is None else range(count):
        time.sleep(interval)
        statistics, now = client.statistics(), time.monotonic()
        yield look_at(before, statistics, now - then)
        before, then = statistics, now
