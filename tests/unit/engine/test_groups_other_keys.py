"""Groups of events with a text each, next matches, any or adjacent: members with any texts are one group."""

from __future__ import annotations

import random
from typing import Any

import pytest

from broker.engine import Engine, Options

SCHEMA = {"ty": "string", "w": "float", "p": "float?"}
TEXT = (
    "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ a.ty = '{first}' AND b.ty = '{second}'"
    " AND a.p > {begins} AND b.p < {ends} }} WITHIN {within}"
)


def subscribed(engine: Engine, name: str, **constants: Any) -> None:
    constants = {"first": "A", "second": "B", "begins": 5, "ends": 3, "within": 10} | constants
    engine.subscribe(name, language="sase", query=TEXT.format(**constants), lineage=True)


def engine_with(*constants: dict[str, Any]) -> Engine:
    engine = Engine()
    engine.add_stream("S", SCHEMA)
    for number, each in enumerate(constants):
        subscribed(engine, f"s{number}", **each)
    return engine


def found(engine: Engine, times: list[int], *rows: tuple[str, float | None]) -> list[Any]:
    results = engine.publish("S", times, [(ty, 0.0, p) for ty, p in rows])
    return [(match.subscription, match.lineage) for match in results]


def test_members_with_any_texts_are_one_group() -> None:
    engine = engine_with({}, {"second": "C"}, {"first": "C", "second": "A", "begins": 0, "ends": 9})
    assert "groups: 3 subscriptions in 1 group" in engine.explain()
    assert "s0: how runs are kept: a next match for 3 members, 3 constants each" in engine.explain()
    assert found(engine, [1, 2, 3, 4], ("A", 6.0), ("B", 2.0), ("C", 1.0), ("A", 7.0)) == [
        ("s0", [1, 2]), ("s1", [1, 3]), ("s2", [3, 4])
    ]  # fmt: skip
    assert found(engine, [5, 6, 7], ("B", None), ("B", 2.0), ("B", 2.0)) == [("s0", [4, 6])]
    engine.check_invariants()


def test_each_member_has_its_own_window_and_its_own_last_match() -> None:
    engine = engine_with({"within": 2}, {"within": 20}, {"within": 20, "ends": 1})
    rows = [("A", 6.0), ("A", 8.0), ("B", 2.0), ("A", 9.0), ("B", 0.0)]
    assert found(engine, [1, 4, 5, 6, 9], *rows) == [
        ("s0", [2, 3]), ("s1", [1, 3]), ("s1", [2, 3]), ("s1", [4, 5]), ("s2", [1, 5]), ("s2", [2, 5]), ("s2", [4, 5])
    ]  # fmt: skip


def test_starts_of_a_text_go_with_its_last_member() -> None:
    engine = engine_with({}, {"first": "C"})
    assert found(engine, [1, 2], ("A", 6.0), ("C", 6.0)) == []
    engine.unsubscribe("s1")
    subscribed(engine, "s2", first="C")
    assert found(engine, [3, 4, 5], ("B", 2.0), ("C", 7.0), ("B", 2.0)) == [("s0", [1, 3]), ("s2", [4, 5])]
    engine.check_invariants()


def test_a_snapshot_has_what_waits() -> None:
    engine = engine_with({}, {"first": "C"})
    assert found(engine, [1, 2, 3], ("A", 6.0), ("B", 2.0), ("C", 6.0)) == [("s0", [1, 2])]
    restored = Engine.restore(engine.snapshot())
    assert len(list(restored.partial_matches("s1"))) == 1
    assert list(restored.partial_matches("s0")) == []
    assert found(restored, [4, 5], ("A", 9.0), ("B", 1.0)) == [("s0", [4, 5]), ("s1", [3, 5])]
    restored.check_invariants()


def test_what_no_window_holds_is_dropped() -> None:
    engine = engine_with({}, {"first": "C"})
    for time in range(0, 10_000, 10):
        assert found(engine, [time, time + 5], ("A", 6.0), ("C", 7.0)) == []
    assert engine.statistics()["group_events"] < 500
    engine.check_invariants()


def sase(strategy: str, elements: str, condition: str) -> tuple[str, str]:
    names = ", ".join(each.split()[-1] for each in elements.split(", ") if "~" not in each)
    return "sase", f"PATTERN SEQ({elements}) WHERE {strategy}({names}) {{{{ {condition} }}}} WITHIN {{within}}"


def composite(match: str) -> tuple[str, str]:
    own = "c: ty = '{first}' AND w > 1 " if "c" in match else ""
    defined = "FROM S a: ty = '{first}' AND p > {begins} b: ty = '{second}' AND p < {ends} "
    return "ptopss", f"{defined}{own}MATCH {match} WITHIN {{within}}"


PAIR = "a.ty = '{first}' AND b.ty = '{second}' AND a.p > {begins} AND b.p < {ends}"
FORMS = {
    "a; b": ("any match", composite("a; b")),
    "a AND b": ("any match", composite("a AND b")),
    "a AND b AND c": ("any match", composite("a AND b AND c")),
    "(a AND b); c": ("any match", composite("(a AND b); c")),
    "a; (b OR c)": ("any match", composite("a; (b OR c)")),
    "a, b": ("chain", composite("a, b")),
    "a, b, c": ("chain", composite("a, b, c")),
    "any b": (
        "any match",
        ("ptopss", "FROM S a: ty = '{first}' AND p > {begins} b: p < {ends} AND w > 2 MATCH a AND b WITHIN {within}"),
    ),
    "any two": ("any match", sase("skip_till_any_match", "S a, S b", PAIR)),
    "any three": (
        "any match", sase("skip_till_any_match", "S a, S b, S c", PAIR + " AND c.ty = '{first}' AND c.w > 1")
    ),
    "adjacent": ("chain", sase("strict_contiguity", "S a, S b", PAIR)),
    "adjacent, any first": (
        "chain", sase("strict_contiguity", "S a, S b, S c", "a.w > 1 AND b.ty = '{first}' AND b.p > {begins}")
    ),
    "rising": (
        "kleene",
        ("sase", "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) {{ a[1].ty = '{first}' AND "
         "a[i].ty = '{first}' AND a[1].p > {begins} AND a[i].p > a[i-1].p AND b.ty = '{second}' AND b.p < {ends} }} "
         "WITHIN 9"),
    ),
    "forbidden text": (
        "next match",
        sase("skip_till_next_match", "S a, ~(S n), S b", PAIR + " AND n.ty = '{third}' AND n.w > 2 AND n.p > {begins}"),
    ),
    "forbidden": (
        "next match", sase("skip_till_next_match", "S a, ~(S n), S b", PAIR + " AND n.w > 2 AND n.p > {begins}")
    ),
    "forbidden behind two": (
        "next match",
        sase("skip_till_next_match", "S a, ~(S m), S b, ~(S n), S c", PAIR + " AND n.ty = '{third}' AND n.w > 2 AND "
             "m.ty = '{third}' AND m.p > {begins} AND c.ty = '{first}' AND c.p > {begins}"),
    ),
    "one text": (
        "next match",
        sase("skip_till_next_match", "S a, ~(S n), S b", "[ty] AND a.ty = '{first}' AND a.p > {begins} AND b.p < {ends}"
             " AND n.w > 1 AND n.p > {begins}"),
    ),
    "any two, forbidden": (
        "any match", sase("skip_till_any_match", "S a, ~(S n), S b", PAIR + " AND n.ty = '{third}' AND n.p > {begins}")
    ),
    "any three, forbidden": (
        "any match",
        sase("skip_till_any_match", "S a, S b, ~(S n), S c", "a.p > {begins} AND b.ty = '{second}' AND c.w > 1 AND "
             "c.ty = '{first}' AND n.ty = '{third}' AND n.p > {begins} AND n.w > 1"),
    ),
}  # fmt: skip


def join(engine: Engine, name: str, form: tuple[str, str], number: int) -> None:
    chance = random.Random(number)
    first, second = chance.sample("ABC", 2)
    constants = {"first": first, "second": second, "third": chance.choice("ABC"), "begins": chance.choice((0, 1, 2))}
    language, text = form
    query = text.format(ends=chance.choice((1, 2, 3)), within=chance.choice((3, 9, 30)), **constants)
    engine.subscribe(name, language=language, query=query, lineage=True)


@pytest.mark.parametrize("name", FORMS)
def test_a_group_of_any_texts_finds_what_each_member_finds(name: str) -> None:
    """With members that come and go, ties, nulls and snapshots."""
    mechanism, form = FORMS[name]
    chance = random.Random(5)
    one, other = Engine(), Engine(Options(executors_off=("groups",)))
    for engine in (one, other):
        engine.add_stream("S", SCHEMA)
        for number in range(20):
            join(engine, f"s{number}", form, number)
    found_in = "an" if mechanism[0] in "ai" else "a"
    assert f": how runs are kept: {found_in} {mechanism} for" in "\n".join(one.explain())
    most = 6 if mechanism == "kleene" else 3 if name == "one text" else 1  # a repetition has one for each two texts
    assert one.statistics()["groups"] <= most
    time = total = 0
    for turn in range(12):
        times: list[int] = []
        rows: list[tuple[Any, ...]] = []
        for _ in range(chance.choice((1, 20, 40))):
            time += chance.choice((0, 1, 1, 2))
            times.append(time)
            price = chance.choice((None, 0.0, 0.5, 1.5, 2.5, 3.0))
            rows.append((chance.choice("AAABBCD"), chance.choice((0.0, 1.5, 2.5)), price))
        found, expected = one.publish("S", times, rows), other.publish("S", times, rows)
        assert len(found) == len(expected)
        assert sorted(map(repr, found)) == sorted(map(repr, expected))
        total += len(expected)
        waiting = [sorted(map(repr, engine.partial_matches("s7"))) for engine in (one, other)]
        if turn % 3 == 1:
            one = Engine.restore(one.snapshot())
        for engine in (one, other) if turn % 4 == 2 else ():
            engine.unsubscribe(f"s{turn}")
            join(engine, f"t{turn}", form, 100 + turn)
        one.check_invariants()
        if name in ("any two", "any three"):  # of others runs are listed that wait no more
            assert waiting[0] == waiting[1]
    assert total > 3


def test_an_event_that_another_text_forbids_ends_what_waits_for_those_that_it_concerns() -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA)
    _, form = FORMS["forbidden text"]
    constants = {"first": "A", "second": "B", "ends": 3, "within": 10}
    for number, (third, begins) in enumerate((("C", 5), ("C", 8), ("D", 5), ("A", 5))):
        query = form[1].format(third=third, begins=begins, **constants)
        engine.subscribe(f"s{number}", language="sase", query=query, lineage=True)
    assert engine.statistics()["groups"] == 1
    rows = [("A", 3.0, 9.0), ("C", 3.0, 7.0), ("B", 0.0, 1.0)]
    results = engine.publish("S", [1, 2, 3], rows)
    assert [match.subscription for match in results] == ["s1", "s2", "s3"]
    results = engine.publish("S", [4, 5, 6], [("A", 3.0, 9.0), ("A", 3.0, 9.0), ("B", 0.0, 1.0)])
    assert [(match.subscription, match.lineage) for match in results if match.subscription == "s3"] == [("s3", [5, 6])]
