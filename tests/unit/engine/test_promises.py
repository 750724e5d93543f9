"""Punctuations with predicates, by case: what is late, what is released, what is final for whom, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine, Options
from broker.events.errors import EventError, LateEvent, LimitExceeded, QueryError, UnknownEvent

STOCK = {"symbol": "string", "price": "int"}
IBM = """FROM Stock REGISTER p INT = 0 START a FINAL c
a -> b WHEN symbol = 'IBM' SET p = price
b -> b WHEN symbol != 'IBM'
b -> c WHEN symbol = 'IBM' AND price > p"""
EACH = """FROM Stock BY symbol REGISTER p INT = 0 START a FINAL c
a -> b SET p = price
b -> c WHEN price > p"""
PAIR = "FROM Stock START a FINAL c a -> b WHEN symbol = 'A' b -> b b -> c WHEN symbol = 'B'"


def engine_of(*queries: str, disorder: Any = "speculate", **stream: Any) -> Engine:
    engine = Engine(stream.pop("options", None))
    engine.add_stream("Stock", STOCK, disorder=disorder, **stream)
    for at, query in enumerate(queries):
        engine.subscribe(f"q{at}", "afa" if query.startswith("FROM") else "cayuga", query)
    return engine


def come(engine: Engine, time: int, symbol: str, price: int, id: int | None = None) -> list[Any]:
    return said(engine.publish("Stock", [time], [(symbol, price)], None if id is None else [id]))


def said(found: Any) -> list[Any]:
    """Kind and lineage of each result, without those of others; of a punctuation kind, time and key."""
    return [
        (each.subscription, each.notice.time, *(each.notice.key or {}).values())
        if each.notice is not None
        else (each.subscription, each.kind, each.lineage)
        for each in found
    ]


def test_events_behind_a_promise_are_late_and_others_are_not() -> None:
    engine = engine_of(IBM)
    engine.punctuate(10, "Stock", "symbol = 'IBM' AND price > 5")
    with pytest.raises(LateEvent, match="stream 'Stock', row 1: expected a time of 10 or later of such an event"):
        engine.publish("Stock", [1, 9], [("IBM", 5), ("IBM", 6)])
    with pytest.raises(LateEvent):
        engine.check("Stock", [9], [("IBM", 6)])
    assert engine.events == 0
    come(engine, 9, "IBM", 5)
    come(engine, 9, "MSFT", 6)
    come(engine, 10, "IBM", 6)
    found = engine.faults("Stock", [9, 9, 1], [("A", 9), ("IBM", 9), ("A", 9)], [5, 6, 5])
    assert [(index, error.code) for index, error, _ in found] == [(1, "late"), (2, "duplicate-event")]


def test_an_event_that_is_promised_is_withdrawn_no_more() -> None:
    engine = engine_of(EACH)
    come(engine, 1, "IBM", 1, 1)
    come(engine, 2, "MSFT", 1, 2)
    engine.punctuate(5, "Stock", "symbol = 'IBM'")
    with pytest.raises(UnknownEvent, match="or it is final"):
        engine.retract(1)
    engine.retract(2)


def test_promises_that_cover_everything_release_what_waits() -> None:
    engine = engine_of("SELECT symbol FROM FILTER{price > 0}(Stock)", disorder="buffer")
    come(engine, 3, "A", 3)
    come(engine, 1, "B", 1)
    assert said(engine.punctuate(4, "Stock", "symbol <= 'A'")) == []
    assert len(said(engine.punctuate(2, "Stock", "symbol > 'A'"))) == 1
    assert len(said(engine.punctuate(4, "Stock", "NOT symbol IN ('A', 'AA')"))) == 0, "AA may still come"
    assert len(said(engine.punctuate(4, "Stock", "symbol = 'AA'"))) == 1
    assert engine.statistics()["promised_regions"] == 0
    with pytest.raises(LateEvent, match="expected a time of 4 or later, before which"):
        come(engine, 3, "C", 1)


def test_a_subscription_waits_for_the_events_that_concern_it() -> None:
    engine = engine_of(IBM, "FROM Stock START a FINAL b a -> b WHEN price > 100")
    assert come(engine, 1, "IBM", 1, 1) == []
    assert come(engine, 4, "IBM", 5, 2) == [("q0", "match", [1, 2])]
    assert said(engine.punctuate(5, "Stock", "symbol = 'IBM'")) == [("q0", 5)]
    assert said(engine.punctuate(4, "Stock", "symbol != 'IBM' AND price > 90")) == [("q1", 4)]
    assert come(engine, 2, "MSFT", 3, 3) == [], "it may come, and concerns neither"
    assert said(engine.retract(3)) == []
    again = Engine.restore(engine.snapshot())
    assert again.snapshot() == engine.snapshot()
    assert come(again, 6, "IBM", 9, 4) == [("q0", "match", [2, 4])]
    assert said(again.punctuate(6)) == [("q0", 6), ("q1", 6)]


def test_a_key_is_final_while_others_wait() -> None:
    engine = engine_of(EACH)
    come(engine, 1, "IBM", 1, 1)
    assert come(engine, 3, "IBM", 2, 2) == [("q0", "match", [1, 2])]
    come(engine, 1, "MSFT", 1, 3)
    told = engine.punctuate(4, "Stock", "symbol = 'IBM'")
    assert [each.line()["key"] for each in told] == [{"symbol": "IBM"}]
    assert said(told) == [("q0", 4, "IBM")]
    assert engine.statistics()["speculative_events"] == 1, "those of the key are forgotten"
    assert said(engine.punctuate(3, "Stock", "symbol IN ('IBM', 'MSFT')")) == [("q0", 3, "MSFT")]
    again = Engine.restore(engine.snapshot())
    assert again.snapshot() == engine.snapshot()
    for each in (engine, again):
        assert come(each, 5, "IBM", 3, 4) == [("q0", "match", [2, 4])]
        assert come(each, 6, "SAP", 3, 5) == []
        with pytest.raises(LateEvent):
            come(each, 2, "MSFT", 1, 6)
        assert said(each.punctuate(9)) == [("q0", 9)]


def test_ways_that_cannot_end_earlier_make_results_final() -> None:
    """The path punctuation: an A may still come, but what it begins ends with a B, and those are all there."""
    engine = engine_of(PAIR)
    come(engine, 1, "A", 0, 1)
    assert come(engine, 3, "B", 0, 2) == [("q0", "match", [1, 2])]
    assert come(engine, 8, "B", 0, 3) == [("q0", "match", [1, 3])]
    assert said(engine.punctuate(20, "Stock", "symbol = 'B'")) == [("q0", 3)], "an A at 0 would end there"
    assert said(engine.punctuate(4, "Stock", "symbol = 'A'")) == [("q0", 8)], "an A at 4 would end at 8"
    assert said(engine.punctuate(9, "Stock", "symbol = 'A'")) == [("q0", 20)], "no B comes before 20"
    assert come(engine, 9, "A", 0, 4) == []
    assert come(engine, 20, "B", 0, 5) == [("q0", "match", [1, 5]), ("q0", "match", [4, 5])]


def test_the_times_of_events_count_on_the_way() -> None:
    engine = engine_of(PAIR.replace("symbol = 'B'", "symbol = 'B' AND time > 5"))
    come(engine, 3, "B", 0, 1)
    come(engine, 8, "B", 0, 2)
    assert said(engine.punctuate(20, "Stock", "symbol = 'B'")) == [("q0", 8)]


def test_updates_change_nothing_that_is_final() -> None:
    engine = engine_of(IBM)
    come(engine, 1, "IBM", 1, 1)
    engine.punctuate(5, "Stock", "symbol = 'IBM'")
    with pytest.raises(EventError, match="a start of 5 or later"):
        engine.update("q0", ["a -> c WHEN symbol = 'SAP'"], [], 4)
    engine.update("q0", ["a -> c WHEN symbol = 'SAP'"])
    assert come(engine, 4, "SAP", 1, 2) == [], "the arc is there from 5 on"
    assert come(engine, 5, "SAP", 1, 3) == [("q0", "match", [3])]
    assert said(engine.punctuate(6, "Stock", "symbol = 'IBM'")) == [], "now others concern it"


def test_what_is_told_waits_for_publishers() -> None:
    engine = engine_of(f"{IBM} PUBLISH Up", "FROM Up START a FINAL b a -> b WHEN p > 0")
    come(engine, 1, "IBM", 1, 1)
    come(engine, 4, "IBM", 5, 2)
    assert said(engine.punctuate(5, "Stock", "symbol = 'IBM'")) == [("q0", 5), ("q1", 5)]


def test_little_speculation_tells_what_is_final_no_sooner() -> None:
    engine = engine_of(IBM, speculation=0)
    assert come(engine, 1, "IBM", 1, 1) + come(engine, 3, "IBM", 2, 2) == []
    assert said(engine.punctuate(5, "Stock", "symbol = 'IBM'")) == []
    assert said(engine.punctuate(4)) == [("q0", "match", [1, 2]), ("q0", 4)]


def test_predicates_that_cannot_be_decided_are_refused_with_the_way_to_write_them() -> None:
    engine = engine_of(IBM, options=Options(promised_regions_max=7))
    before = engine.snapshot()
    for where, words in (
        ("price > symbol", "line 1, column 7: expected an attribute compared with a constant, found two attributes"),
        ("price + 1 > 3", "found a computed value; write attributes compared with constants"),
        ("contains(symbol, 'B')", "line 1, column 1: expected an attribute compared with a constant, found another"),
        ("time > 3", "unknown attribute 'time'"),
        ("$1.price > 3", "expected an attribute by its bare name, found '\\$1.price'"),
        ("prize > 3", "unknown attribute 'prize'; did you mean 'price'?"),
        ("price = 'A'", "expected a number to compare with, found a string"),
        ("price", "expected a condition, found a value of type int"),
        ("price >", "found the end"),
    ):
        with pytest.raises(QueryError, match=f"punctuation of stream 'Stock': .*{words}"):
            engine.punctuate(1, "Stock", where)
    with pytest.raises(LimitExceeded, match=r"at most 7 kinds of events apart \(promised_regions_max\), found 9"):
        engine.punctuate(1, "Stock", "price IN (1, 3, 5, 7)")
    assert engine.snapshot() == before
    for price in (1, 5, 9):
        engine.punctuate(1, "Stock", f"price = {price}")
    engine.punctuate(1, "Stock", "price BETWEEN 1 AND 9")
    engine.punctuate(1, "Stock", "price = 12")
    assert engine.statistics()["promised_regions"] == 7, "what says the same of several values joins them"


def test_a_promise_of_some_events_tells_nothing_before_anything_is_safe() -> None:
    """Of a subscription without a way to a match, of which few events ahead are shown."""
    engine = Engine()
    engine.add_stream("S", {"ty": "string"}, disorder="speculate", speculation=3)
    engine.subscribe("q", "afa", "FROM S START a FINAL b a -> a WHEN ty = 'A' a -> b WHEN FALSE")
    assert list(engine.punctuate(0, "S", "NOT ty = 'A'")) == []
    assert [result.line()["time"] for result in engine.punctuate(0, "S")] == [0]
