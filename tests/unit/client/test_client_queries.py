"""A query in the place of the language is taken as it is meant."""

from __future__ import annotations

import pytest

from client import DefinitionError
from client.calls import Calls
from client.session import Session


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("SELECT * FROM Stock", "cayuga"),
        ("FILTER{price > 5} (Stock)", "cayuga"),
        ("PATTERN SEQ(Stock a) WITHIN 5", "sase"),
        ("FROM Stock a: price > 5 MATCH a", "ptopss"),
    ],
)
def test_a_query_that_cannot_be_a_language(query: str, language: str) -> None:
    request = Calls(Session()).prepare("q", query, None, None, None, None, 10)
    assert (request.language, request.query) == (language, query)


def test_a_language_that_does_not_exist_lists_those_that_do() -> None:
    with pytest.raises(DefinitionError, match=r"expected one of cayuga, sase, ptopss, .*esper"):
        Calls(Session()).prepare("q", "esper", "SELECT ..", None, None, None, 10)
