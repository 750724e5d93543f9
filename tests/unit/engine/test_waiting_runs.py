"""What waits of a subscription, as people see it: in every executor as many runs in each state as the reference has."""

from __future__ import annotations

import random
from typing import Final

import pytest

from broker.automaton.automaton import Automaton
from broker.engine import Engine, Options
from broker.engine.inspection.waiting import Walk
from broker.engine.planner import TABLE
from broker.events import UnknownSubscription

CEL_PAIR: Final = "FILTER{price > price_1}(Stock NEXT{$2.name = $1.name} Stock)"
CEL_MEMBER: Final = "FILTER{price > 104}(Stock) NEXT{$2.name = $1.name} FILTER{price < 101}(Stock)"
CEL_LINE: Final = (
    "FILTER{price > 101}(Stock) NEXT{$2.name = $1.name} FILTER{price > 102}(Stock) NEXT{$2.name = $1.name} Stock"
)
SASE_NEXT: Final = """
PATTERN SEQ(Stock a, Stock b, Stock c)
WHERE skip_till_next_match(a, b, c) { [name] AND a.price < b.price AND c.price > 108 } WITHIN 20 sec
"""
SASE_ANY: Final = """
PATTERN SEQ(Stock a, Stock+ b[], Stock c)
WHERE skip_till_any_match(a, b[], c) { [name] AND a.price > 105 AND b[i].price > a.price AND c.price < 101 }
WITHIN 9 sec
"""
AFA: Final = """
FROM Stock BY name
REGISTER high FLOAT = 0
START begin FINAL done
first: begin -> up WHEN price > 104 SET high = price
more: up -> up WHEN price >= high SET high = price
fall: up -> down WHEN price < high
stay: down -> down WHEN price < 109
end: down -> done WHEN price > 109
WITHIN 30 s
"""
OTHERS: Final = tuple([each.plan.executor for each in TABLE if each.plan.executor != "reference"])
REFERENCE_ONLY: Final = Options(executors_off=OTHERS)


def played(options: Options | None, language: str, query: str, seed: int, events: int = 60) -> Engine:
    engine = Engine(options)
    engine.add_stream("Stock", {"name": "string", "price": "float"}, key="name")
    engine.subscribe("q", language=language, query=query)
    chance = random.Random(seed)
    for at in range(events):
        engine.publish("Stock", [1_000_000 * at], [(chance.choice("AB"), 100.0 + chance.randrange(11))])
    return engine


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("cayuga", CEL_PAIR), ("cayuga", CEL_MEMBER), ("cayuga", CEL_LINE), ("sase", SASE_NEXT), ("sase", SASE_ANY),
    ],
)  # fmt: skip
def test_states_have_the_runs_that_the_reference_has(language: str, query: str, seed: int) -> None:
    engine, reference = played(None, language, query, seed), played(REFERENCE_ONLY, language, query, seed)
    found, wanted = engine.waiting_runs("q", 100_000), reference.waiting_runs("q", 100_000)
    assert "executor reference" in "".join(reference.sharing("q"))
    assert "executor reference" not in "".join(engine.sharing("q"))
    assert found.states == wanted.states
    assert sorted(run.begun for run in found.runs) == sorted(run.begun for run in wanted.runs)
    assert not found.more
    assert not found.unlisted


@pytest.mark.parametrize("seed", range(6))
def test_register_automata_have_the_runs_of_their_definition(seed: int) -> None:
    chance, runs = random.Random(seed), list[tuple[str, int, float, int]]()  # key, state, high, begun
    for at in range(60):
        key, price = chance.choice("AB"), 100.0 + chance.randrange(11)
        others = [run for run in runs if run[0] != key]
        for _, state, high, begun in [run for run in runs if run[0] == key and at - run[3] < 30]:
            if state == 1:
                others.append((key, 1, price, begun) if price >= high else (key, 2, high, begun))
            elif price < 109:
                others.append((key, 2, high, begun))
        runs = [*others, *([(key, 1, price, at)] if price > 104 else [])]
    waiting = [run for run in runs if run[3] > 59 - 30]
    found = played(None, "afa", AFA, seed).waiting_runs("q", 100_000)
    assert sorted((run.key["name"], run.state, run.begun // 1_000_000) for run in found.runs) == sorted(
        (key, state, begun) for key, state, _, begun in waiting
    )


def test_runs_have_their_keys_and_arcs() -> None:
    engine = played(None, "sase", SASE_NEXT, 3)
    found = engine.waiting_runs("q", listed=2)
    assert len(found.runs) == 2
    assert {name for run in found.runs for name in run.key} == {"name"}
    assert found.runs[0].begun <= found.runs[1].begun
    assert all(set(run.events) <= {"a", "b"} for run in found.runs)
    assert found.arcs[0, 0] == sum(found.states.values()), "each has taken the first arc"
    assert found.arcs.get((0, 1), 0) == found.states.get((0, 2), 0), "those in the second state also the second"
    loops = played(None, "sase", SASE_ANY, 3).waiting_runs("q", 100_000)
    taken = [len(run.events.get("b", [])) for run in loops.runs]
    arcs = sum(count for (_, arc), count in loops.arcs.items() if arc in (1, 2))
    assert arcs >= sum(taken) > 0, "each time it is taken"


def test_a_look_is_bounded() -> None:
    engine = played(None, "sase", SASE_ANY, 1)
    whole = engine.waiting_runs("q", 100_000)
    assert whole.looked > 30
    part = engine.waiting_runs("q", 10, 3)
    assert part.looked == 10
    assert part.more
    assert sum(part.states.values()) == 10
    assert len(part.runs) == 3


def test_others_runs_count_as_looked_at() -> None:
    engine = played(None, "cayuga", CEL_LINE, 1)
    engine.subscribe("late", query="FILTER{price > 101}(Stock) NEXT{$2.name = $1.name} FILTER{price > 102}(Stock)")
    found = engine.waiting_runs("late", 5)
    assert (found.runs, found.states) == ([], {})
    with pytest.raises(UnknownSubscription):
        engine.waiting_runs("nobody")


def test_open_windows_are_listed_and_numbers_alone_are_not() -> None:
    windows = played(None, "window", "FROM Stock WINDOW LAST 4 EVENTS EVERY 2 EVENTS AGGREGATE count(*) AS n", 1, 7)
    found = windows.waiting_runs("q")
    assert [run.begun for run in found.runs] == [4_000_000, 6_000_000], "every second event began one of four"
    assert found.states == {(0, -1): 2}
    counted = Engine()
    counted.add_stream("S", {"x": "int"})
    counted.subscribe(
        "q", language="ptopss", query="FROM S\na: x = 1\nb: x = 2\nMATCH a, b", report="completions"
    )
    counted.publish("S", [1], [(1,)])
    assert counted.waiting_runs("q").unlisted


def test_a_walk_goes_back_where_a_way_ends() -> None:
    engine = played(None, "sase", SASE_ANY, 1, 0)
    (automaton,) = engine.catalog.subscriptions["q"].automata()
    assert isinstance(automaton, Automaton)
    walk = Walk(automaton)
    assert walk.of(()) == (0, ())
    assert walk.of((0,))[0] == 1
    assert walk.of((0, 1, 1, 1))[0] == 2
    assert walk.of((1, 0)) == (-1, ())
    assert walk.of((0, 1, 1, 1)) is walk.of((0, 1, 1, 1))
