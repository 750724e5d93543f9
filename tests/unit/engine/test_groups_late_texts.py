"""Groups of SASE+ patterns with a negation at their end and a text for each step: members with any texts are one."""

from __future__ import annotations

import random
from typing import Any

import pytest
from doubles import read_blocks

from broker.engine import Engine, Options
from broker.engine.executors.groups.blocks import MatchBlocks
from broker.engine.executors.groups.coordinates import ATTRIBUTE, CoordinateBound
from broker.engine.executors.groups.late_pairs import LatePairsCell
from broker.engine.executors.groups.members import Members
from broker.engine.executors.groups.next_match_template import NextMatchTemplate
from broker.engine.executors.groups.steps import StepClause

SCHEMA = {"ty": "string", "w": "float?", "p": "float?"}
FORBIDDEN = "n.ty = '{third}' AND n.w > {kills}"
PAIR = "a.ty = '{first}' AND a.p > {begins} AND b.ty = '{second}' AND b.p < {ends}"
Row = tuple[str, float | None, float | None]


def text(condition: str, elements: str = "S a, S b, ~(S n)", within: int = 6) -> str:
    names = "a, b, c" if "c" in elements else "a, b"
    return f"PATTERN SEQ({elements}) WHERE skip_till_next_match({names}) {{{{ {condition} }}}} WITHIN {within}"


def subscribed(engine: Engine, name: str, query: str = text(f"{PAIR} AND {FORBIDDEN}"), **constants: Any) -> None:
    constants = {"first": "A", "second": "B", "third": "C", "begins": 1, "ends": 3, "kills": 2} | constants
    engine.subscribe(name, language="sase", query=query.format(**constants), lineage=True)


def engine_with(*constants: dict[str, Any], options: Options | None = None) -> Engine:
    engine = Engine(options)
    engine.add_stream("S", SCHEMA)
    for number, each in enumerate(constants):
        subscribed(engine, f"s{number}", **each)
    return engine


def told(results: Any) -> list[tuple[str, list[int]]]:
    return [(match.subscription, match.lineage) for match in results]


def found(engine: Engine, times: list[int], *rows: Row) -> list[tuple[str, list[int]]]:
    return told(engine.publish("S", times, list(rows)))


A, B, C = ("A", 0.0, 2.0), ("B", 0.0, 1.0), ("C", 3.0, 0.0)


def test_members_with_any_texts_are_one_group() -> None:
    engine = engine_with({}, {"second": "C", "third": "B"}, {"first": "B", "second": "A"}, {"third": "D", "kills": 9})
    assert "groups: 4 subscriptions in 1 group" in engine.explain()
    assert "s0: how runs are kept: a next match for 4 members, 4 constants each" in engine.explain()
    assert found(engine, [1, 2, 3], A, B, ("C", 1.0, 2.5)) == []  # B kills nobody: its w is 0
    assert found(engine, [7], ("X", None, None)) == []
    assert found(engine, [8], ("X", None, None)) == [("s0", [1, 2]), ("s3", [1, 2]), ("s1", [1, 3])]
    engine.check_invariants()


def test_what_comes_with_the_second_event_kills_nobody_and_what_comes_at_the_deadline_does() -> None:
    for times, expected in (
        ([1, 2, 2, 8], [("s0", [1, 2])]), ([1, 2, 3, 8], []), ([1, 2, 7, 8], []), ([1, 2, 8, 8], [("s0", [1, 2])]),
    ):  # fmt: skip
        engine = engine_with({}, {"first": "X"})
        assert found(engine, times, A, B, C, ("X", None, None)) == expected
    for before, pair in (((A, C, B), [1, 3]), ((C, A, B), [2, 3])):  # before the second event nothing is forbidden
        assert found(engine_with({}, {"first": "X"}), [1, 2, 3, 9], *before, B) == [("s0", pair)]


def test_only_what_concerns_a_member_kills_its_pairs() -> None:
    engine = engine_with({}, {"kills": 5}, {"third": "D"}, {"third": "A", "kills": 0}, {"third": "B", "kills": 0})
    found(engine, [1, 2], A, B)
    assert found(engine, [3, 4, 5], C, ("B", None, None), ("A", None, None)) == []
    assert found(engine, [6, 7, 8], ("A", 1.0, 0.0), ("E", 9.0, 9.0), B) == [
        ("s1", [1, 2]), ("s2", [1, 2]), ("s4", [1, 2])
    ]  # fmt: skip


def test_time_completes_matches_without_an_event() -> None:
    engine = engine_with({}, {"second": "C"})
    assert found(engine, [1, 2, 3], A, B, ("A", 0.0, 5.0)) == []
    assert told(engine.punctuate(7)) == []
    assert told(engine.punctuate(8)) == [("s0", [1, 2])]
    assert found(engine, [9], B) == []
    assert told(engine.finish()) == [("s0", [3, 4])]


def test_who_leaves_has_no_match_any_more_and_who_comes_sees_what_follows() -> None:
    engine = engine_with({}, {"third": "D"}, {"third": "D", "kills": 8})
    found(engine, [1, 2, 3], A, B, ("D", 5.0, 0.0))
    engine.unsubscribe("s0")
    subscribed(engine, "s3")
    engine.check_invariants()
    assert found(engine, [4, 5, 8], B, A, B) == [("s2", [1, 2])]
    engine.unsubscribe("s1")
    engine.unsubscribe("s2")
    assert found(engine, [9, 12], C, B) == []
    subscribed(engine, "s4", third="D")
    subscribed(engine, "s5", first="X")
    engine.unsubscribe("s5")
    subscribed(engine, "s6", first="Y")
    engine.check_invariants()
    assert found(engine, [13, 14, 15, 20], A, ("D", 9.0, 0.0), B, B) == [("s3", [9, 11]), ("s4", [9, 11])]


def test_a_snapshot_has_the_pairs_and_what_has_killed_them() -> None:
    engine = engine_with({}, {"kills": 5}, {"third": "D"})
    assert found(engine, [1, 2, 3, 4], A, B, C, ("D", 0.0, 2.0)) == []
    restored = Engine.restore(engine.snapshot())
    restored.check_invariants()
    assert told(restored.punctuate(8)) == [("s1", [1, 2]), ("s2", [1, 2])]
    again = Engine.restore(engine.snapshot())
    assert found(again, [5, 8], ("C", 7.0, 0.0), B) == [("s2", [1, 2])]
    again.check_invariants()


def test_what_no_window_holds_is_dropped() -> None:
    engine = engine_with({}, {"kills": 9}, {"third": "D"})
    for time in range(0, 3_000, 3):
        found(engine, [time, time + 1, time + 1, time + 2], A, ("A", 0.0, 9.0), B, C)
    assert engine.statistics()["group_events"] < 500
    engine.check_invariants()


def test_what_waits_keeps_its_events_while_others_come() -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA)
    for number, third in enumerate("CD"):
        subscribed(engine, f"s{number}", text(f"{PAIR} AND {FORBIDDEN}", within=5_000), third=third)
    found(engine, [1, 2, 3], A, B, C)
    for time in range(4, 404):
        assert found(engine, [time], A) == []
    assert told(engine.punctuate(5_002)) == [("s1", [1, 2])]
    engine.check_invariants()


def test_dead_pairs_and_what_killed_them_go_with_the_window() -> None:
    """Also where the host never wakes the cell, since nothing is due that is a match."""

    def asks(coordinate: int, attribute: int, sign: float = 1.0) -> StepClause:
        return StepClause([CoordinateBound(coordinate, ATTRIBUTE, attribute, sign)])

    steps = [asks(0, 2), asks(1, 2, -1.0)]
    template = NextMatchTemplate(4, steps, [0, 0, 0], 3, [(2, asks(2, 1))], within=6)
    members, out = Members(4), MatchBlocks()
    for handle, texts in enumerate((("A", "B", "C"), ("A", "B", "D"), ("B", "A", "C"))):
        point = [1.0, -3.0, 2.0, -6.0]
        members.put(handle, point, 0)
        template.joined(handle, point, 0, texts)
    cell = LatePairsCell(template, members)
    for event in range(1, 4_000):
        cell.take(("ABCD"[event % 4], 5.0, 2.0), event, event, out)
        assert sum(len(pairs) for _, _, pairs in cell.pending.each()) <= 12
        assert all(each.starts.count <= 80 for log in template.logs.each() for each in log.by_text.values())
        assert cell.due() >= event
    assert read_blocks.count(out) == 0
    cell.check_invariants()


FORMS = {
    "texts": f"{PAIR} AND {FORBIDDEN}",
    "first forbidden": f"{PAIR} AND n.ty = '{{first}}' AND n.w > {{kills}}",
    "second forbidden": f"{PAIR} AND n.ty = '{{second}}' AND n.p > {{begins}}",
    "any forbidden": f"{PAIR} AND n.w > {{kills}} AND n.p > {{begins}}",
    "several numbers": f"{PAIR} AND b.w > {{begins}} AND {FORBIDDEN} AND n.p < {{ends}}",
    "no number": f"{PAIR} AND n.ty = '{{third}}'",
    "any first": f"a.p > {{begins}} AND b.ty = '{{second}}' AND b.p < {{ends}} AND {FORBIDDEN}",
    "any first, any forbidden": "b.ty = '{second}' AND a.p > {begins} AND b.p < {ends} AND n.w > {kills}",
    "two are equal": "a.ty = '{second}' AND a.p > {begins} AND b.ty = '{second}' AND b.p < {ends} AND n.w > 1",
}
ELEMENTS = {
    "texts": "S a, S b, ~(S n)",
    "between, too": "S a, ~(S m), S b, ~(S n)",
    "two": "S a, S b, ~(S m), ~(S n)",
    "three": "S a, S b, S c, ~(S n)",
    "behind two, too": "S a, S b, ~(S m), S c, ~(S n)",
}
THIRD = " AND c.ty = '{first}' AND c.p > {kills}"
MIDDLE = " AND m.ty = '{second}' AND m.w < {begins}"


def drawn(chance: random.Random, form: str) -> dict[str, Any]:
    """Constants of a member; texts that are all equal would be the key of a group."""
    first, second, third = chance.choices("ABC", k=3)
    while first == second and (third == first or "forbidden" in form):
        first, third = chance.choices("ABC", k=2)
    numbers = {name: chance.choice((0, 1, 2)) for name in ("begins", "kills")}
    return {"first": first, "second": second, "third": third, "ends": chance.choice((1, 2, 3))} | numbers


@pytest.mark.parametrize(
    ("form", "elements"),
    [
        *((form, "texts") for form in FORMS), ("texts", "between, too"), ("any first", "two"), ("texts", "three"),
        ("any first", "three"), ("any forbidden", "behind two, too"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(3))
def test_a_group_of_any_texts_finds_what_each_member_finds(form: str, elements: str, seed: int) -> None:
    """In its order, with members that come and go, ties, nulls, times without events and snapshots."""
    chance = random.Random(seed)
    asked = FORMS[form] + (MIDDLE if "m)" in ELEMENTS[elements] else "") + (THIRD if "c" in ELEMENTS[elements] else "")
    query = text(asked, ELEMENTS[elements], 4 + 3 * seed)
    one, other = Engine(), Engine(Options(executors_off=("groups",)))
    members = [drawn(chance, form) for _ in range(30)]
    for engine in (one, other):
        engine.add_stream("S", SCHEMA)
        for number, constants in enumerate(members[:20]):
            subscribed(engine, f"s{number}", query, **constants)
    assert one.statistics()["groups"] == 1
    assert ": how runs are kept: a next match for 20 members" in "\n".join(one.explain())
    matches: list[dict[str, list[str]]] = [{}, {}]
    time = 0
    for turn in range(10):
        times: list[int] = []
        rows: list[Row] = []
        for _ in range(chance.choice((1, 20, 50))):
            time += chance.choice((0, 1, 1, 2))
            times.append(time)
            w, p = chance.choice((None, 0.0, 1.5, 2.5)), chance.choice((None, 0.0, 0.5, 1.5, 2.5, 3.0))
            rows.append((chance.choice("AAABBCD"), w, p))
        time += (silent := chance.choice((0, 0, 3, 9)))
        for engine, known in zip((one, other), matches):
            results = [*engine.publish("S", times, rows), *(engine.punctuate(time) if silent else ())]
            for match in results:
                known.setdefault(match.subscription, []).append(repr(match))
            engine.check_invariants()
        if turn % 3 == 1:
            one = Engine.restore(one.snapshot())
        for engine in (one, other) if turn % 2 == 0 else ():
            engine.unsubscribe(f"s{turn}")
            subscribed(engine, f"t{turn}", query, **members[20 + turn])
    assert matches[0] == matches[1]
    assert sum(map(len, matches[1].values())) > 10
