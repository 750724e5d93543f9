"""The patterns of LIKE, MATCHES and CIDR in a query: checked where they are read, with the place of a mistake.

A text of a known shape is not parsed: its patterns are the literals at the places that `tests_by_place` gives. Not
here: what patterns mean (events/text_operators).
"""

from __future__ import annotations

from typing import Any

from ..events.errors import PatternError
from ..events.text_operators import condition_of
from .diagnostics import Misread
from .marked_literals import field_names
from .shapes import Literal
from .syntax import String, TextOperator, TextTest


def check_pattern(operator: TextOperator, pattern: String) -> None:
    """Raise Misread at the mistake in a pattern, if it has one. Linear in the pattern."""
    try:
        condition_of(operator, pattern.value)
    except PatternError as error:
        quotes = pattern.value.count("'", 0, error.at)  # each is written twice
        raise Misread(pattern.at + 1 + error.at + quotes, error.message) from None


def is_pattern(operator: TextOperator, literal: Literal) -> bool:
    """Whether a literal of a text is a pattern without a mistake."""
    try:
        condition_of(operator, str(literal))
    except PatternError:
        return False
    return True


def tests_by_place(syntax: object) -> dict[int, TextOperator]:
    """The operator of each pattern by the pattern's place in the text. O(size of the syntax)."""
    found: dict[int, TextOperator] = {}

    def visit(node: Any) -> None:
        if isinstance(node, tuple):
            for part in node:
                visit(part)
        else:
            if isinstance(node, TextTest):
                found.update({pattern.at: node.operator for pattern in node.patterns})
            for name in field_names(type(node)):
                visit(getattr(node, name))

    visit(syntax)
    return found
