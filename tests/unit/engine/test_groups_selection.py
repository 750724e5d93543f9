"""Members of a group that differ in which events an operand takes: what each has, and which patterns have such a group.

What they have is what each has alone, which is held to the meaning elsewhere. Not here: repetitions whose runs all
members share (test_repeating_groups).
"""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine, Options

SCHEMA = {"ty": "string", "p": "float?", "w": "float", "k": "int?"}
WITHOUT = Options(executors_off=("groups",))
ROWS: list[tuple[str, float | None, float, int | None]] = [
    ("A", 1.0, 3.0, 1), ("A", 2.0, 1.0, 2), ("B", 3.0, 3.0, 3), ("A", 3.0, 2.0, None), ("A", None, 0.0, 4),
    ("A", 2.0, 5.0, 2**60), ("B", 1.0, 0.0, 1), ("A", 1.0, 0.5, 3), ("A", 4.0, 1.5, 2), ("B", 2.0, 1.0, 2**60),
    ("A", 0.0, 4.0, 1), ("B", 0.5, 2.0, 0), ("A", 3.0, 0.0, 5), ("A", 2.5, 2.5, 2), ("A", 1.0, 6.0, 1),
]  # fmt: skip
TIMES = [1, 2, 3, 4, 4, 5, 7, 7, 8, 9, 12, 12, 13, 15, 20]
BEHIND = "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) {{ [ty] AND {0} }} WITHIN {1}"
LAST = "PATTERN SEQ(S+ a[]) WHERE skip_till_next_match(a[]) {{ [ty] AND {0} }} WITHIN {1}"
BEFORE = "PATTERN SEQ(S z, S+ a[], S b) WHERE skip_till_next_match(z, a[], b) {{ [ty] AND {0} }} WITHIN {1}"
TWO = "PATTERN SEQ(S z, S+ a[]) WHERE skip_till_next_match(z, a[]) {{ [ty] AND {0} }} WITHIN {1}"


def engine_with(queries: list[str], options: Options | None = None) -> Engine:
    engine = Engine(options or Options())
    engine.add_stream("S", SCHEMA)
    for number, query in enumerate(queries):
        engine.subscribe(f"s{number}", language="sase", query=query, lineage=True)
    return engine


def played(queries: list[str], options: Options, size: int) -> dict[str, list[Any]]:
    """The matches of each in order, in batches of that size. A member comes and one goes, and the engine is saved."""
    engine = engine_with(queries[:-1], options)
    found: dict[str, list[Any]] = {}
    for first in range(0, len(ROWS), size):
        results = engine.publish("S", TIMES[first : first + size], ROWS[first : first + size])
        counted = len(results)
        for match in results:
            counted -= 1
            found.setdefault(match.subscription, []).append(match)
        assert counted == 0
        if first == 3:
            engine.subscribe("late", language="sase", query=queries[-1], lineage=True)
            engine.unsubscribe("s1")
            engine = Engine.restore(engine.snapshot(), options)
        engine.check_invariants()
    assert engine.statistics()["groups"] == (0 if options is WITHOUT else 1)
    for name in ("s0", "late"):
        found[f"{name} waits"] = sorted(engine.partial_matches(name), key=repr)
    return found


@pytest.mark.parametrize(
    ("form", "asked"),
    [
        (BEHIND, "a[i].p > {0} AND b.p < {1}"),
        (BEHIND, "a[1].w >= {1} AND a[i].p > {0} AND a[i].w < {2}"),
        (BEHIND, "a[i].p > {0} AND b.p < a[a.LEN].p"),
        (BEHIND, "a[i].p > {0} AND b.p < {3} * a[a.LEN].p AND b.w <= {2}"),
        (BEHIND, "a[i].p > {0} AND b.w > a[1].w + {1}"),
        (BEHIND, "a[i].k >= {0} AND b.k > {3} * a[1].k"),
        (BEHIND, "a[i].p > {0} AND a.LEN >= {1}"),
        (BEHIND, "a[i].p > {0} AND b.w > a.LEN AND a.LEN < {2}"),
        (BEHIND, "a[i].p > {0} AND b.w - a[a.LEN].w > {1}"),
        (LAST, "a[i].p > {0}"),
        (LAST, "a[1].w > {1} AND a[i].p > {0} AND a.LEN >= {1}"),
        (LAST, "a[i].w <= {2} AND a[a.LEN].p > a[1].p AND a.LEN <= {2}"),
        (BEFORE, "z.p < {2} AND a[i].p > {0} AND b.w > {1}"),
        (BEFORE, "a[1].w > {1} AND a[i].p > {0} AND b.p < z.p"),
        (TWO, "z.p < {2} AND a[1].w > {1} AND a[i].p > {0}"),
        (TWO, "a[i].p > {0} AND a[a.LEN].w > {1}"),
    ],
)
@pytest.mark.parametrize("values", ["", " RETURN a[1].p AS first, a[a.LEN].w AS last, avg(a[].w) AS mean, a.LEN AS n"])
def test_members_have_what_they_would_have_alone(form: str, asked: str, values: str) -> None:
    constants = [(1, 1, 3, 0.9), (0, 2, 2, 1.5), (2, 0.5, 4, 0.5), (1, 0, 2.5, -1.0), (0.5, 1, 5, 1.0), (0, 1, 3, 0.9)]
    queries = [form.format(asked.format(*own), 6 + number % 2 * 4) + values for number, own in enumerate(constants)]
    for size in (1, 3):
        found = played(queries, Options(), size)
        assert found == played(queries, WITHOUT, size)
        assert sum(len(matches) for name, matches in found.items() if "waits" not in name) > 5


def test_each_member_takes_its_own_events() -> None:
    """By hand: 2.0 and 3.0 are above both numbers, 1.5 above one, the first event of a run is asked for nothing."""
    queries = [BEHIND.format(f"a[i].p > {least} AND b.w = 9", 99) for least in (1, 2)]
    engine = engine_with(queries)
    rows = [("A", 0.0, 0.0, 0), ("A", 1.5, 0.0, 0), ("A", 3.0, 0.0, 0), ("A", 0.0, 9.0, 0)]
    found = {(match.subscription, *(match.lineage or ())) for match in engine.publish("S", [1, 2, 3, 4], rows)}
    lower = {("s0", 1, 2, 3, 4), ("s0", 2, 3, 4), ("s0", 3, 4)}
    assert found == {*lower, ("s1", 1, 3, 4), ("s1", 2, 3, 4), ("s1", 3, 4)}
    assert any("a selection for 2 members" in line for line in engine.explain())


def test_the_first_of_a_kind_runs_alone() -> None:
    engine = engine_with([BEHIND.format("a[i].p > 1", 9)])
    assert engine.statistics()["groups"] == 0
    engine.subscribe("s1", language="sase", query=BEHIND.format("a[i].p > 2", 9))
    assert engine.statistics()["groups"] == 1


def test_a_published_stream_has_the_values_of_each_match() -> None:
    values = " RETURN sum(a[].p) AS total, b.w AS w PUBLISH Out"
    engine = engine_with([BEHIND.format(f"a[i].p > {least} AND b.w = 9", 99) + values for least in (1, 2)])
    engine.subscribe("reader", language="cayuga", query="SELECT * FROM FILTER{total > 4}(Out)")
    rows = [("A", 0.0, 0.0, 0), ("A", 1.5, 0.0, 0), ("A", 3.0, 0.0, 0), ("A", 0.0, 9.0, 0)]
    results = engine.publish("S", [1, 2, 3, 4], rows)
    assert [match.data["total"] for match in results if match.subscription == "reader"] == [4.5, 4.5, 4.5]
    engine.check_invariants()


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (
            "PATTERN SEQ(S+ a[], S+ b[]) WHERE skip_till_next_match(a[], b[]) { [ty] AND a[i].p > 1 } WITHIN 9",
            "another operand repeats",
        ),
        (
            "PATTERN SEQ(S+ a[], S b, S c) WHERE skip_till_next_match(a[], b, c) { [ty] AND a[i].p > 1 } WITHIN 9",
            "more than one event follows",
        ),
        (LAST.format("a[i].p > 1 AND a[i].w > a[i-1].w", 9), "compared with an earlier one"),
        (LAST.format("(a[i].p > 1 OR a[i].w > 2)", 9), "a condition has alternatives"),
        (
            "PATTERN SEQ(S+ a[], S b) WHERE partition_contiguity(a[], b) { [ty] AND a[i].p > 1 } WITHIN 9",
            "skips till the next match",
        ),
    ],
)
def test_what_has_no_such_group_says_so(query: str, reason: str) -> None:
    lines = engine_with([query, query.replace("p > 1", "p > 2")]).explain()
    told = [line for line in lines if "not groups: constants decide which events an operand takes" in line]
    assert [reason in line for line in told] == [True, True]


def test_beyond_the_limit_members_are_told_that_matches_may_be_missing() -> None:
    engine = engine_with([LAST.format(f"a[i].p > {least}", 999) for least in (1, 2)], Options(runs_max=50))
    results = list(engine.publish("S", list(range(300)), [("A", 9.0, 0.0, 0)] * 300))
    assert {match.subscription for match in results if match.limit == "runs_max"} == {"s0", "s1"}
