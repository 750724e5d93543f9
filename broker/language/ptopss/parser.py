"""Parses P-ToPSS texts: turns what the grammar (grammar.lark) finds into the nodes of syntax.py.

One text in, one PtopssQuery or QueryError out.

The parser decides what the grammar leaves open: where a `$variable` is allowed, and that MATCH and the definitions use
the same names, each once. It does not look up streams and attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias, final

from lark import Token

from ...events.nearest import suggestion
from ..clauses import ClauseReader, nodes
from ..diagnostics import Misread, quoted
from ..expression import LABELS, name_of, place
from ..grammar import Words, parser_of, read
from ..limits import OPERANDS_MAX
from ..syntax import And, ComparisonExpression, Expression, Name
from .syntax import (
    BothExpression,
    ConditionExpression,
    Definition,
    EitherExpression,
    JoinExpression,
    NamedStream,
    Pattern,
    PrimitiveDeclaration,
    PtopssQuery,
    SequenceExpression,
    Timed,
    conditions,
    primitives,
)

_WORDS: Final = Words(
    MappingProxyType(
        {
            "FROM": "FROM",
            "STREAM": "a stream",
            "BY": "BY",
            "ATTRIBUTE": "an attribute",
            "OPERAND": "a defined name",
            "PUBLISHED": "a name",
            **LABELS,
            "VARIABLE": "a $variable",
            "SEMICOLON": "';'",
            "AT": "'@'",
            "TIME": "'t'",
            "DIFFERENCE": "'-'",
            "DEFINED": "a definition 'name: predicate'",
            "MATCH": "MATCH",
            "WITHIN": "WITHIN",
            "PUBLISH": "PUBLISH",
            "$END": "the end of the query",
        }
    ),
)
_IN_A_DEFINITION: Final = re.compile(r"--[^\n]*|[A-Za-z0-9_]+|,")
_JOINS_ONLY: Final = "expected a $variable only in 'attribute = $variable', joined by AND to the rest of the predicate"


def parse(text: str) -> PtopssQuery:
    """Return the syntax of a P-ToPSS query. Linear in the text. Raises QueryError at a mistake.

    The first call builds the parser, which takes some tens of milliseconds.
    """
    query: PtopssQuery = read(parser_of("ptopss/grammar.lark", _PtopssReader), _WORDS, text)
    return query


@final
@dataclass(frozen=True, slots=True)
class _Variable:
    """A variable as an operand of an expression, while its definition is parsed; no returned tree contains one."""

    name: str
    at: int


_Operand: TypeAlias = Expression | _Variable


@final
class _PtopssReader(ClauseReader):
    """Methods are named after the grammar's alternatives; children are in the order of the text, keywords included."""

    def query(self, children: list[Any]) -> PtopssQuery:
        _, streams, partition, *definitions, _, pattern, within, publish = children
        _check_names(definitions, pattern)
        length, at = within
        found = tuple(_on_stream(definition, streams) for definition in definitions)
        return PtopssQuery(streams, partition, found, pattern, length, publish, streams[0].at, at)

    def streams(self, children: list[Token]) -> tuple[NamedStream, ...]:
        streams = tuple(NamedStream(name_of(token), place(token)) for token in children)
        for index, stream in enumerate(streams):
            if stream in streams[:index]:
                raise Misread(stream.at, f"expected each stream once after FROM, found {stream.name!r} twice")
        return streams

    def definition(self, children: list[Any]) -> Definition:
        defined, predicate = children
        joins, rest = _split(predicate)
        words, commas = _words(defined)
        names = tuple(PrimitiveDeclaration(word, at) for word, at in words[: commas + 1])
        stream = NamedStream(*words[-1]) if len(words) > len(names) else None
        return Definition(names, joins, rest, stream, place(defined))

    def variable(self, children: list[Token]) -> _Variable:
        token = children[0]
        if not token[1:2].isalpha() and token[1:2] != "_":
            raise Misread(place(token), f"expected a variable such as $x, found {quoted(token)}")
        name = Token.new_borrow_pos(token.type, token[1:], token)
        return _Variable(name_of(name), place(token))

    def either(self, children: list[Any]) -> EitherExpression:
        return EitherExpression(tuple(children[::2]), place(children[1]))

    def both(self, children: list[Any]) -> BothExpression:
        return BothExpression(tuple(children[::2]), place(children[1]))

    def chain(self, children: list[Any]) -> SequenceExpression:
        return SequenceExpression(tuple(children[::2]), tuple(map(str, children[1::2])), place(children[1]))

    def taken(self, children: list[Token]) -> PrimitiveDeclaration:
        return PrimitiveDeclaration(name_of(children[0]), place(children[0]))

    def timed(self, children: list[Any]) -> Timed:
        part, *conditions = children
        return Timed(part, tuple(conditions), conditions[0].at)

    def condition(self, children: list[Any]) -> ConditionExpression:
        at, _, minuend, _, _, subtrahend, sign, duration = children
        if sign in ("==", "<>"):
            meant = quoted("=" if sign == "==" else "!=")
            raise Misread(place(sign), f"expected a comparison, found {quoted(sign)}; did you mean {meant}?")
        first, second = self.taken([minuend]), self.taken([subtrahend])
        return ConditionExpression(first, second, sign.value, duration[0], place(at), duration[1])

    def below_zero(self, children: list[Token]) -> int:
        found = quoted("".join(children[:2]))
        raise Misread(
            place(children[0]), f"expected a duration of at least 0, found {found}; exchange the two times instead"
        )


def _words(defined: Token) -> tuple[list[tuple[str, int]], int]:
    """Return the words in a token such as `a, b ON S:`, which may contain comments, and the number of its commas."""
    words: list[tuple[str, int]] = []
    commas = 0
    for found in _IN_A_DEFINITION.finditer(defined):
        word = found.group()
        if word == ",":
            commas += 1
        elif not word.startswith("--"):
            at = place(defined) + found.start()
            words.append((name_of(Token(defined.type, word, at)), at))
    return words, commas


def _on_stream(definition: Definition, streams: tuple[NamedStream, ...]) -> Definition:
    """Check that a definition names its stream if there are several; if there is one, the name is left out."""
    stream, names = definition.stream, [known.name for known in streams]
    if stream is None and len(streams) > 1:
        name = definition.names[-1].name
        wanted = f"expected ON and one of {', '.join(names[:8])} before ':', since FROM names several streams"
        raise Misread(definition.at, f"{wanted}; write '{name} ON {names[0]}: …'")
    if stream is not None and stream not in streams:
        found = f"found {stream.name!r}{suggestion(stream.name, names)}"
        raise Misread(stream.at, f"expected a stream of FROM after ON, {found}")
    return replace(definition, stream=None) if len(streams) == 1 else definition


def _split(predicate: _Operand) -> tuple[tuple[JoinExpression, ...], Expression | None]:
    """Return the joins among the conjuncts of a predicate, and the other conjuncts."""
    joins: list[JoinExpression] = []
    rest: list[Expression] = []
    for conjunct in _conjuncts(predicate):
        if _is_join(conjunct):
            joins.append(_join(conjunct))
        else:
            variables = [node for node in nodes(conjunct) if isinstance(node, _Variable)]
            if variables:
                raise Misread(variables[-1].at, f"{_JOINS_ONLY}, found '${variables[-1].name}' elsewhere")
            rest.append(conjunct)
    if len(rest) <= 1:
        return tuple(joins), rest[0] if rest else None
    return tuple(joins), And(tuple(rest), predicate.at)


def _is_join(predicate: Any) -> bool:
    return isinstance(predicate, ComparisonExpression) and any(
        isinstance(side, _Variable) for side in (predicate.left, predicate.right)
    )


def _conjuncts(predicate: Any) -> Iterator[Any]:
    """Yield the conjuncts; a conjunction in parentheses without a join stays one conjunct."""
    if isinstance(predicate, And) and _has_join(predicate):
        for operand in predicate.operands:
            yield from _conjuncts(operand)
    else:
        yield predicate


def _has_join(predicate: Any) -> bool:
    if isinstance(predicate, And):
        return any(map(_has_join, predicate.operands))
    return _is_join(predicate)


def _join(comparison: Any) -> JoinExpression:
    left, right = comparison.left, comparison.right
    variable, attribute = (right, left) if isinstance(right, _Variable) else (left, right)
    if comparison.operator != "=":
        sign = comparison.operator
        raise Misread(comparison.at, f"expected '=' beside '${variable.name}', found '{sign}'; a variable only joins")
    if not isinstance(attribute, Name):
        raise Misread(attribute.at, f"expected an attribute on the other side of '${variable.name}', found none")
    return JoinExpression(attribute, variable.name, variable.at)


def _check_names(definitions: list[Definition], pattern: Pattern) -> None:
    """Check that MATCH has each defined name once and no other, and that conditions name two of them. Raises
    Misread."""
    defined: dict[str, PrimitiveDeclaration] = {}
    for name in (name for definition in definitions for name in definition.names):
        if defined.setdefault(name.name, name) is not name:
            raise Misread(name.at, f"expected each name to be defined once, found a second definition of {name.name!r}")
    taken: dict[str, PrimitiveDeclaration] = {}
    for name in primitives(pattern):
        if name.name not in defined:
            near = suggestion(name.name, defined) or f"; expected one of {', '.join(list(defined)[:8])}"
            raise Misread(name.at, f"{quoted(name.name)} is not defined{near}")
        if taken.setdefault(name.name, name) is not name:
            more = f"define one more, such as '{name.name}, {name.name}_2: …'"
            raise Misread(name.at, f"expected each name once in MATCH, found {name.name!r} twice; {more}")
        if len(taken) > OPERANDS_MAX:
            raise Misread(name.at, f"expected at most {OPERANDS_MAX} operands in MATCH, found more")
    for condition in conditions(pattern):
        for name in (condition.minuend, condition.subtrahend):
            if name.name not in taken:
                message = f"expected a name that is in MATCH, found {quoted(name.name)}{suggestion(name.name, taken)}"
                raise Misread(name.at, message)
        if condition.minuend == condition.subtrahend:
            message = f"expected two different names in a condition, found {condition.minuend.name!r} twice"
            raise Misread(condition.subtrahend.at, message)
    for name in defined.values():
        if name.name not in taken:
            raise Misread(name.at, f"expected every defined name in MATCH, found {name.name!r} in its definition only")
