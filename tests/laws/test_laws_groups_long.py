"""Groups that have dropped events and waiting runs many times give what each subscription gives alone.

The scripts of test_laws_groups are too short for that: what has passed is dropped in stretches of some dozens.
"""

from __future__ import annotations

import random

import pytest

from broker.engine import Engine, Options

EVENTS, BATCH, MEMBERS, WITHIN = 1_500, 25, 6, 60
ATTRIBUTES = {"key": "string", "x": "float", "y": "float"}
SEQUENCE = "PATTERN SEQ({parts}) WHERE {strategy}({names}) {{ [key] AND a.key = '{key}' AND {asked} }} WITHIN {within}"
A, B, C = "a.x > {p}", "b.x < {q}", "c.x > {r}"


def sase(parts: str, asked: str, strategy: str = "skip_till_next_match", within: str = "{within}") -> tuple[str, str]:
    names = ", ".join(part.split()[1] for part in parts.split(", ") if part[0] != "~")
    text = SEQUENCE.replace("{parts}", parts).replace("{names}", names).replace("{asked}", asked)
    return "sase", text.replace("{strategy}", strategy).replace("{within}", within)


SHAPES = {
    "two": sase("S a, S b", f"{A} AND {B}"),
    "two, own window": sase("S a, S b", f"{A} AND {B}", within="{own}"),
    "three, the last as the first": sase("S a, S b, S c", f"{A} AND b.x < {{low}} AND c.x > {{p}}"),
    "three": sase("S a, S b, S c", f"{A} AND {B} AND {C}"),
    "several constants": sase("S a, S b", f"{A} AND {B} AND b.y > {{r}}", within="{own}"),
    "negation": sase("S a, ~(S n), S c", f"{A} AND n.x < {{low}} AND {C}"),
    "negation at the end": sase("S a, S b, ~(S n)", f"{A} AND {B} AND n.y > {{r}}"),
    "any match": sase("S a, S b", f"{A} AND {B}", "skip_till_any_match"),
    "a text each": (
        "sase",
        "PATTERN SEQ(S a, S b, S c, S d) WHERE skip_till_next_match(a, b, c, d) {{ a.key = '{key}' AND a.x > {low} AND "
        "b.key = '{other}' AND b.x < {q} AND c.key = '{key}' AND c.x > {low} AND d.key = '{key}' }} WITHIN {own}",
    ),
    "a text behind the first": (
        "sase",
        "PATTERN SEQ(S a, S b, S c) WHERE skip_till_next_match(a, b, c) {{ a.x > {r} AND "
        "b.key = '{other}' AND b.x < {low} AND c.x > {r} }} WITHIN {own}",
    ),
    "fold": (
        "cayuga",
        "SELECT * FROM FILTER{{n >= 3}}((SELECT *, 1 AS n FROM FILTER{{key = '{key}' AND x > {q}}}(S)) "
        "FOLD{{$2.key = $.key, $2.x > $.x, $.n + 1 AS n}} S)",
    ),
    "skip till": (
        "cayuga",
        "SELECT * FROM FILTER{{DUR < {own}}}(FILTER{{key = '{key}' AND x > {p}}}(S) "
        "NEXT{{$2.key = $1.key AND $2.x < {q}}} S)",
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_dropped_is_not_missed(shape: str) -> None:
    chance = random.Random(shape)
    language, text = SHAPES[shape]
    own = {"groups": Engine(Options()), "alone": Engine(Options(executors_off=("groups",)))}
    for engine in own.values():
        engine.add_stream("S", ATTRIBUTES, key="key")
    for number in range(MEMBERS):
        p, low = chance.uniform(0.55, 0.8), chance.uniform(0.1, 0.4)
        q, r = chance.uniform(0.2, 0.9), chance.uniform(0.7, 0.95)
        given = {"p": p, "low": low, "q": q, "r": r, "key": "ab"[number % 2], "other": "ab"[number // 2 % 2]}
        query = text.format(within=WITHIN, own=chance.randrange(30, WITHIN), **given)
        for engine in own.values():
            engine.subscribe(f"s{number}", language=language, query=query)
    assert own["groups"].statistics()["groups"] > 0
    assert own["alone"].statistics()["groups"] == 0
    time, total = 0, 0
    for _ in range(EVENTS // BATCH):
        times, rows = [], []
        for _ in range(BATCH):
            time += chance.randrange(1, 3)
            times.append(time)
            rows.append((chance.choice("ab"), chance.random(), chance.random()))
        found = []
        for engine in own.values():
            found.append(sorted([(match.subscription, match.id) for match in engine.publish("S", times, rows)]))
        assert found[0] == found[1]
        total += len(found[0])
    assert total > MEMBERS
    for engine in own.values():
        engine.check_invariants()
