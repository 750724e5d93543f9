"""`foretell streams`, `subscriptions` and `stats`: lists of a broker, as a table or as JSON lines."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, TypeAlias

import typer

from ..events.instant import LARGEST
from .complaint import escaped
from .connection import DEFAULT_BROKER, BrokerOption, connect
from .results import json_line

JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON lines also on a terminal.")]


NAMED: Final = {"by_stream": "stream", "by_subscription": "subscription"}
"""Groups of statistics with figures for each name, and what the names are of."""


def streams(broker: BrokerOption = DEFAULT_BROKER, json: JsonOption = False) -> None:
    """Show the declared streams."""
    with connect(broker) as client:
        found = client.streams()
    rows: list[dict[str, Any]] = []
    for s in found:
        rows.append({"name": s.name, "attributes": s.schema.declared(), "key": s.key, "disorder": s.disorder})
        if s.time_unit is not None:
            rows[-1]["time_unit"] = s.time_unit
    units = ["time_unit"] if any("time_unit" in row for row in rows) else []  # a terminal is narrow
    show(["name", "attributes", "key", "disorder", *units], rows, json)


def subscriptions(broker: BrokerOption = DEFAULT_BROKER, json: JsonOption = False) -> None:
    """Show the subscriptions, their attached clients, queues, cursors, versions and updates."""
    with connect(broker) as client:
        found = client.subscriptions()
    changed = ["version", "updates"] if any(s.version > 1 for s in found) else []  # a terminal is narrow
    show(
        ["name", "language", "subscribers", "queued", "cursors", *changed, "query"],
        [
            {
                "name": s.name,
                "language": s.language,
                "subscribers": s.subscribers,
                "queued": s.queued,
                "cursors": s.cursors,
                "version": s.version,
                "updates": [_update(*each) for each in s.updates],
                "query": s.query,
            }
            for s in found
        ],
        json,
    )


def _update(insert: Sequence[str], delete: Sequence[str], start: int, end: int) -> dict[str, Any]:
    """An update as a line of a file has it; times without end are left out."""
    line: dict[str, Any] = {"insert": list(insert), "delete": list(delete)}
    return line | ({"from": start} if start > -LARGEST else {}) | ({"to": end} if end <= LARGEST else {})


def stats(broker: BrokerOption = DEFAULT_BROKER, json: JsonOption = False) -> None:
    """Show the broker's statistics."""
    with connect(broker) as client:
        groups = client.statistics()
    show(["group", "name", "value"], list(_figures(groups)), json)


def _figures(groups: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield one row for each figure. Figures of a stream, a subscription or its forecasts are a group of their own."""
    forecasts: Mapping[str, Mapping[str, Any]] = {}
    for group, numbers in groups.items():
        for name, value in numbers.items():
            if group == "engine" and name == "forecasts":
                forecasts = value
            elif group in NAMED:
                for figure, of in value.items():
                    yield {"group": f"{NAMED[group]} {name}", "name": figure, "value": of}
            else:
                yield {"group": group, "name": name, "value": value}
    for subscription, figures in forecasts.items():
        for name, value in figures.items():
            nested = isinstance(value, Mapping)
            apart = {f"{name}.{each}": of for each, of in value.items()} if nested else {name: value}
            for each, of in apart.items():
                yield {"group": f"forecast {subscription}", "name": each, "value": of}


def show(columns: Sequence[str], rows: Sequence[Mapping[str, Any]], json: bool) -> None:
    """Print rows as a table on a terminal, as JSON lines otherwise."""
    if json or not sys.stdout.isatty():
        sys.stdout.write("".join([json_line(row) for row in rows]))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*[Text(_cell(row.get(column))) for column in columns])
    Console().print(table)


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case list():
            return "\n".join(" ".join(map(_cell, item)) if isinstance(item, list) else _cell(item) for item in value)
        case bool():
            return "yes" if value else "no"
        case dict():
            return "\n".join(f"{_cell(str(name))}: {_cell(str(kind))}" for name, kind in value.items())
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.6g}"
        case _:
            return escaped(" ".join(str(value).split()))
