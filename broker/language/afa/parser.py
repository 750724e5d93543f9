"""Parses AFA texts: turns what the grammar (grammar.lark) finds into the nodes of syntax.py.

One text in, one AfaQuery, or one ArcExpression of an update, or QueryError out.

The parser decides what the grammar leaves open: names that occur twice, states that no arc leads to or from. It does
not look up streams and attributes.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Final, final

from lark import Token

from ...events.nearest import suggestion
from ...events.schema import TEXTS, VALUE_TYPES, ValueType
from ..clauses import ClauseReader
from ..diagnostics import Misread, quoted
from ..expression import LABELS, name_of, place
from ..grammar import Words, parser_of, read
from ..limits import ITEMS_MAX
from ..syntax import Expression
from .syntax import AfaQuery, ArcExpression, Assignment, Label, RegisterDeclaration

_WORDS: Final = Words(
    MappingProxyType(
        {
            "FROM": "FROM",
            "STREAM": "a stream",
            "BY": "BY",
            "ATTRIBUTE": "an attribute",
            "REGISTER": "REGISTER",
            "REGISTERED": "the name of a register",
            "TYPE": "a type",
            "ASSIGN": "'='",
            "EQUAL": "'='",
            "START": "START",
            "FINAL": "FINAL",
            "LABEL": "the name of an arc with ':'",
            "STATE": "a state",
            "TAKES": "'->'",
            "SKIPS": "'~>'",
            "ON": "ON",
            "WHEN": "WHEN",
            "SET": "SET",
            "PUBLISHED": "a name",
            **LABELS,
            "WITHIN": "WITHIN",
            "PUBLISH": "PUBLISH",
            "$END": "the end of the query",
        }
    ),
)

_TYPES: Final = tuple([kind for kind in VALUE_TYPES if kind != TEXTS])  # of registers


def parse(text: str) -> AfaQuery:
    """Return the syntax of an AFA query. Linear in the text. Raises QueryError at a mistake.

    The first call builds the parser, which takes some tens of milliseconds.
    """
    query: AfaQuery = read(parser_of("afa/grammar.lark", _AfaReader), _WORDS, text)
    return query


def parse_arc(text: str) -> ArcExpression:
    """Return the syntax of one arc, which an update inserts. Costs and errors as of `parse`."""
    arc: ArcExpression = read(parser_of("afa/grammar.lark", _AfaReader, "arc"), _WORDS, text)
    return arc


@final
class _AfaReader(ClauseReader):
    """Methods are named after the grammar's alternatives; children are in the order of the text, keywords included."""

    def query(self, children: list[Any]) -> AfaQuery:
        _, streams, partition, registers, _, start, _, finals, *arcs, (within, at), publish = children
        query = AfaQuery(streams, partition, registers, _label(start), finals, tuple(arcs), within, publish, at)
        _check(query)
        return query

    def streams(self, children: list[Token]) -> tuple[Label, ...]:
        return _once(map(_label, children), "each stream once after FROM")

    def registers(self, children: list[Any]) -> tuple[RegisterDeclaration, ...]:
        _once((Label(register.name, register.at) for register in children[1:]), "each register once")
        return tuple(children[1:])

    def register(self, children: list[Any]) -> RegisterDeclaration:
        name, written, *_, initial = children
        return RegisterDeclaration(name_of(name), _type(written), initial, place(name))

    def finals(self, children: list[Token]) -> tuple[Label, ...]:
        return _once(map(_label, children), "each state once after FINAL")

    def arc(self, children: list[Any]) -> ArcExpression:
        name, source, takes, target, stream, condition, assignments = children
        at = place(source) if name is None else name.at
        if not takes and stream is not None:
            raise Misread(stream.at, "expected no ON beside '~>', since such an arc takes no event")
        written = None if name is None else name.name
        return ArcExpression(written, _label(source), _label(target), takes, stream, condition, assignments, at)

    def label(self, children: list[Token]) -> Label | None:
        if not children:
            return None
        token = children[0]
        word = token[:-1].partition("--")[0].rstrip()
        return Label(name_of(Token.new_borrow_pos(token.type, word, token)), place(token))

    def arrow(self, children: list[Token]) -> bool:
        return children[0].type == "TAKES"

    def on(self, children: list[Token]) -> Label | None:
        return _label(children[1]) if children else None

    def when(self, children: list[Any]) -> Expression | None:
        return children[1] if children else None

    def sets(self, children: list[Any]) -> tuple[Assignment, ...]:
        _once((Label(each.register, each.at) for each in children[1:]), "each register once after SET")
        return tuple(children[1:])

    def assignment(self, children: list[Any]) -> Assignment:
        name, _, value = children
        return Assignment(name_of(name), value, place(name))


def _label(token: Token) -> Label:
    return Label(name_of(token), place(token))


def _type(token: Token) -> ValueType:
    word = token.lower()
    for known in _TYPES:
        if word == known:
            return known
    message = f"expected a type, one of {', '.join(_TYPES)}, found {quoted(token)}{suggestion(word, _TYPES)}"
    raise Misread(place(token), message)


def _once(labels: Iterable[Label], wanted: str) -> tuple[Label, ...]:
    """The labels. Raises Misread at the first that occurs again, or where there are too many."""
    found = tuple(labels)
    known: set[str] = set()
    for label in found:
        if label.name in known:
            raise Misread(label.at, f"expected {wanted}, found {label.name!r} twice")
        known.add(label.name)
    if len(found) > ITEMS_MAX:
        raise Misread(found[ITEMS_MAX].at, f"expected at most {ITEMS_MAX} of these names, found more")
    return found


def _check(query: AfaQuery) -> None:
    """Check that arcs have different names and that each state which the query names belongs to an arc. Raises
    Misread."""
    if len(query.arcs) > ITEMS_MAX:
        raise Misread(query.arcs[ITEMS_MAX].at, f"expected at most {ITEMS_MAX} arcs, found more")
    _once((Label(arc.name, arc.at) for arc in query.arcs if arc.name is not None), "each arc's name once")
    left = {arc.source.name for arc in query.arcs}
    reached = {arc.target.name for arc in query.arcs}
    if query.start.name not in left:
        hint = suggestion(query.start.name, left)
        raise Misread(
            query.start.at, f"expected an arc from the start state, found none from {query.start.name!r}{hint}"
        )
    for state in query.finals:
        if state.name not in reached:
            hint = suggestion(state.name, reached)
            raise Misread(state.at, f"expected an arc to each final state, found none to {state.name!r}{hint}")
    for arc in query.arcs:
        if arc.source.name not in reached and arc.source.name != query.start.name:
            hint = suggestion(arc.source.name, {*reached, query.start.name})
            raise Misread(arc.source.at, f"expected an arc to state {arc.source.name!r}, found none{hint}")
