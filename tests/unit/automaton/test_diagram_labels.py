"""Labels: what is invisible is spelled out, and wrapping keeps width, number of lines and words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.graphs import labels

from broker.automaton.diagram.label import ELLIPSIS, cells, plain, shorten, wrap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a  b\n\tc ", "a b c"),
        ("\x1b[31m", r"\u{1b}[31m"),
        ("a\u202eb", r"a\u{202e}b"),
        ("\ud800", r"\u{d800}"),
        ("naïve 日本", "naïve 日本"),
    ],
)
def test_plain(text: str, shown: str) -> None:
    assert plain(text) == shown


@given(labels)
def test_plain_is_idempotent(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@pytest.mark.parametrize(("text", "width"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1)])
def test_cells(text: str, width: int) -> None:
    assert cells(text) == width


@given(labels, st.integers(4, 40), st.integers(1, 6))
def test_wrap_keeps_its_bounds_and_loses_nothing_in_silence(text: str, width: int, lines_max: int) -> None:
    lines = wrap(text, width, lines_max)
    assert len(lines) <= lines_max
    assert all(line and cells(line) <= width for line in lines)
    whole = "".join(lines).replace(" ", "") == plain(text).replace(" ", "")
    assert whole or lines[-1].endswith(ELLIPSIS)


def test_wrap_breaks_between_clauses_first() -> None:
    assert wrap("name = $1.name AND price > $.price SET n = $.n + 1, m = 2", 22, 5) == (
        "name = $1.name",
        "AND price > $.price",
        "SET n = $.n + 1, m = 2",
    )


def test_wrap_breaks_a_long_word() -> None:
    assert wrap("abcdefgh ij", 4, 5) == ("abcd", "efgh", "ij")


def test_shorten() -> None:
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcdefg", 6) == "abcde…"
