"""What the readers of several languages have in common: clauses that are the same in their grammars, parts of trees.

Here: these. Not here: expressions (expression), which every language has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lark import Token, Transformer

from ..events.errors import EventError
from ..events.instant import parse_duration
from .diagnostics import Misread
from .expression import member_of, name_of, place
from .syntax import MemberAccess, Name


class ClauseReader(Transformer[Token, Any]):
    """Methods are named after the grammar's alternatives; children are in the order of the text, keywords included."""

    def partition(self, children: list[Token]) -> tuple[Name, ...]:
        names = tuple(Name(None, name_of(token), place(token)) for token in children[1:])
        for at, name in enumerate(names):
            if name in names[:at]:
                raise Misread(name.at, f"expected each attribute once after BY, found {name.attribute!r} twice")
        return names

    def within(self, children: list[Any]) -> Any:
        return children[1] if children else (None, -1)

    def length(self, children: list[Token]) -> Any:
        return length_of(children), place(children[0])

    def publish(self, children: list[Token]) -> str | None:
        return name_of(children[1]) if children else None

    def member(self, children: list[Token]) -> MemberAccess:
        return member_of(children)


def length_of(tokens: Sequence[Token]) -> int:
    """The duration that a number and a unit say. Raises Misread."""
    try:
        return parse_duration(" ".join(tokens))
    except EventError as error:
        raise Misread(place(tokens[0]), str(error)) from None


def nodes(root: object) -> Iterator[object]:
    """Yield all nodes of an expression, the first ones first.

    Without recursion, because the depth of the tree may not be checked yet.
    """
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend(reversed(node))
        elif not isinstance(node, str):
            yield node
            waiting.extend(getattr(node, slot) for slot in reversed(getattr(node, "__slots__", ())))
