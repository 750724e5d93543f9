"""What is kept of a key ends with its window: thousands of keys with one event each leave those that may still match.

Every language, where time bounds what an event may match, in order and in disorder, with punctuations and without.
Here: counts of what is kept. Not here: bytes (benchmarks/growth/keys).
"""

from __future__ import annotations

from typing import Any, Final

import pytest

from broker.engine import Engine

KINDS: Final = {
    "AFA": ("afa", "FROM S BY k START a FINAL c a -> b WHEN n = 1 b -> c WHEN n = 2 WITHIN 10"),
    "AFA with registers": (
        "afa",
        "FROM S BY k REGISTER r INT = 0 START a FINAL c a -> b WHEN n = 1 SET r = n b -> b WHEN n > 2 SET r = r + n "
        "b -> c WHEN n = 2 WITHIN 10",
    ),
    "CEL": ("cayuga", "SELECT * FROM FILTER{n = 1}(S) NEXT{$2.k = $1.k AND $2.n = 2 AND DUR < 10} S"),
    "CEL, FOLD": ("cayuga", "SELECT * FROM FILTER{n = 1}(S) FOLD{$2.k = $.k, $2.n > 1 AND DUR < 10} S"),
    "P-ToPSS": ("ptopss", "FROM S BY k\na: n = 1\nb: n = 2\nMATCH a ; b WITHIN 10"),
    "P-ToPSS, any order": ("ptopss", "FROM S BY k\na: n = 1\nb: n = 2\nMATCH a AND b WITHIN 10"),
    "SASE+": (
        "sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { [k] AND a.n = 1 AND b.n = 2 } WITHIN 10"
    ),
    "SASE+, any match": (
        "sase", "PATTERN SEQ(S a, S b) WHERE skip_till_any_match(a, b) { [k] AND a.n = 1 AND b.n = 2 } WITHIN 10"
    ),
    "SASE+, Kleene": (
        "sase", "PATTERN SEQ(S+ a[], S b) WHERE skip_till_next_match(a[], b) { [k] AND b.n = 2 } WITHIN 10"
    ),
    "SASE+, partition": (
        "sase", "PATTERN SEQ(S+ a[], S b) WHERE partition_contiguity(a[], b) { [k] AND b.n = 2 } WITHIN 10"
    ),
    "SASE+, negation": (
        "sase", "PATTERN SEQ(S a, ~(S b)) WHERE skip_till_next_match(a) { [k] AND a.n = 1 AND b.n = 2 } WITHIN 10"
    ),
    "windows": ("window", "FROM S BY k WINDOW AFTER any* MATCHING [n = 1] any* [n = 2] WITHIN 10"),
    "windows, two parts": (
        "window", "FROM S BY k WINDOW AFTER any* MATCHING [n = 1] any* [n = 2] WITHIN 10 "
        "OR AFTER any* MATCHING [n = 1] any* [n = 3] WITHIN 5 KEEP SHORTEST",
    ),
    "windows, at every event": ("window", "FROM S BY k WINDOW AFTER any* MATCHING any any* [n = 2] WITHIN 10"),
    "LAST": ("window", "FROM S BY k WINDOW LAST 10 us AGGREGATE count(*) AS c, sum(n) AS s"),
    "LAST, greatest": ("window", "FROM S BY k WINDOW LAST 10 us AGGREGATE max(n) AS c"),
    "LAST, EVERY": ("window", "FROM S BY k WINDOW LAST 10 us EVERY 5 us AGGREGATE max(n) AS c"),
    "EVERY": ("window", "FROM S BY k WINDOW EVERY 10 us AGGREGATE count(*) AS c"),
    "EVERY, median": ("window", "FROM S BY k WINDOW EVERY 10 us AGGREGATE median(n) AS c"),
    "SESSION": ("window", "FROM S BY k WINDOW SESSION 10 us AGGREGATE count(*) AS c"),
    "SESSION, greatest": ("window", "FROM S BY k WINDOW SESSION 10 us AGGREGATE max(n) AS c"),
}  # fmt: skip
ORDERS: Final[dict[str, dict[str, Any]]] = {
    "in order": {},
    "buffer": {"disorder": "buffer", "lateness": 5},
    "speculate": {"disorder": "speculate", "lateness": 5},
    "speculate, punctuated": {"disorder": "speculate"},
}
BATCH, EVENTS, FEW = 250, 5_000, 1_250
"""The dispatcher drops what is of no use after 4,096 events, and again after two for each key that was kept."""


def fed(language: str, text: str, order: dict[str, Any], members: int) -> Engine:
    """An engine after so many events, each of a key of its own, of which three are within a window."""
    engine = Engine()
    engine.add_stream("S", {"k": "string", "n": "int"}, key="k", **order)
    for number in range(members):
        engine.subscribe(f"s{number}", language, text.replace("n = 2", f"n > {number + 1}"), lineage=False)
    for begin in range(0, EVENTS, BATCH):
        times = list(range(4 * begin, 4 * (begin + BATCH), 4))
        list(engine.publish("S", times, [(f"k{time}", 1) for time in times], times))
        if "disorder" in order and "lateness" not in order:
            list(engine.punctuate(times[-1] - 20, "S"))
    return engine


def check(engine: Engine, most: int) -> None:
    counted = engine.statistics()
    for name in ("keys", "window_keys", "family_keys", "window_starts", "afa_keys", "runs"):
        assert counted.get(name, 0) <= most, (name, counted[name])
    engine.check_invariants()
    assert len(engine.snapshot()) < most * 150


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", KINDS)
def test_keys_that_never_return_are_forgotten(kind: str, order: str) -> None:
    language, text = KINDS[kind]
    check(fed(language, text, ORDERS[order], 1), FEW)


@pytest.mark.parametrize("kind", ["AFA", "SASE+", "windows"])
def test_many_subscriptions_of_a_shape_forget_them_too(kind: str) -> None:
    language, text = KINDS[kind]
    check(fed(language, text, {}, 3), 3 * FEW)
