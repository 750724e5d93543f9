"""Groups of chains of adjacent events of a partition: they look back, and keep runs only for those who ask."""

from __future__ import annotations

import random
from typing import Any

import pytest

from broker.engine import Engine, Options
from broker.engine.executors.groups.arrival_machine import ArrivalMachine
from broker.events.schema import Row

SASE = "PATTERN SEQ({0}) WHERE partition_contiguity({1}) {{{{ [k] AND a.k = '{{0}}' AND {2} }}}} WITHIN {{3}}"
TEXTS = {
    "two": ("sase", SASE.format("S a, S b", "a, b", "a.p > {1} AND b.p < {2}")),
    "three": ("sase", SASE.format("S a, S b, S c", "a, b, c", "a.p > {1} AND b.p < {2} AND c.p > {1} AND c.v >= b.v")),
    "factor": ("sase", SASE.format("S a, S b", "a, b", "a.p > {1} AND b.p < {2} * a.p AND b.v > 0")),
    "composite": ("ptopss", "FROM S BY k a: k = '{0}' AND p > {1} b: p < {2} c: p > 1 MATCH a, b, c WITHIN {3}"),
}


def engine_of(name: str, options: Options) -> Engine:
    engine = Engine(options)
    engine.add_stream("S", {"k": "string?", "p": "float?", "v": "int"})
    for number in range(9):
        join(engine, name, number)
    return engine


def join(engine: Engine, name: str, number: int) -> None:
    language, text = TEXTS[name]
    query = text.format("KL"[number % 2], number % 3, 1 + number % 2, (3, 9, 50)[number % 3])
    engine.subscribe(f"s{number}", language=language, query=query, lineage=True)


def events(chance: random.Random, count: int, time: int) -> tuple[list[int], list[Row]]:
    times: list[int] = []
    rows: list[Row] = []
    for _ in range(count):
        time += chance.choice((0, 1, 1, 2, 7))
        times.append(time)
        price = chance.choice((None, 0.0, 0.5, 1.5, 1.5, 2.5, 3.0))
        rows.append((chance.choice(("K", "K", "L", "M", None)), price, chance.randrange(3)))
    return times, rows


def looking(engine: Engine) -> list[bool]:
    machines = [registration.matcher.machine for registration in engine.program.machines.registrations.values()]
    return [machine.looks for machine in machines if isinstance(machine, ArrivalMachine)]


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("options", [Options(), Options(machine_path=False)], ids=["by key", "by event"])
def test_looking_back_finds_what_runs_find(name: str, options: Options) -> None:
    chance = random.Random(3)
    one, other = engine_of(name, options), engine_of(name, Options(lookback=False))
    assert looking(one) == [True] * 9
    assert looking(other) == []
    time, total = 0, 0
    for number, count in enumerate((1, 30, 40, 3, 2, 60, 5, 1, 50, 80)):
        times, rows = events(chance, count, time)
        time = times[-1]
        found, expected = one.publish("S", times, rows), other.publish("S", times, rows)
        assert len(found) == len(expected)
        assert sorted(map(repr, found)) == sorted(map(repr, expected))
        total += len(expected)
        if number == 2:
            one = Engine.restore(one.snapshot(), options)
        if number == 3:
            one, other = Engine.restore(one.snapshot(), Options(lookback=False)), Engine.restore(other.snapshot())
        if number == 4:
            for engine in (one, other):
                engine.unsubscribe("s1")
                join(engine, name, 9)
        if number == 6:
            one = Engine.restore(one.snapshot(), options)
        if number == 7:
            for at in (0, 9):
                waiting: list[Any] = [engine.partial_matches(f"s{at}") for engine in (one, other)]
                assert sorted(map(repr, waiting[0])) == sorted(map(repr, waiting[1]))
            assert False in looking(one)
        if number == 9:
            assert looking(one) == [True] * 9
        one.check_invariants()
    assert total > 9


def test_events_before_a_subscription_do_not_count() -> None:
    engine = Engine()
    engine.add_stream("S", {"k": "string?", "p": "float?", "v": "int"})
    join(engine, "two", 0)
    engine.publish("S", [1], [("K", 3.0, 0)])
    join(engine, "two", 6)
    found = engine.publish("S", [2, 3, 4], [("K", 0.5, 0), ("K", 3.0, 0), ("K", 0.5, 0)])
    assert [match.subscription for match in found] == ["s0", "s0", "s6"]
