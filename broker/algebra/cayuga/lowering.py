"""Lowers CEL to operators: FILTER is selection, NEXT conditional sequence, FOLD iteration, SELECT projection.

Here: the operator for each construct of the language, and its type rules (semantics 1.3). Not here: typing of
expressions (resolution), names of outputs (naming).
"""

from __future__ import annotations

from collections.abc import Callable

from ...events.nearest import suggestion
from ...events.schema import Schema
from ...language import syntax
from ...language.cayuga import syntax as cel
from ..naming import generated
from ..operators import Expression, Iteration, Projection, Query, Selection, Sequence, Source, Union
from ..resolution import BinaryScope, UnaryScope, condition, converted, refuse, resolve
from ..terms import TRUE, Attribute, Side, Term
from .expansion import check_expansion

Catalog = Callable[[str], "Schema | None"]


def lower(query: cel.CelQuery, text: str, schema_of: Catalog, known: Callable[[], list[str]]) -> Query:
    """Return the algebra of a parsed query.

    `schema_of` returns the schema of a stream or None; `known` returns the names for a suggestion. Raises QueryError at
    an unknown stream or attribute or at a type that does not fit, and LimitExceeded for terms that grow too large.
    """
    expression = _Lowering(text, schema_of, known).expression(query.source)
    check_expansion(expression)
    return Query(expression, query.publish)


class _Lowering:
    def __init__(self, text: str, schema_of: Catalog, known: Callable[[], list[str]]) -> None:
        self.text = text
        self.schema_of = schema_of
        self.known = known

    def expression(self, node: cel.StreamExpression) -> Expression:
        match node:
            case cel.StreamReference(stream):
                schema = self.schema_of(stream)
                if schema is None:
                    refuse(self.text, node.at, f"unknown stream {stream!r}{suggestion(stream, self.known())}")
                return Source(stream, schema)
            case cel.Filter(where, source):
                inner = self.expression(source)
                return Selection(condition(where, UnaryScope(self.text, inner.schema)), inner)
            case cel.Select(items, source):
                return self.projection(items, self.expression(source))
            case cel.Next(where, left, right):
                first, second = self.expression(left), self.expression(right)
                scope = BinaryScope(self.text, first.schema, second.schema, iterates=False)
                return Sequence(TRUE if where is None else condition(where, scope), first, second)
            case cel.FoldExpression():
                return self.iteration(node)
            case cel.UnionExpression(left, right):
                return self.union(node, self.expression(left), self.expression(right))

    def projection(self, items: tuple[cel.Star | cel.SelectItem, ...], inner: Expression) -> Expression:
        scope = UnaryScope(self.text, inner.schema)
        columns: list[tuple[str | None, int, Term]] = []
        for item in items:
            match item:
                case cel.Star():
                    for position, a in enumerate(inner.schema.attributes):
                        columns.append(
                            (a.name, item.at, Attribute(Side.EVENT, position, a.type, a.name, a.nullable))
                        )
                case cel.SelectItem(expression, alias):
                    name = alias or (expression.attribute if isinstance(expression, syntax.Name) else None)
                    columns.append((name, item.at, resolve(expression, scope)))
        taken: set[str] = set()
        for name, at, _ in columns:
            if name in taken:
                refuse(self.text, at, f"expected each name once, found {name!r} twice; rename one with AS")
            if name is not None:
                taken.add(name)
        named = tuple(
            (generated(f"column_{number}", taken) if name is None else name, term)
            for number, (name, _, term) in enumerate(columns, 1)
        )
        return Projection(named, inner)

    def iteration(self, node: cel.FoldExpression) -> Expression:
        left, right = self.expression(node.left), self.expression(node.right)
        for attribute in right.schema.attributes:
            position = left.schema.position(attribute.name)
            if position < 0:
                missing = f"{attribute.name!r} is missing"
                refuse(self.text, node.at, f"FOLD needs every attribute of its right input on its left one: {missing}")
            other = left.schema.attributes[position].type
            if other != attribute.type:
                found = f"{attribute.name!r} is {other} on the left, {attribute.type} on the right"
                refuse(self.text, node.at, f"FOLD needs equal types on both sides: {found}")
        scope = BinaryScope(self.text, left.schema, right.schema, iterates=True)
        stay = TRUE if node.stay is None else condition(node.stay, scope)
        rebind = TRUE if node.rebind is None else condition(node.rebind, scope)
        aggregates: list[tuple[int, Term]] = []
        for item in node.aggregates:
            position = left.schema.position(item.alias or "")
            if position < 0:
                near = suggestion(item.alias or "", left.schema.names)
                refuse(self.text, item.at, f"{item.alias!r} must already exist on the left input of FOLD{near}")
            if any(position == taken for taken, _ in aggregates):
                refuse(self.text, item.at, f"expected each aggregate once, found {item.alias!r} twice")
            term = resolve(item.expression, scope)
            wanted = left.schema.attributes[position].type
            value = converted(term, wanted)
            if value is None:
                refuse(self.text, item.at, f"expected a {wanted} for {item.alias!r}, found a {term.type}")
            aggregates.append((position, value))
        return Iteration(stay, rebind, tuple(aggregates), left, right)

    def union(self, node: cel.UnionExpression, left: Expression, right: Expression) -> Expression:
        a = [(x.name, x.type) for x in left.schema.attributes]
        b = [(x.name, x.type) for x in right.schema.attributes]
        if a != b:
            found = " and ".join(f"({', '.join(f'{name} {type_}' for name, type_ in side)})" for side in (a, b))
            refuse(self.text, node.at, f"UNION needs equal schemas, found {found}")
        return Union(left, right)
