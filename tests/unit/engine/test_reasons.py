"""Reasons on cases by hand: what is told of a match, and what stopped a partial match that came near."""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine, Match
from broker.engine.reasons import WhyNot
from broker.events import Event
from broker.events.errors import DefinitionError, UnknownSubscription
from broker.events.event import Retraction, UpdateLine

ROWS = [
    (1, "A", 4.0), (2, "B", 9.0), (3, "A", 2.0), (4, "A", 8.0), (5, "B", 1.0), (9, "B", 101.0), (30, "A", 5.0),
]  # fmt: skip
EVENTS = [Event("Stock", row[0], row[0], at, row[1:]) for at, row in enumerate(ROWS, 1)]
CEL = "FILTER{price > price_1}(Stock NEXT{$2.name = $1.name AND $2.price > 5} Stock)"
SASE = "PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) {{[name] AND a.price > 3 AND {}}} WITHIN 10 us"


def engine_of(language: str, query: str, key: str | None = None) -> Engine:
    engine = Engine()
    engine.add_stream("Stock", {"name": "string", "price": "float"}, key=key)
    engine.subscribe("q", language, query, lineage=True)
    return engine


def found(engine: Engine) -> dict[tuple[int, ...], str]:
    """The ids of matches by their events."""
    told: dict[tuple[int, ...], str] = {}
    for at, row in enumerate(ROWS, 1):
        for match in engine.publish("Stock", [row[0]], [row[1:]], [at]).expanded():
            told[tuple(match.lineage or ())] = match.id
    return told


def texts(conditions: list[dict[str, Any]]) -> list[str]:
    return [condition["values"] for condition in conditions]


def test_a_match_of_cel() -> None:
    engine = engine_of("cel", CEL)
    told = engine.why(found(engine)[1, 4], EVENTS).line()
    first, second = told["steps"]
    assert (first["events"], first["as"], first["conditions"]) == ([1], "event 1", [])
    assert (second["events"], second["time"], second["stream"]) == ([4], 4, "Stock")
    assert texts(second["conditions"]) == ["'A' = 'A'", "8.0 > 5", "8.0 > 4.0"]
    assert second["passed over"] == {
        "events": [2, 3],
        "number": 2,
        "rule": "events that do not fulfil the condition of waiting are skipped",
    }


def test_a_match_of_sase_and_one_of_a_composite() -> None:
    engine = engine_of("sase", SASE.format("b.price > a.price"))
    told = engine.why(found(engine)[1, 4], EVENTS, "q").line()
    assert [step["as"] for step in told["steps"]] == ["a", "b"]
    assert texts(told["steps"][1]["conditions"]) == [
        "'A' beside 'A'",
        "8.0 > 4.0",
        "3 us after the first event",
    ]
    engine = engine_of("ptopss", "FROM Stock a: name = $n b: price > 7 AND name = $n MATCH a; b @(t(b) - t(a) < 4)")
    told = engine.why(found(engine)[1, 4], EVENTS).line()
    assert [step["as"] for step in told["steps"]] == ["a", "b"]
    assert texts(told["steps"][1]["conditions"]) == ["8.0 > 7", "'A' = 'A'", "3 us apart"]


def near(engine: Engine, *wanted: int, **asked: Any) -> WhyNot:
    return engine.why_not("q", EVENTS, wanted=wanted, **asked)


def test_the_condition_that_failed() -> None:
    told = near(engine_of("sase", SASE.format("b.price > 2 * a.price")), 1, 4)
    (refusal,) = [each for each in told.nearest[0].refused if each.events == (4,)]
    assert told.nearest[0].steps[0].events == (1,)
    assert refusal.name == "b"
    assert [(each.values, each.holds) for each in refusal.failed] == [("8.0 > (2 * 4.0)", False)]
    assert told.nearest[0].ended == "WITHIN 10 us has passed"
    assert told.nearest[0].missing == 1


def test_an_event_ends_a_run_that_must_be_contiguous() -> None:
    told = near(engine_of("sase", SASE.format("b.price > 7").replace("skip_till_next_match", "strict_contiguity")), 1)
    nearest = told.nearest[0]
    assert (nearest.ended, nearest.ended_by) == ("the next event does not fit", (2,))
    assert [each.values for each in nearest.refused[0].failed] == ["'B' beside 'A'"]


def test_an_event_that_ends_a_run_of_cel() -> None:
    told = near(engine_of("cel", CEL.replace("price > price_1", "price > 3 * price_1")), 1, 4)
    nearest = told.nearest[0]
    assert (nearest.ended, nearest.ended_by) == ("an event that concerns it does not fit", (4,))
    assert [each.values for each in nearest.refused[0].failed] == ["8.0 > (3 * 4.0)"]


def test_an_event_that_must_not_occur() -> None:
    conditions = "a.price = 4 AND n.price < 3 AND b.price > 100"
    query = f"PATTERN SEQ(Stock a, ~(Stock n), Stock b) WHERE skip_till_next_match(a, b) {{{conditions}}} WITHIN 20 us"
    told = near(engine_of("sase", query), 1, 6)
    assert (told.nearest[0].ended, told.nearest[0].ended_by) == ("an event that must not occur has occurred", (3,))


def test_a_run_that_still_waits() -> None:
    told = near(engine_of("sase", SASE.format("b.price > a.price")), 7)
    nearest = told.nearest[0]
    assert (nearest.ended, nearest.ended_by, nearest.refused) == ("it still waits", (), ())
    assert nearest.waits_for == (("b", ("b.price > 5.0",)),)


def test_as_things_stood_and_for_one_key() -> None:
    engine = engine_of("sase", SASE.format("b.price > 200"), key="name")
    assert near(engine, time=2).nearest[0].ended == "it still waits"
    assert {step.events for nearest in near(engine, key="B").nearest for step in nearest.steps} == {(2,), (6,)}
    assert near(engine, key="C").nearest == ()


def test_nothing_began() -> None:
    told = near(engine_of("sase", "PATTERN SEQ(Stock a) WHERE skip_till_next_match(a) {a.price > 500}"), 6)
    assert told.nearest == ()
    assert [(each.events, [one.values for one in each.failed]) for each in told.beginnings] == [
        ((6,), ["101.0 > 500"]),
    ]


def test_a_published_stream_is_read_through() -> None:
    engine = engine_of("cel", f"SELECT name, price FROM {CEL} PUBLISH Rise")
    engine.subscribe("two", "cel", "Rise NEXT{} Rise", lineage=True)
    told = [match for at, row in enumerate(ROWS, 1) for match in engine.publish("Stock", [row[0]], [row[1:]], [at])]
    (two,) = [match for match in told if match.subscription == "two"][:1]
    steps = engine.why(two.id, EVENTS, "two").steps
    assert sorted(number for step in steps for number in step.events) == sorted(two.lineage or ())


def test_what_cannot_be_told() -> None:
    engine = engine_of("cel", CEL)
    with pytest.raises(DefinitionError, match="expected the id of a match of these events, found 'x'"):
        engine.why("x", EVENTS)
    with pytest.raises(UnknownSubscription, match="unknown subscription 'p'"):
        engine.why_not("p", EVENTS)


# --- register automata --------------------------------------------------------------------------------------------

RISES = """FROM Stock BY name REGISTER low FLOAT = 0 START begin FINAL risen
first: begin -> fallen WHEN price < 5 SET low = price
fallen -> fallen WHEN price < low
last: fallen -> risen WHEN price > 2 * low AND low > 1 WITHIN 10 us"""


def published(engine: Engine, events: list[Any]) -> list[Match]:
    return [each for event in events for each in engine.publish(event.stream, [event.time], [event.data], [event.id])]


def of_afa() -> Engine:
    engine = Engine()
    engine.add_stream("Stock", {"name": "string", "price": "float"}, disorder="speculate")
    engine.subscribe("q", "afa", RISES)
    return engine


def test_the_arcs_of_a_match_and_what_withdrew_it() -> None:
    late = Event("Stock", 2, 2, 20, ("A", 3.0))
    events: list[Any] = [*(Event("Stock", at, at, at, ("A", price)) for at, price in ((1, 2.0), (3, 7.0))), late]
    engine = of_afa()
    (match,) = published(engine, events[:2])
    told = engine.why(match.id, [*events, Retraction(20)], "q").line()
    assert told["told"] == [
        {"kind": "match", "by": "event", "events": [3]},
        {"kind": "retraction", "by": "late event", "events": [20]},
        {"kind": "match", "by": "withdrawn event", "events": [20]},
    ]
    assert [(step["arc"], step["as"], step["events"]) for step in told["steps"]] == [
        ("first: begin -> fallen", "fallen", [1]),
        ("last: fallen -> risen", "risen", [3]),
    ]
    assert told["steps"][0]["registers"] == {"before": {"low": 0.0}, "after": {"low": 2.0}}
    assert texts(told["steps"][1]["conditions"]) == [
        "'A' beside 'A'",
        "7.0 > (2 * 2.0)",
        "2.0 > 1",
        "2 us after the first event",
    ]
    unmatched = engine.why_not("q", events, wanted=(1, 3)).line()
    assert unmatched["withdrawn"] == [
        {"id": match.id, "lineage": [1, 3], "kind": "retraction", "by": "late event", "events": [20]}
    ]
    (nearest,) = [each for each in unmatched["nearest"] if each["steps"][0]["events"] == [1]]
    assert (nearest["state"], nearest["ended"], nearest["ended by"]) == ("fallen", "no arc takes the next event", [20])
    assert [(each["as"], texts(each["failed"])) for each in nearest["refused"]] == [
        ("fallen -> fallen", ["3.0 < 2.0"]),
        ("last: fallen -> risen", ["3.0 > (2 * 2.0)"]),
    ]


def test_an_arc_that_an_update_has_deleted() -> None:
    events: list[Any] = [Event("Stock", at, at, at, ("A", price)) for at, price in ((1, 2.0), (6, 7.0))]
    (nearest,) = of_afa().why_not("q", [UpdateLine("q", (), ("last",), 5), *events]).line()["nearest"]
    assert nearest["ended by"] == [6]
    assert ["the arc exists before 5"] in [
        [each["condition"] for each in refused["failed"]] for refused in nearest["refused"]
    ]


def test_a_register_automaton_that_waits() -> None:
    (nearest,) = of_afa().why_not("q", [Event("Stock", 1, 1, 1, ("A", 2.0))]).nearest
    assert nearest.ended == "it still waits"
    assert nearest.waits_for == (
        ("fallen -> fallen", ("price < 2.0",)),
        ("last: fallen -> risen", ("price > (2 * 2.0)", "2.0 > 1")),
    )


def test_a_stream_that_another_publishes_and_withdraws() -> None:
    engine = Engine()
    engine.add_stream("Stock", {"name": "string", "price": "float"}, disorder="speculate")
    engine.subscribe("q", "afa", RISES + " PUBLISH Rise")
    twice = "FROM Rise REGISTER n INT = 0 START a FINAL c a -> b SET n = 1 b -> c SET n = 2"
    engine.subscribe("two", "afa", twice)
    events = [Event("Stock", at, at, at, ("A", price)) for at, price in ((1, 2.0), (3, 7.0), (4, 3.0), (6, 8.0))]
    (two,) = [each for each in published(engine, list(events)) if each.subscription == "two"]
    steps = engine.why(two.id, events, "two").steps
    assert [step.events for step in steps] == [(1, 3), (4, 6)]


def test_a_keyword_as_the_name_of_an_attribute_is_passed_over() -> None:
    engine = Engine()
    engine.add_stream("S", {"r": "string", "when": "int?", "x": "int"}, disorder="speculate")
    engine.subscribe("q", "afa", "FROM S START a FINAL b one: a -> b WHEN x > 1 AND r = 'v'")
    events = [Event("S", 1, 1, 1, ("v", 5, 2)), Event("S", 2, 2, 2, ("v", None, 1))]
    (match,) = published(engine, list(events))
    assert set(texts(engine.why(match.id, events).line()["steps"][0]["conditions"])) == {"2 > 1", "'v' = 'v'"}
    assert [each.events for each in engine.why_not("q", events, wanted=(2,)).beginnings] == [(2,)]


# --- windows ------------------------------------------------------------------------------------------------------


def test_a_window_that_closed_and_one_that_did_not() -> None:
    engine = engine_of(
        "window",
        "FROM Stock BY name WINDOW AFTER any* MATCHING [price < 5] [price > 4]+ [price < 2]",
    )
    lows = [
        Event("Stock", at, at, at, ("A", price)) for at, price in enumerate((4.0, 9.0, 8.0, 1.0, 3.0, 6.0, 3.0, 4.5), 1)
    ]
    (match,) = published(engine, lows)[:1]
    told = engine.why(match.id, lows).line()
    assert [step["events"] for step in told["steps"]] == [[1], [2], [3], [4]]
    assert told["window"]["prefix"]["events"] == 0
    assert len(told["window"]["body"]["states"]) == 5
    assert texts(told["steps"][1]["conditions"]) == ["9.0 > 4"]
    found = engine.why_not("q", lows)
    waits, ended = found.nearest[0], next(each for each in found.nearest if each.steps[0].events == (5,))
    assert (waits.ended, waits.missing) == ("it still waits", 1)
    assert ("price < 2",) in [conditions for _, conditions in waits.waits_for]
    assert (ended.ended, ended.ended_by) == ("the next event does not fit", (7,))
    assert [each.values for each in ended.refused[0].failed] in (["3.0 > 4"], ["3.0 < 2"])


def test_parts_of_a_subscription_that_share_a_machine() -> None:
    engine = Engine()
    engine.add_stream("S", {"k": "string", "a": "int"})
    pairs = "((SELECT a AS a, k AS k FROM S) NEXT{NOT $2.k = 'v'} S)"
    one, other = f"(SELECT a_1, k_1, k, a FROM {pairs})", f"(SELECT a_1, k_1, k, a FROM FILTER{{k_1 < k}}({pairs}))"
    engine.subscribe("q", query=f"FILTER{{k >= 'a'}}({one} UNION {other})")
    rows = [(1, ("v", 1)), (2, ("u", 2)), (3, ("uv", 3))]
    events = [Event("S", time, time, at, row) for at, (time, row) in enumerate(rows, 1)]
    told = engine.why_not("q", events).line()
    assert told["nearest"][0]["steps"][0]["events"] == [3]
    assert told["nearest"][0]["ended"] == "it still waits"
