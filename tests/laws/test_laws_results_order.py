"""What one batch completes comes in the order of its events, whoever found it: columns, groups, or other machines.

Subscriptions of several languages in one engine, and unions whose branches are in different places; members come and
go. Without groups each subscription has the same, in the same order.
"""

from __future__ import annotations

import random
from typing import Any

from doubles.read_columns import in_columns
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies.group_queries import SCHEMA, row

from broker.engine import Engine, Options
from broker.events.schema import Row

NUMBERS = ("0.5", "1", "1.5", "2", "2.5")
KEYS = ("'A'", "'A'", "'B'")
PAIR = "FILTER{{w < {1}}}(FILTER{{ty = {3} AND p > {0}}}(S) NEXT{{$2.ty = $1.ty}} S)"
BOX = "FILTER{{ty = {3} AND p > {0} AND w < {1}}}(S)"
CHAIN = "FILTER{{p > {2}}}(" + PAIR + " NEXT{{$2.ty = $1.ty}} S)"
TEXTS = (
    ("cayuga", BOX), ("cayuga", "FILTER{{p > {0}}}(S)"), ("cayuga", PAIR), ("cayuga", CHAIN),
    ("cayuga", f"(SELECT p FROM {BOX}) UNION (SELECT p FROM {CHAIN})"),
    ("cayuga", f"SELECT * FROM {BOX} PUBLISH Made"), ("cayuga", "FILTER{{p > {0}}}(Made)"),
    ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ a.ty = {3} AND a.p > {0} AND b.ty = {3} AND "
     "b.w < {1} }} WITHIN 9"),
    ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ [ty] AND a.p > {0} AND b.w < b.p }} WITHIN 9"),
    ("ptopss", "FROM S BY ty a: ty = {3} AND p > {0} b: w < {1} MATCH a, b WITHIN 9"),
)  # fmt: skip


def found(seed: int, options: Options) -> dict[str, list[Any]]:
    """By subscription what it has, in order; all of a batch is in the order of its events."""
    chance = random.Random(seed)
    chosen = [TEXTS[0], *chance.sample(TEXTS[1:], 3)]
    if TEXTS[6] in chosen:
        chosen.insert(0, TEXTS[5])
    engine = Engine(options)
    engine.add_stream("S", SCHEMA)
    told: dict[str, list[Any]] = {}
    here: list[str] = []
    time = 0
    for number in range(24):
        if number < len(chosen) or chance.random() < 0.4:
            language, text = chosen[number] if number < len(chosen) else chance.choice(chosen)
            constants = [*(chance.choice(NUMBERS) for _ in range(3)), chance.choice(KEYS)]
            engine.subscribe(f"s{number}", language=language, query=text.format(*constants), lineage=True)
            here.append(f"s{number}")
        elif here and chance.random() < 0.15 and TEXTS[6] not in chosen:
            engine.unsubscribe(here.pop(chance.randrange(len(here))))
        times: list[int] = []
        rows: list[Row] = []
        for _ in range(chance.randrange(1, 9)):
            time += chance.choice((0, 1, 1, 1, 2))
            times.append(time)
            rows.append(row(chance))
        results = engine.publish("S", times, rows)
        counted = len(results)
        read = list(in_columns(results))
        assert counted == len(read)
        assert [match.end for match in read] == sorted(match.end for match in read)
        assert not read or results[-1] == read[-1]
        for match in read:
            told.setdefault(match.subscription, []).append(match)
        engine.check_invariants()
    return told


@settings(max_examples=3 * settings().max_examples if settings().max_examples >= 60 else 40, deadline=None)
@given(st.integers(0, 2**40))
def test_results_are_in_the_order_of_events(seed: int) -> None:
    expected = found(seed, Options(executors_off=("groups",)))
    for options in (
        Options(), Options(batches=False),
    ):  # fmt: skip
        assert found(seed, options) == expected
