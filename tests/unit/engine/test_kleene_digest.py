"""SASE+ runs that were saved and restored say the same of themselves, whatever is still there of those that are over.

A broker compares the digest of a checkpoint with that of the state that comes out of it, and does not start otherwise.
"""

from __future__ import annotations

from random import Random

import pytest

from broker.engine import Engine
from broker.storage.engine_digest import engine_digest

PATTERNS = (
    "SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { [k] AND b.x > 7 }",
    "SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { [k] AND a[i].x > avg(a[..i-1].x) AND b.x < 5 }",
    "SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { [k] AND b.x > a[a.LEN].x }",
    "SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { [k] AND b.x > sum(a[].x) }",
    "SEQ(S a, S+ b[], S c) WHERE skip_till_any_match(a, b[], c) { [k] AND a.x = 1 AND c.x > 8 }",
    "SEQ(S a, S b, ~(S n)) WHERE skip_till_next_match(a, b) { [k] AND a.x = 1 AND n.x = 2 AND b.x = 3 }",
    "SEQ(S a, S+ b[]) WHERE partition_contiguity(a, b[]) { [k] AND a.x > 5 AND b[i].x < 5 }",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_digest_is_that_of_what_comes_back(pattern: str) -> None:
    chance = Random(7)
    engine = Engine()
    engine.add_stream("S", {"k": "string", "x": "int"}, key="k")
    engine.subscribe("q", language="sase", query=f"PATTERN {pattern} WITHIN 30")
    time = 0
    for _ in range(40):
        times, rows = [], []
        for _ in range(chance.randrange(1, 12)):
            time += chance.randrange(4)
            times.append(time)
            rows.append((chance.choice("ab"), chance.randrange(10)))
        engine.publish("S", times, rows)
        saved = engine.snapshot()
        again = Engine.restore(saved)
        assert engine_digest(again.snapshot()) == engine_digest(saved)
    rows = [("a", 3), ("b", 1), ("a", 9), ("b", 9)] * 3
    times = list(range(time, time + len(rows)))
    found = [each.line() for each in engine.publish("S", times, rows)]
    assert [each.line() for each in again.publish("S", times, rows)] == found
