"""Members of a group whose runs they have in common: what they get, whenever they come, and how it is written."""

from __future__ import annotations

import re
from typing import Any

import pytest

from broker.engine import Engine, Options

SCHEMA = {"p": "float?", "w": "float?", "n": "int"}
EVEN = ((1.0, 8.0, 1), (2.0, 3.0, 2), (3.0, 4.0, 1), (4.0, None, 5), (3.0, 2.0, 2), (5.0, 1.0, 3), (6.0, -1.0, 3))
ODD = (*EVEN[:4], (None, 2.0, 2**60), *EVEN[4:], (7.0, -3.0, 2**55), (8.0, 9.0, 4))
WITHOUT = Options(executors_off=("groups",))


def rising(block: str, pattern: str = "S+ a[], S b", names: str = "a[], b") -> str:
    return f"PATTERN SEQ({pattern}) WHERE skip_till_next_match({names}) {{ a[i].p > a[i-1].p AND {block} }} WITHIN 99"


def average(block: str) -> str:
    text = "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { a[i].p > avg(a[..i-1].p) AND "
    return f"{text}{block} }} WITHIN 99"


def played(queries: list[str], rows: tuple[Any, ...], options: Options, late: int = 0) -> list[Any]:
    """All results. The last `late` subscriptions come after three events, and then the first one leaves."""
    engine = Engine(options)
    engine.add_stream("S", SCHEMA)
    found: list[Any] = []
    first = len(queries) - late
    for number, text in enumerate(queries[:first]):
        engine.subscribe(f"s{number}", language="sase", query=text, lineage=True)
    for time, row in enumerate(rows, 1):
        results = engine.publish("S", [time], [row])
        counted = len(results)
        found.append(sorted(results, key=repr))
        assert counted == len(found[-1])
        if time == 3:
            for number, text in enumerate(queries[first:], first):
                engine.subscribe(f"s{number}", language="sase", query=text, lineage=True)
            engine.unsubscribe("s0")
            engine = Engine.restore(engine.snapshot(), options)
        engine.check_invariants()
    return found


@pytest.mark.parametrize("rows", [EVEN, ODD])
@pytest.mark.parametrize(
    "queries",
    [
        [average(f"b.w < {factor} * a[a.LEN].w") for factor in (0.25, 0.5, 0.5, 0.75, 1.5, -1.0)],
        [average(f"a[1].w > 2 AND b.w < {factor} * a[a.LEN].w") for factor in (0.25, 0.5, 0.75, 1.5, -1.0)],
        [
            average(f"a[1].w > {start} AND b.w < {factor} * a[a.LEN].w AND b.w > -2")
            for start, factor in ((2, 1.5), (2, 0.5), (1, 0.5), (2, 0.5), (3, 0.4), (2, 0.75))
        ],
        [average(f"b.w >= {factor} * avg(a[].w)") for factor in (0.25, 0.5, 1e308, 0.75, 1.5, -1.0)],
        [average(f"b.n > {factor} * a[1].n") for factor in (0.5, 1.0, 1.5, 2.0)],
        [rising(f"a[1].p > {start}") for start in (0, 1, 2, 3, 2)],
        [rising(f"a.LEN {compared} AND b.w < 3") for compared in (">= 1", ">= 2", ">= 3", ">= 2")],
        [rising(f"a[1].p > {start} AND a.LEN <= {most}", "S+ a[]", "a[]") for start, most in ((0, 2), (1, 3), (2, 9))],
        [rising(f"a[1].p > {start} AND b.w < {end}") for start, end in ((0, 4), (1, 3), (2, 2.5), (0, 1))],
    ],
)
def test_members_have_what_they_would_have_alone(rows: tuple[Any, ...], queries: list[str]) -> None:
    for late in (0, 1, 2):
        found, expected = played(queries, rows, Options(), late), played(queries, rows, WITHOUT, late)
        assert found == expected
        assert sum(map(len, found)) > 0


def test_the_first_of_a_kind_runs_alone_until_others_come() -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA)

    def executors(engine: Engine) -> list[str]:
        found = [re.sub(r"[,;]", "", line).split() for line in engine.explain() if ": executor " in line]
        return [executor for _, _, executor, *_ in sorted(found)]

    engine.subscribe("s0", language="sase", query=rising("a[1].p > 0"))
    assert executors(engine) == ["kleene"]
    engine.subscribe("s1", language="sase", query=rising("a[1].p > 1"))
    assert executors(engine) == ["groups"] * 2
    engine.subscribe("s2", language="sase", query=rising("a[1].p > 2"))
    engine.unsubscribe("s0")
    engine.subscribe("s3", language="sase", query=rising("a[1].p > 3"))
    assert executors(engine) == ["groups"] * 3
    for name in ("s1", "s2", "s3"):
        engine.unsubscribe(name)
    engine.subscribe("s4", language="sase", query=rising("a[1].p > 4"))
    engine.publish("S", [1], [(9.0, 1.0, 1)])  # it has runs of its own from here on
    engine.subscribe("s5", language="sase", query=rising("a[1].p > 5"))
    assert executors(engine) == ["kleene", "groups"]
    restored = Engine.restore(engine.snapshot())
    restored.subscribe("s6", language="sase", query=rising("a[1].p > 6"))
    assert executors(restored) == ["kleene", "groups", "groups"]
    restored.check_invariants()


@pytest.mark.parametrize("restored", [False, True])
def test_the_first_of_a_kind_joins_others_with_all_that_it_serves(restored: bool) -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA)
    text = "PATTERN SEQ(S+ a[]) WHERE skip_till_next_match(a[]) { a[i].p > a[i-1].p AND a[1].p > %d }"
    engine.subscribe("s0", language="sase", query=text % 0 + " WITHIN 99 RETURN a[1].p AS p PUBLISH Up", lineage=True)
    engine.subscribe("reader", language="cayuga", query="SELECT * FROM Up")
    if restored:
        engine = Engine.restore(engine.snapshot())
    engine.subscribe("s1", language="sase", query=text % 1 + " WITHIN 99 RETURN a[1].p AS p")
    results = list(engine.publish("S", [1, 2], [(1.0, 1.0, 1), (2.0, 1.0, 1)]))
    engine.check_invariants()
    assert engine.statistics()["groups"] == 1
    assert sorted(match.subscription for match in results) == ["reader"] * 3 + ["s0"] * 3 + ["s1"]
    engine.unsubscribe("reader")
    engine.unsubscribe("s0")
    assert {match.subscription for match in engine.publish("S", [3], [(3.0, 1.0, 1)])} == {"s1"}


def test_matches_are_counted_for_each_subscription() -> None:
    texts = [average(f"a[1].w > {start} AND b.w < {factor} * a[a.LEN].w") for start in (1, 2) for factor in (0.5, 0.9)]
    for options in (Options(), WITHOUT):
        engine = Engine(options)
        engine.add_stream("S", SCHEMA)
        for number, text in enumerate(texts):
            engine.subscribe(f"s{number}", language="sase", query=text)
        engine.subscribe("compressed", language="sase", query=f"{texts[0]} OUTPUT compressed")
        results = engine.publish("S", list(range(1, len(EVEN) + 1)), list(EVEN))
        assert engine.statistics()["matches"] == len(results) > len(texts)
        assert len(list(results)) == len(results)
        assert len(results) > len({(match.subscription, match.end) for match in results})


def test_a_group_is_said_to_be_one() -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA)
    for start in range(3):
        engine.subscribe(f"s{start}", language="sase", query=rising(f"a[1].p > {start}"))
    assert engine.statistics()["groups"] == 1
    assert any("a kleene for 3 members" in line for line in engine.explain())


def test_beyond_the_limit_members_are_told_that_matches_may_be_missing() -> None:
    engine = Engine(Options(runs_max=2))
    engine.add_stream("S", SCHEMA)
    for start in range(3):
        engine.subscribe(f"s{start}", language="sase", query=rising(f"a[1].p > {start}", "S+ a[]", "a[]"))
    results = list(engine.publish("S", [1, 2, 3], [(9.0, 1.0, 1), (8.0, 1.0, 1), (7.0, 1.0, 1)]))
    assert {match.subscription for match in results if match.limit == "runs_max"} == {"s0", "s1", "s2"}
