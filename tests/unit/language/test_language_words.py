"""IN, BETWEEN, IS NULL and CASE in every language: what their mistakes say, what they cost, and what stays a name."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from broker.engine import Engine
from broker.engine.languages.table import LANGUAGES
from broker.events import QueryError

WORDED = [
    ("cayuga", "FILTER{{{0}}}(S)", 8),
    ("sase", "PATTERN SEQ(S a) WHERE skip_till_next_match(a) {{{0}}}", 49),
    ("ptopss", "FROM S a: {0} MATCH a", 11),
    ("afa", "FROM S START p FINAL q p -> q WHEN {0}", 36),
    ("window", "FROM S WINDOW AFTER any* MATCHING [{0}]", 36),
]
MISTAKES = [
    ("IN ()", 0, "expected at least one value in parentheses after IN, found none"),
    ("IN 5", 3, "'(', found '5'"),
    ("IN (1,)", 6, "found ')'"),
    ("BETWEEN 1 OR 2", 10, "expected an arithmetic operator or AND, found 'OR'"),
    ("IS 5", 3, "expected NULL, found '5'"),
    ("NOT 5", 4, "expected IN, BETWEEN, LIKE, MATCHES or CIDR, found '5'"),
    ("= CASE WHEN TRUE THEN 1 ELS 2 END", 24, "did you mean 'ELSE'?"),
    ("= CASE WHEN TRUE ELSE 2 END", 17, "expected THEN, found 'ELSE'"),
]


def engine() -> Engine:
    made = Engine()
    made.add_stream("S", {"x": "int", "n": "string?", "flag": "bool"})
    return made


@pytest.mark.parametrize(("language", "query", "column"), WORDED)
@pytest.mark.parametrize(("wrong", "at", "message"), MISTAKES)
def test_mistakes_have_their_place(language: str, query: str, column: int, wrong: str, at: int, message: str) -> None:
    operand = "a.x" if language == "sase" else "x"
    with pytest.raises(QueryError) as caught:
        engine().subscribe("q", language, query.format(f"{operand} {wrong}"))
    found = str(caught.value)
    assert message in found
    assert f"line 1, column {column + len(operand) + 1 + at}: " in found
    assert "\n" not in found


@pytest.mark.parametrize(("language", "query", "column"), WORDED)
def test_the_parts_of_a_query_do_not_multiply_without_bound(language: str, query: str, column: int) -> None:
    condition = "a.flag" if language == "sase" else "flag"
    for _ in range(30):
        condition = f"({condition} IN (TRUE, FALSE))"
    before = time.process_time()
    with pytest.raises(QueryError, match="at most 100000 parts once IN and BETWEEN are written as comparisons"):
        engine().subscribe("q", language, query.format(condition))
    assert time.process_time() - before < 10


def test_a_misspelt_word_is_named() -> None:
    with pytest.raises(QueryError, match="did you mean 'BETWEEN'"):
        engine().subscribe("q", "cayuga", "FILTER{x BETWEN 1 AND 2}(S)")


def test_states_may_have_the_names_of_words() -> None:
    words = ("in", "is", "between", "like", "matches", "cidr", "then", "else", "end")
    arcs = "\n".join(f"{one} -> {other} WHEN x > 1" for one, other in pairwise(words))
    text = f"FROM S START in FINAL end {arcs}"
    afa = LANGUAGES["afa"]
    assert afa.print(afa.parse(text)).endswith("else -> end WHEN x > 1")
    assert afa.parse(afa.print(afa.parse(text))) == afa.parse(text)


@pytest.mark.parametrize("formula", ["({}) IN (TRUE)", "({}) IS NULL", "CASE WHEN {} THEN TRUE END"])
def test_quantifiers_are_no_parts_of_a_value(formula: str) -> None:
    written = formula.format("EXISTS z: z = x")
    with pytest.raises(QueryError, match="expected a condition on one event; quantifiers"):
        engine().subscribe("q", "window", f"FROM S WINDOW START x, END y WHERE {written}")


def test_positions_are_compared_by_words_too() -> None:
    made = engine()
    formula = "EXISTS SET P: x IN P AND ALL z BETWEEN x AND y: z IN P AND z BETWEEN x AND y AND z IN (x, y)"
    made.subscribe("q", "window", f"FROM S WINDOW START x, END y WHERE {formula}")
    found = made.publish("S", [1, 2, 3], [(1, None, True)] * 3)
    assert sorted((one.start, one.end) for one in found) == [(1, 1), (1, 2), (2, 2), (2, 3), (3, 3)]


def test_many_values_are_one_probe_and_null_is_none_of_them() -> None:
    made = engine()
    made.subscribe("in", "cayuga", f"FILTER{{n IN ({', '.join(repr(str(n)) for n in range(1000))})}}(S)")
    made.subscribe("others", "cayuga", f"FILTER{{n NOT IN ({', '.join(repr(str(n)) for n in range(50))})}}(S)")
    found = made.publish("S", [1, 2, 3, 4], [(0, "7", True), (0, None, True), (0, "999", True), (0, "x", True)])
    assert [(one.subscription, one.end) for one in found] == [("in", 1), ("in", 3), ("others", 3), ("others", 4)]
