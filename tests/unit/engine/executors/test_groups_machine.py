"""Groups in an engine: who shares one, results that are read late, coming and going in numbers, limits."""

from __future__ import annotations

from typing import Any

from broker.engine import Engine, Options


def engine_of(**options: Any) -> Engine:
    engine = Engine(Options(**options))
    engine.add_stream("S", {"ty": "string", "p": "float"})
    return engine


def falls(above: float, below: float, within: str = " WITHIN 100") -> dict[str, Any]:
    conditions = f"[ty] AND a.ty = 'A' AND a.p > {above} AND b.p < {below}"
    return {
        "language": "sase",
        "query": f"PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ {conditions} }}{within}",
    }


def bindings(results: Any, name: str) -> list[dict[str, list[int]]]:
    return [match.bindings for match in results if match.subscription == name]


def test_whoever_comes_later_joins_and_sees_what_begins_later() -> None:
    engine = engine_of()
    engine.subscribe("early", **falls(5, 2))
    engine.publish("S", [1], [("A", 9.0)])
    engine.subscribe("late", **falls(6, 3))
    assert engine.statistics()["groups"] == 1
    engine.publish("S", [2], [("A", 8.0)])
    found = engine.publish("S", [3], [("A", 1.0)])
    assert bindings(found, "early") == [{"a": [1], "b": [3]}, {"a": [2], "b": [3]}]
    assert bindings(found, "late") == [{"a": [2], "b": [3]}]


def test_other_keys_and_other_templates_are_other_groups() -> None:
    engine = engine_of()
    engine.subscribe("a", **falls(5, 2))
    engine.subscribe("b", language="sase", query=falls(5, 2)["query"].replace("'A'", "'B'"))
    engine.subscribe("c", language="sase", query=falls(5, 2)["query"].replace("b.p <", "b.p >"))
    assert engine.statistics()["groups"] == 3
    engine.unsubscribe("b")
    assert engine.statistics()["groups"] == 2


def test_a_long_list_is_part_of_the_template() -> None:
    """`IN` with many constants is one condition of a step, not as many alternatives; a filter is found by an index."""
    engine = engine_of()
    listed = "b.p IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)"
    for number in range(3):
        for name, condition in ((f"a{number}", listed), (f"b{number}", listed.replace("10", "11"))):
            query = falls(number, 20)["query"].replace("b.p < 20", f"b.p < 20 AND {condition}")
            engine.subscribe(name, language="sase", query=query)
    engine.subscribe("filter", query=f"FILTER{{ty = 'A' AND {listed.replace('b.p', 'p')}}}(S)")
    assert (engine.statistics()["groups"], engine.statistics()["group_members"]) == (2, 6)
    found = engine.publish("S", [1, 2, 3], [("A", 1.5), ("A", 2.25), ("A", 10.0)])
    assert [match.subscription for match in found] == ["filter", "a0", "a0", "a1", "a1", "a2"]


def test_results_are_read_late_by_those_who_were_there() -> None:
    """While nobody reads them members leave, others get their handles, and events are swept."""
    engine = engine_of()
    engine.subscribe("stays", **falls(0, 0))
    for number in range(300):
        engine.subscribe(f"first-{number}", **falls(number / 100, 2))
    engine.publish("S", [1, 2], [("A", 1.005), ("A", 9.0)])
    found = engine.publish("S", [3], [("A", 1.0)])
    for number in range(300):
        engine.unsubscribe(f"first-{number}")
    for number in range(300):
        engine.subscribe(f"second-{number}", **falls(5, 2))
    for time in range(4, 1_500):
        engine.publish("S", [time], [("A", 9.0 if time % 2 else 1.0)])
        if time % 100 == 0:
            engine.check_invariants()
    assert len(found) == 300 + 101
    assert bindings(found, "first-0") == [{"a": [1], "b": [3]}, {"a": [2], "b": [3]}]
    assert bindings(found, "first-250") == [{"a": [2], "b": [3]}]
    assert not any(match.subscription.startswith("second") for match in found)


def test_a_group_that_keeps_too_many_events_drops_what_waits_and_says_so() -> None:
    engine = engine_of(runs_max=300)
    for name in ("one", "other"):
        engine.subscribe(name, **falls(5, -1, ""))
    found = engine.publish("S", list(range(1_000)), [("A", 9.0)] * 1_000)
    assert {(match.subscription, match.limit) for match in found} == {("one", "runs_max"), ("other", "runs_max")}
    assert engine.statistics()["group_events"] < 1_000
    engine.check_invariants()


def test_explain_names_the_group_and_what_has_none() -> None:
    engine = engine_of()
    engine.subscribe("one", **falls(5, 2))
    engine.subscribe("other", **falls(6, 3))
    engine.subscribe(
        "kleene",
        language="sase",
        query="PATTERN SEQ(S a, S+ b[]) WHERE skip_till_any_match(a, b[]) { a.p > 1 } WITHIN 5",
    )
    lines = engine.explain()
    assert "one: executor groups" in lines
    assert "one: group 1 shares 2 steps on S with a.ty = 'A'" in lines
    assert "other: group 1 shares 2 steps on S with a.ty = 'A'" in lines
    assert "one: how runs are kept: a next match for 2 members, 3 constants each" in lines
    assert any(line.startswith("one: cost of an event: a visit of the group") for line in lines)
    assert "groups: 2 subscriptions in 1 group" in lines
    reason = "an operand repeats, and runs stay where they move"
    assert any(line.startswith(f"kleene: executor kleene; not groups: {reason}") for line in lines)
    assert "kleene: cost of an event: it visits each run: each event of a key may double its runs" in "\n".join(lines)


def test_an_event_without_the_key_ends_a_run_that_waits_for_any_event() -> None:
    engine = engine_of()
    step = "FILTER{{ty = 'A' AND p > {}}}"
    query = f"SELECT * FROM {step.format(2)}(({step.format(1)} S) NEXT{{TRUE}} S)"
    engine.subscribe("a", language="cayuga", query=query)
    found = engine.publish("S", [1, 2, 3, 4], [("A", 2.0), ("B", 1.0), ("A", 3.0), ("A", 4.0)])
    assert [(match.start, match.end) for match in found] == [(3, 4)]


def test_steps_that_compute_other_values_are_other_groups() -> None:
    engine = engine_of()
    for factor in (2, 3):
        left = f"SELECT *, p * {factor} AS q FROM FILTER{{ty = 'A' AND p > 1}} S"
        engine.subscribe(f"times-{factor}", language="cayuga", query=f"SELECT * FROM ({left}) NEXT{{$2.ty = $1.ty}} S")
    found = engine.publish("S", [1, 2], [("A", 1.5), ("A", 9.0)])
    assert {match.subscription: match.data["q_1"] for match in found} == {"times-2": 3.0, "times-3": 4.5}


def rises(start: float, told: str) -> dict[str, Any]:
    begun = f"(SELECT *, 1 AS cnt FROM FILTER{{ty = 'A' AND p > {start}}} S)"
    rising = f"{begun} FOLD{{$2.ty = $.ty, $2.p > $.p, $.cnt + 1 AS cnt}} S"
    return {"language": "cayuga", "query": f"SELECT * FROM FILTER{{{told}}}({rising})"}


def test_folds_with_other_thresholds_are_one_group_and_another_sum_is_another() -> None:
    engine = engine_of()
    engine.subscribe("short", **rises(0, "cnt >= 2"))
    engine.subscribe("long", **rises(1, "cnt >= 3"))
    assert engine.statistics()["groups"] == 1
    engine.subscribe("twice", language="cayuga", query=rises(0, "cnt >= 2")["query"].replace("$.cnt + 1", "$.cnt + 2"))
    assert engine.statistics()["groups"] == 2
    found = engine.publish("S", [1, 2, 3, 4], [("A", 1.0), ("A", 2.0), ("A", 3.0), ("A", 4.0)])
    short = [(m.start, m.end, m.data["cnt"]) for m in found if m.subscription == "short"]
    assert short == [(1, 2, 2), (2, 3, 2), (1, 3, 3), (3, 4, 2), (2, 4, 3), (1, 4, 4)]
    assert [(m.start, m.end) for m in found if m.subscription == "long"] == [(2, 4)]


def test_each_event_of_an_epoch_makes_a_run_of_a_fold_of_its_own() -> None:
    engine = engine_of()
    engine.subscribe("a", lineage=True, **rises(0, "cnt > 2 OR p < 0"))
    found = engine.publish("S", [1, 2, 2, 3], [("A", 1.0), ("A", 2.0), ("A", 2.5), ("A", 3.0)])
    assert [match.lineage for match in found] == [[1, 2, 4], [1, 3, 4]]


def test_lineage_of_a_fold_is_collected_for_a_member_that_asks_for_it_later() -> None:
    engine = engine_of()
    engine.subscribe("early", **rises(0, "cnt >= 3"))
    engine.publish("S", [1], [("A", 1.0)])
    engine.subscribe("late", lineage=True, **rises(0, "cnt >= 2"))
    engine.publish("S", [2], [("A", 2.0)])
    found = engine.publish("S", [3], [("A", 3.0)])
    assert [(m.subscription, m.lineage) for m in found] == [("late", [2, 3]), ("early", None)]
