"""LIKE, MATCHES and CIDR in every language: what they find, where their mistakes are, what stays a name, printing."""

from __future__ import annotations

import pytest

from broker.engine import Engine
from broker.engine.languages.table import LANGUAGES
from broker.events import DefinitionError, QueryError
from broker.language.lint import lint

WORDED = [
    ("cayuga", "FILTER{{{0}}}(S)", "", 8),
    ("sase", "PATTERN SEQ(S a) WHERE skip_till_next_match(a) {{{0}}}", "a.", 49),
    ("ptopss", "FROM S a: {0} MATCH a", "", 11),
    ("afa", "FROM S START p FINAL q p -> q WHEN {0}", "", 36),
    ("window", "FROM S WINDOW AFTER any* MATCHING [{0}]", "", 36),
]
IN_EACH = pytest.mark.parametrize(("language", "query", "of", "column"), WORDED, ids=[row[0] for row in WORDED])
ROWS = [("abc", 1), ("ABC", 2), ("a\nc", 3), (None, 4), ("10.1.2.3", 5), ("", 6)]
CONDITIONS = [
    ("LIKE 'a*'", [1, 3]),
    ("like 'a?c'", [1, 3]),
    ("LIKE~ 'A?C'", [1, 2, 3]),
    ("NOT LIKE 'a*'", [2, 5, 6]),
    ("LIKE ('*b*', '')", [1, 6]),
    ("NOT LIKE ('*b*', '')", [2, 3, 5]),
    ("MATCHES 'b'", [1]),
    ("MATCHES '^a.c$'", [1]),
    ("MATCHES~ ('^B', 'c$')", [1, 2, 3]),
    ("NOT MATCHES~ ('^B', 'c$')", [5, 6]),
    ("CIDR '10.0.0.0/8'", [5]),
    ("CIDR ('11.0.0.0/8', '10.1.0.0/16')", [5]),
    ("NOT CIDR '10.0.0.0/8'", [1, 2, 3, 6]),
]
MISTAKES = [
    ("LIKE 5", 5, "expected a string or '(', found '5'"),
    ("LIKE n", 5, "expected a string or '(', found 'n'"),
    ("LIKE ()", 6, "expected a string, found ')'"),
    ("LIKE ('a', 5)", 11, "expected a string, found '5'"),
    (r"LIKE 'a\b'", 7, r"expected \* or \? or \\ in a pattern of LIKE, found '\b'"),
    (r"LIKE~ ('a', 'it''s\n')", 18, r"found '\n'"),
    ("MATCHES 'a(?=b)'", 10, "look-around and back-references take more than linear time"),
    ("MATCHES~ '['", 10, "expected a closing ] to this class"),
    ("CIDR '10.0.0.1/8'", 6, "expected no bits behind the prefix, found '10.0.0.1/8'; write '10.0.0.0/8'"),
    ("CIDR ('::/0', '10.0.0.0/x')", 24, "expected a prefix of 0 to 32 bits behind the address, found 'x'"),
]


def engine() -> Engine:
    made = Engine()
    made.add_stream("S", {"n": "string?", "x": "int", "like": "string?", "matches": "string?", "cidr": "string?"})
    return made


def found_by(made: Engine) -> list[tuple[str, int]]:
    rows = [(text, number, text, text, text) for text, number in ROWS]
    return [(one.subscription, one.end) for one in made.publish("S", [number for _, number in ROWS], rows)]


@IN_EACH
@pytest.mark.parametrize(("condition", "expected"), CONDITIONS)
def test_conditions_find_texts(
    language: str, query: str, of: str, column: int, condition: str, expected: list[int]
) -> None:
    made = engine()
    for attribute in ("n", "like", "matches", "cidr"):  # no word is reserved where a name is expected
        made.subscribe(attribute, language, query.format(f"{of}{attribute} {condition}"))
    made.subscribe("twice", language, query.format(f"NOT (NOT {of}n {condition})"))
    made.subscribe("computed", language, query.format(f"coalesce({of}n, {of}like) {condition}"))
    names = ("n", "like", "matches", "cidr", "twice", "computed")
    assert sorted(found_by(made)) == sorted((name, end) for name in names for end in expected)


@IN_EACH
def test_a_null_satisfies_neither_a_condition_nor_its_negation(language: str, query: str, of: str, column: int) -> None:
    made = engine()
    for number, condition in enumerate(("LIKE '*'", "NOT LIKE '*'", "NOT MATCHES 'x'", "NOT CIDR '::/0'")):
        made.subscribe(f"q{number}", language, query.format(f"{of}n {condition}"))
        made.subscribe(f"not{number}", language, query.format(f"NOT ({of}n {condition})"))
    assert 4 not in {end for _, end in found_by(made)}


@IN_EACH
@pytest.mark.parametrize(("wrong", "at", "message"), MISTAKES)
def test_mistakes_have_their_place(
    language: str, query: str, of: str, column: int, wrong: str, at: int, message: str
) -> None:
    with pytest.raises(QueryError) as caught:
        engine().subscribe("q", language, query.format(f"{of}n {wrong}"))
    assert message in str(caught.value)
    assert f"line 1, column {column + len(of) + 2 + at}: " in str(caught.value)
    assert "\n" not in str(caught.value)


@IN_EACH
def test_only_strings_have_patterns(language: str, query: str, of: str, column: int) -> None:
    for word in ("LIKE", "NOT MATCHES~"):
        with pytest.raises(QueryError) as caught:
            engine().subscribe("q", language, query.format(f"{of}x {word} 'a'"))
        assert f"expected a string before {word.split()[-1]}, found a value of type int" in str(caught.value)
        assert f"line 1, column {column}: " in str(caught.value)


@IN_EACH
def test_texts_of_a_known_shape_are_checked_and_share_a_form(language: str, query: str, of: str, column: int) -> None:
    made = engine()
    for number, text in enumerate(("a*", "A?c", "", "a*")):
        made.subscribe(f"q{number}", language, query.format(f"{of}n LIKE~ '{text}'"))
    assert len({id(subscriber.form) for subscriber in made.catalog.subscriptions.values()}) == 1
    with pytest.raises(QueryError, match=rf"line 1, column {column + len(of) + 10}: .*found '\\b'"):
        made.subscribe("wrong", language, query.format(rf"{of}n LIKE~ 'a\b'"))
    assert sorted(found_by(made)) == sorted(
        [("q0", 1), ("q0", 2), ("q0", 3), ("q1", 1), ("q1", 2), ("q1", 3), ("q2", 6), ("q3", 1), ("q3", 2), ("q3", 3)]
    )


@IN_EACH
def test_prepared_patterns_are_checked(language: str, query: str, of: str, column: int) -> None:
    made = engine()
    prepared = made.prepare(query.format(f"{of}n LIKE 'a*'"), language)
    with pytest.raises(DefinitionError, match=r"literal 1, character 2 of a pattern: expected .*, found '\\b'"):
        prepared.with_literals(r"a\b")
    made.subscribe("q", query=prepared.with_literals("*c"))
    assert found_by(made) == [("q", 1), ("q", 3)]


@IN_EACH
@pytest.mark.parametrize(
    "condition", ["LIKE 'it''s*'", "NOT LIKE~ ('a', 'b')", "MATCHES '[a]'", "CIDR ('::/0', '1.1.1.1')"]
)
def test_conditions_are_printed_as_they_are_read(
    language: str, query: str, of: str, column: int, condition: str
) -> None:
    row = LANGUAGES[language]
    text = query.format(f"{of}n {condition}")
    printed = row.print(row.parse(text))
    assert f"{of}n {condition}" in printed
    assert row.parse(printed) == row.parse(text)
    assert row.print(row.parse(text.replace("LIKE", "like").replace("NOT", "not"))) == printed


def test_alternatives_mix_the_operators() -> None:
    made = engine()
    made.subscribe("q", "cayuga", "FILTER{n LIKE 'AB*' OR n LIKE~ 'abc' OR n CIDR '10.0.0.0/8' OR n MATCHES 'Z'}(S)")
    assert found_by(made) == [("q", 1), ("q", 2), ("q", 5)]
    other = engine()
    other.subscribe("q", "cayuga", "FILTER{n LIKE 'AB*' OR n LIKE~ 'x'}(S)")
    assert found_by(other) == [("q", 2)]


def test_a_value_may_be_a_condition() -> None:
    made = engine()
    made.subscribe(
        "q", "cayuga", "SELECT n LIKE 'a*' AS a, CASE WHEN n CIDR '10.0.0.0/8' THEN 1 ELSE 0 END AS c FROM S"
    )
    found = made.publish("S", [1, 2, 3], [("abc", 1, "", "", ""), ("10.0.0.1", 2, "", "", ""), (None, 3, "", "", "")])
    assert [tuple(one.data.values()) for one in found] == [(True, 0), (False, 1), (None, 0)]


def test_patterns_that_probably_mean_something_else_are_warned_of() -> None:
    def warned(text: str) -> list[str]:
        return [str(each) for each in lint(text, LANGUAGES["cayuga"].parse(text))]

    assert warned("FILTER{n LIKE '%a%'}(S)") == [
        "line 1, column 15: % is a character of its own in LIKE: write '*a*' if it means any text"
    ]
    assert warned("FILTER{n LIKE ('a', 'b', 'a')}(S)") == ["line 1, column 26: 'a' is in the list of LIKE twice"]
    assert warned("FILTER{n LIKE '*%a%' AND n MATCHES '%' AND n LIKE 'a%b'}(S)") == []
