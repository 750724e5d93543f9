"""`foretell top`: shows what a broker is doing at regular intervals: a screen on a terminal, JSON lines otherwise."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..console.looks import look_at
from .complaint import escaped
from .connection import DEFAULT_BROKER, BrokerOption, connect
from .results import json_line

if TYPE_CHECKING:
    from rich.console import Group

    from client import Client

SHOWN_MAX: Final = 20
"""Rows of such a table on a terminal, the busiest first; JSON lines have all."""


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
