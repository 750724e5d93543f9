"""AFA as it is read and printed: a whole query, what is refused and where, and texts that mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.cayuga_queries import expressions

from broker.events.errors import QueryError
from broker.language.afa import parse, parse_arc, print_arc, print_query
from broker.language.afa.syntax import AfaQuery, ArcExpression, Assignment, Label, RegisterDeclaration
from broker.language.syntax import ArithmeticExpression, ComparisonExpression, Name, Number, String

TEXT = """FROM Ticks, News BY symbol
REGISTER downs INT = 0, seen STRING = 'no'
START q0
FINAL q2, q3
a0: q0 -> q1 WHEN drop > 1
q1 -> q1 ON News SET downs = downs + 1, seen = 'yes'
q1 ~> q2 WHEN downs > 5
last: q2 -> q3
WITHIN 5 min PUBLISH Falls"""
NAMES = st.sampled_from(["a", "b2", "start", "Final", "when", "q0"])


def test_a_whole_query() -> None:
    downs = Name(None, "downs")
    assert parse(TEXT) == AfaQuery(
        (Label("Ticks"), Label("News")),
        (Name(None, "symbol"),),
        (RegisterDeclaration("downs", "int", Number(0)), RegisterDeclaration("seen", "string", String("no"))),
        Label("q0"),
        (Label("q2"), Label("q3")),
        (
            arc("q0", "q1", name="a0", condition=ComparisonExpression(">", Name(None, "drop"), Number(1))),
            ArcExpression(
                *(None, Label("q1"), Label("q1"), True, Label("News"), None),
                (
                    Assignment("downs", ArithmeticExpression("+", downs, Number(1))),
                    Assignment("seen", String("yes")),
                ),
            ),
            arc("q1", "q2", takes=False, condition=ComparisonExpression(">", downs, Number(5))),
            arc("q2", "q3", name="last"),
        ),
        300_000_000,
        "Falls",
    )


def arc(
    source: str, target: str, name: str | None = None, takes: bool = True, condition: ComparisonExpression | None = None
) -> ArcExpression:
    return ArcExpression(name, Label(source), Label(target), takes, None, condition, ())


def test_a_text_prints_as_it_is_written() -> None:
    assert print_query(parse(TEXT)) == TEXT


def test_layout_comments_and_letter_case_of_keywords_make_no_difference() -> None:
    loose = TEXT.replace("\n", "  -- and then\n ").replace("WHEN", "when").replace("REGISTER", "Register")
    assert print_query(parse(loose.replace("INT", "int"))) == TEXT


@st.composite
def arcs(draw: st.DrawFn) -> ArcExpression:
    takes = draw(st.booleans())
    assigned = draw(st.lists(st.sampled_from(["r", "s", "t"]), unique=True, max_size=2))
    return ArcExpression(
        draw(st.none() | NAMES),
        Label(draw(NAMES)),
        Label(draw(NAMES)),
        takes,
        draw(st.none() | st.builds(Label, NAMES)) if takes else None,
        draw(st.none() | expressions),
        tuple(Assignment(name, draw(expressions)) for name in assigned),
    )


@given(arcs())
def test_a_printed_arc_reads_back(written: ArcExpression) -> None:
    assert parse_arc(print_arc(written)) == written


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected FROM, found the end of the query"),
        ("FROM S START a FINAL b a - b", "line 1, column 26: expected '->' or '~>', found '-'"),
        ("FROM S START a FINAL b a -> b WHEN x == 3", "line 1, column 38: expected a comparison, found '=='"),
        ("FROM S START a FINAL b a -> b WHER x", "line 1, column 36: expected '->' or '~>', found 'x'"),
        ("FROM S START a FINAL b a -> b SET x := 3", "line 1, column 37: expected '='"),
        ("FROM S START a FINAL b a -> c", "line 1, column 22: expected an arc to each final state, found none to 'b'"),
        ("FROM S START q FINAL b a -> b", "line 1, column 14: expected an arc from the start state"),
        ("FROM S START a FINAL b a -> b qq -> a", "line 1, column 31: expected an arc to state 'qq', found none"),
        (
            "FROM S START a FINAL b n: a -> b n: b -> a",
            "line 1, column 34: expected each arc's name once, found 'n' twice",
        ),
        ("FROM S, S START a FINAL b a -> b", "line 1, column 9: expected each stream once after FROM"),
        ("FROM S REGISTER x INTEGER = 0 START a FINAL b a -> b", "found 'INTEGER'; did you mean 'int'?"),
        ("FROM S REGISTER x INT 0 START a FINAL b a -> b", "line 1, column 23: expected '=', found '0'"),
        ("FROM S REGISTER x INT = 0, x INT = 1 START a FINAL b a -> b", "column 28: expected each register once"),
        ("FROM S START a FINAL b a -> b SET x = 1, x = 2", "column 42: expected each register once after SET"),
        ("FROM S START a FINAL b a -> b b ~> a ON S", "line 1, column 41: expected no ON beside '~>'"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arc", "same"),
    [
        ("b -> c WHEN time - r < 5 s", "b -> c WHEN time - r < 5000000"),
        ("a -> b SET r = 10 min b -> c WHEN time - r BETWEEN 1 s AND 2 mins", "a -> b SET r = 600000000 b -> c WHEN "
         "time - r BETWEEN 1000000 AND 120000000"),
        ("a -> b WHEN n < 5 ms s -> b", "a -> b WHEN n < 5000 s -> b"),
        ("a -> b WHEN n < 5 s -> b", "a -> b WHEN n < 5\ns -> b"),  # a state
        ("a -> b WHEN n < 5 s -- a state\n -> b", "a -> b WHEN n < 5\ns -> b"),
        ("a -> b WHEN n < 5 s: a -> b", "a -> b WHEN n < 5\ns: a -> b"),  # a label
    ],
)  # fmt: skip
def test_a_number_has_a_unit_unless_an_arrow_or_a_colon_follows(arc: str, same: str) -> None:
    text = "FROM S REGISTER r INT = 0 START a FINAL c {} a -> c a -> s a -> b s -> c b -> c"
    assert print_query(parse(text.format(arc))) == print_query(parse(text.format(same)))
