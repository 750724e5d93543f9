"""What is refused in a P-ToPSS text: the place, what was expected and what was found, in one line."""

from __future__ import annotations

import pytest

from broker.events.errors import QueryError
from broker.language.ptopss import parse


def refusal(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected FROM, found the end of the query"),
        ("SELECT * FROM S", "line 1, column 1: expected FROM, found 'SELECT'"),
        ("FROM S MATCH a", "line 1, column 8: expected BY, ',' or a definition 'name: predicate', found 'MATCH'"),
        (
            "FROM S\na: x\nMTCH a",
            "line 3, column 1: expected an arithmetic operator, a comparison, AND, OR, a definition",
        ),
        ("FROM S, T, S a ON S: x MATCH a", "line 1, column 12: expected each stream once after FROM, found 'S' twice"),
        (
            "FROM S, T\na ON S: x\nb, c: y\nMATCH a; b; c",
            "line 3, column 1: expected ON and one of S, T before ':', since FROM names several streams; "
            "write 'c ON S: …'",
        ),
        (
            "FROM Sensor, Door a ON Dor: x MATCH a",
            "line 1, column 24: expected a stream of FROM after ON, found 'Dor'; did you mean 'Door'?",
        ),
        ("FROM S a ON T: x MATCH a", "line 1, column 13: expected a stream of FROM after ON, found 'T'"),
        ("FROM S\na: x\nMTCH a", "found 'MTCH'; did you mean 'MATCH'?"),
        ("FROM S a: x MATCH (a", "line 1, column 21: expected ')', found the end of the query"),
        ("FROM S a: x MATCH a WITHN 5", "found 'WITHN'; did you mean 'WITHIN'?"),
        ("FROM S a: x MATCH a WITHIN -5", "line 1, column 28: expected a number, found '-'"),
        ("FROM S a: x b: y MATCH a AND; b", "line 1, column 29: expected a defined name or '(', found ';'"),
        ("FROM S a, b: MATCH a; b", "'MATCH' before it was read as a name"),
        ('FROM S a: x = "y" MATCH a', "strings are written in single quotes"),
        ("FROM S a: x = 'y MATCH a", "line 1, column 15: expected a closing ' to this string"),
        ("FROM S a: x == 5 MATCH a", "line 1, column 13: expected a comparison, found '=='; did you mean '='?"),
        ("FROM S a: x MATCH a.b", "found the character '.'"),
    ],
)
def test_what_the_grammar_refuses(text: str, message: str) -> None:
    assert message in str(refusal(text))


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("FROM S a, b: x MATCH a & b", 24, "did you mean 'AND'?"),
        ("FROM S a, b: x MATCH a | b", 24, "did you mean 'OR'?"),
        ("FROM S a: x & y MATCH a", 13, "did you mean 'AND'?"),
        ("FROM S a: x | y MATCH a", 13, "did you mean 'OR'?"),
    ],
)
def test_ampersand_and_bar_are_written_as_words(text: str, column: int, hint: str) -> None:
    error = refusal(text)
    assert hint in str(error)
    assert error.column == column


@pytest.mark.parametrize(
    ("predicate", "message"),
    [
        ("u < $x", "line 2, column 6: expected '=' beside '$x', found '<'; a variable only joins"),
        ("$x != u", "line 2, column 7: expected '=' beside '$x', found '!='"),
        ("u + 1 = $x", "line 2, column 6: expected an attribute on the other side of '$x', found none"),
        ("'v' = $x", "line 2, column 4: expected an attribute on the other side of '$x', found none"),
        ("$x = $y", "line 2, column 4: expected an attribute on the other side of '$y', found none"),
        ("NOT u = $x", "line 2, column 12: expected a $variable only in 'attribute = $variable', joined by AND"),
        ("u = $x OR v", "line 2, column 8: expected a $variable only in"),
        ("v AND (u = $x OR v)", "line 2, column 15: expected a $variable only in"),
        ("$x", "line 2, column 4: expected a $variable only in"),
        ("f($x) = 1", "line 2, column 6: expected a $variable only in"),
        ("u = -$x", "line 2, column 9: expected a $variable only in"),
        ("u = $", "line 2, column 8: expected a variable such as $x, found '$'"),
        ("u = $1", "line 2, column 8: expected a variable such as $x, found '$1'"),
        (f"u = ${'x' * 129}", "line 2, column 8: expected a name of at most 128 characters, found 129"),
    ],
)
def test_variables_stand_only_in_joins(predicate: str, message: str) -> None:
    assert message in str(refusal(f"FROM S\na: {predicate}\nMATCH a"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "FROM S\nfirst, second: x\nMATCH first; secnd",
            "line 3, column 14: 'secnd' is not defined; did you mean 'second'?",
        ),
        ("FROM S\na: x\nMATCH a; zz", "line 3, column 10: 'zz' is not defined; expected one of a"),
        ("FROM S\na: x\nb, c: y\nMATCH a; c", "line 3, column 1: expected every defined name in MATCH, found 'b'"),
        (
            "FROM S\na: x\nb, a: y\nMATCH a; b",
            "line 3, column 4: expected each name to be defined once, found a second",
        ),
        ("FROM S\na, b, a: x\nMATCH a; b", "line 2, column 7: expected each name to be defined once"),
        (
            "FROM S\na: x\nMATCH a; a",
            "line 3, column 10: expected each name once in MATCH, found 'a' twice; define one more",
        ),
        ("FROM S\na: x\nMATCH a @(t(a) - t(b) < 5)", "line 3, column 20: expected a name that is in MATCH, found 'b'"),
        ("FROM S\na, b: x\nMATCH a; b @(t(c) - t(b) < 5)", "line 3, column 16: expected a name that is in MATCH"),
        (
            "FROM S\na, b: x\nMATCH a; b @(t(b) - t(b) < 5)",
            "line 3, column 23: expected two different names in a condition",
        ),
        ("FROM S BY k, k\na: x\nMATCH a", "line 1, column 14: expected each attribute once after BY, found 'k' twice"),
        (
            f"FROM S\na, {'n' * 129}: x\nMATCH a",
            "line 2, column 4: expected a name of at most 128 characters, found 129",
        ),
    ],
)
def test_names(text: str, message: str) -> None:
    assert message in str(refusal(text))


@pytest.mark.parametrize(
    ("condition", "column", "message"),
    [
        ("t(b) - t(a) < -5", 22, "expected a duration of at least 0, found '-5'; exchange the two times instead"),
        ("t(b) - t(a) < - 5 min", 22, "expected a duration of at least 0, found '-5'"),
        ("t(b) - t(a) < 2.5", 22, "expected a duration exact in microseconds"),
        ("t(b) - t(a) < 5 mni", 24, "found 'mni'; did you mean 'min'?"),
        ("t(b) - t(a) < 9999999 weeks", 22, "expected a duration from 0 to 2**61 microseconds"),
        ("t(b) - t(a) == 5", 20, "expected a comparison, found '=='; did you mean '='?"),
        ("t(b) - t(a) <> 5", 20, "did you mean '!='?"),
        ("t(b) + t(a) < 5", 13, "expected '-', found '+'"),
        ("s(b) - t(a) < 5", 8, "expected 't', found 's'"),
        ("t(b) < 5", 13, "expected '-', found '<'"),
        ("t(b) - t(a)", 19, "expected a comparison, found ')'"),
    ],
)
def test_conditions(condition: str, column: int, message: str) -> None:
    error = refusal(f"FROM S\na, b: x\nMATCH\na; b @({condition})")
    assert message in str(error)
    assert (error.line, error.column) == (4, column)


def test_an_error_shows_the_line_and_underlines_the_word() -> None:
    assert refusal("FROM S\na: x\nMATCH a; missing").excerpt == "MATCH a; missing\n         ^~~~~~~"
