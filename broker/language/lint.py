"""Warnings on a query that is right but probably not meant so: conditions that are always true or never, thresholds
that others make useless, durations without a unit, patterns that wait for ever.

A warning is certain in what it says: a condition called never true is so for all values. Types are unknown here, so
null is named where it matters. Not here: errors (the parsers), and facts of automata (`explain`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, final

from ..events.event import TIME_NAMES
from ..events.instant import format_duration
from .diagnostics import place_in
from .printing import print_expression
from .shorthand import conjuncts_of, written_out
from .syntax import (
    And,
    ArithmeticExpression,
    CaseExpression,
    ComparisonExpression,
    DurationExpression,
    Expression,
    InRange,
    IsNull,
    MemberAccess,
    Name,
    Negative,
    Number,
    OneOf,
    Or,
    String,
    TextTest,
)

_MIRRORED: Final = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ALWAYS: Final = ("=", "<=", ">=")
_NO_UNIT: Final = r"([0-9]+)(?![0-9])(?!\s*(?:[.%*+/-]|us|ms|s|sec|min|h|hour|d|day|week|mi(?:cro|lli)sec))"
_BARE: Final = re.compile(rf"\bWITHIN\s+{_NO_UNIT}", re.IGNORECASE)
_BARE_DURATION: Final = re.compile(rf"\bDUR\s*(?:<=?|>=?|=)\s*{_NO_UNIT}", re.IGNORECASE)
_BARE_NUMBER: Final = re.compile(_NO_UNIT, re.IGNORECASE)
_STRINGS: Final = re.compile(r"'(?:[^']|'')*'")
_SECOND: Final = 1_000_000


@final
@dataclass(frozen=True, slots=True)
class Warned:
    """A warning at a place of the text; `str` has its line and column."""

    at: int
    message: str
    text: str

    def __str__(self) -> str:
        return f"{place_in(self.text, self.at)}: {self.message}"


def lint(
    text: str,
    syntax: Any,
    nullable: Container[str] = (),
    required: Collection[str] = (),
    lists: Container[str] = (),
) -> list[Warned]:
    """Return the warnings on a parsed query, in the order of the text. `nullable`: the attributes that may be null, for
    which `x = x` is a test; `required`: those that never are, unless the query computes a value of that name; `lists`:
    those that equal several values at once. O(text, and the conditions of each conjunction squared)."""
    own = {alias for node in _nodes(syntax) if isinstance(alias := getattr(node, "alias", None), str)}
    found = [Warned(at, message, text) for at, message in _all(text, syntax, nullable, set(required) - own, lists)]
    times = [name for name in TIME_NAMES if name not in own and name not in required and name not in nullable]
    found += [Warned(at, message, text) for at, message in _gaps(text, syntax, times)]
    return sorted(dict.fromkeys(found), key=lambda warned: (warned.at, warned.message))


def _all(
    text: str, syntax: Any, nullable: Container[str], required: Container[str], lists: Container[str]
) -> Iterator[tuple[int, str]]:
    bounded = any(isinstance(node, DurationExpression) for node in _nodes(syntax))
    for node in _nodes(syntax):
        match node:
            case And(operands):
                yield from _conjunction(_single(operands, lists))
            case Or(operands):
                yield from _disjunction(node, _single(operands, lists))
            case ComparisonExpression():
                yield from _comparison(node, nullable)
            case OneOf():
                yield from _listed(node)
            case TextTest():
                yield from _patterns(node)
            case IsNull():
                yield from _null(node, required)
            case CaseExpression():
                yield from _branches(node)
        if type(node).__name__ == "SaseQuery":
            yield from _conjunction((*_sizes(node), *_single(node.conditions, lists)))
        if type(node).__name__ in ("Next", "FoldExpression") and not bounded:
            yield from _joins(node)
    yield from _units(text)
    yield from _windows(syntax)


def _nodes(node: Any) -> Iterator[Any]:
    """All nodes of a syntax tree, with those of its tuples; IN and BETWEEN also as what they stand for."""
    if isinstance(node, tuple):
        for each in node:
            yield from _nodes(each)
    elif isinstance(node, OneOf | InRange):
        yield node
        yield from _nodes(written_out(node))
    elif is_dataclass(node):
        yield node
        for field in fields(node):
            yield from _nodes(getattr(node, field.name))


# --- one comparison ---


def _comparison(node: ComparisonExpression, nullable: Container[str]) -> Iterator[tuple[int, str]]:
    shown = print_expression(node)
    if node.left == node.right:
        if node.operator not in _ALWAYS:
            yield node.at, f"{shown} is never true: both sides are the same"
        elif not (isinstance(node.left, Name | MemberAccess) and node.left.attribute in nullable):
            yield node.at, f"{shown} is always true: both sides are the same{_qualified(node.left)}"
        return
    left, right = _constant(node.left), _constant(node.right)
    if left is not None and right is not None and isinstance(left, str) == isinstance(right, str):
        truth = _holds(left, node.operator, right)
        yield node.at, f"{shown} is {'always' if truth else 'never'} true"
        return
    bound = _bound(node)
    if bound is not None and isinstance(bound[0], DurationExpression) and bound[1] in ("<=", "<"):
        yield from _duration(node, bound[2])


def _qualified(left: Expression) -> str:
    if isinstance(left, Name) and not left.qualifier:
        return "; in NEXT and FOLD, $1 and $2 tell the events apart"
    return ""


def _duration(node: ComparisonExpression, limit: int | float | str) -> Iterator[tuple[int, str]]:
    """DUR is one more than the difference of two times, so that a whole limit excludes what is exactly so long."""
    if isinstance(limit, int) and limit >= _SECOND and limit % _SECOND == 0:
        apart = format_duration(limit)
        more = f"events exactly {apart} apart have a DUR of 1 us more"
        yield node.at, f"{more}: write DUR <= {apart} + 1 us to include them"


# --- one condition with words ---


def _listed(node: OneOf) -> Iterator[tuple[int, str]]:
    for at, value in enumerate(node.values):
        if value in node.values[:at]:
            yield value.at, f"{print_expression(value)} is in the list of IN twice"


def _patterns(node: TextTest) -> Iterator[tuple[int, str]]:
    for at, pattern in enumerate(node.patterns):
        if pattern in node.patterns[:at]:
            yield pattern.at, f"{print_expression(pattern)} is in the list of {node.operator.upper()} twice"
        text = pattern.value
        if node.operator.startswith("like") and "%" in (text[:1], text[-1:]) and not set(text) & set("*?"):
            meant = print_expression(String(text.strip("%")))[1:-1]
            instead = f"'{'*' * text.startswith('%')}{meant}{'*' * text.endswith('%')}'"
            yield pattern.at, f"% is a character of its own in LIKE: write {instead} if it means any text"


def _null(node: IsNull, required: Container[str]) -> Iterator[tuple[int, str]]:
    match node.operand:
        case Name(_, attribute) if attribute in required:
            pass
        case MemberAccess(variable, None | "1" | "i" | "LEN", attribute, None) if attribute in required:
            if variable.lower().startswith("prev"):
                return
        case _:
            return
    never = f"{print_expression(node.operand)} is never null"
    yield node.at, f"{print_expression(node)} is {'always' if node.negated else 'never'} true: {never}"


def _branches(node: CaseExpression) -> Iterator[tuple[int, str]]:
    conditions = [branch.condition for branch in node.branches]
    for at, condition in enumerate(conditions):
        if condition in conditions[:at]:
            yield node.branches[at].at, f"WHEN {print_expression(condition)} is never reached: it stands before, too"


# --- several conditions ---


def _constant(node: Expression) -> int | float | str | None:
    match node:
        case Number(value) | String(value):
            return value
        case Negative(Number(value)):
            return -value
    return None


def _bound(node: Expression) -> tuple[Expression, str, int | float | str] | None:
    """What is compared, the operator and the constant; None for another condition."""
    if not isinstance(node, ComparisonExpression):
        return None
    left, right = _constant(node.left), _constant(node.right)
    if left is None and right is not None:
        return node.left, node.operator, right
    if left is not None and right is None:
        return node.right, _MIRRORED[node.operator], left
    return None


def _holds(a: int | float | str, operator: str, b: int | float | str) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        a, b = str(a), str(b)
    match operator:
        case "=":
            return a == b
        case "!=":
            return a != b
        case "<":
            return a < b  # type: ignore[operator]
        case "<=":
            return a <= b  # type: ignore[operator]
        case ">":
            return a > b  # type: ignore[operator]
    return a >= b  # type: ignore[operator]


def _single(operands: tuple[Expression, ...], lists: Container[str]) -> tuple[Expression, ...]:
    """The conditions without those on lists, of which one may have several values."""
    return tuple([each for each in operands if not _is_of(lists, each)])


def _is_of(lists: Container[str], condition: Expression) -> bool:
    operand = condition.operand if isinstance(condition, OneOf) else None if (b := _bound(condition)) is None else b[0]
    match operand:
        case Name(_, attribute):
            return attribute in lists
        case MemberAccess(variable, _, attribute):
            return attribute in lists or f"{variable}.{attribute}" in lists
    return False


def _conjunction(operands: tuple[Expression, ...]) -> Iterator[tuple[int, str]]:
    """Bounds of one value that exclude each other, or of which one says less than another."""
    parts = [part for operand in operands for part in conjuncts_of(operand)]
    known = [(bound, node) for node in parts if (bound := _bound(node)) is not None]
    idle: list[tuple[int, str]] = []
    never = False  # then nothing else matters
    for index, (second, node) in enumerate(known):
        for first, other in known[:index]:
            if first[0] != second[0] or isinstance(first[2], str) != isinstance(second[2], str):
                continue
            both = f"{print_expression(other)} AND {print_expression(node)}"
            if _excludes(first, second):
                never = True
                yield node.at, f"{both} is never true, so the subscription can never match by it"
            elif _implies(first, second):
                idle.append((node.at, f"{print_expression(node)} is always true beside {print_expression(other)}"))
            elif _implies(second, first):
                idle.append((other.at, f"{print_expression(other)} is always true beside {print_expression(node)}"))
    yield from () if never else idle


def _disjunction(node: Or, operands: tuple[Expression, ...]) -> Iterator[tuple[int, str]]:
    """Bounds of one value that together exclude none."""
    known = [bound for each in operands if (bound := _bound(each)) is not None]
    for index, second in enumerate(known):
        for first in known[:index]:
            if first[0] == second[0] and isinstance(first[2], str) == isinstance(second[2], str):
                if _excludes(_negated(first), _negated(second)):
                    yield node.at, f"{print_expression(node)} is always true, unless a value is null"
                    return


_NEGATED: Final = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}

_Bound = tuple[Expression, str, "int | float | str"]


def _negated(bound: _Bound) -> _Bound:
    return bound[0], _NEGATED[bound[1]], bound[2]


def _excludes(first: _Bound, second: _Bound) -> bool:
    """Whether no value fulfils both."""
    (_, p, a), (_, q, b) = first, second
    if p == "=":
        return not _holds(a, q, b)
    if q == "=":
        return not _holds(b, p, a)
    if p == "!=" or q == "!=" or p[0] == q[0]:
        return False
    least, most = (a, b) if p[0] == ">" else (b, a)
    return _holds(least, ">", most) or (least == most and not (p.endswith("=") and q.endswith("=")))


def _implies(first: _Bound, second: _Bound) -> bool:
    """Whether every value that fulfils the first fulfils the second."""
    return _excludes(first, _negated(second))


# --- patterns ---


def _joins(node: Any) -> Iterator[tuple[int, str]]:
    """A NEXT or FOLD whose condition joins nothing keeps each event until any that fulfils it."""
    condition = node.condition if type(node).__name__ == "Next" else node.stay
    if condition is None:
        return
    parts = condition.operands if isinstance(condition, And) else (condition,)
    for part in parts:
        match part:
            case ComparisonExpression("=", Name(a), Name(b)) if a != b or part.left == part.right:
                return
    yield node.at, "each event waits here for one that fulfils the condition, maybe for ever: bound it by DUR < ..."


def _sizes(query: Any) -> Iterator[Expression]:
    """The bounds of SASE+ on numbers of events, as conditions."""
    for component in query.components:
        if component.kind == "kleene":
            length, at = MemberAccess(component.variable, None, "LEN"), component.named_at
            if component.least > 1:
                yield ComparisonExpression(">=", length, Number(component.least), at)
            if component.most is not None:
                yield ComparisonExpression("<=", length, Number(component.most), at)


def _units(text: str) -> Iterator[tuple[int, str]]:
    bare = _STRINGS.sub(lambda match: " " * len(match.group()), text)
    for pattern, word in ((_BARE, "WITHIN"), (_BARE_DURATION, "DUR")):
        for match in pattern.finditer(bare):
            number = match.group(1)
            yield match.start(1), f"{word} {number} means {number} microseconds: write a unit, such as {number} s"


def _gaps(text: str, syntax: Any, times: Container[str]) -> Iterator[tuple[int, str]]:
    """Numbers without a unit that differences of built-in times are compared with."""
    for node in _nodes(syntax):
        match node:
            case (
                ComparisonExpression(_, ArithmeticExpression("-", one, other), Number() as number)
                | ComparisonExpression(_, Number() as number, ArithmeticExpression("-", one, other))
            ) if all(isinstance(side, Name | MemberAccess) and side.attribute in times for side in (one, other)):
                bare = _BARE_NUMBER.match(text, number.at)
                if bare is not None and number.value > 0:
                    said = f"{bare.group(1)} means {bare.group(1)} microseconds: write a unit"
                    yield number.at, f"a gap of {said}, such as {bare.group(1)} s"


def _windows(syntax: Any) -> Iterator[tuple[int, str]]:
    if type(syntax).__name__ == "SaseQuery" and syntax.within is None and len(syntax.components) > 1:
        if any(clause.strategy.startswith("skip") for clause in syntax.selections):
            yield max(0, syntax.at), "without WITHIN, an event that begins a match waits for ever for its rest"
