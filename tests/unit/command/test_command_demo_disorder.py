"""The demonstration in disorder: what is final is what loops count over the schedule, and the screen says what goes."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from datetime import date
from itertools import pairwise
from typing import Any, Final, TypeAlias

import pytest
from rich.console import Console

from broker.command.demo.disorder import DEPARTURES, LATENESS, overtaken
from broker.command.demo.disorder_screen import DisorderScreen
from broker.command.demo.flights import MINUTE, Departure, reports
from broker.command.demo.patterns import HELD_UP, MOVEMENT, RECOVERED, REVISED, SPREADING
from broker.command.demo.standing import StandingMatches
from broker.engine import Engine
from broker.events import EventError

FIRST: Final = date(2013, 3, 7)
HOUR: Final = 60 * MINUTE

Result: TypeAlias = tuple[int, Departure, dict[str, Any]]
"""When it came, with which report, and its line."""


@pytest.fixture(scope="module")
def reported() -> list[Departure]:
    return reports(FIRST, 2)


@pytest.fixture(scope="module")
def found(reported: list[Departure]) -> list[Result]:
    """What an engine tells, one report after the other; refused reports are left out."""
    engine = Engine()
    engine.add_stream(DEPARTURES, dict(MOVEMENT), disorder="speculate", lateness=LATENESS)
    for pattern in REVISED:
        engine.subscribe(pattern.name, pattern.language, pattern.query)
    told: list[Result] = []
    refused = too_late(reported)
    for report in reported:
        if report.id not in refused:
            lines = [m.line() for m in engine.publish(DEPARTURES, [report.scheduled], [report.row], ids=[report.id])]
            told += [(report.at, report, line) for line in lines]
        else:
            with pytest.raises(EventError, match="before which all is final"):
                engine.publish(DEPARTURES, [report.scheduled], [report.row], ids=[report.id])
    return told + [(reported[-1].at, reported[-1], match.line()) for match in engine.finish()]


def too_late(reported: list[Departure]) -> set[int]:
    newest, ids = reported[0].scheduled, set()
    for report in reported:
        newest = max(newest, report.scheduled)
        if report.scheduled < newest - LATENESS:
            ids.add(report.id)
    return ids


def schedule(reported: list[Departure]) -> list[Departure]:
    refused = too_late(reported)
    return sorted((report for report in reported if report.id not in refused), key=lambda report: report.id)


def lines_of_airlines(reported: list[Departure]) -> list[list[Departure]]:
    found: dict[tuple[object, object], list[Departure]] = defaultdict(list)
    for report in schedule(reported):
        found[report.row[1], report.row[3]].append(report)
    return list(found.values())


def late(report: Departure) -> int:
    delay = report.row[5]
    assert isinstance(delay, int)
    return delay


def final(found: list[Result], name: str) -> Counter[tuple[int, int]]:
    """(start, end) of the matches less the retractions."""
    net: Counter[tuple[int, int]] = Counter()
    for _, _, line in found:
        if line["subscription"] == name and line["kind"] != "punctuation":
            net[line["start"], line["end"]] += 1 if line["kind"] == "match" else -1
    assert min(net.values()) >= 0
    return +net


def held_up(reported: list[Departure]) -> list[tuple[Departure, Departure]]:
    return [
        (own[at - 2], own[at])
        for own in lines_of_airlines(reported)
        for at in range(2, len(own))
        if min(map(late, own[at - 2 : at + 1])) > 120
    ]


def test_reports_come_in_the_order_of_leaving_with_the_time_of_the_schedule(reported: list[Departure]) -> None:
    assert [report.at for report in reported] == sorted(report.at for report in reported)
    assert all(report.at == report.scheduled + late(report) * MINUTE for report in reported)
    assert sorted(report.id for report in reported) == list(range(1, 1682))
    times = [report.scheduled for report in sorted(reported, key=lambda report: report.id)]
    assert times == sorted(times)
    assert overtaken(reported) == 1176
    assert len(too_late(reported)) == 5


def test_held_up(reported: list[Departure], found: list[Result]) -> None:
    expected = Counter((first.scheduled, last.scheduled) for first, last in held_up(reported))
    assert final(found, HELD_UP.name) == expected
    assert expected.total() == 61


def test_recovered(reported: list[Departure], found: list[Result]) -> None:
    expected: Counter[tuple[int, int]] = Counter()
    for own in lines_of_airlines(reported):
        for at, first in enumerate(own[:-6]):
            if late(first) > 30 and max(map(late, own[at + 1 : at + 7])) <= 10:
                expected[first.scheduled, own[at + 6].scheduled] += 1
    assert final(found, RECOVERED.name) == expected
    assert expected.total() == 17


def test_spreading(reported: list[Departure], found: list[Result]) -> None:
    """By the ends of what is held up; several of one time are in the order of their ids, which no loop knows."""
    by_airport: dict[object, list[Departure]] = defaultdict(list)
    for _, last in sorted(held_up(reported), key=lambda pair: pair[1].scheduled):
        by_airport[last.row[3]].append(last)
    expected: Counter[tuple[int, int]] = Counter()
    for own in by_airport.values():
        for one, other in pairwise(own):
            near = other.scheduled - one.scheduled < 3 * HOUR
            expected[one.scheduled, other.scheduled] += near and one.row[1] != other.row[1]
    told = final(found, SPREADING.name)
    assert told.total() == 25
    assert sum((told & expected).values()) >= 15


def test_what_stands_becomes_final_and_nothing_else(found: list[Result]) -> None:
    for pattern in REVISED:
        matches = StandingMatches()
        for now, _, line in found:
            if line["subscription"] == pattern.name:
                matches.take(line, now)
        assert not matches.told
        assert matches.final == final(found, pattern.name).total()
        assert matches.final + len(matches.withdrawn_after) == matches.matches


def test_the_screen_says_what_is_withdrawn_by_which_flight_and_what_is_final(
    reported: list[Departure], found: list[Result]
) -> None:
    output = io.StringIO()
    screen = DisorderScreen(Console(file=output, width=100, highlight=False))
    screen.opening(len(reported), overtaken(reported), FIRST, 2, LATENESS, "tcp://127.0.0.1:1")
    standing = {pattern.name: StandingMatches() for pattern in REVISED}
    for now, report, line in found:
        matches = standing[line["subscription"]]
        screen.result(line, now, [report], matches.take(line, now), len(matches.told))
    screen.result({"kind": "incomplete", "subscription": "held-up", "missed": 3}, 0, (), 0, 0)
    screen.summary(len(reported), 5, LATENESS, standing)
    text = output.getvalue()
    assert "7 March to 8 March 2013, in disorder" in text
    assert "'missed': 3" in text
    kinds = Counter(line["kind"] for _, _, line in found)
    assert text.count("  withdrawn  ") == kinds["retraction"] == 62
    withdrawn = [line for line in text.splitlines() if "  withdrawn  " in line and "spreading" not in line]
    assert len(withdrawn) == 38
    assert all("min ago, until " in line for line in withdrawn)
    assert "UA at EWR: 6 in a row punctual after one late by 66 min  (due 10:56 to 12:03)  told 3 min ago" in text
    assert "until UA 1690 to MCO, due 11:44, left" in text
    assert "all that was due before 07:00: 1 match more; 4 can still be withdrawn" in text
    assert ": 0 match" not in text
    assert "5 departures broke the promise of 6 hours and were refused" in " ".join(text.split())
    for pattern in REVISED:
        assert pattern.meaning[:20] in text
