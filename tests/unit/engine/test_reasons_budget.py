"""Reasons of patterns with very many partial matches: what is followed, and what an answer says that was cut short."""

from __future__ import annotations

from itertools import islice

import pytest

from broker.engine import Engine, Match
from broker.engine.executors.packed import COMPILED
from broker.engine.executors.reference.interpreter import Interpreter
from broker.engine.reasons import budget
from broker.events import Event
from broker.events.errors import LimitExceeded

ANY = """
PATTERN SEQ(Stock+ a[], Stock b)
WHERE skip_till_any_match(a[], b) { a[i].price < 50 AND b.price > 90 }
WITHIN 1000
"""


def engine_of(language: str, query: str, disorder: str = "arrival") -> Engine:
    engine = Engine()
    engine.add_stream("Stock", {"name": "string", "price": "float"}, disorder=disorder)  # type: ignore[arg-type]
    engine.subscribe("q", language, query, lineage=True)
    return engine


def low(number: int) -> list[Event]:
    """Events of which every subset is a partial match."""
    return [Event("Stock", at, at, at, ("A", float(at % 7))) for at in range(1, number + 1)]


def limited(monkeypatch: pytest.MonkeyPatch, steps: int, least: int = 5) -> None:
    monkeypatch.setattr(budget, "REASONS_STEPS_MAX", steps)
    monkeypatch.setattr(budget, "RUNS_FOLLOWED_LEAST", least)


@pytest.fixture
def most(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of partial matches that each event was compared with."""
    compared: list[int] = []
    feed = Interpreter.feed

    def counted(self: Interpreter, *values: object) -> object:
        compared.append(len(self.runs))
        return feed(self, *values)  # type: ignore[arg-type]

    monkeypatch.setattr(Interpreter, "feed", counted)
    return compared


def test_partial_matches_beyond_the_steps_are_left_out_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, most: list[int]
) -> None:
    limited(monkeypatch, 4_000)
    told = engine_of("sase", ANY).why_not("q", low(60))
    assert told.cut.startswith("REASONS_STEPS_MAX: ")
    assert told.cut.endswith(" partial matches that are farther away were left out")
    assert told.line()["cut short"] == told.cut
    assert sum(most) < 3 * 4_000, "of 2**60"
    assert COMPILED or 0 < max(most) < 4_000  # compiled code does not call what a test puts in the place of its own
    assert told.nearest
    for nearest in told.nearest:
        assert nearest.missing == 1
        assert nearest.ended == "it still waits"
        assert all(condition.holds for step in nearest.steps for condition in step.conditions)
        for refusal in nearest.refused:
            assert not any(condition.holds for condition in refusal.failed)


def test_what_is_wanted_is_followed_rather_than_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of("sase", ANY)
    wanted = [3, 7, 11]
    limited(monkeypatch, 2_000)
    told = engine.why_not("q", low(40), wanted=wanted)
    assert told.cut
    assert set(wanted) <= {number for step in told.nearest[0].steps for number in step.events}


def test_few_partial_matches_are_told_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of("sase", ANY)
    whole = engine.why_not("q", low(6))
    limited(monkeypatch, 5_000)
    assert engine.why_not("q", low(6)) == whole
    assert whole.cut == ""
    assert "cut short" not in whole.line()


def matches(engine: Engine, events: list[Event]) -> list[Match]:
    found: list[Match] = []
    for event in events:
        assert isinstance(event.data, tuple)
        assert event.id is not None
        found += islice(engine.publish("Stock", [event.time], [event.data], [event.id]).expanded(), 300)
    return found


def test_why_follows_what_may_become_the_match_and_nothing_else(most: list[int]) -> None:
    events = [*low(14), Event("Stock", 15, 15, 15, ("A", 95.0))]
    engine = engine_of("sase", ANY)
    match = matches(engine, events)[-1]
    del most[:]
    told = engine.why(match.id, events, "q")
    assert [number for step in told.steps for number in step.events] == match.lineage
    assert all(condition.holds for step in told.steps for condition in step.conditions)
    assert sum(most) <= 2 * len(events), "not 2**14 partial matches"


def test_a_match_that_takes_too_many_steps_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [*low(10), Event("Stock", 11, 11, 11, ("A", 95.0))]
    engine = engine_of("sase", ANY)
    match = matches(engine, events)[-1]
    limited(monkeypatch, 100)
    with pytest.raises(LimitExceeded, match=r"^REASONS_STEPS_MAX: looking for the match takes more than 100 steps"):
        engine.why(match.id, events, "q")


def test_a_publisher_that_is_suspended_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine()
    engine.add_stream("Stock", {"name": "string", "price": "float"})
    engine.subscribe("pairs", "sase", ANY + "RETURN b.price AS price PUBLISH Found")
    engine.subscribe("q", query="FILTER{price > price_1}(Found NEXT{TRUE} Found)")
    events = [*low(16), Event("Stock", 17, 17, 17, ("A", 95.0))]
    limited(monkeypatch, 3_000)
    told = engine.why_not("q", events)
    assert told.cut == "REASONS_STEPS_MAX: pairs was suspended, whose results are read here"


def test_beginnings_of_a_register_automaton_beyond_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    query = """
FROM Stock REGISTER n INT = 0 START a FINAL c
begin: a -> b WHEN price < 50 SET n = 1
more: b -> b WHEN price < 50 SET n = n + 1
end: b -> c WHEN price > 90
"""
    engine = engine_of("afa", query, "speculate")
    whole = engine.why_not("q", low(30))
    limited(monkeypatch, 60)
    told = engine.why_not("q", low(30))
    assert told.nearest == whole.nearest, "those that began last"
    assert told.cut.startswith("REASONS_STEPS_MAX: ")
    assert whole.cut == ""


def test_beginnings_of_windows_beyond_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_of("window", "FROM Stock WINDOW AFTER any* MATCHING [price < 50]+ [price > 90] WITHIN 1000 us")
    whole = engine.why_not("q", low(30))
    limited(monkeypatch, 60)
    told = engine.why_not("q", low(30))
    assert told.nearest == whole.nearest
    assert told.cut.startswith("REASONS_STEPS_MAX: ")
    assert whole.cut == ""
