"""A subscription that asks too much of an event, or meets a mistake of ours, is suspended, and no other is touched."""

from __future__ import annotations

from typing import Any

import pytest
from doubles.read_columns import in_columns

from broker.algebra.functions import FUNCTIONS, ScalarFunction
from broker.engine import Engine, Match, Options
from broker.engine.subscribing.suspensions import suspended

SUM = """
PATTERN SEQ(S+ a[], S b) WHERE skip_till_any_match(a[], b) {{ a[i].v > 0 AND sum(a[].v) > {least} AND b.v > 0 }}
WITHIN 1000000
"""
ALL = "FROM S a, b, c: v > 0 MATCH a ; b ; c @(t(c) - t(a) < 100000) @(t(c) - t(b) != 7)"
PAIRS = "SELECT * FROM S NEXT{$2.k = $1.k} S"
SMALL = Options(work_max=2_000, work_earned=20)
EXECUTORS = [Options(), Options(executors_off=("keyed_runs", "kleene", "sequence_trie", "tuple_counts"))]


def engine_with(options: Options, **queries: tuple[str, str]) -> Engine:
    engine = Engine(options)
    engine.add_stream("S", {"k": "int", "v": "int"})
    for name, (language, query) in queries.items():
        engine.subscribe(name, language, query)
    return engine


def feed(engine: Engine, first: int, upto: int, batch: int) -> list[Match]:
    found: list[Match] = []
    for at in range(first, upto, batch):
        numbers = range(at, min(at + batch, upto))
        found += engine.publish("S", list(numbers), [(n % 3, 1) for n in numbers], numbers)
    return found


def of(matches: list[Match], name: str) -> list[dict[str, Any]]:
    return [match.line() for match in matches if match.subscription == name]


@pytest.mark.parametrize("query", [("sase", SUM.format(least=3)), ("ptopss", ALL)])
def test_a_subscription_that_works_too_much_is_suspended_and_told_so(query: tuple[str, str]) -> None:
    engine = engine_with(SMALL, dear=query, cheap=("cayuga", PAIRS))
    found = feed(engine, 0, 200, 1)
    told = of(found, "dear")
    assert {key: told[-1][key] for key in ("kind", "limit", "suspended")} == {
        "kind": "incomplete",
        "limit": "work_max",
        "suspended": True,
    }
    since = told[-1]["since"]
    assert 5 < since < 100
    assert suspended(engine.catalog, engine.program) == {"dear": ("work_max", since)}
    assert engine.statistics()["suspended"] == 1
    alone = engine_with(SMALL, cheap=("cayuga", PAIRS))
    assert of(found, "cheap") == of(feed(alone, 0, 200, 1), "cheap")
    engine.check_invariants()
    engine.unsubscribe("dear")
    engine.subscribe("dear", *query)
    assert suspended(engine.catalog, engine.program) == {}
    assert of(feed(engine, 200, 206, 1), "dear")


@pytest.mark.parametrize("query", [("sase", SUM.format(least=3)), ("ptopss", ALL)])
@pytest.mark.parametrize("batch", [1, 7, 200])
def test_batches_and_snapshots_do_not_decide_who_is_suspended(query: tuple[str, str], batch: int) -> None:
    whole = engine_with(SMALL, dear=query)
    expected = [line for line in of(feed(whole, 0, 200, 3), "dear") if line["kind"] == "incomplete"]
    engine = engine_with(SMALL, dear=query)
    found: list[Match] = []
    for cut in (0, 5, 11, 12, 13, 50, 200):
        found += feed(engine, engine.events, cut, batch)
        engine = Engine.restore(engine.snapshot(), SMALL)
        engine.check_invariants()
    assert [line for line in of(found, "dear") if line["kind"] == "incomplete"] == expected
    assert suspended(engine.catalog, engine.program) == suspended(whole.catalog, whole.program)


def test_the_default_budget_ends_what_grows_exponentially() -> None:
    """Of 200 events, each would go on with 100,000 runs."""
    engine = engine_with(Options(), dear=("sase", SUM.format(least=10**9)))
    told = of(feed(engine, 0, 200, 1), "dear")
    assert [line["limit"] for line in told if "suspended" in line] == ["work_max"]
    assert engine.statistics()["pattern_runs"] == 0
    assert told[-1]["since"] < 40


def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """sqrt of 13 is a mistake of ours."""

    def compute(x: float) -> float:
        if x == 13:
            raise ZeroDivisionError("a mistake")
        return x

    monkeypatch.setitem(FUNCTIONS, "sqrt", ScalarFunction(("number",), "float", compute))


FAULTY = [
    ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { sqrt(b.v) > a.v }"),
    ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { sqrt(b.v) > 1 }"),
    ("sase", "PATTERN SEQ(S+ a[], S b) WHERE skip_till_any_match(a[], b) { a[i].v > sqrt(a[i-1].v) } WITHIN 100"),
    ("cayuga", "SELECT * FROM FILTER{sqrt(v) > 1}(S)"),
    ("cayuga", "SELECT * FROM FILTER{sqrt(v) > 1}(S) NEXT{$2.k = $1.k} S"),
    ("cayuga", "SELECT * FROM S NEXT{$2.k = $1.k AND sqrt($2.v) > $1.v} S"),
    ("cayuga", "SELECT * FROM FILTER{sqrt(v_1) > v}(S NEXT{$2.k = $1.k} S)"),
    ("cayuga", "SELECT * FROM (SELECT *, sqrt(v) AS w FROM S) NEXT{$2.k = $1.k AND $2.v > $1.w} S"),
    ("cayuga", "SELECT * FROM S FOLD{$2.k = $.k, sqrt($2.v) > 0} S"),
    ("cayuga", "(SELECT v FROM S) UNION (SELECT v FROM S NEXT{} (S NEXT{sqrt($2.v) > 0} S))"),
    ("ptopss", "FROM S a, b: sqrt(v) > 1 MATCH a ; b"),
    ("ptopss", "FROM S a: v > 1 b: sqrt(v) > 1 MATCH a ; b @(t(b) - t(a) < 50)"),
    ("sase", "PATTERN SEQ(S a, ~(S m)) WHERE skip_till_next_match(a) { sqrt(m.v) > a.v } WITHIN 100"),
]


@pytest.mark.parametrize("query", FAULTY)
@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("options", EXECUTORS)
def test_a_mistake_suspends_the_subscription_that_meets_it_and_no_other(
    query: tuple[str, str], beside: bool, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch)
    others = {"good": ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { b.v > a.v }")}
    others |= {"pairs": ("cayuga", PAIRS)} if beside else {}
    engine, alone = engine_with(options, bad=query, **others), engine_with(options, **others)
    values = [5, 1, 9, 13, 2, 13, 7, 20]
    rows = [(0, value) for value in values]
    found = list(engine.publish("S", list(range(8)), rows)) + list(engine.publish("S", [200, 201], rows[:2]))
    expected = list(alone.publish("S", list(range(8)), rows)) + list(alone.publish("S", [200, 201], rows[:2]))
    for name in others:
        assert of(found, name) == of(expected, name)
    told = [line for line in of(found, "bad") if line["kind"] == "incomplete"]
    assert [(line["limit"], line["suspended"]) for line in told] == [("failure", True)]
    assert [(f.subscription, f.reference, type(f.error)) for f in engine.failures] == [
        ("bad", told[0]["id"], ZeroDivisionError)
    ]
    engine.check_invariants()
    assert engine.explain()
    assert engine.diagram().nodes
    again = Engine.restore(engine.snapshot(), options)
    assert (
        suspended(again.catalog, again.program)
        == suspended(engine.catalog, engine.program)
        == {"bad": ("failure", told[0]["since"])}
    )


@pytest.mark.parametrize("options", EXECUTORS)
def test_a_result_that_cannot_be_made_is_told_as_that_and_its_subscription_goes_on(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch)
    engine = engine_with(options, bad=("cayuga", "SELECT *, sqrt(v) AS w FROM S"), pairs=("cayuga", PAIRS))
    results = engine.publish("S", [1, 2, 3], [(0, 1), (0, 13), (0, 2)], [1, 2, 3])
    found = of(list(results), "bad")
    assert [line.get("limit") for line in found] == [None, "unmade", None]
    assert "suspended" not in found[1]
    assert [(f.subscription, f.reference) for f in engine.failures] == [("bad", found[1]["id"])]
    assert len(of(list(in_columns(results)), "pairs")) == 2
    assert suspended(engine.catalog, engine.program) == {}


@pytest.mark.parametrize("options", EXECUTORS)
def test_who_publishes_a_stream_that_others_read_is_suspended_and_they_stay(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch)
    engine = engine_with(options, bad=("cayuga", "SELECT *, sqrt(v) AS w FROM S PUBLISH W"), pairs=("cayuga", PAIRS))
    engine.subscribe("reads", "cayuga", "SELECT * FROM W")
    results = list(engine.publish("S", [1, 2, 3], [(0, 1), (0, 13), (0, 2)], [1, 2, 3]))
    assert [line["end"] for line in of(results, "reads")] == [1]
    assert [line.get("limit") for line in of(results, "bad")] == [None, "unmade", "failure"]
    assert len(of(results, "pairs")) == 2
    engine = Engine.restore(engine.snapshot(), options)
    assert suspended(engine.catalog, engine.program) == {"bad": ("failure", 2)}
    assert of(list(engine.publish("S", [4], [(0, 5)], [4])), "pairs")
    engine.unsubscribe("reads")
    engine.unsubscribe("bad")
    engine.check_invariants()
    assert "W" not in engine.published


@pytest.mark.parametrize("options", EXECUTORS)
def test_a_mistake_in_what_several_share_suspends_those_alone(
    options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(monkeypatch)
    shared = "SELECT * FROM FILTER{{v_1 > {}}}(S NEXT{{$2.k = $1.k AND sqrt($2.v) > 0}} S)"
    queries = {f"bad{n}": ("cayuga", shared.format(n)) for n in range(20)}
    engine = engine_with(options, good=("cayuga", PAIRS), **queries)
    results = list(engine.publish("S", [1, 2, 3], [(0, 1), (0, 13), (0, 2)], [1, 2, 3]))
    assert sorted(suspended(engine.catalog, engine.program)) == sorted(queries)
    assert len(of(results, "good")) == 2
    for name in queries:
        engine.unsubscribe(name)
    engine.check_invariants()
    alone = engine_with(options, good=("cayuga", PAIRS))
    assert engine.statistics()["states"] == alone.statistics()["states"]
