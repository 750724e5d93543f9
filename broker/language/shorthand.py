"""What IN and BETWEEN stand for: comparisons of one value, so that indexes and analyses see nothing else.

Here: syntax to syntax, for whoever reads conditions before they have types, too. Not here: short forms of windows
(window/sugar.py), and what no comparison says (IS NULL, CASE).

The value before IN is in every comparison, so nested ones would multiply; a limit refuses that.
"""

from __future__ import annotations

from typing import Any

from .diagnostics import query_error
from .limits import PARTS_MAX
from .syntax import And, ComparisonExpression, Expression, InRange, OneOf, Or, TextTest


def written_out(node: OneOf | InRange) -> Expression:
    """The comparisons, joined by AND or OR. Each has the place of the word, and each value its own. O(values)."""
    match node:
        case InRange(operand, low, high, False, at):
            return And(
                (ComparisonExpression(">=", operand, low, at), ComparisonExpression("<=", operand, high, at)), at
            )
        case InRange(operand, low, high, _, at):
            return Or((ComparisonExpression("<", operand, low, at), ComparisonExpression(">", operand, high, at)), at)
        case OneOf(operand, (value,), negated, at):
            return ComparisonExpression("!=" if negated else "=", operand, value, at)
        case OneOf(operand, values, False, at):
            return Or(tuple(ComparisonExpression("=", operand, value, at) for value in values), at)
        case OneOf(operand, values, _, at):
            return And(tuple(ComparisonExpression("!=", operand, value, at) for value in values), at)


def conjuncts_of(condition: Expression) -> tuple[Expression, ...]:
    """The conditions that a part of an AND stands for: two for BETWEEN, one for each value of NOT IN, else itself."""
    stands_for = written_out(condition) if isinstance(condition, OneOf | InRange) else condition
    return stands_for.operands if isinstance(stands_for, And) else (stands_for,)


def check_parts(text: str, root: object) -> None:
    """Refuse a syntax tree, read from `text`, of more than PARTS_MAX parts once IN and BETWEEN are written out.

    Walks without recursion, linear in the tree. Raises QueryError at the node that exceeds it.
    """
    parts = 0
    waiting: list[tuple[Any, int]] = [(root, 1)]
    while waiting:
        node, copies = waiting.pop()
        if isinstance(node, tuple):
            waiting.extend((part, copies) for part in node)
            continue
        repeated = _comparisons(node)
        parts += copies
        if parts > PARTS_MAX:
            found = f"expected at most {PARTS_MAX} parts once IN and BETWEEN are written as comparisons, found more"
            raise query_error(text, getattr(node, "at", 0), found)
        for slot in getattr(node, "__slots__", ()):
            value = getattr(node, slot)
            if isinstance(value, tuple) or hasattr(value, "at"):
                waiting.append((value, copies * repeated if slot == "operand" else copies))


def _comparisons(node: object) -> int:
    """How many comparisons a node stands for, each with its operand."""
    match node:
        case OneOf(_, repeated) | TextTest(_, _, repeated):
            return len(repeated)
        case InRange():
            return 2
    return 1
