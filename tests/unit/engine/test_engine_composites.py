"""Composite subscriptions in an engine: what they share, derived streams, what is begun, what is refused."""

from __future__ import annotations

import pytest

from broker.engine import Engine, Options
from broker.events.errors import DefinitionError, LimitExceeded, Unsupported
from broker.events.schema import Row

LOGINS = """
FROM Login
s1, s2, s3: ip = $x AND status = 'denied'
s4: ip = $x AND status = 'success'
MATCH s1, s2, s3 @(t(s3) - t(s1) < 5 min), s4
"""


def engine_of(**queries: str) -> Engine:
    engine = Engine()
    engine.add_stream("Login", {"ip": "string", "status": "string"})
    engine.add_stream("S", {"ty": "string", "n": "int?", "w": "float?"})
    for name, query in queries.items():
        engine.subscribe(name, language="ptopss", query=query)
    return engine


def rows(types: str) -> list[Row]:
    return [(ty, number, float(number)) for number, ty in enumerate(types)]


def test_three_live_instances_of_table_2() -> None:
    engine = engine_of(intrusion=LOGINS)
    engine.publish("Login", [10, 20, 30], [("a", "denied")] * 3)
    assert sorted(map(len, engine.partial_matches("intrusion"))) == [1, 2, 3]
    assert engine.partial_matches("intrusion") == [
        {"s1": [3]},
        {"s1": [2], "s2": [3]},
        {"s1": [1], "s2": [2], "s3": [3]},
    ]
    [match] = engine.publish("Login", [40], [("a", "success")])
    assert match.bindings == {"s1": [1], "s2": [2], "s3": [3], "s4": [4]}
    assert engine.partial_matches("intrusion") == []


def test_a_primitive_of_many_subscriptions_is_one_arc_of_the_index() -> None:
    operands = "a: ty = 'A' b: ty = 'B' c: n > 3 AND w < 9"
    patterns = ["a; b", "a, b", "b; a; c", "a AND b", "c OR a"]
    engine = engine_of(**{f"q{i}": f"FROM S {operands_of(operands, p)} MATCH {p}" for i, p in enumerate(patterns)})
    statics = [static for statics in engine.program.directory.statics for static in statics.values()]
    assert sum(map(len, statics)) == 3


def operands_of(definitions: str, pattern: str) -> str:
    parts = {"a": "a: ty = 'A'", "b": "b: ty = 'B'", "c": "c: n > 3 AND w < 9"}
    return " ".join(text for name, text in parts.items() if name in pattern)


def test_what_subscriptions_share_says_the_operands_of_each() -> None:
    engine = engine_of()
    for name, first, last in (("q1", "a", "b"), ("q2", "x", "y")):
        query = f"FROM S {first}: ty = 'A' {last}: ty = 'B' MATCH {first}; {last}"
        engine.subscribe(name, language="ptopss", query=query, report="completions")
    found = engine.publish("S", [1, 2, 3], rows("AAB"))
    assert {m.subscription: m.bindings for m in found} == {"q1": {"a": [2], "b": [3]}, "q2": {"x": [2], "y": [3]}}
    engine.unsubscribe("q1")
    [match] = engine.publish("S", [4], rows("B"))
    assert match.bindings == {"x": [2], "y": [4]}


def test_a_thousand_equal_subscriptions_are_one_machine_and_one_count() -> None:
    for report in ("all", "completions"):
        engine = engine_of()
        for number in range(1_000):
            query = "FROM S a: ty = 'A' b: ty = 'B' MATCH a; b WITHIN 1 min"
            engine.subscribe(f"q{number}", language="ptopss", query=query, report=report)
        results = engine.publish("S", range(1, 4), rows("AAB"))
        assert engine.statistics()["machines"] == 1
        assert engine.matches == (2 if report == "all" else 1)
        assert len(results) == (2_000 if report == "all" else 1_000)


def test_results_are_a_stream_and_streams_of_results_are_read() -> None:
    engine = engine_of(pairs="FROM S a: ty = 'A' AND n = $x b: ty = 'B' AND w = $x MATCH a; b PUBLISH Pairs")
    engine.subscribe("twice", language="ptopss", query="FROM Pairs p, q: x >= 0 MATCH p; q")
    engine.subscribe("high", query="SELECT x AS x FROM FILTER{x > 1}(Pairs)")
    events: list[Row] = [("A", 1, None), ("B", None, 1.0), ("A", 2, None), ("B", None, 2.0)]
    found = list(engine.publish("S", [1, 2, 3, 4], events))
    assert [(m.subscription, m.lineage, m.start, m.end) for m in found if m.subscription != "high"] == [
        ("pairs", [1, 2], 1, 2),
        ("pairs", [3, 4], 3, 4),
        ("twice", [1, 2, 3, 4], 2, 4),
    ]
    assert [m.data for m in found if m.subscription == "pairs"] == [{"x": 1.0}, {"x": 2.0}]
    assert [(m.data, m.start, m.end) for m in found if m.subscription == "high"] == [({"x": 2.0}, 3, 4)]
    again = Engine.restore(engine.snapshot())
    more: list[Row] = [("A", 3, None), ("B", None, 3.0)]
    assert list(again.publish("S", [5, 6], more)) == list(engine.publish("S", [5, 6], more)) != []


def test_by_parts_the_stream_and_adjacency_with_it() -> None:
    engine = engine_of(
        by="FROM S BY n a: ty = 'A' b: ty = 'B' MATCH a, b", whole="FROM S a: ty = 'A' b: ty = 'B' MATCH a, b"
    )
    events: list[Row] = [("A", 1, None), ("A", 2, None), ("C", None, None), ("B", 1, None), ("B", 2, None)]
    found = engine.publish("S", range(1, 6), events)
    assert [(m.subscription, m.lineage) for m in found] == [("by", [1, 4]), ("by", [2, 5])]


def test_what_is_begun_is_forgotten_when_nobody_can_need_it() -> None:
    engine = engine_of(short="FROM S BY n a: ty = 'A' b: ty = 'B' MATCH a; b WITHIN 10")
    for start in range(0, 20_000, 100):
        batch: list[Row] = [("A", start + i, None) for i in range(100)]
        engine.publish("S", range(start, start + 100), batch)
    assert engine.statistics()["bindings"] < 4_000
    engine.check_invariants()


def test_what_does_not_fit_is_refused_and_changes_nothing() -> None:
    engine = engine_of()
    query = "FROM S a: ty = 'A' b: ty = 'B' c: ty = 'C' MATCH a; b @(t(b) - t(a) > 5); c @(t(c) - t(a) < 3)"
    with pytest.raises(DefinitionError, match="no events can satisfy"):
        engine.subscribe("q", language="ptopss", query=query)
    operands = [f"o{i}" for i in range(40)]
    query = f"FROM S {', '.join(operands)}: ty = 'A' MATCH {' AND '.join(operands)}"
    with pytest.raises(LimitExceeded, match="8192 moves"):
        engine.subscribe("q", language="ptopss", query=query)
    assert len(engine.subscriptions) == 0
    engine.check_invariants()
    engine.subscribe("q", query="FILTER{ty = 'A'}(S)")
    with pytest.raises(Unsupported, match="cannot list partial matches"):
        engine.partial_matches("q")


def test_hitting_a_limit_is_told_even_where_nothing_is_left_to_report() -> None:
    engine = Engine(Options(nodes_max=2, bindings_max=2))
    engine.add_stream("S", {"ty": "string", "n": "int?", "w": "float?"})
    engine.subscribe("nodes", language="ptopss", query="FROM S a: ty = 'A' c: ty = 'C' MATCH a; c", report="all")
    engine.subscribe("keys", language="ptopss", query="FROM S a: ty = 'A' AND n = $x c: ty = 'C' AND n = $x MATCH a; c")
    results = list(engine.publish("S", range(1, 5), [*rows("AAA"), ("C", 0, 0.0)]))
    told = [m.line() for m in results if m.kind == "incomplete"]
    assert {line["subscription"] for line in told} == {"nodes", "keys"}
    assert all(set(line) == {"kind", "subscription", "id", "limit", "since"} for line in told)
    assert all(3 <= line["since"] <= 4 for line in told)
    assert not any(m.tuples or not m.incomplete for m in results if m.kind == "match")


def test_a_restored_engine_tells_of_limits_as_the_first_one_does() -> None:
    engine = Engine(Options(nodes_max=2))
    engine.add_stream("S", {"ty": "string", "n": "int?", "w": "float?"})
    engine.subscribe("q", language="ptopss", query="FROM S a: ty = 'A' c: ty = 'C' MATCH a; c", report="all")
    engine.publish("S", range(12), rows("AAAAAAAAAAAA"))
    again = Engine.restore(engine.snapshot(), engine.options)
    more = [list(e.publish("S", range(12, 60), rows("A" * 47 + "C"))) for e in (engine, again)]
    assert more[0] == more[1] != []


def test_a_prepared_composite_keeps_its_language() -> None:
    engine = engine_of()
    prepared = engine.prepare("FROM S a: ty = 'A' b: ty = 'B' MATCH a; b", language="ptopss")
    engine.subscribe("all", query=prepared)
    engine.subscribe("few", query=prepared, report="completions")
    found = engine.publish("S", [1, 2], rows("AB"))
    assert {(match.subscription, match.tuples) for match in found} == {("all", None), ("few", 1)}


def test_long_patterns_can_be_released() -> None:
    """Compiled objects that the garbage collector does not track must not hang deep in chains: see performance.md."""
    names = [f"a{number}" for number in range(60)]
    chain = "(" * 58 + "S" + "".join(f" NEXT{{$2.n = {number}}} S)" for number in range(58))
    for join in ("", " AND n = $x"):
        for report in ("completions", "all"):
            engine = engine_of()
            definitions = " ".join(f"{name}: ty = '{name}'{join}" for name in names)
            query = f"FROM S {definitions} MATCH {'; '.join(names)}"
            engine.subscribe("long", language="ptopss", query=query, report=report)
            engine.subscribe("chain", query=f"SELECT n AS n FROM {chain}")
            found = 0
            for repetition in range(3):
                events: list[Row] = [(name, 1, None) for name in names]
                found += len(engine.publish("S", range(100 * repetition, 100 * repetition + 60), events))
            assert found > 2
            engine = Engine.restore(engine.snapshot())
            engine.check_invariants()
            engine.unsubscribe("long")
            engine.check_invariants()
            del engine


def test_a_condition_that_has_failed_on_one_way_leaves_the_other_open() -> None:
    engine = engine_of(either="FROM S a: ty = 'A' b: ty = 'B' c: ty = 'C' MATCH a; (b OR c) @(t(b) - t(a) <= 2)")
    assert engine.statistics()["machines"] == 1
    found = engine.publish("S", [1, 3, 4, 9], rows("ABBC"))
    assert [(match.start, match.end) for match in found] == [(1, 3), (1, 9)]
