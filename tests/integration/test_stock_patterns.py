"""The patterns of docs/stocks.md on the same prices, counted by plain loops that know nothing of the engine."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from datetime import UTC, datetime
from itertools import pairwise
from typing import TypeAlias

import pytest
from integration.pages import ROOT, blocks

from broker.engine import Engine

Day: TypeAlias = tuple[int, str, float, int]
DAY = 86_400_000_000


@pytest.fixture(scope="module")
def days() -> list[Day]:
    with (ROOT / "examples" / "data" / "stocks-2012.csv").open(encoding="ascii") as file:
        rows = list(csv.DictReader(file))
    instants = [datetime.fromisoformat(row["day"]).replace(tzinfo=UTC).timestamp() for row in rows]
    times = [int(instant) * 1_000_000 for instant in instants]
    return [(time, row["symbol"], float(row["close"]), int(row["volume"])) for time, row in zip(times, rows)]


@pytest.fixture(scope="module")
def found(days: list[Day]) -> Counter[str]:
    """How many matches each subscription of the page has."""
    engine = Engine()
    engine.add_stream("Stock", {"symbol": "string", "close": "float", "volume": "int"})
    for block in blocks(ROOT / "docs" / "stocks.md"):
        if block.info.startswith("toml"):
            for name, wanted in tomllib.loads(block.text)["subscriptions"].items():
                engine.subscribe(name, language="sase", query=wanted["query"])
    results = engine.publish("Stock", [day[0] for day in days], [day[1:] for day in days])
    counted = Counter(match.subscription for match in results.expanded())
    return counted + Counter(match.subscription for match in engine.finish())


def by_symbol(days: list[Day]) -> list[list[Day]]:
    known: dict[str, list[Day]] = {}
    for day in days:
        known.setdefault(day[1], []).append(day)
    return list(known.values())


def test_rising_closes(days: list[Day], found: Counter[str]) -> None:
    overlapping = apart = 0
    for own in by_symbol(days):
        row, free = 1, 0
        for number, (before, day) in enumerate(pairwise(own), 1):
            row = row + 1 if day[2] > before[2] else 1
            overlapping += row >= 6
            if row >= 6 and number - 5 >= free:
                apart, free = apart + 1, number + 1
    assert (found["rising"], found["apart"]) == (overlapping, apart) == (33, 14)


def test_strategies(days: list[Day], found: Counter[str]) -> None:
    counted: Counter[str] = Counter()
    for own in by_symbol(days):
        for number, first in enumerate(own):
            week = [day for day in own[number + 1 :] if day[0] - first[0] <= 7 * DAY]
            high = [day[2] > 1.03 * first[2] for day in week]
            counted += Counter(partition=int(high[:1] == [True]), next=int(any(high)), any=sum(high))
    assert counted == Counter({name: found[name] for name in ("partition", "next", "any")})
    assert found["strict"] == 0


def test_query_3(days: list[Day], found: Counter[str]) -> None:
    counted = 0
    for own in by_symbol(days):
        for number, first in enumerate(own):
            if first[3] <= 25_000_000:
                continue
            closes, volume = [first[2]], first[3]
            for time, _, close, shares in own[number + 1 :]:
                if time - first[0] > 14 * DAY:
                    break
                counted += shares < 0.4 * volume
                if close > sum(closes) / len(closes):
                    closes.append(close)
                    volume = shares
    assert found["query-3"] == counted == 165


def test_negations(days: list[Day], found: Counter[str]) -> None:
    first_in_a_month = steady = top = 0
    for own in by_symbol(days):
        for number, day in enumerate(own):
            month = [other for other in own[:number] if other[0] > day[0] - 30 * DAY]
            if day[3] > 40_000_000 and not any(other[3] > 40_000_000 for other in month):
                first_in_a_month += 1
            following = [other for other in own[number + 1 :] if other[0] - day[0] <= 30 * DAY]
            high = next((at for at, other in enumerate(following) if other[2] > 1.1 * day[2]), None)
            if high is not None and not any(other[2] < day[2] for other in following[:high]):
                steady += 1
            if following and following[0][2] > 1.05 * day[2]:
                top += not any(other[2] > following[0][2] for other in following[1:])
    assert found["first-in-a-month"] == first_in_a_month == 6
    assert found["steady"] == steady == 72
    assert found["top"] == top


def test_compressed(days: list[Day], found: Counter[str]) -> None:
    """Rising subsequences, counted by their last day."""
    counted = 0
    for own in by_symbol(days):
        for number, day in enumerate(own):
            month = [other for other in own[:number] if day[0] - other[0] <= 21 * DAY]
            ending: list[int] = []  # rising subsequences that end with each day of the month
            for at, other in enumerate(month):
                longer = sum(ending[before] for before in range(at) if month[before][2] < other[2])
                ending.append(longer + (other[3] > 60_000_000))
            counted += sum(n for n, other in zip(ending, month) if day[2] < 0.98 * other[2])
    assert found["higher"] == counted == 13_965
