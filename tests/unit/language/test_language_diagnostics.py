"""What is wrong with a query is said in one line, with its place, what was expected and what was found."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from strategies.cayuga_queries import queries

from broker.events.errors import QueryError
from broker.language.cayuga import parse
from broker.language.cayuga.printer import print_query
from broker.language.cayuga.syntax import CelQuery
from broker.language.diagnostics import place_in, published_in, query_error

OPERAND = "an attribute, a number, a string or '('"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected SELECT, FILTER, a stream or '(', found the end of the query"),
        ("SELECT * FROM FILTER{price >}(S)", f"line 1, column 29: expected {OPERAND}, found '}}'"),
        ("FILTR{a = 1}(S)", "line 1, column 1: unknown keyword 'FILTR'; did you mean 'FILTER'?"),
        ("A NEXT{} FLTER{a = 1}(S)", "line 1, column 10: unknown keyword 'FLTER'; did you mean 'FILTER'?"),
        ("selct * FROM S", "line 1, column 1: unknown keyword 'selct'; did you mean 'SELECT'?"),
        (
            "S\nNXT{} S",
            "line 2, column 1: expected NEXT, FOLD, UNION, PUBLISH or the end of the query, found 'NXT'; "
            "did you mean 'NEXT'?",
        ),
        (
            "SELECT a FORM S",
            "line 1, column 10: expected an arithmetic operator, a comparison, AND, OR, ',', AS or FROM, found 'FORM'; "
            "did you mean 'FROM'?",
        ),
        ("FILTER{a == 1} S", "line 1, column 10: expected a comparison, found '=='; did you mean '='?"),
        ("FILTER{a <> 1} S", "line 1, column 10: expected a comparison, found '<>'; did you mean '!='?"),
        (
            "FILTER{a < b < c} S",
            "line 1, column 14: expected an arithmetic operator, AND, OR or '}', found '<'; "
            "comparisons do not chain, join them with AND",
        ),
        (
            "FILTER{a = 'x} S",
            "line 1, column 12: expected a closing ' to this string, found the end of the query",
        ),
        (
            'FILTER{a = "x"} S',
            f"line 1, column 12: expected {OPERAND}, found the character '\"'; strings are written in single quotes",
        ),
        (
            "FILTER{$3.a} S",
            f"line 1, column 8: expected {OPERAND}, found the character '$'; "
            "a qualified attribute is $1.name, $2.name or $.name",
        ),
        (
            "FILTER{a && b} S",
            "line 1, column 10: expected an arithmetic operator, a comparison, AND, OR or '}', found the character '&'"
            "; did you mean 'AND'?",
        ),
        (
            "FILTER{a > 5 minuts} S",
            "line 1, column 14: expected a unit of time, an arithmetic operator, AND, OR or '}', found 'minuts'; "
            "did you mean 'minutes'?",
        ),
        (
            "SELECT a, FROM S",
            "line 1, column 16: expected an arithmetic operator, a comparison, AND, OR, ',', AS or FROM, found 'S'; "
            "'FROM' before it was read as a name",
        ),
        ("FILTER a} S", "line 1, column 8: expected '{', found 'a'"),
        (
            "(S PUBLISH X) NEXT{} S",
            "line 1, column 4: expected PUBLISH only at the end of the query, found it in parentheses",
        ),
        ("SELECT *, a, * FROM S", "line 1, column 14: expected '*' at most once in a SELECT, found a second one"),
        (
            "S FOLD{a, b, c} S",
            "line 1, column 14: expected AS and a name after each aggregate of FOLD, found none",
        ),
        (
            "S FOLD{1 AS x} S",
            "line 1, column 8: expected the condition to stay as the first part of FOLD, found an aggregate with AS",
        ),
        (
            "S FOLD{a, b, 1 AS c,} S",
            "line 1, column 3: expected an aggregate after each further comma of FOLD, found nothing",
        ),
        ("FILTER{a > 0.5 us} S", "line 1, column 12: expected a duration exact in microseconds, found string '0.5 us'"),
        (
            "FILTER{a = 1",
            "line 1, column 13: expected a unit of time, an arithmetic operator, AND, OR or '}', "
            "found the end of the query",
        ),
        ("S\n\n", None),
    ],
)
def test_messages(text: str, message: str | None) -> None:
    if message is None:
        parse(text)
        return
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert str(caught.value) == message
    assert message.startswith(f"line {caught.value.line}, column {caught.value.column}: ")


def test_the_excerpt_underlines_the_word() -> None:
    with pytest.raises(QueryError) as caught:
        parse("SELECT a\n\tFROM S NXT{} S -- more\n")
    assert caught.value.excerpt == " FROM S NXT{} S -- more\n        ^~~"
    assert (caught.value.line, caught.value.column) == (2, 9)


def test_the_excerpt_of_a_long_line_is_cut_around_the_place() -> None:
    text = "x" * 1000 + " here " + "y" * 1000
    error = query_error(text, 1001, "no")
    line, underline = error.excerpt.split("\n")
    assert len(line) == 120
    assert line[underline.index("^") :].startswith("here ")
    assert underline.strip() == "^~~~"
    assert (error.line, error.column) == (1, 1002)


@pytest.mark.parametrize(("at", "place"), [(-1, (1, 1)), (99, (2, 2)), (2, (2, 1))])
def test_an_offset_outside_of_the_text_is_moved_into_it(at: int, place: tuple[int, int]) -> None:
    error = query_error("a\nb", at, "no")
    assert (error.line, error.column) == place


def parses_or_refuses(text: str) -> None:
    error = refusal(text)
    if error is None:
        return
    lines = text.split("\n")
    assert str(error).startswith(f"line {error.line}, column {error.column}: ")
    assert str(error).isprintable()
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1
    excerpt, underline = error.excerpt.split("\n")
    assert excerpt == "" or excerpt.isprintable()
    assert underline.index("^") <= len(excerpt)
    assert set(underline.lstrip()) <= {"^", "~"}


def refusal(text: str) -> QueryError | None:
    try:
        parse(text)
    except QueryError as error:
        return error
    return None


@given(st.text())
@example("S\r")
@example("\ud800")
@example("FILTER{a = '\u2028\x00")
def test_any_text_is_read_or_refused(text: str) -> None:
    parses_or_refuses(text)


PIECES = (
    *("SELECT", "FROM", "AS", "FILTER", "{", "}", "(", ")", "NEXT{", "FOLD{", "UNION", "PUBLISH", ",", "*", "S", "\n"),
    *("+", "-", "/", "^", "%", "=", "==", "<>", "<", "AND", "OR", "NOT", "TRUE", "DUR", "a", "$1.a", "$.", "$", "--"),
    *("'s'", "'", "5", "5%", "5min", "1e999", "1e", "0.5us", "min", ".", ";", "é"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=25), st.sampled_from(["", " "]))
def test_any_sequence_of_pieces_is_read_or_refused(pieces: list[str], gap: str) -> None:
    parses_or_refuses(gap.join(pieces))


@given(queries, st.data())
def test_a_damaged_query_is_read_or_refused(query: CelQuery, data: st.DataObject) -> None:
    text = print_query(query)
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 3)))
    parses_or_refuses(text[:begin] + data.draw(st.sampled_from(["", *PIECES])) + text[end:])


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("FROM S PUBLISH P", 15),
        ("from S publish\n  P", 17),
        ("[x = 'PUBLISH P'] PUBLISH P", 26),
        ("FROM S -- PUBLISH P\nPUBLISH P", 28),
        ("FROM S PUBLISH -- to\nP", 21),
        ("SELECT * FROM (SELECT * FROM S PUBLISH Q) PUBLISH P", 50),
        ("FROM S PUBLISH Q", 0),
    ],
)
def test_where_a_text_says_what_it_publishes(text: str, at: int) -> None:
    assert published_in(text, "P") == place_in(text, at)
