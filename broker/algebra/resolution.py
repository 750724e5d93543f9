"""Resolves the names of an expression to typed terms, for every language.

Here: type checking, and scopes, which define the meaning of a name at one point of a query. Not here: which scopes a
language has and where (lowering).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol, TypeAlias, runtime_checkable

from ..events.event import START, TIME_NAMES
from ..events.nearest import suggestion
from ..events.schema import TEXTS, Schema, ValueType
from ..language import syntax
from ..language.diagnostics import query_error
from ..language.printing import print_expression
from ..language.shorthand import written_out
from .functions import CASE, FUNCTIONS, IS_NULL, MEMBER, TEXT_TESTS, arithmetic_type
from .partitioned_stream import PartitionedStream
from .terms import (
    Arithmetic,
    Attribute,
    Comparison,
    Conjunction,
    Constant,
    Disjunction,
    Duration,
    Function,
    Instant,
    Negation,
    Side,
    Term,
    used,
)

PartitionTest: TypeAlias = syntax.Name | Mapping[str, syntax.Name]
"""An attribute that partitions every stream, or that of each stream by the stream's name."""


class Scope(Protocol):
    """The meaning of names and of DUR at one point of a query."""

    @property
    def text(self) -> str: ...

    def name(self, name: syntax.Name) -> Term: ...

    def duration(self, at: int) -> Term: ...


@runtime_checkable
class MemberScope(Scope, Protocol):
    """A scope of a language that has variables of events."""

    def member(self, member: syntax.MemberAccess) -> Term: ...


def refuse(text: str, at: int, message: str) -> NoReturn:
    raise query_error(text, at, message)


def find(schema: Schema, side: Side, name: syntax.Name, text: str, hint: str = "") -> Attribute:
    position = schema.position(name.attribute)
    if position < 0:
        near = suggestion(name.attribute, schema.names)
        meant = hint if hint and "." in name.attribute and "." not in near else near or hint
        refuse(text, name.at, f"unknown attribute {name.attribute!r}{meant}")
    found = schema.attributes[position]
    return Attribute(side, position, found.type, found.name, found.nullable)


def find_or_instant(schema: Schema, side: Side, name: syntax.Name, text: str, hint: str = "") -> Attribute | Instant:
    """CEL's name of an attribute, or `time` or `start` of its input, which an attribute of that name hides."""
    if name.attribute in TIME_NAMES and schema.position(name.attribute) < 0:
        return Instant(side, name.attribute == START)
    return find(schema, side, name, text, hint)


@dataclass(frozen=True, slots=True)
class UnaryScope:
    """The scope of FILTER and SELECT: one input, whose attributes have their own names."""

    text: str
    schema: Schema

    def name(self, name: syntax.Name) -> Term:
        if name.qualifier is not None:
            found = f"'${name.qualifier}.{name.attribute}'"
            refuse(self.text, name.at, f"expected an attribute by its bare name; {found} belongs inside NEXT and FOLD")
        return find_or_instant(self.schema, Side.EVENT, name, self.text)

    def duration(self, at: int) -> Term:
        return Duration(composition=False)


@dataclass(frozen=True, slots=True)
class BinaryScope:
    """The scope of NEXT and FOLD: `$1` is the left input, `$2` the incoming event, `$` the last iteration; a name alone
    reads the bound side."""

    text: str
    left: Schema
    right: Schema
    iterates: bool

    def name(self, name: syntax.Name) -> Term:
        bound = Side.LAST if self.iterates else Side.FIRST
        hint = f"; the incoming event's is '$2.{name.attribute}'" if name.attribute in self.right.names else ""
        if "." in name.attribute:  # of users of SQL, who write the stream before its attribute
            last = name.attribute.rpartition(".")[2]
            hint = f"; not in this language: write $1.{last} for the left event, $2.{last} for the right one"
        match name.qualifier:
            case "1":
                return find_or_instant(self.left, Side.FIRST, name, self.text)
            case "2":
                return find_or_instant(self.right, Side.EVENT, name, self.text)
            case None:
                return find_or_instant(self.left, bound, name, self.text, hint)
            case "" if self.iterates:
                return find_or_instant(self.left, Side.LAST, name, self.text)
            case "":
                refuse(self.text, name.at, "expected '$1' or '$2'; '$' is the last iteration, which only FOLD has")
            case other:
                refuse(self.text, name.at, f"expected '$1', '$2' or '$', found '${other}'")

    def duration(self, at: int) -> Term:
        return Duration(composition=True)


def condition(expression: syntax.Expression, scope: Scope) -> Term:
    """Return a term of type bool. Raises QueryError at the expression if it has another type."""
    term = resolve(expression, scope)
    if term.type != "bool":
        refuse(scope.text, expression.at, f"expected a condition, found a value of type {term.type}")
    return term


def resolve(expression: syntax.Expression, scope: Scope) -> Term:
    """Return the typed term of an expression. Raises QueryError at the part that does not fit."""
    match expression:
        case syntax.Number(value):
            return Constant(value, "float" if isinstance(value, float) else "int")
        case syntax.String(value):
            return Constant(value, "string")
        case syntax.Boolean(value):
            return Constant(value, "bool")
        case syntax.DurationExpression():
            return scope.duration(expression.at)
        case syntax.Name():
            return scope.name(expression)
        case syntax.MemberAccess():
            if not isinstance(scope, MemberScope):
                raise AssertionError("variables of events in a language that has none")
            return scope.member(expression)
        case syntax.Negative(operand):
            inner = _number(operand, scope)
            if isinstance(inner, Constant) and isinstance(inner.value, int | float):
                return Constant(-inner.value, inner.type)  # the negation of a marked literal is marked
            return Arithmetic("-", Constant(0, "int"), inner, inner.type)
        case syntax.ArithmeticExpression(operator, left, right):
            a, b = _number(left, scope), _number(right, scope)
            return Arithmetic(operator, a, b, arithmetic_type(operator, a.type, b.type))
        case syntax.ComparisonExpression():
            return _comparison(expression, scope)
        case syntax.OneOf() | syntax.InRange():
            return resolve(written_out(expression), scope)
        case syntax.TextTest():
            return _text_test(expression, scope)
        case syntax.IsNull(operand, negated):
            test = Function(IS_NULL, (resolve(operand, scope),), "bool")
            return Negation(test) if negated else test
        case syntax.CaseExpression():
            return _case(expression, scope)
        case syntax.And(operands):
            return Conjunction(tuple(condition(o, scope) for o in operands))
        case syntax.Or(operands):
            return Disjunction(tuple(condition(o, scope) for o in operands))
        case syntax.Not(operand):
            return Negation(condition(operand, scope))
        case syntax.Call():
            return _call(expression, scope)


def _number(expression: syntax.Expression, scope: Scope) -> Term:
    term = resolve(expression, scope)
    if term.type not in ("int", "float"):
        refuse(scope.text, expression.at, f"expected a number, found a value of type {term.type}")
    return term


def type_family(type_: ValueType) -> str:
    """What a value can be compared with: a string, a bool or a number."""
    return "number" if type_ in ("int", "float") else type_


def _comparison(expression: syntax.ComparisonExpression, scope: Scope) -> Term:
    left, right = resolve(expression.left, scope), resolve(expression.right, scope)
    if TEXTS in (left.type, right.type):
        return _member(expression, left, right, scope)
    if type_family(left.type) != type_family(right.type):
        wanted = type_family(left.type)
        refuse(scope.text, expression.right.at, f"expected a {wanted} to compare with, found a {right.type}")
    if left.type == "bool" and expression.operator not in ("=", "!="):
        written = scope.text.startswith(expression.operator, expression.at)
        found = f"'{expression.operator}'" if written else "BETWEEN"
        refuse(scope.text, expression.at, f"expected '=' or '!=' between truth values, found {found}")
    return Comparison(expression.operator, left, right)


def _member(expression: syntax.ComparisonExpression, left: Term, right: Term, scope: Scope) -> Term:
    """A list of texts compared with a text: whether it is in the list."""
    operator, written = expression.operator, (expression.left, expression.right)
    if left.type != TEXTS:
        left, right, written = right, left, (expression.right, expression.left)
    if operator not in ("=", "!="):
        found = f"'{operator}'" if scope.text.startswith(operator, expression.at) else "BETWEEN"
        refuse(scope.text, expression.at, f"expected '=' or '!=' between a list and a text, found {found}")
    member = Function(MEMBER, (left, _sought(*written, right, scope)), "bool")
    return Negation(member) if operator == "!=" else member


def _sought(several: syntax.Expression, written: syntax.Expression, term: Term, scope: Scope) -> Constant:
    """What is looked for in a list."""
    if isinstance(term, Constant) and term.type == "string":
        return term
    found = print_expression(written) if term.type in ("string", TEXTS) else f"a value of type {term.type}"
    wanted = f"expected a text in quotes to look for in the list {print_expression(several)}"
    refuse(scope.text, written.at, f"{wanted}, found {found}")


def _text_test(expression: syntax.TextTest, scope: Scope) -> Term:
    operand, word = resolve(expression.operand, scope), expression.operator.upper()
    if operand.type not in ("string", TEXTS):
        found = f"found a value of type {operand.type}"
        refuse(scope.text, expression.operand.at, f"expected a string before {word}, {found}")
    patterns = dict.fromkeys([pattern.value for pattern in expression.patterns])
    tests = [Function(expression.operator, (operand, Constant(each, "string")), "bool") for each in patterns]
    any_of: Term = tests[0] if len(tests) == 1 else Disjunction(tuple(tests))
    return Negation(any_of) if expression.negated else any_of


def _case(expression: syntax.CaseExpression, scope: Scope) -> Term:
    parts: list[Term] = []
    values: list[Term] = []
    for branch in expression.branches:
        values.append(_like(branch.value, values, scope))
        parts += (condition(branch.condition, scope), values[-1])
    if expression.otherwise is not None:
        values.append(_like(expression.otherwise, values, scope))
    type_: ValueType = "float" if any(value.type == "float" for value in values) else values[0].type
    parts.append(Constant(None, type_) if expression.otherwise is None else values[-1])
    return Function(CASE, tuple(parts), type_)


def _like(expression: syntax.Expression, values: list[Term], scope: Scope) -> Term:
    """The value of a branch of CASE, which must be comparable with those of the branches before it."""
    term = _single(expression, resolve(expression, scope), "CASE", scope)
    if values and type_family(term.type) != type_family(values[0].type):
        wanted = type_family(values[0].type)
        refuse(scope.text, expression.at, f"expected a {wanted} like the first value of CASE, found a {term.type}")
    return term


def _single(expression: syntax.Expression, term: Term, where: str, scope: Scope) -> Term:
    """A value that is no list."""
    if term.type == TEXTS:
        shown = print_expression(expression)
        cased = f"; {shown} LIKE~ 'text' ignores case" if where in ("lower", "upper") else ""
        refuse(scope.text, expression.at, f"expected a single value in {where}, found the list {shown}{cased}")
    return term


def _call(expression: syntax.Call, scope: Scope) -> Term:
    name = expression.function.lower()
    function = FUNCTIONS.get(name)
    if function is None:
        refuse(scope.text, expression.at, f"unknown function {expression.function!r}{suggestion(name, FUNCTIONS)}")
    wanted, given = len(function.parameters), len(expression.arguments)
    if given < wanted or (given > wanted and not function.variadic):
        more = " or more" if function.variadic else ""
        refuse(scope.text, expression.at, f"expected {wanted}{more} arguments of {name}, found {given}")
    arguments: list[Term] = []
    for index, argument in enumerate(expression.arguments):
        term = resolve(argument, scope)
        parameter = function.parameters[min(index, wanted - 1)]
        if name in TEXT_TESTS and index == 0 and term.type == TEXTS:
            arguments.append(term)
            continue
        if arguments and arguments[0].type == TEXTS:
            arguments.append(_sought(expression.arguments[0], argument, term, scope))
            continue
        _single(argument, term, name, scope)
        if parameter != "any" and type_family(term.type) != parameter:
            refuse(scope.text, argument.at, f"expected a {parameter} as argument of {name}, found a {term.type}")
        if parameter == "any" and arguments and type_family(term.type) != type_family(arguments[0].type):
            like = f"a {type_family(arguments[0].type)} like the first argument of {name}"
            refuse(scope.text, argument.at, f"expected {like}, found a {term.type}")
        arguments.append(term)
    result: ValueType
    match function.result:
        case "argument":
            result = "float" if any(a.type == "float" for a in arguments) else arguments[0].type
        case "string" | "int" | "float" | "bool" as fixed:
            result = fixed
        case other:
            raise AssertionError(other)
    return Function(name, tuple(arguments), result)


def converted(term: Term, wanted: ValueType) -> Term | None:
    """Return the term as a value of type `wanted` (an int is accepted for a float), or None if it cannot be one."""
    if term.type == wanted:
        return term
    if wanted == "float" and term.type == "int":
        if isinstance(term, Constant) and isinstance(term.value, int):
            used(term)
            return Constant(float(term.value), "float")
        return Function("float", (term,), "float")
    return None

def partitioned_streams(
    streams: Iterable[tuple[str, int]],
    partition: Sequence[PartitionTest],
    text: str,
    schema_of: Callable[[str], Schema | None],
    known: Callable[[], list[str]],
) -> tuple[PartitionedStream, ...]:
    """The streams of a query, each once, with the positions of the attributes that partition them.

    `streams` has names and their places in the text; `schema_of` gives the schema of a stream or None, `known` the
    names for a suggestion. Raises QueryError with the place of an unknown stream, of an attribute that a stream lacks,
    of one whose types cannot be equal.
    """
    sources: dict[str, PartitionedStream] = {}
    for stream, at in streams:
        if stream in sources:
            continue
        schema = schema_of(stream)
        if schema is None:
            refuse(text, at, f"unknown stream {stream!r}{suggestion(stream, known())}")
        key = tuple(_key(test, stream, schema, text) for test in partition)
        sources[stream] = PartitionedStream(stream, schema, key)
    found = tuple(sources.values())
    for number, test in enumerate(partition):
        for source in found:
            if source.schema.attributes[source.key[number]].type == TEXTS:
                name = _named(test, source.stream)
                refuse(text, name.at, f"expected a single value to divide by, found the list {name.attribute!r}")
        first, *others = [source.schema.attributes[source.key[number]].type for source in found]
        for source, other in zip(found[1:], others):
            if type_family(other) != type_family(first):
                name = _named(test, source.stream)
                wanted = f"expected a {type_family(first)} as in {found[0].stream!r}"
                refuse(text, name.at, f"{wanted}, found {name.attribute!r} of {source.stream!r}, a {other}")
    return found


def _named(test: PartitionTest, stream: str) -> syntax.Name:
    return test if isinstance(test, syntax.Name) else test[stream]


def _key(test: PartitionTest, stream: str, schema: Schema, text: str) -> int:
    name = _named(test, stream)
    if name is not test:
        return find(schema, Side.EVENT, name, text).position
    position = schema.position(name.attribute)
    if position < 0:
        near = suggestion(name.attribute, schema.names)
        message = f"expected an attribute that every stream has, found {name.attribute!r}, which {stream!r} lacks"
        refuse(text, name.at, message + near)
    return position
