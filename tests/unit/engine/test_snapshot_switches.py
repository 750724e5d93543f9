"""Snapshots are restored with any switches: what they hold keeps its form, what comes later takes the engine's."""

from __future__ import annotations

import pytest

from broker.automaton.rewriting.table import RULES
from broker.engine import Engine, Options

ALL = tuple(rule.name for rule in RULES)
OFF = {
    "": Options(),
    "templates": Options(templates=False),
    "indexes": Options(indexes=False),
    "arcs_few": Options(arcs_few=1),
    "groups": Options(executors_off=("groups",)),
    "templates, groups": Options(templates=False, executors_off=("groups",)),
    "columns": Options(columns=False),
    "rules": Options(rules_off=ALL),
    "placement": Options(rules_off=("placement",)),
    "rules but keys, groups": Options(rules_off=tuple(n for n in ALL if n != "keys"), executors_off=("groups",)),
}
RISING = "PATTERN SEQ(S+ a[]) WHERE skip_till_next_match(a[]) { [k] AND a[i].p > a[i-1].p AND a[1].p > %s } WITHIN 9"
PASTS = """PATTERN SEQ(S+ a[], S b) WHERE skip_till_any_match(a[], b)
{ [k] AND a[i].p > a[i-1].p AND b.p < a[1].p } WITHIN 9"""
EQUAL = """PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b)
{ b.k = 'A' AND b.k = a.k AND b.p < a.p } WITHIN 9"""


def filled(options: Options) -> Engine:
    """Pairs and filters of a key, which may be members of groups, and what never is."""
    engine = Engine(options)
    engine.add_stream("S", {"k": "string", "p": "float"})
    step = "NEXT{$2.k = $1.k} S"
    for at in range(4):
        below = f"FILTER{{p < {3 - at / 2}}}(FILTER{{k = 'A' AND p > {at}}}(S) {step})"
        engine.subscribe(f"pair{at}", query=f"SELECT * FROM {below}")
    engine.subscribe("chain", query=f"SELECT * FROM FILTER{{p < 3}}(FILTER{{p > 2}}(FILTER{{p > 1}}(S) {step}) {step})")
    engine.subscribe("twice", query=f"SELECT * FROM FILTER{{k = 'A' AND (p > 3 OR p < {1 << 60})}}(S)")
    for at in range(3):
        engine.subscribe(f"own{at}", query=f"SELECT * FROM FILTER{{k = 'A' AND p > {at}}}(S)")
        engine.subscribe(f"all{at}", query=f"SELECT * FROM FILTER{{p > {at}}}(S)")
    for at in range(2):
        engine.subscribe(f"rising{at}", language="sase", query=RISING % at)
    engine.subscribe("pasts", language="sase", query=PASTS)
    for at in range(2):
        first = f"FILTER{{k = 'A' AND p > {at}}}(S)"
        engine.subscribe(f"constant{at}", query=f"SELECT * FROM {first} NEXT{{$2.k = 'A' AND $2.p < 9.0}} S")
        engine.subscribe(f"outside{at}", query=f"SELECT * FROM FILTER{{k = 'A' AND p_1 > {at}}}(S {step})")
    engine.subscribe("equal", language="sase", query=EQUAL)
    return engine


def told(first: Options, second: Options | None) -> list[str]:
    """What all subscriptions get, with a snapshot between some events, which then are others' switches."""
    engine = filled(first)
    found = list(engine.publish("S", [1, 2, 3], [("A", 2.5), ("B", 2.5), ("A", 3.5)]))
    if second is not None:
        saved = engine.snapshot()
        assert Engine.restore(saved, first).snapshot() == saved
        engine = Engine.restore(saved, second)
    found += engine.publish("S", [4, 5], [("A", 1.2), ("B", 2.5)])
    engine.subscribe("late", query="SELECT * FROM FILTER{k = 'A' AND p > 2}(S)")
    engine.check_invariants()
    found += engine.publish("S", [6, 7], [("A", 2.2), ("B", 1.5)])
    for name in ("pair1", "own1", "chain", "all0", "late"):
        engine.sharing(name)
        engine.waiting_runs(name)
        engine.unsubscribe(name)
    engine = Engine.restore(engine.snapshot())
    engine.check_invariants()
    found += engine.publish("S", [8, 9], [("A", 1.2), ("B", 2.5)])
    return sorted(map(repr, found))


@pytest.mark.parametrize("second", OFF)
@pytest.mark.parametrize("first", OFF)
def test_runs_go_on_with_other_switches(first: str, second: str) -> None:
    assert told(OFF[first], OFF[second]) == told(Options(), None)


def test_only_what_has_another_form_is_written() -> None:
    assert b"forms" not in filled(Options()).snapshot()
    assert b"forms" in filled(Options(columns=False)).snapshot()
    assert b"forms" in Engine.restore(filled(Options(columns=False)).snapshot()).snapshot()
    kept = Engine.restore(filled(Options(indexes=False)).snapshot())
    assert kept.sharing("pair0")[0].startswith("state 1 is in 2 automata")
    again = Engine.restore(filled(Options()).snapshot(), Options(indexes=False))
    assert again.sharing("pair0")[0].startswith("executor groups")
