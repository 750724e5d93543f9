"""Warnings on queries that are right but probably not meant so; what a warning says is so for all values."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.engine import Engine
from broker.engine.languages.table import LANGUAGES
from broker.events import parse_duration
from broker.language.lint import lint


def warnings(
    language: str, text: str, nullable: tuple[str, ...] = (), required: tuple[str, ...] = ()
) -> list[str]:
    return [str(each) for each in lint(text, LANGUAGES[language].parse(text), nullable, required)]


@pytest.mark.parametrize(
    ("language", "query", "expected"),
    [
        ("cayuga", "Stock NEXT{symbol = symbol} Stock", "column 19: symbol = symbol is always true: .* \\$1 and \\$2"),
        ("cayuga", "FILTER{price < price}(Stock)", "price < price is never true"),
        ("cayuga", "FILTER{1 > 2}(Stock)", "1 > 2 is never true"),
        ("cayuga", "FILTER{price > 5 AND price < 3}(Stock)", "column 28: price > 5 AND price < 3 is never true, so"),
        ("cayuga", "FILTER{price >= 5 AND 5 > price}(Stock)", "is never true"),
        ("cayuga", "FILTER{price > 5 AND price > 10}(Stock)", "price > 5 is always true beside price > 10"),
        ("cayuga", "FILTER{name = 'a' AND name = 'b'}(Stock)", "is never true"),
        ("cayuga", "FILTER{name != 'a' OR name != 'b'}(Stock)", "is always true, unless a value is null"),
        ("cayuga", "FILTER{DUR <= 5 min}(Stock NEXT{$2.n = $1.n} Stock)", "DUR <= 5 min \\+ 1 us to include them"),
        ("cayuga", "FILTER{DUR < 5 min}(Stock NEXT{$2.n = $1.n} Stock)", "DUR <= 5 min \\+ 1 us to include them"),
        ("cayuga", "FILTER{DUR < 5}(Stock NEXT{$2.n = $1.n} Stock)", "DUR 5 means 5 microseconds: write a unit"),
        ("cayuga", "Stock NEXT{$2.p > $1.p} Stock", "each event waits here"),
        ("cayuga", "FILTER{time - start < 5}(Stock NEXT{$2.n = $1.n} Stock)", "23: a gap of 5 means 5 microseconds"),
        ("sase", "PATTERN SEQ(S a, S b) WHERE strict_contiguity(a, b) {5 > b.time - a.time}", "a gap of 5 means 5 mic"),
        (
            "sase",
            "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {b.x > 3 AND b.x < 2} WITHIN 1 s",
            "b.x > 3 AND b.x < 2 is never true",
        ),
        ("sase", "PATTERN SEQ(S{2,3} a[]) WHERE strict_contiguity(a) {a.LEN > 3}", "a.LEN <= 3 AND a.LEN > 3 is never"),
        ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {[x]} WITHIN 5", "WITHIN 5 means 5 micro"),
        ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {[x]}", "without WITHIN"),
        ("ptopss", "FROM S a: x > 3 AND 2 > x MATCH a", "x > 3 AND 2 > x is never true"),
        ("cayuga", "FILTER{x BETWEEN 5 AND 3}(S)", "column 10: x >= 5 AND x <= 3 is never true"),
        ("cayuga", "FILTER{x NOT BETWEEN 5 AND 3}(S)", "column 14: x < 5 OR x > 3 is always true, unless"),
        ("cayuga", "FILTER{x BETWEEN 1 AND 5 AND x = 0}(S)", "x >= 1 AND x = 0 is never true"),
        ("sase", "PATTERN SEQ(S a) WHERE skip_till_next_match(a) {a.x IN (1, 2, 1)}", "63: 1 is in the list of IN"),
        ("window", "FROM S WINDOW AFTER any* MATCHING [always IS NULL]", "never true: always is never null"),
        ("cayuga", "FILTER{always IS NOT NULL}(S)", "always IS NOT NULL is always true"),
        ("cayuga", "SELECT CASE WHEN x > 1 THEN 1 WHEN x > 1 THEN 2 END FROM S", "31: WHEN x > 1 is never reached"),
    ],
)
def test_what_is_warned_of(language: str, query: str, expected: str) -> None:
    found = warnings(language, query, required=("always",))
    assert len(found) == 1, found
    assert re.search(expected, found[0])
    assert found[0].startswith("line 1, column ")


PAIR = "FILTER{{{}}}(S NEXT{{$2.n = $1.n}} S)"
PROPOSED = re.compile(r"column (\d+): .*(?:write|such as) (DUR <= .* us|[0-9.]+ s)(?: to include them)?$")


@pytest.mark.parametrize(
    ("language", "query"),
    [
        *(
            ("cayuga", PAIR.format(each))
            for each in ("DUR < 3 d", "DUR <= 90 s", "3 d > DUR", "1 week >= DUR", "p > 1 AND DUR < 36 hours")
        ),
        ("cayuga", PAIR.format("DUR < 5")),
        ("cayuga", PAIR.format("DUR <= 2 AND p > 1")),
        ("cayuga", PAIR.format("time - start < 5")),
        ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {[x]} WITHIN 5"),
        ("sase", "PATTERN SEQ(S a, S b) WHERE strict_contiguity(a, b) {5 > b.time - a.time}"),
        ("ptopss", "FROM S a: x > 3 b: x < 2 MATCH a, b WITHIN 7"),
    ],
)
def test_what_a_warning_proposes_is_accepted_and_gives_no_warning(language: str, query: str) -> None:
    """In its place, and as often as there is something to propose."""
    for _ in range(2):
        proposals = [found for each in warnings(language, query) if (found := PROPOSED.search(each)) is not None]
        if not proposals:
            break
        at, instead = int(proposals[0].group(1)) - 1, proposals[0].group(2)
        replaced = r"DUR \S+ \d+ \w+|\d+ \w+ \S+ DUR" if instead.startswith("DUR") else r"\d+"
        (place,) = (each for each in re.finditer(replaced, query) if each.start() <= at < each.end())
        query = query[: place.start()] + instead + query[place.end() :]
    assert instead in query
    assert not [each for each in warnings(language, query) if PROPOSED.search(each)]
    if instead.startswith("DUR"):
        limit = parse_duration(instead.removeprefix("DUR <= ").removesuffix(" + 1 us"))
        engine = Engine()
        engine.add_stream("S", {"n": "string", "p": "int"})
        engine.subscribe("q", language, query)
        assert len(engine.publish("S", [0, limit], [("a", 2), ("a", 2)])) == 1, "they are included"


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("cayuga", "FILTER{price > 5 AND price < 10 OR price > 20}(Stock)"),
        ("cayuga", "FILTER{note = note}(Stock)"),
        ("cayuga", "Stock NEXT{$2.n = $1.n AND $2.p > $1.p} Stock"),
        ("cayuga", "FILTER{DUR < 5 * 60}(Stock NEXT{$2.p > $1.p} Stock)"),
        ("cayuga", "FILTER{name = 'WITHIN 5'}(Stock)"),
        ("cayuga", "FILTER{time - start < 5 min}(Stock NEXT{$2.n = $1.n} Stock)"),
        ("cayuga", "FILTER{time - start > 0 AND time - x < 7}(Stock NEXT{$2.n = $1.n} Stock)"),
        ("cayuga", "FILTER{time - start < 5}(SELECT a AS time, b AS start FROM Stock)"),
        ("sase", "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {a.x > 5 AND b.x > 10} WITHIN 50 ms"),
        ("ptopss", "FROM S a: x > 3 b: x < 2 MATCH a, b WITHIN 5 min"),
        ("ptopss", "FROM S a: x NOT BETWEEN 3 AND 5 b: x IN (2, 3) AND note IS NULL MATCH a, b WITHIN 5 min"),
        ("window", "FROM S WINDOW AFTER any* MATCHING [prev.always IS NULL]"),
        ("cayuga", "FILTER{always IS NULL}(SELECT x / 0 AS always FROM S)"),
    ],
)
def test_what_is_meant(language: str, query: str) -> None:
    assert warnings(language, query, ("note",), ("always",)) == []


OPERATORS = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])


@given(OPERATORS, st.integers(0, 3), OPERATORS, st.integers(0, 3), st.sampled_from(["AND", "OR"]))
def test_a_warning_is_so_for_all_values(p: str, a: int, q: str, b: int, word: str) -> None:
    query = f"FILTER{{x {p} {a} {word} x {q} {b}}}(S)"
    engine = Engine()
    engine.add_stream("S", {"x": "float"})
    for name, text in (("both", query), ("first", f"FILTER{{x {p} {a}}}(S)"), ("second", f"FILTER{{x {q} {b}}}(S)")):
        engine.subscribe(name, "cayuga", text)
    values = [step / 2 for step in range(-2, 10)]
    results = engine.publish("S", list(range(len(values))), [(value,) for value in values])
    met = {name: {each.end for each in results if each.subscription == name} for name in ("both", "first", "second")}
    for warned in warnings("cayuga", query):
        if "never true" in warned:
            assert not met["both"]
        elif "always true beside" in warned:
            assert met["both"] in (met["first"], met["second"])
        else:
            assert len(met["both"]) == len(values), warned
