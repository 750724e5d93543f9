"""Warnings on streams that keep a subscription from its results."""

from __future__ import annotations

import pytest

from broker.engine import Engine, Match
from broker.engine.disorder.looking import HeldStream, held_in_words
from broker.engine.executors.windows.machine import END
from broker.engine.notices import Resolution
from broker.events import Disorder, Schema, StreamDefinition
from broker.language.names import LanguageName

IDLE = 'write idle = "2 s" there, for example'
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
        "3 events of related streams wait for stream 'R', because an earlier event may still come on it: give it "
        "lateness and idle, or punctuate it"
    )
    assert engine.statistics()["held_back"] == [said]
    [held] = engine.held_back("pair")
    assert (held.stream, held.events, sorted(held.streams)) == ("R", 3, ["R", "S"])
    assert held_in_words(held, engine.streams["R"], 189) == said.replace(", because", " since 189 s, because")
    engine.subscribe("other", language="cayuga", query="U")
    assert engine.held_back("other") == []
    engine.punctuate(7, "R")
    assert [held.events for held in engine.held_back()] == [2]
    engine.punctuate(9, "R")
    assert "held_back" not in engine.statistics()


@pytest.mark.parametrize(
    ("disorder", "lateness", "idle", "why"),
    [
        ("buffer", None, None, "it: give it lateness and idle, or punctuate it"),
        ("buffer", 5, None, "it: give it idle, or punctuate it"),
        ("buffer", 5, 5, "it until it is idle or punctuated"),
        ("arrival", None, None, "it: give it idle, or punctuate it"),
    ],
)
def test_it_is_said_what_the_stream_lacks(disorder: Disorder, lateness: int | None, idle: int | None, why: str) -> None:
    definition = StreamDefinition("R", Schema.declare({"n": "int"}), disorder=disorder, lateness=lateness, idle=idle)
    assert held_in_words(HeldStream("R", 1, 0, ["R", "S"]), definition).endswith(why)


@pytest.mark.parametrize(
    ("language", "query", "waits"),
    [
        ("window", "FROM S WINDOW EVERY 5 s AGGREGATE sum(n) AS t", "the end of a window"),
        ("window", "FROM S WINDOW LAST 5 s EVERY 2 s AGGREGATE sum(n) AS t", "the end of a window"),
        ("window", "FROM S BY n WINDOW SESSION 5 s AGGREGATE count(*) AS t PUBLISH P", "the end of a window"),
        ("window", "FROM S WINDOW LAST 5 s AGGREGATE sum(n) AS t", ""),
        ("window", "FROM S WINDOW EVERY 5 EVENTS AGGREGATE sum(n) AS t", ""),
        ("window", "FROM S WINDOW AFTER any* MATCHING [n > 0]+ WITHIN 5 s KEEP LONGEST AGGREGATE sum(n) AS t", ""),
        ("sase", "PATTERN SEQ(S a, ~(S b)) WITHIN 2 s", "absence"),
        ("sase", "PATTERN SEQ(S a, ~(S b), S c) WITHIN 2 s", ""),
        ("sase", "PATTERN SEQ(~(S b), S c) WITHIN 2 s", ""),
        ("cayuga", "FILTER{DUR < 5 s}(S NEXT{$2.n = $1.n} S)", ""),
        ("ptopss", "FROM S a: n = 1 b: n = 2 MATCH a; b WITHIN 2 s", ""),
        ("afa", "FROM S START a FINAL b a -> b WHEN n > 0 WITHIN 2 s", ""),
    ],
)
def test_what_waits_for_time_is_what_the_engine_waits_for(language: LanguageName, query: str, waits: str) -> None:
    engine = Engine()
    engine.add_stream("S", {"n": "int"})
    engine.subscribe("one", language=language, query=query)
    engine.publish("S", [time * 100_000 for time in range(20)], [(1 + time % 2,) for time in range(20)])
    assert (engine.due is not None and engine.due < END) == bool(waits)
    found = [f"stream 'S': publishers give the times, so {waits} is not told while no events come: {IDLE}"]
    assert engine.warnings_of_streams("one", ["S"]) == (found if waits else [])


@pytest.mark.parametrize("disorder", ["arrival", "buffer"])
@pytest.mark.parametrize("within", ["5 s", 5])
def test_the_horizon_of_a_forecast_is_due_and_warned_of(disorder: Disorder, within: str | int) -> None:
    engine = Engine()
    lateness = 0 if disorder == "buffer" else None
    engine.add_stream("S", {"k": "string", "n": "int"}, "k", disorder=disorder, lateness=lateness)
    forecast = {"within": within, "threshold": 0.01, "effective": 1}
    query = "FILTER{n = 1}(S) NEXT{$2.k = $1.k AND $2.n = 2} S"
    engine.subscribe("one", language="cayuga", query=query, forecast=forecast)
    for at in range(61):
        engine.publish("S", [at * 100_000], [("a", 1 + at % 2)])
    said = f"so the horizon of a forecast is not told while no events come: {IDLE}"
    warned = [f"stream 'S': publishers give the times, {said}"] if within == "5 s" else []
    assert engine.warnings_of_streams("one", ["S"]) == warned
    told: list[Match] = []
    while engine.due is not None:
        due = engine.due
        told += engine.punctuate(due + 1, None if disorder == "arrival" else "S")
        assert engine.due != due, "a promise behind it has told what waited"
    outcomes = [each.notice.outcome for each in told if isinstance(each.notice, Resolution)]
    assert outcomes == ([False] if within == "5 s" else [])


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
