"""Each executor keeps the laws of the contract (doubles/executor_checks), in one line each."""

from __future__ import annotations

import random
from typing import Final

import pytest
from doubles.executor_checks import check_executor

from broker.engine.planner import TABLE

PAIR: Final = "SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ [k] AND a.p > {0} AND b.p < 2 }} WITHIN 9"
REPEATED: Final = "SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) {{ [k] AND a[i].p > {0} }} WITHIN 9"
GREATEST: Final = "AGGREGATE max(v) AS m"
EXECUTORS: Final = (
    ("groups", "sase", f"PATTERN {PAIR}"),
    ("sequence_trie", "ptopss", "FROM S a: v = {0} b: v = 2 MATCH a, b"),
    ("tuple_counts", "ptopss", "FROM S BY k a: p > {0} b: v = 2 MATCH a, b WITHIN 9"),
    ("kleene", "sase", f"PATTERN {REPEATED}"),
    ("keyed_runs", "cayuga", "SELECT * FROM FILTER{{p > {0}}}(FILTER{{p < 3}}(S) NEXT{{$2.k = $1.k}} S)"),
    ("speculative", "afa", "FROM S BY k START a FINAL c a -> b WHEN p > {0} b -> c WHEN p < 2 WITHIN 9"),
    ("window_families", "window", "FROM S BY k WINDOW AFTER any* MATCHING [p > {0}] any{{2}} " + GREATEST),
    ("windows", "window", "FROM S BY k WINDOW EVERY {0} EVENTS AGGREGATE sum(p) AS s, median(v) AS m"),
    ("reference", "sase", f"PATTERN {PAIR}"),
)
LAWS: Final = [
    pytest.param(law, id=f"{name}: {title}")
    for name, language, query in EXECUTORS
    for title, law in check_executor(name, language, query)
]


def test_every_executor_is_checked() -> None:
    assert [name for name, _, _ in EXECUTORS] == [row.plan.executor for row in TABLE]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("law", LAWS)
def test_it_keeps_the_contract(law: object, seed: int) -> None:
    assert callable(law)
    law(random.Random(seed))
