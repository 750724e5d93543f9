"""What has once been found in real events is found again, with the same ids, in the same order, to the last digit.

The digests were made by version 0.1.0 before its engine was rebuilt. Who changes one changes what users have stored:
only a result that was wrong is a reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

import pytest
from integration.flights_by_schedule import ATTRIBUTES, QUERY, departures
from integration.test_intrusion import logins, times
from integration.test_stock_patterns import (
    Day,
    days,  # noqa: F401  # a fixture
)

from broker.engine import Engine

FLIGHTS: Final = 60_000
PIECE: Final = 1_000

IN_FLIGHTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "three-late": {"query": QUERY, "lineage": True},
    "published": {"query": f"{QUERY} PUBLISH Late"},
    "later": {
        "query": "SELECT * FROM FILTER{delay > 60}(Departures) NEXT{$2.tail = $1.tail AND DUR < 20000} Departures"
    },
    "derived": {"query": "SELECT tail, third FROM FILTER{third > 120}(Late)"},
    "rising": {
        "query": "SELECT tail, delay FROM FILTER{delay > 20}(FILTER{delay > 10}(Departures) "
        "FOLD{$2.tail = $.tail, $2.delay > $.delay, $.delay AS delay} Departures)"
    },
    "growing": {
        "language": "sase",
        "query": "PATTERN SEQ(Departures a, Departures+ b[]) WHERE skip_till_next_match(a, b[]) { [tail] "
        "AND a.delay > 30 AND b[1].delay > a.delay AND b[i].delay > b[i-1].delay } "
        "WITHIN 5000 RETURN a.tail, b.LEN, max(b[].delay)",
    },
    "pairs": {
        "language": "ptopss",
        "query": "FROM Departures\na: tail = $t AND delay > 60\nb: tail = $t AND delay > 60\nMATCH a; b",
        "report": "completions",
    },
    "foretold": {"query": QUERY, "forecast": {"within": 5, "threshold": 0.4, "context": ["key"]}},
}
IN_STOCKS: Final = {
    f"{strategy}-{output}": {
        "language": "sase",
        "query": f"PATTERN SEQ(Stock a, Stock+ b[], Stock c) WHERE {strategy}(a, b[], c) {{ [symbol] "
        "AND a.volume > 30000000 AND b[1].close > a.close AND b[i].close > avg(b[..i-1].close) "
        "AND c.volume < 0.8 * b[b.LEN].volume } "
        f"WITHIN 6 days RETURN a.symbol, sum(b[].volume), c.close OUTPUT {output}",
    }
    for strategy in ("strict_contiguity", "partition_contiguity", "skip_till_next_match", "skip_till_any_match")
    for output in ("all", "nonoverlap", "compressed")
}
IN_LOGINS: Final = {
    report: {
        "language": "ptopss",
        "report": report,
        "query": "FROM Login\ns1, s2: ip = $address AND status = 'denied'\ns3: ip = $address AND status = 'success'\n"
        "MATCH s1; s2 @(t(s2) - t(s1) < 1 min); s3",
    }
    for report in ("completions", "all")
}

FOUND_IN_FLIGHTS: Final = {
    "derived": "186 fd2d9186ae74d1f1",
    "foretold": "3114 716b2ec77a9413c0",
    "growing": "2344 7cfdc4464d44876f",
    "later": "4081 72ba34aced432f94",
    "pairs": "2751 5b1abc8c8c8bd9c7",
    "published": "1082 03b6dc212fda3266",
    "rising": "1811 fe59a71612909687",
    "three-late": "1082 7ee050a6e510a94d",
}
FOUND_IN_STOCKS: Final = {
    "partition_contiguity-all": "76 c566bbb4987fd506",
    "partition_contiguity-compressed": "76 355bca8b943e0aa6",
    "partition_contiguity-nonoverlap": "43 75711801b1248584",
    "skip_till_any_match-all": "378 2d27659dd8c7a6e0",
    "skip_till_any_match-compressed": "378 91494828d97499bc",
    "skip_till_any_match-nonoverlap": "62 a69d02a52dd15f4b",
    "skip_till_next_match-all": "204 551112db7b252bd7",
    "skip_till_next_match-compressed": "204 0e0883bea8ed8193",
    "skip_till_next_match-nonoverlap": "58 92d6784a89d7cb85",
}
FOUND_IN_LOGINS: Final = {
    "completions": "176 74a230f549103846",
    "all": "2959 52c68c6100805ffa",
}
"""By subscription, how many lines and their digest."""


def digest(engine: Engine, stream: str, times: Sequence[int], rows: Sequence[tuple[Any, ...]]) -> dict[str, str]:
    """Of all lines of each subscription, in order."""
    found: dict[str, Any] = {}
    for line in lines(engine, stream, times, rows):
        known = found.setdefault(line["subscription"], [0, blake2b(digest_size=8)])
        known[0] += 1
        known[1].update(json.dumps(line, sort_keys=True).encode() + b"\n")
    return {name: f"{count} {state.hexdigest()}" for name, (count, state) in sorted(found.items())}


def lines(
    engine: Engine, stream: str, times: Sequence[int], rows: Sequence[tuple[Any, ...]]
) -> Iterator[Mapping[str, Any]]:
    for first in range(0, len(rows), PIECE):
        for result in engine.publish(stream, times[first : first + PIECE], rows[first : first + PIECE]).expanded():
            yield result.line()
    for result in engine.finish():
        yield result.line()


def subscribed(stream: str, attributes: dict[str, str], key: str, wanted: Mapping[str, Mapping[str, Any]]) -> Engine:
    engine = Engine()
    engine.add_stream(stream, attributes, key=key)
    for name, options in wanted.items():
        engine.subscribe(name, **options)
    return engine


def test_in_flights() -> None:
    rows = departures()[:FLIGHTS]
    engine = subscribed("Departures", ATTRIBUTES, "tail", IN_FLIGHTS)
    assert digest(engine, "Departures", range(1, len(rows) + 1), rows) == FOUND_IN_FLIGHTS


def test_in_prices(days: list[Day]) -> None:  # noqa: F811
    engine = subscribed("Stock", {"symbol": "string", "close": "float", "volume": "int"}, "symbol", IN_STOCKS)
    assert digest(engine, "Stock", [day[0] for day in days], [day[1:] for day in days]) == FOUND_IN_STOCKS


@pytest.mark.parametrize("report", IN_LOGINS)
def test_in_logins(report: str) -> None:
    engine = subscribed("Login", {"ip": "string", "status": "string"}, "ip", {report: IN_LOGINS[report]})
    rows = [(event["data"]["ip"], event["data"]["status"]) for event in logins()]
    assert digest(engine, "Login", times(), rows) == {report: FOUND_IN_LOGINS[report]}
