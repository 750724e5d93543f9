"""Warnings on streams that keep a subscription from its results."""

from __future__ import annotations

import pytest

from broker.engine import Engine
from broker.events import Disorder

ABSENT = "PATTERN SEQ(S a, ~(R b)) WITHIN 2 s"


def engine_with(disorder: Disorder, idle: int | None) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"n": "int"}, idle=1)
    engine.add_stream("R", {"n": "int"}, disorder=disorder, idle=idle)
    engine.add_stream("U", {"n": "int"})
    engine.subscribe("absent", language="sase", query=ABSENT)
    engine.subscribe("pair", language="sase", query="PATTERN SEQ(S a, R b) WITHIN 2 s")
    return engine


@pytest.mark.parametrize("disorder", ["arrival", "buffer"])
def test_absence_over_a_stream_without_idle_is_warned_of(disorder: Disorder) -> None:
    engine = engine_with(disorder, None)
    [known] = engine.warnings_of_streams("absent", ["R"])
    assert known == (
        "stream 'R': publishers give the times, so absence is not told while no events come: "
        'write idle = "2 s" there, for example'
    )
    [unknown] = engine.warnings_of_streams("absent")
    assert unknown.startswith("stream 'R': where publishers give the times, absence is not told")
    assert engine.warnings_of_streams("absent", ["S"]) == []
    assert engine.warnings_of_streams("pair", ["R"]) == []
    assert engine_with(disorder, 1).warnings_of_streams("absent", ["S", "R"]) == []


def test_an_unrelated_stream_keeps_absence_back_only_where_all_are_in_order() -> None:
    assert len(engine_with("arrival", None).warnings_of_streams("absent", ["U"])) == 1
    assert engine_with("buffer", None).warnings_of_streams("absent", ["U"]) == []


def test_absence_of_what_is_published_depends_on_the_streams_that_it_is_made_of() -> None:
    engine = Engine()
    engine.add_stream("S", {"n": "int"})
    engine.subscribe("made", language="cayuga", query="SELECT n FROM S PUBLISH P")
    engine.subscribe("absent", language="sase", query="PATTERN SEQ(P a, ~(P b)) WITHIN 2 s")
    [found] = engine.warnings_of_streams("absent")
    assert found.startswith("stream 'S': ")


def test_a_stream_that_holds_others_back_is_named() -> None:
    engine = engine_with("buffer", None)
    assert "held_back" not in engine.statistics()
    engine.publish("R", [5], [(1,)])
    engine.publish("S", [6, 7, 8], [(1,), (2,), (3,)])
    said = (
        "3 events of related streams wait for stream 'R' since 1970-01-01T00:00:00.000006Z, because an earlier event "
        "may still come on it: give it lateness and idle, or punctuate it"
    )
    assert engine.statistics()["held_back"] == [said]
    assert engine.warnings_of_streams("pair") == [said]
    engine.subscribe("other", language="cayuga", query="U")
    assert engine.warnings_of_streams("other") == []
    engine.punctuate(9, "R")
    assert "held_back" not in engine.statistics()


@pytest.mark.parametrize(
    ("windows", "overlap"),
    [
        ("LAST 5 s", 1),
        ("EVERY 5 s", 0),
        ("LAST 5 s EVERY 2 s", 1),
        ("LAST 3 EVENTS", 1),
        ("EVERY 3 EVENTS", 0),
        ("LAST 4 EVENTS EVERY 2 EVENTS", 1),
        ("SESSION 3 s", 0),
        ("START x, END y WHERE x.n > 3 AND y.n < 2", 1),
    ],
)
def test_next_over_windows_that_overlap_is_warned_of(windows: str, overlap: int) -> None:
    engine = Engine()
    engine.add_stream("S", {"n": "int"})
    text = f"FROM S WINDOW {windows} AGGREGATE sum(n) AS t PUBLISH P"
    engine.subscribe("made", language="window", query=text)
    found = [each for each in engine.warnings("FILTER{DUR < 9 s}(P NEXT{$2.t > $1.t} P)") if "overlap" in each]
    after = "NEXT takes the next one that begins after the former has ended, and skips those between"
    said = f"the windows of 'P' overlap: {after}"
    assert [each.partition(": ")[2] for each in found] == [said] * overlap
