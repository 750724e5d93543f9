"""The pages of docs/uses: what they find, counted by plain loops that know nothing of the engine."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import exp
from statistics import NormalDist
from typing import Any, Final, TypeAlias

import pytest
from integration.pages import ROOT, blocks

from broker.engine import Engine
from broker.events import Row, parse_instant

DATA: Final = ROOT / "examples" / "data"
HOUR: Final = 3_600_000_000

Series: TypeAlias = dict[str, list[tuple[int, float]]]
"""Times and values by symbol or station."""


def read(file: str) -> list[dict[str, str]]:
    with (DATA / file).open(encoding="ascii") as text:
        return list(csv.DictReader(text))


def series(rows: Iterable[dict[str, str]], key: str, time: str, value: str) -> Series:
    found: Series = defaultdict(list)
    for row in rows:
        found[row[key]].append((parse_instant(row[time]), float(row[value])))
    return found


@pytest.fixture(scope="module")
def prices() -> Series:
    return series(read("stocks-2012.csv"), "symbol", "day", "close")


@pytest.fixture(scope="module")
def temperatures() -> Series:
    return series(read("weather-2013-03.csv"), "station", "time", "temp")


def queries(page: str) -> dict[str, str]:
    """The AFA queries of a page, by subscription."""
    found: dict[str, str] = {}
    for block in blocks(ROOT / "docs" / "uses" / page):
        if block.info.startswith("toml"):
            wanted = tomllib.loads(block.text)["subscriptions"]
            found |= {name: each["query"] for name, each in wanted.items() if each["language"] == "afa"}
    return found


def found(page: str, stream: str, attributes: dict[str, str], events: Iterable[tuple[int, Row]]) -> list[Any]:
    """What the subscriptions of a page find in events in order."""
    engine = Engine()
    engine.add_stream(stream, attributes)
    for name, query in queries(page).items():
        engine.subscribe(name, "afa", query)
    ordered = sorted(events, key=lambda event: event[0])
    return list(engine.publish(stream, [time for time, _ in ordered], [row for _, row in ordered]))


def found_in_prices(page: str, prices: Series) -> list[Any]:
    events = [(time, (symbol, close)) for symbol, own in prices.items() for time, close in own]
    return found(page, "Stock", {"symbol": "string", "close": "float"}, events)


def leg(closes: Sequence[float], at: int, up: bool) -> int:
    """Where the rise or fall that begins at this place ends."""
    while at + 1 < len(closes) and (closes[at + 1] > closes[at] if up else closes[at + 1] < closes[at]):
        at += 1
    return at


def test_cooling(temperatures: Series) -> None:
    expected = Counter(
        (own[at][0], own[at + 3][0], own[at + 3][1])
        for own in temperatures.values()
        for at in range(len(own) - 3)
        if all(before[1] > after[1] for before, after in pairwise(own[at : at + 4]))
        if own[at + 3][0] - own[at][0] < 5 * HOUR
    )
    events = [(time, (station, temp)) for station, own in temperatures.items() for time, temp in own]
    told = found("sensors.md", "Reading", {"station": "string", "temp": "float"}, events)
    assert Counter((match.start, match.end, match.data["last"]) for match in told) == expected
    assert expected.total() == 7


def test_v(prices: Series) -> None:
    expected: Counter[tuple[int, int]] = Counter()
    for own in prices.values():
        closes = [close for _, close in own]
        for at in range(len(own) - 1):
            if closes[at + 1] < 0.97 * closes[at]:
                low = leg(closes, at + 1, up=False)
                rise = range(low + 1, leg(closes, low, up=True) + 1)
                regained = next((day for day in rise if closes[day] >= closes[at]), 0)
                expected[own[at][0], own[regained][0]] += regained > 0
    told = found_in_prices("price-shapes.md", prices)
    assert Counter((match.start, match.end) for match in told if match.subscription == "v") == +expected
    assert expected.total() == 10


def test_head_and_shoulders(prices: Series) -> None:
    expected: Counter[tuple[int, int]] = Counter()
    for own in prices.values():
        closes = [close for _, close in own]
        for at, base in enumerate(closes):
            ends = [at]
            for number in range(6):
                ends.append(leg(closes, ends[-1], up=number % 2 == 0))
            shoulder, head, right = closes[ends[1]], closes[ends[3]], closes[ends[5]]
            above = min(closes[ends[2]], closes[ends[4]]) > base
            legs = all(before < after for before, after in pairwise(ends))
            if legs and above and shoulder < head > right and closes[ends[6]] < base:
                below = next(day for day in range(ends[5], ends[6] + 1) if closes[day] < base)
                expected[own[at][0], own[below][0]] += 1
    told = found_in_prices("price-shapes.md", prices)
    assert Counter((match.start, match.end) for match in told if match.subscription != "v") == expected
    assert expected.total() == 8


def test_counting(prices: Series) -> None:
    expected: Counter[int] = Counter()
    for own in prices.values():
        closes = [close for _, close in own]
        for at in range(1, len(own) - 1):
            before = next((n for n in range(at) if not closes[at - n - 1] < closes[at - n]), at)
            expected.update(range(1, min(before, leg(closes, at, up=False) - at) + 1))
    told = found_in_prices("counting.md", prices)
    assert Counter(match.data["days"] for match in told) == expected
    assert expected == {1: 288, 2: 64, 3: 22, 4: 6, 5: 2, 6: 2, 7: 1}


def test_frost(temperatures: Series) -> None:
    """For each hour, by recursion over all that may follow, as long as it is likely enough."""
    frosts = {
        station: [(time, round(NormalDist(temp).cdf(32.5), 3)) for time, temp in own]
        for station, own in temperatures.items()
    }

    def count(own: list[tuple[int, float]], at: int, likely: float, still: int) -> int:
        if not still or at == len(own):
            return not still
        frost = own[at][1]
        ways = ((likely * frost, still - 1), (likely * (1 - frost), still))
        return sum(count(own, at + 1, chance, left) for chance, left in ways if chance > 0.2)

    expected = {
        station: sum(count(own, at + 1, frost, 2) for at, (_, frost) in enumerate(own) if frost > 0.2)
        for station, own in frosts.items()
    }
    events = [(time, (station, frost)) for station, own in frosts.items() for time, frost in own]
    told = found("uncertain.md", "Reading", {"station": "string", "frost": "float"}, events)
    assert Counter(match.data["place"] for match in told) == expected == {"EWR": 8, "JFK": 9, "LGA": 2}


def test_turning() -> None:
    sky: dict[str, list[tuple[int, float, float, float]]] = defaultdict(list)
    for row in read("weather-2013-03.csv"):
        rain = round(1 / (1 + exp((34 - float(row["temp"])) / 0.8)), 3)
        chances = (rain, round(1 - rain, 3), 0.0) if float(row["precip"]) else (0.0, 0.0, 1.0)
        sky[row["station"]].append((parse_instant(row["time"]), *chances))
    expected: Counter[tuple[str, int, int]] = Counter()
    for station, own in sky.items():
        for at, (begin, likely, _, _) in enumerate(own):
            if likely <= 0.3:
                continue
            for time, rain, snow, dry in own[at + 1 :]:
                if time - begin >= 12 * HOUR:
                    break
                expected[station, begin, time] += likely * snow > 0.3
                likely *= dry or rain
                if likely <= 0.3:
                    break
    events = [(time, (station, rain, snow, dry)) for station, own in sky.items() for time, rain, snow, dry in own]
    attributes = {"station": "string", "rain": "float", "snow": "float", "dry": "float"}
    told = found("alternatives.md", "Sky", attributes, events)
    assert Counter((match.data["place"], match.start, match.end) for match in told) == +expected
    assert expected.total() == 15


def test_rises(prices: Series) -> None:
    """The rises that the page of a changing pattern tells before July, withdraws, and tells from July on."""
    summer, june, end = map(parse_instant, ("2012-07-02", "2012-06-01", "2012-06-29"))
    told: Counter[str] = Counter()
    for own in prices.values():
        for (before, base), (time, close) in pairwise(own):
            if time - before < 7 * 24 * HOUR:
                told["until July"] += time < summer and close > 1.03 * base
                told["withdrawn"] += june <= time < end and 1.03 * base < close <= 1.05 * base
                told["large in June"] += june <= time < end and close > 1.05 * base
                told["from July"] += time >= summer and close > 1.06 * base
    assert told == {"until July": 21, "withdrawn": 6, "large in June": 1, "from July": 9}
