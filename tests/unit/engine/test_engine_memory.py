"""What the engine holds: runs expire, cells vanish, churn leaves nothing, long chains are released."""

from __future__ import annotations

import gc
import random
import sys

import pytest

from broker.engine import Engine
from broker.engine.executors.keyed_runs.runs import PURGE_MIN


def make(**queries: str) -> Engine:
    engine = Engine()
    engine.add_stream("S", {"name": "string", "price": "float"})
    for name, query in queries.items():
        engine.subscribe(name, query=query, lineage=True)
    return engine


def test_runs_with_a_bound_on_dur_expire_without_being_visited() -> None:
    engine = make(pair="S NEXT{$2.name = $1.name AND DUR <= 10} S")
    for time in range(1, 2001):
        engine.publish("S", [time], [(f"name {time}", 1.0)])
    engine.check_invariants()
    statistics = engine.statistics()
    assert statistics["runs"] <= 10
    assert statistics["cells"] <= 40


def test_a_bound_in_an_outer_filter_expires_runs_too() -> None:
    engine = make(pair="FILTER{DUR <= 10}(S NEXT{$2.name = $1.name} S)")
    for time in range(1, 1001):
        engine.publish("S", [time], [(f"name {time}", 1.0)])
    assert engine.statistics()["runs"] <= 10


def test_a_later_subscription_without_a_bound_keeps_its_runs() -> None:
    engine = make(short="FILTER{DUR <= 3}(S NEXT{$2.name = $1.name} S)")
    engine.publish("S", [1], [("A", 1.0)])
    engine.subscribe("long", query="S NEXT{$2.name = $1.name} S")
    engine.publish("S", [2], [("B", 1.0)])
    engine.publish("S", [50], [("C", 1.0)])
    found = engine.publish("S", [51, 52], [("B", 1.0), ("A", 1.0)])
    engine.check_invariants()
    assert [(m.subscription, m.start, m.end) for m in found] == [("long", 2, 51)]


def test_null_keys_hold_no_runs() -> None:
    engine = Engine()
    engine.add_stream("S", {"name": "string?"})
    engine.subscribe("pair", query="S NEXT{$2.name = $1.name} S")
    assert len(engine.publish("S", [1, 2], [(None,), (None,)])) == 0
    assert engine.statistics()["runs"] == 0


def test_churn_leaves_nothing() -> None:
    engine = make(resident="S NEXT{$2.name = $1.name} S")
    for round_ in range(3 * PURGE_MIN):
        engine.subscribe("guest", query=f"FILTER{{price > {round_}}} S NEXT{{$2.price = $1.price}} (S NEXT{{}} S)")
        engine.publish("S", [round_], [("A", float(round_ + 1))])
        engine.unsubscribe("guest")
        engine.check_invariants()
    engine.unsubscribe("resident")
    engine.check_invariants()
    engine.runtime.runs.purge()
    statistics = engine.statistics()
    assert (statistics["states"], statistics["runs"], statistics["cells"]) == (0, 0, 0)


def test_a_long_fold_keeps_and_releases_its_lineage() -> None:
    n = 100_000
    engine = make(rise="FILTER{price = 100000}(FILTER{price = 0} S FOLD{$2.name = $.name} S)")
    (match,) = engine.publish("S", list(range(n + 1)), [("A", float(i)) for i in range(n + 1)])
    assert match.lineage == list(range(1, n + 2))
    restored = Engine.restore(engine.snapshot())
    (again,) = restored.publish("S", [n + 1], [("A", 100000.0)])
    assert again.lineage == [*range(1, n + 3)]
    engine.unsubscribe("rise")
    engine.runtime.runs.purge()


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("cayuga", "S"),
        ("cayuga", "S NEXT{$2.name = $1.name AND DUR <= 3} S"),
        ("ptopss", "FROM S a: name = 'a' b: name = 'b' MATCH a; b WITHIN 3"),
        ("sase", "PATTERN SEQ(S a, S+ b[], S c) WHERE skip_till_next_match(a, b[], c) {a.name = c.name} WITHIN 4"),
    ],
)
def test_results_that_were_read_leave_nothing(language: str, query: str) -> None:
    engine = make()
    engine.subscribe("read", language, query, lineage=True)
    chance = random.Random(1)
    seen: set[int] = set()

    def go(first: int, count: int) -> None:
        for time in range(first, first + count):
            for result in engine.publish("S", [time], [(chance.choice("ab"), float(time))]):
                seen.add(len(result.line()["id"]))

    go(0, 2_000)
    gc.collect()
    before = sys.getallocatedblocks()
    go(2_000, 2_000)
    gc.collect()
    assert len(seen) == 1
    assert sys.getallocatedblocks() - before < 300  # one in each second result would be 1,000
