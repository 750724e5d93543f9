"""Runs of SASE+ that can match no more end, and runs share what they have: in time and memory that do not grow with
the square of the events."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from broker.engine import Engine, Options

DENIED = "a[1].s = 'denied' AND a[i].s = 'denied'"
ONE_BY_ONE = Options(columns=False)


def engine(*queries: str, options: Options | None = None, **more: Any) -> Engine:
    made = Engine(options)
    made.add_stream("E", {"ip": "string", "s": "string", "v": "int", "w": "int?"})
    for number, query in enumerate(queries):
        made.subscribe(f"q{number}", "sase", query, **more)
    return made


def publish(made: Engine, first: int, count: int, status: str = "denied") -> list[Any]:
    at = range(first, first + count)
    return list(made.publish("E", list(at), [("x", status, n, n % 3) for n in at], list(at)))


def runs(made: Engine) -> int:
    made.check_invariants()
    return int(made.statistics()["pattern_runs"])


def contiguous(condition: str, more: str = "") -> str:
    return f"PATTERN SEQ(E+ a[]) WHERE partition_contiguity(a[]) {{ [ip] AND {condition} }} WITHIN 5 min{more}"


def followed(strategy: str, condition: str) -> str:
    block = f"{{ {DENIED} AND {condition} AND b.s = 'ok' }}"
    return f"PATTERN SEQ(E+ a[], E b) WHERE {strategy}(a[], b) {block} WITHIN 5 min"


@pytest.mark.parametrize(
    ("query", "most"),
    [
        (contiguous(f"{DENIED} AND a.LEN = 3"), 3),
        (contiguous("a.LEN < 3"), 2),
        (contiguous("(a.LEN = 1 OR a.LEN = 4)"), 4),
        (contiguous("count(a[].v) <= 3"), 3),
        (contiguous("max(a[].v) < 50"), 50),
        (contiguous("min(a[].v) > 1000"), 0),
        (contiguous("max(a[].v) - min(a[].v) <= 5"), 6),
        (contiguous("a[1].v >= 0 AND a[i].v >= 0 AND sum(a[].v) < 1000"), 50),
        ("PATTERN SEQ(E{2,3} a[]) WHERE partition_contiguity(a[]) { [ip] } WITHIN 5 min", 3),
        ("PATTERN SEQ(E+ a[]) WHERE strict_contiguity(a[]) { a.LEN = 2 } WITHIN 5 min", 2),
        (followed("skip_till_next_match", "a.LEN <= 3"), 64),
        (followed("skip_till_any_match", "a.LEN <= 3"), 3),  # groups of equal length
        (followed("strict_contiguity", "a.LEN <= 3"), 3),
    ],
)
def test_runs_that_can_match_no_more_end(query: str, most: int) -> None:
    made = engine(query)
    publish(made, 0, 200)
    assert runs(made) <= most + 1


@pytest.mark.parametrize(
    "condition",
    ["sum(a[].v) < 1000", "max(a[].w) IS NULL", "avg(a[].v) < 3", "a[a.LEN].v < 3", "a.LEN > 3", "a.LEN != 3"],
)
def test_runs_that_may_match_again_go_on(condition: str) -> None:
    made = engine(contiguous(condition))
    publish(made, 0, 100)
    assert runs(made) == 100


def test_columns_drop_rows_of_runs_that_end_between_others() -> None:
    """Runs whose first event is high end with it; the others stay, for their matches and after a restart."""
    query = followed("skip_till_next_match", "max(a[].v) < 90 AND a[i].v < a[1].v")
    made, slow = engine(query), engine(query, options=ONE_BY_ONE)
    for at in range(400):
        row = ("x", "ok" if at % 40 == 39 else "denied", at * 37 % 101, None)
        found = [list(each.publish("E", [at], [row], [at])) for each in (made, slow)]
        assert sorted(m.lineage or [] for m in found[0]) == sorted(m.lineage or [] for m in found[1])
        if at % 100 == 50:
            made = Engine.restore(made.snapshot())
            made.check_invariants()


def test_matches_are_right_while_events_are_left_behind() -> None:
    other = followed("skip_till_any_match", "sum(a[].v) > 0 AND a.LEN < 2")
    made = engine(contiguous(f"{DENIED} AND a.LEN = 3"), other)
    for at in range(300):
        status = "ok" if at % 7 == 6 else "denied"
        found = [m.lineage for m in publish(made, at, 1, status) if m.subscription == "q0"]
        assert found == ([[at - 2, at - 1, at]] if at % 7 in (2, 3, 4, 5) else [])
        if at == 150:
            made = Engine.restore(made.snapshot())


@pytest.mark.parametrize(
    "query",
    [
        followed("partition_contiguity", "a.LEN >= 3 AND [ip]"),
        "PATTERN SEQ(E a, E{2,} b[], E c) WHERE skip_till_next_match(a, b[], c) { c.s = 'ok' } WITHIN 5 min",
        "PATTERN SEQ(E+ a[], E+ b[], E c) WHERE skip_till_next_match(a[], b[], c) "
        "{ b[1].v = 150 AND c.s = 'ok' } WITHIN 5 min",
        contiguous("sum(a[].v) > 1000000000", " OUTPUT nonoverlap"),
    ],
)
@pytest.mark.parametrize("lineage", [True, False])
def test_runs_share_the_events_that_they_have(query: str, lineage: bool) -> None:
    """A copy of its path for each run would be 45,000 links, some 6 MB."""
    made = engine(query, lineage=lineage)
    tracemalloc.start()
    try:
        for at in range(0, 300, 50):
            publish(made, at, 50)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert size < 500_000
    assert runs(made) >= 290


def test_groups_divide_by_a_bound_on_the_number_of_events() -> None:
    """Runs that all have in common could not end by it."""
    made = engine(*[contiguous(f"a.LEN = {number}") for number in range(2, 6)])
    found = publish(made, 0, 100)
    assert {(m.subscription, len(m.lineage)) for m in found} == {(f"q{n}", n + 2) for n in range(4)}
    assert runs(made) == 2 + 3 + 4 + 5


LONG = "PATTERN SEQ(E+ a[]) WHERE partition_contiguity(a[]) { [ip] AND sum(a[].v) > 1000000000 } WITHIN 5 min"
ANY = "PATTERN SEQ(E+ a[], E b) WHERE skip_till_any_match(a[], b) { a[i].v > a[i-1].v AND b.s = 'ok' } WITHIN 5 min"
ROWS = "PATTERN SEQ(E+ a[], E b) WHERE skip_till_next_match(a[], b) { a[i].v > a[1].v AND b.s = 'ok' } WITHIN 5 min"
WAITS = "PATTERN SEQ(E a, ~(E n)) WHERE skip_till_next_match(a) { n.s = 'ok' } WITHIN 5 min"
KEYS = "PATTERN SEQ(E a, E b) WHERE skip_till_next_match(a, b) { [v] AND b.s = 'ok' } WITHIN 5 min"
AFA = "FROM E REGISTER n INT = 0 START s FINAL f s -> w WHEN s = 'denied' w -> w SET n = n + 1 w -> f WHEN s = 'ok'"


@pytest.mark.parametrize("query", [LONG, ANY, ROWS, WAITS, KEYS])
def test_runs_take_at_most_so_many_bytes(query: str) -> None:
    """Beyond them runs are forgotten, one result says so, and the subscription goes on."""
    made = engine(query, options=Options(run_bytes_max=20_000, executors_off=("groups", "keyed_runs")))
    told = [m for m in publish(made, 0, 400) if m.kind == "incomplete"]
    assert told
    assert not any(m.suspends for m in told)
    assert all("run_bytes_max" in (m.limit or "") for m in told)
    assert runs(made) < 200
    assert not [m for m in publish(made, 400, 1) if m.suspends]


@pytest.mark.parametrize(("language", "query"), [("afa", AFA), ("sase", LONG)])
def test_runs_that_cannot_go_on_with_fewer_bytes_are_suspended(language: str, query: str) -> None:
    """Those of register automata, and of the reference."""
    made = Engine(Options(run_bytes_max=100_000, executors_off=("kleene", "groups")))
    made.add_stream("E", {"ip": "string", "s": "string", "v": "int"})
    made.subscribe("q", language, query)
    rows = [("x", "denied", 0)] * 300
    told = [m for m in made.publish("E", list(range(300)), rows) if m.kind == "incomplete"]
    assert [(m.limit, m.suspends) for m in told] == [("run_bytes_max", True)]
    made.check_invariants()


def test_bytes_of_keys_that_are_gone_count_no_more() -> None:
    """Each event has a key of its own, and the window ends: what is kept is flat, however many keys have come."""
    query = KEYS.replace("5 min", "20")
    off = ("groups", "keyed_runs", "sequence_trie")
    made = engine(query, options=Options(run_bytes_max=200_000, executors_off=off))
    assert not [m for m in publish(made, 0, 5_000) if m.kind == "incomplete"]
