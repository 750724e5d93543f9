"""Random CEL queries that type-check, and streams with ties, overlaps and nulls: the input of the laws.

Here: strategies. Domains are small on purpose, so that random events match random patterns. Not here: what must hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

from broker.algebra.cayuga.lowering import lower
from broker.events.schema import TEXTS, Attribute, Row, Schema
from broker.language import syntax as sy
from broker.language.cayuga import syntax as cel

STREAMS: dict[str, dict[str, str]] = {
    "S": {"k": "string", "a": "int", "x": "float?", "b": "bool", "p.t": "string[]?"},
    "T": {"a": "int", "p.t": "string[]", "k": "string?", "x": "float"},
}
VALUES: dict[str, list[object]] = {
    "string": ["u", "v", "uv"],
    "int": [0, 1, 2],
    "float": [0.0, 0.5, 1.0, 2.0],
    "bool": [True, False],
    "string[]": [(), ("u",), ("v", "u"), ("uv", "uv", "w")],
}
SCHEMAS = {name: Schema.declare(attributes) for name, attributes in STREAMS.items()}

PATTERNS: tuple[tuple[sy.TextOperator, tuple[str, ...]], ...] = (
    ("like", ("u*", "*v", "?", "*u*v*", "v", "*")),
    ("like~", ("U*", "*V", "?", "u?")),
    ("matches", ("u", "^.$", "v$", "u?v", "[^u]")),
    ("matches~", ("^U", "UV|x")),
)

Schemas = dict[str, Schema]
RELATIONS: tuple[sy.ComparisonOperator, ...] = ("=", "!=", "<", "<=", ">", ">=")
OPERATORS: tuple[sy.ArithmeticOperator, ...] = ("+", "-", "*", "/", "%", "^")


def schema_of(source: cel.StreamExpression, schemas: Schemas) -> Schema:
    return lower(cel.CelQuery(source, None), "", schemas.get, list).schema


@dataclass(frozen=True)
class Side:
    """Names that a condition may use: qualifier and schema."""

    qualifier: str | None
    schema: Schema


def numeric(a: Attribute) -> bool:
    return a.type in ("int", "float")


@st.composite
def names(draw: st.DrawFn, sides: list[Side], wanted: Callable[[Attribute], bool]) -> sy.Expression | None:
    options = [sy.Name(s.qualifier, a.name) for s in sides for a in s.schema.attributes if wanted(a)]
    return draw(st.sampled_from(options)) if options else None


@st.composite
def instants(draw: st.DrawFn, sides: list[Side]) -> sy.Expression:
    """When an input ended or began."""
    return sy.Name(draw(st.sampled_from(sides)).qualifier, draw(st.sampled_from(["time", "start"])))


@st.composite
def numbers(draw: st.DrawFn, sides: list[Side], depth: int = 1) -> sy.Expression:
    if draw(st.integers(0, 15)) == 15:
        return draw(instants(sides))
    name = draw(names(sides, numeric))
    kind = draw(st.integers(0, 7))
    if kind <= 3 and name is not None:
        return name
    if kind <= 5 or depth == 0:
        return sy.Number(draw(st.sampled_from([0, 1, 2, 3, 0.5, 1.5])))
    if kind == 6:
        function = draw(st.sampled_from(["abs", "floor", "sqrt", "max"]))
        return sy.Call(function, (draw(numbers(sides, depth - 1)),))
    if draw(st.integers(0, 2)) == 0:
        return draw(cases(sides, depth - 1))
    operator = draw(st.sampled_from(OPERATORS))
    return sy.ArithmeticExpression(operator, draw(numbers(sides, depth - 1)), draw(numbers(sides, depth - 1)))


@st.composite
def cases(draw: st.DrawFn, sides: list[Side], depth: int) -> sy.Expression:
    number = draw(st.integers(1, 2))
    branches = [sy.CaseBranch(draw(conditions(sides, depth)), draw(numbers(sides, depth))) for _ in range(number)]
    return sy.CaseExpression(tuple(branches), draw(numbers(sides, depth)) if draw(st.booleans()) else None)


@st.composite
def worded(draw: st.DrawFn, sides: list[Side]) -> sy.Expression:
    """IN, BETWEEN, LIKE, MATCHES and IS NULL."""
    negated = draw(st.booleans())
    kind = draw(st.integers(0, 6))
    if kind == 0:
        return sy.InRange(draw(numbers(sides)), draw(numbers(sides)), draw(numbers(sides)), negated)
    if kind == 1:
        return sy.OneOf(draw(numbers(sides)), tuple(draw(st.lists(numbers(sides), min_size=1, max_size=3))), negated)
    text = draw(names(sides, lambda a: a.type in ("string", TEXTS)))
    if kind == 2 and text is not None:
        values = draw(st.lists(st.sampled_from(["u", "v", "uv"]).map(sy.String), min_size=1, max_size=3))
        return sy.OneOf(text, tuple(values), negated)
    if kind >= 5 and text is not None:
        operator, patterns = draw(st.sampled_from(PATTERNS))
        chosen = draw(st.lists(st.sampled_from(patterns).map(sy.String), min_size=1, max_size=3))
        return sy.TextTest(operator, text, tuple(chosen), negated)
    tested = draw(names(sides, lambda a: a.nullable)) or draw(numbers(sides))
    return sy.IsNull(tested, negated)


@st.composite
def comparisons(draw: st.DrawFn, sides: list[Side]) -> sy.Expression:
    operator = draw(st.sampled_from(RELATIONS))
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return sy.ComparisonExpression(operator, sy.DurationExpression(), sy.Number(draw(st.integers(1, 6))))
    if draw(st.integers(0, 15)) == 15:
        gap = sy.ArithmeticExpression("-", draw(instants(sides)), draw(instants(sides)))
        return sy.ComparisonExpression(operator, gap, sy.Number(draw(st.integers(0, 4))))
    if kind == 1:
        flag = draw(names(sides, lambda a: a.type == "bool"))
        if flag is not None:
            return flag if draw(st.booleans()) else sy.ComparisonExpression("=", flag, sy.Boolean(draw(st.booleans())))
    if kind == 2:
        several = draw(names(sides, lambda a: a.type == TEXTS))
        if several is not None:
            value = sy.String(draw(st.sampled_from(["", "u", "v", "uv"])))
            function = draw(st.sampled_from(["contains", "starts_with", "ends_with", "=", "!="]))
            if function in ("=", "!="):
                return sy.ComparisonExpression("=" if function == "=" else "!=", several, value)
            return sy.Call(function, (several, value))
    if kind <= 4:
        text = draw(names(sides, lambda a: a.type == "string"))
        if text is not None:
            other = draw(names(sides, lambda a: a.type == "string"))
            right = draw(st.sampled_from([other, sy.String(draw(st.sampled_from(["u", "v", "uv"])))]))
            assert right is not None
            if draw(st.integers(0, 3)) == 0:
                return sy.Call("contains", (text, right))
            return sy.ComparisonExpression(operator if draw(st.booleans()) else "=", text, right)
    if kind <= 6:
        left, right = draw(names(sides, numeric)), draw(names(sides, numeric))
        if left is not None and right is not None:
            return sy.ComparisonExpression(operator, left, right)
    return sy.ComparisonExpression(operator, draw(numbers(sides)), draw(numbers(sides)))


@st.composite
def conditions(draw: st.DrawFn, sides: list[Side], depth: int = 2) -> sy.Expression:
    kind = draw(st.integers(0, 9)) if depth else 0
    if kind <= 5:
        return draw(comparisons(sides) if kind else worded(sides))
    if kind == 6:
        return sy.Not(draw(conditions(sides, depth - 1)))
    operands = (draw(conditions(sides, depth - 1)), draw(conditions(sides, depth - 1)))
    return sy.And(operands) if kind <= 8 else sy.Or(operands)


@st.composite
def joins(draw: st.DrawFn, left: Schema, right: Schema, iterates: bool) -> sy.Expression | None:
    """A NEXT's or FOLD's condition: often an equality join, sometimes with more, sometimes nothing."""
    bound = "" if iterates and draw(st.booleans()) else "1"
    common = [a.name for a in right.attributes if left.position(a.name) >= 0]
    sides = [Side("1", left), Side("2", right), *([Side("", left)] if iterates else [])]
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return None
    if kind <= 3 and common:
        name = draw(st.sampled_from(common))
        types = (left.attributes[left.position(name)].type, right.attributes[right.position(name)].type)
        if types[0] == types[1] != TEXTS:
            join = sy.ComparisonExpression("=", sy.Name("2", name), sy.Name(bound, name))
            return join if kind < 3 else sy.And((join, draw(comparisons(sides))))
    return draw(conditions(sides))


@st.composite
def projections(draw: st.DrawFn, source: cel.StreamExpression, schemas: Schemas) -> cel.StreamExpression:
    schema = schema_of(source, schemas)
    here = [Side(None, schema)]
    kept = [cel.SelectItem(sy.Name(None, a.name), None) for a in schema.attributes if draw(st.integers(0, 3))]
    items: list[cel.Star | cel.SelectItem] = [cel.Star()] if draw(st.booleans()) else list(kept)
    taken = set(schema.names)
    for name in ("n", "m"):
        if name not in taken and (draw(st.booleans()) or not items):
            items.append(cel.SelectItem(draw(st.sampled_from([sy.Number(1), draw(numbers(here))])), name))
    if not items:
        items = [cel.Star()]
    return cel.Select(tuple(items), source)


@st.composite
def operands(draw: st.DrawFn, schemas: Schemas, depth: int) -> cel.StreamExpression:
    """An expression of at most `depth` binary operators."""
    kind = draw(st.integers(0, 9))
    if depth == 0 or kind == 0:
        node: cel.StreamExpression = cel.StreamReference(draw(st.sampled_from(sorted(schemas))))
    elif kind <= 5:
        left = draw(operands(schemas, depth - 1))
        right = draw(operands(schemas, 0 if draw(st.integers(0, 3)) else depth - 1))
        sides = schema_of(left, schemas), schema_of(right, schemas)
        node = cel.Next(draw(joins(*sides, iterates=False)), left, right)
    elif kind <= 8:
        node = draw(folds(schemas, depth))
    else:
        node = draw(unions(schemas, depth))
    if draw(st.integers(0, 3)) == 0:
        node = draw(projections(node, schemas))
    if draw(st.integers(0, 2)) == 0:
        node = cel.Filter(draw(conditions([Side(None, schema_of(node, schemas))])), node)
    return node


@st.composite
def folds(draw: st.DrawFn, schemas: Schemas, depth: int) -> cel.StreamExpression:
    left = draw(operands(schemas, depth - 1))
    schema = schema_of(left, schemas)
    if "n" not in schema.names:
        left = cel.Select((cel.Star(), cel.SelectItem(sy.Number(1), "n")), left)
        schema = schema_of(left, schemas)
    right = draw(operands(schemas, 0 if draw(st.integers(0, 3)) else depth - 1))
    seen = schema_of(right, schemas)
    common = [a.name for a in seen.attributes if (a.name, a.type) in [(b.name, b.type) for b in schema.attributes]]
    if common != list(seen.names):
        if not common:
            return left
        right = cel.Select(tuple(cel.SelectItem(sy.Name(None, name), None) for name in common), right)
        seen = schema_of(right, schemas)
    sides = [Side("1", schema), Side("", schema), Side("2", seen)]
    rebind = draw(conditions(sides)) if draw(st.booleans()) else None
    aggregates: list[cel.SelectItem] = []
    if schema.attributes[schema.position("n")].type == "int" and draw(st.booleans()):
        aggregates.append(cel.SelectItem(sy.ArithmeticExpression("+", sy.Name("", "n"), sy.Number(1)), "n"))
    floats: list[str] = [a.name for a in schema.attributes if a.type == "float"]
    if draw(st.booleans()) and floats:
        name: str = draw(st.sampled_from(floats))
        aggregates.append(cel.SelectItem(draw(numbers(sides)), name))
    return cel.FoldExpression(draw(joins(schema, seen, iterates=True)), rebind, tuple(aggregates), left, right)


@st.composite
def unions(draw: st.DrawFn, schemas: Schemas, depth: int) -> cel.StreamExpression:
    """Two expressions made alike by projection, or one filtered twice, which gives equal results twice."""
    left = draw(operands(schemas, depth - 1))
    if draw(st.booleans()):
        scope = [Side(None, schema_of(left, schemas))]
        first, second = (cel.Filter(draw(conditions(scope)), left) for _ in range(2))
        return cel.UnionExpression(first, second)
    right = draw(operands(schemas, depth - 1))
    sides: list[cel.StreamExpression] = []
    for node in (left, right):
        schema = schema_of(node, schemas)
        number = next((a.name for a in schema.attributes if a.type == "int"), None)
        word = next((a.name for a in schema.attributes if a.type == "string"), None)
        items = (
            cel.SelectItem(sy.Number(7) if number is None else sy.Name(None, number), "a"),
            cel.SelectItem(sy.String("u") if word is None else sy.Name(None, word), "k"),
        )
        sides.append(cel.Select(items, node))
    return cel.UnionExpression(sides[0], sides[1])


@st.composite
def queries(draw: st.DrawFn, schemas: Schemas | None = None, depth: int = 3) -> cel.CelQuery:
    return cel.CelQuery(draw(operands(SCHEMAS if schemas is None else schemas, draw(st.integers(0, depth)))), None)


@st.composite
def programs(draw: st.DrawFn, most: int = 4) -> dict[str, cel.CelQuery]:
    """Several subscriptions: unrelated ones, ones that share a prefix, ones that read what others publish."""
    schemas = dict(SCHEMAS)
    found: dict[str, cel.CelQuery] = {}
    for number in range(draw(st.integers(1, most))):
        source: cel.StreamExpression
        if found and draw(st.integers(0, 2)) == 0:
            source = draw(st.sampled_from([q.source for q in found.values()]))
            if draw(st.booleans()):
                source = cel.Filter(draw(conditions([Side(None, schema_of(source, schemas))])), source)
        else:
            source = draw(queries(schemas)).source
        publish = f"P{number}" if draw(st.integers(0, 2)) == 0 else None
        found[f"q{number}"] = cel.CelQuery(source, publish)
        if publish is not None:
            schemas[publish] = schema_of(source, schemas)
    return found


@dataclass(frozen=True)
class Happening:
    """One event of a random stream; ids are 1, 2, 3 in order."""

    stream: str
    time: int
    start: int
    id: int
    row: Row


@st.composite
def histories(draw: st.DrawFn, most: int = 14) -> list[Happening]:
    """Events in order of their end, with ties, overlaps and nulls."""
    found: list[Happening] = []
    time = 0
    for number in range(1, draw(st.integers(0, most)) + 1):
        time += draw(st.sampled_from([0, 0, 1, 1, 1, 2, 3]))
        start = time - draw(st.sampled_from([0, 0, 0, 0, 1, 2, 4]))
        stream = draw(st.sampled_from(["S", "S", "T"]))
        row = tuple(
            None if a.nullable and draw(st.integers(0, 4)) == 0 else draw(st.sampled_from(VALUES[a.type]))
            for a in SCHEMAS[stream].attributes
        )
        found.append(Happening(stream, time, start, number, row))  # type: ignore[arg-type]
    return found
