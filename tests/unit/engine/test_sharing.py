"""What `check --groups` says of a subscription: its group, or what keeps it out. Pages have more examples."""

from __future__ import annotations

import pytest

from broker.engine import Engine
from broker.engine.inspection.sharing import sharing

CHAIN = "FILTER{{price < 5}}(FILTER{{name = 'A' AND price > {0} AND size > 0}} S NEXT{{$2.name = $1.name}} S)"
REPEATS = (
    "PATTERN SEQ(S+ a[]) WHERE skip_till_next_match(a[]) {{ [name] AND a[1].name = 'A' AND a[1].price > {0}"
    " AND a[i].price > a[i-1].price }} WITHIN 9"
)


def told(engine: Engine, name: str) -> list[str]:
    return sharing(engine.catalog, engine.program, name)


@pytest.fixture
def engine() -> Engine:
    made = Engine()
    made.add_stream("S", {"name": "string", "price": "float", "size": "int"})
    return made


def test_a_member_is_told_of_its_group(engine: Engine) -> None:
    for number in range(3):
        engine.subscribe(f"s{number}", query=CHAIN.format(number))
    assert told(engine, "s1")[0] == "group of 3 members that shares 2 steps on S with name = 'A'"
    engine.unsubscribe("s0")
    assert told(engine, "s1")[0].startswith("group of 2 members")


def test_the_first_repetition_waits_for_company(engine: Engine) -> None:
    engine.subscribe("a", language="sase", query=REPEATS.format(1))
    assert "not groups: it is the first subscription of its kind" in told(engine, "a")[0]
    engine.subscribe("b", language="sase", query=REPEATS.format(2))
    assert told(engine, "a")[0].startswith("group of 2 members that shares")


def test_each_branch_is_told_for_itself(engine: Engine) -> None:
    chain = f"SELECT price FROM {CHAIN.format(1)}"
    engine.subscribe("both", query=f"({chain}) UNION (SELECT price FROM FILTER{{name = 'A' AND price > 3}}(S))")
    chain, cost, filtered, searched = told(engine, "both")
    assert chain.startswith("group of 1 member that shares 2 steps")
    assert cost.startswith("cost of an event: a visit of the group")
    assert filtered.startswith("group of 1 member")
    assert searched.startswith("cost of an event: a visit of the group")


@pytest.mark.parametrize(
    ("language", "query", "reason"),
    [
        (
            "cayuga",
            "FILTER{price < 5}(FILTER{name = 'A' AND (price > 1 OR size > 7)} S"
            " FOLD{$2.name = $.name, $2.price > $.price} S NEXT{$2.name = $1.name} S)",
            "fold: a step before the last one has alternatives",
        ),
        (
            "sase",
            "PATTERN SEQ(S a, ~(S n), S b) WHERE skip_till_next_match(a, b) { [name] AND a.name = 'A' AND a.price > 1"
            " AND n.price < 3 AND (b.price < 5 OR b.size > 7) } WITHIN 9",
            "next match: a condition has alternatives",
        ),
    ],
)
def test_one_outside_is_told_why(engine: Engine, language: str, query: str, reason: str) -> None:
    engine.subscribe("out", language=language, query=query)
    why = told(engine, "out")[0]
    assert why.startswith("executor ")
    assert reason in why


def test_a_forecast_follows_a_chain_in_its_group_unless_it_wants_lineage(engine: Engine) -> None:
    forecast = {"threshold": 0.5, "within": 9}
    engine.subscribe("foretold", query=CHAIN.format(1), forecast=forecast)
    engine.subscribe("alike", query=CHAIN.format(2), forecast=forecast)
    engine.subscribe("other", query=CHAIN.format(3))
    assert told(engine, "foretold")[0].startswith("group of 2 members that shares 2 steps")
    engine.subscribe("with-lineage", query=CHAIN.format(4), forecast=forecast, lineage=True)
    assert "not groups: its forecasts have lineage" in told(engine, "with-lineage")[0]


def test_a_forecast_keeps_out_of_other_groups(engine: Engine) -> None:
    begun = "(SELECT *, 1 AS cnt FROM FILTER{name = 'A'} S)"
    fold = f"FILTER{{cnt > 3}}({begun} FOLD{{$2.name = $.name, , $.cnt + 1 AS cnt}} S)"
    engine.subscribe("foretold", query=fold, forecast={"threshold": 0.5, "within": 9})
    why = told(engine, "foretold")[0]
    assert "not groups: only in a chain of NEXT it knows the states that a forecast follows" in why
