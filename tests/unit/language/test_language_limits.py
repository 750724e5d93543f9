"""Whatever a text may grow is bounded and refused with the bound's number; nothing ends in RecursionError."""

from __future__ import annotations

import time

import pytest

from broker.events.errors import QueryError
from broker.language import limits
from broker.language.cayuga import parse
from broker.language.cayuga.printer import print_query
from broker.language.cayuga.syntax import Filter, Select
from broker.language.syntax import And

DEEP = "expected at most 100 levels of nesting"


def filtered(condition: str) -> str:
    return f"FILTER{{{condition}}} S"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "S" + ")" * 10_000,
        "(" * 10_000,
        filtered("(" * 10_000 + "a" + ")" * 10_000),
        filtered("- " * 10_000 + "a"),
        filtered("NOT " * 10_000 + "a"),
        filtered("+".join(["a"] * 10_000)),
        filtered("^".join(["a"] * 10_000)),
        filtered("f(" * 10_000 + ")" * 10_000),
        filtered("(a AND " * 9_000 + "a" + ")" * 9_000)[: limits.TEXT_BYTES_MAX],
        "FILTER{a} " * 5_000 + "S",
        " NEXT{} ".join(["S"] * 5_000),
        " UNION ".join(["S"] * 5_000),
        "SELECT a FROM (" * 4_000 + "S" + ")" * 4_000,
    ],
    ids=lambda text: text[:20],
)
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match=DEEP):
        parse(text)


@pytest.mark.parametrize("text", ["FILTER{" + "a+" * 30_000 + "} S", "FILTER{" + "- " * 30_000 + "} S"], ids=["+", "-"])
def test_a_syntax_error_behind_deep_nesting_is_still_a_syntax_error(text: str) -> None:
    with pytest.raises(QueryError, match=r"expected an attribute, a number, a string or '[(]', found '}'"):
        parse(text)


def test_nesting_up_to_the_limit_is_read_and_printed() -> None:
    brackets = filtered("(" * 99 + "a" + ")" * 99)
    assert print_query(parse(brackets)) == "FILTER{a} S"
    with pytest.raises(QueryError, match=DEEP):
        parse(filtered("(" * 100 + "a" + ")" * 100))
    tree = filtered("a + (" * 96 + "a + a" + ")" * 96)
    assert print_query(parse(tree)) == tree
    with pytest.raises(QueryError, match=DEEP):
        parse(filtered("a + (" * 97 + "a + a" + ")" * 97))


def test_brackets_in_strings_and_comments_do_not_nest() -> None:
    parse(filtered(f"a = '{'(' * 200}'") + " -- " + "{" * 200)
    parse(filtered(" AND ".join(["(a)"] * 200)))


def test_flat_chains_may_be_long() -> None:
    source = parse(filtered(" AND ".join(["a"] * 9_000))).source
    assert isinstance(source, Filter)
    assert isinstance(source.condition, And)
    assert len(source.condition.operands) == 9_000


def test_a_text_of_ten_megabytes_is_refused_at_once() -> None:
    text = "(" * 10_000_000
    begin = time.process_time()
    with pytest.raises(QueryError, match="expected at most 65536 bytes of text, found 10000000"):
        parse(text)
    assert time.process_time() - begin < 20.0


def test_the_length_of_a_text_is_in_bytes() -> None:
    room = limits.TEXT_BYTES_MAX - len("S --")
    parse("S --" + "x" * room)
    with pytest.raises(QueryError, match="expected at most 65536 bytes"):
        parse("S --" + "x" * (room + 1))
    with pytest.raises(QueryError, match="expected at most 65536 bytes"):
        parse("S --" + "é" * (room // 2 + 1))


@pytest.mark.parametrize("condition", ["a = '" + "x''" * 20_000, "a = '" * 10_000, "-" * 60_000, "1" * 60_000])
def test_long_hostile_texts_take_no_long_time(condition: str) -> None:
    begin = time.process_time()
    with pytest.raises(QueryError):
        parse(filtered(condition))
    assert time.process_time() - begin < 20.0


def test_strings() -> None:
    parse(filtered(f"a = '{'é' * 2048}'"))
    parse(filtered("a = '" + "''" * 4096 + "'"))
    with pytest.raises(QueryError, match="line 1, column 12: expected a string of at most 4096 bytes, found 4098"):
        parse(filtered(f"a = '{'é' * 2049}'"))


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("1" * 41, "expected a number of at most 40 digits, found 41"),
        ("1" * 41 + "%", "expected a number of at most 40 digits, found 41"),
        ("1" * 41 + " min", "expected a number of at most 40 digits, found 41"),
        ("1e" + "0" * 40, "expected a number of at most 40 digits, found 41"),
        (str(2**63), "expected an integer below 2[*][*]63, found '9223372036854775808'"),
        ("1e309", "expected a finite number, found '1e309'"),
        ("1e311%", "expected a finite number, found '1e311%'"),
        ("9999999 weeks", "expected a duration from 0 to 2[*][*]61 microseconds"),
        ("1e3 min", "expected a duration in microseconds"),
    ],
)
def test_numbers(number: str, message: str) -> None:
    with pytest.raises(QueryError, match=f"line 1, column 12: {message}"):
        parse(filtered(f"a = {number}"))


def test_items() -> None:
    source = parse(f"SELECT {', '.join(['a'] * 1000)} FROM S").source
    assert isinstance(source, Select)
    assert len(source.items) == 1000
    with pytest.raises(QueryError, match="expected at most 1000 items, found 1001"):
        parse(f"SELECT {', '.join(['a'] * 1001)} FROM S")
    with pytest.raises(QueryError, match="expected at most 1000 items, found 1001"):
        parse(f"S FOLD{{,,{', '.join(['a AS a'] * 1001)}}} S")


@pytest.mark.parametrize(
    "text", ["{}", "FILTER{{{}}} S", "FILTER{{$1.{}}} S", "FILTER{{{}()}} S", "SELECT a AS {} FROM S", "S PUBLISH {}"]
)
def test_names(text: str) -> None:
    parse(text.format("n" * 128))
    with pytest.raises(QueryError, match="expected a name of at most 128 characters, found 129"):
        parse(text.format("n" * 129))
