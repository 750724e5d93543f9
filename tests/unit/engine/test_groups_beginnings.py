"""Groups of subscriptions that ask with what a text begins: who is in one, and which events reach it."""

from __future__ import annotations

from typing import Any

import pytest

from broker.engine import Engine, Options
from broker.events.schema import Row

NEXT = "NEXT{{$2.k = $1.k}} S"
TEXTS = {
    "filter": ("cayuga", "SELECT * FROM FILTER{{starts_with(k, '{0}') AND p > {1}}}(S)"),
    "chain": ("cayuga", "SELECT * FROM FILTER{{p < {1}}}(FILTER{{starts_with(k, '{0}') AND p > {1}}}(S) " + NEXT + ")"),
    "fold": (
        "cayuga",
        "SELECT * FROM FILTER{{n >= 2}}((SELECT *, 1 AS n FROM FILTER{{starts_with(k, '{0}') AND p > {1}}}(S))"
        " FOLD{{$2.k = $.k, $2.p > $.p, $.n + 1 AS n}} S)",
    ),
    "wait": (
        "sase",
        "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ [k] AND starts_with(a.k, '{0}') AND a.p > {1}"
        " AND b.p < {1} }} WITHIN 50",
    ),
    "apart": (
        "sase",
        "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{ starts_with(a.k, '{0}') AND a.p > {1}"
        " AND starts_with(b.k, '{0}') AND b.p < {1} }} WITHIN 50",
    ),
    "adjacent": (
        "sase",
        "PATTERN SEQ(S a, S b) WHERE strict_contiguity(a, b) {{ starts_with(a.k, '{0}') AND a.p > {1}"
        " AND starts_with(b.k, '{0}') AND b.p < {1} }} WITHIN 50",
    ),
    "composite": ("ptopss", "FROM S BY k a: starts_with(k, '{0}') AND p > {1} b: p < {1} MATCH a; b WITHIN 50"),
}
BEGINNINGS = ("A", "AB", "A", "AB", "C", "")
ROWS: tuple[Row, ...] = tuple(
    (key, price)
    for price in (5.0, 0.5, 2.5, 3.0, 9.0, 0.0)
    for key in ("AB", "A", "ABC", "C", None, "", "B", "AB")
)


def engine(name: str, options: Options) -> Engine:
    made = Engine(options)
    made.add_stream("S", {"k": "string?", "p": "float"})
    language, text = TEXTS[name]
    for number, begins in enumerate(BEGINNINGS):
        query = text.format(begins, 1 + number % 2)
        made.subscribe(f"s{number}", language=language, query=query, lineage=True)
    return made


def told(own: Engine, first: int, rows: tuple[Row, ...]) -> list[Any]:
    return sorted(own.publish("S", range(first, first + len(rows)), list(rows)), key=repr)


@pytest.mark.parametrize("name", TEXTS)
def test_members_have_what_they_have_alone(name: str) -> None:
    grouped, alone = engine(name, Options()), engine(name, Options(executors_off=("groups",)))
    assert grouped.statistics()["groups"] == len(set(BEGINNINGS))
    half = len(ROWS) // 2
    found, expected = told(grouped, 1, ROWS[:half]), told(alone, 1, ROWS[:half])
    grouped = Engine.restore(grouped.snapshot())
    for own in (grouped, alone):
        own.unsubscribe("s1")
        own.unsubscribe("s4")  # the only one of its group
    assert grouped.statistics()["groups"] == len(set(BEGINNINGS)) - 1
    found += told(grouped, half + 1, ROWS[half:])
    expected += told(alone, half + 1, ROWS[half:])
    assert found == expected
    assert {match.subscription for match in found} >= {"s0", "s3", "s5"}
    grouped.check_invariants()


@pytest.mark.parametrize("name", TEXTS)
def test_only_events_that_begin_so_reach_a_group(name: str) -> None:
    own = engine(name, Options())
    told(own, 1, ROWS)
    machines: Any = own.program.machines.registrations
    seen = {text: int(machines[f"s{at}"].matcher.machine.number) for at, text in enumerate(BEGINNINGS)}
    keys = [str(key) for key, _ in ROWS if key is not None]
    assert seen == {text: sum(key.startswith(text) for key in keys) for text in BEGINNINGS}


def test_explain_says_what_members_share() -> None:
    lines = engine("wait", Options()).explain()
    assert "s0: group 1 shares 2 steps on S with starts_with(a.k, 'A') = TRUE" in lines


def test_a_text_that_is_equal_is_the_key() -> None:
    own = Engine()
    own.add_stream("S", {"k": "string?", "p": "float"})
    for number in range(2):
        query = f"SELECT * FROM FILTER{{k = 'AB' AND starts_with(k, 'A') AND (p > {number} OR p < -{number + 1})}}(S)"
        own.subscribe(f"s{number}", query=query)
    assert own.statistics()["groups"] == 1
    assert len(own.publish("S", [1, 2, 3], [("AB", 0.5), ("A", 0.5), ("B", 5.0)])) == 1


def test_without_the_key_a_beginning_does_not_tell_which_events_it_is_about() -> None:
    own = Engine()
    own.add_stream("S", {"k": "string?", "p": "float"})
    text = "SELECT * FROM FILTER{p < 2}(FILTER{starts_with(k, 'A') AND p > 1}(S) NEXT{TRUE} S)"
    for name in ("first", "s"):
        own.subscribe(name, query=text)
    assert "s: group 1 shares 2 steps on S" in own.explain()
    assert len(own.publish("S", [1, 2], [("A", 5.0), ("B", 0.5)])) == 2
