"""Subscriptions of CEL without a key: the first one is merged with all others, the next ones are a group."""

from __future__ import annotations

import pytest

from broker.engine import Engine, Options

RISING = "FILTER{{cnt >= {0}}}((SELECT *, 1 AS cnt FROM S) FOLD{{$2.ty = $.ty, $2.p > $.p, $.cnt + 1 AS cnt}} S)"
CHAIN = "FILTER{{p > {0}}}(S NEXT{{$2.ty = $1.ty}} S NEXT{{$2.ty = $1.ty}} S)"


def merged(engine: Engine) -> set[str]:
    """The subscriptions that are not in groups."""
    return {name for name in engine.subscriptions if engine.sharing(name)[0] != "executor groups"}


@pytest.mark.parametrize("text", [RISING, CHAIN])
def test_the_second_one_begins_a_group(text: str) -> None:
    engine = Engine()
    engine.add_stream("S", {"ty": "string", "p": "float"})
    for number in range(3):
        engine.subscribe(f"s{number}", query=text.format(number + 2))
    assert merged(engine) == {"s0"}
    engine = Engine.restore(engine.snapshot())
    engine.subscribe("s3", query=text.format(3))
    assert merged(engine) == {"s0"}
    engine.unsubscribe("s0")
    engine.subscribe("s4", query=text.format(3))
    assert merged(engine) == set()
    for name in list(engine.subscriptions):
        engine.unsubscribe(name)
    engine.subscribe("again", query=text.format(3))
    assert merged(engine) == {"again"}
    engine.check_invariants()


@pytest.mark.parametrize("text", [RISING, CHAIN])
def test_each_has_what_it_has_alone(text: str) -> None:
    told = []
    for options in (Options(), Options(executors_off=("groups",))):
        engine = Engine(options)
        engine.add_stream("S", {"ty": "string", "p": "float"})
        for number in range(3):
            engine.subscribe(f"s{number}", query=text.format(number + 2), lineage=True)
        rows = [("AB"[at % 2], float(at * 7 % 11)) for at in range(60)]
        found = [list(engine.publish("S", [at], [row])) for at, row in enumerate(rows[:30])]
        engine = Engine.restore(engine.snapshot())
        found += [list(engine.publish("S", [at], [row])) for at, row in enumerate(rows[30:], start=30)]
        told.append(sorted((match.subscription, match.end, match.id) for each in found for match in each))
    assert told[0] == told[1] != []
