"""Parses a predicate that stands alone, outside any query: an expression, or QueryError. Not here: what it may read."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final, final

from lark import Token, Transformer

from .expression import LABELS
from .grammar import Words, parser_of, read
from .syntax import Expression

_WORDS: Final = Words(
    MappingProxyType({**LABELS, "$END": "the end of the predicate"}),
)


def parse_predicate(text: str) -> Expression:
    """Return the syntax of a predicate. Linear in the text. Raises QueryError at a mistake.

    The first call builds the parser, which takes some tens of milliseconds.
    """
    found: Expression = read(parser_of("predicate.lark", _PredicateReader), _WORDS, text)
    return found


@final
class _PredicateReader(Transformer[Token, Expression]):
    """Takes the expression out of the text."""

    def query(self, children: list[Any]) -> Expression:
        found: Expression = children[0]
        return found
