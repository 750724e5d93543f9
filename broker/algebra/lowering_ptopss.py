"""P-ToPSS to its typed form: names become operands and variables, predicates guards (semantics 3.1).

Here: type rules, what can never hold, and what is worth a remark. Not here: typing of expressions (resolution), which
names a query uses (language), what the typed form means (semantics_ptopss).

A variable has the type of its attributes. Those of type int and float may share one, since equality is that of numbers;
as a result it is a float then. Variables come in the order of the definitions, operands in the order of MATCH.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import NoReturn

from ..events.errors import LimitExceeded
from ..events.instant import format_duration
from ..events.nearest import suggestion
from ..events.schema import Schema, ValueType
from ..language import ptopss_syntax as cs
from ..language import syntax
from ..language.diagnostics import query_error
from .composite import Both, Chain, Composite, Condition, Either, Join, Leaf, Operand, Structure, order
from .normal_form import ALWAYS, NEVER, Form, normalise
from .resolution import condition, find, refuse
from .terms import Side, Term


def lower(
    query: cs.Query, text: str, schema_of: Callable[[str], Schema | None], known: Callable[[], list[str]]
) -> Composite:
    """The typed form of a parsed query.

    `schema_of` gives the schema of a stream or None; `known` the names for a suggestion. Raises QueryError with the
    place of an unknown stream or attribute, of a type that does not fit, of a predicate or a condition that can never
    hold; LimitExceeded, also with its place, for a predicate that is too large in normal form.
    """
    schema = schema_of(query.stream)
    if schema is None:
        refuse(text, query.at, f"unknown stream {query.stream!r}{suggestion(query.stream, known())}")
    return _Lowering(text, schema).composite(query)


def remarks(composite: Composite) -> list[str]:
    """What is legal but says nothing, a line each: conditions that always hold, in the order of the text."""
    names = [operand.name for operand in composite.operands]
    return [
        f"{_shown(time, names)} always holds: {_reason(composite.structure, time, composite.within, names)}"
        for time in composite.conditions
        if _decided(composite.structure, time, composite.within)
    ]


@dataclass(frozen=True, slots=True)
class _EventScope:
    """A definition's predicate: the one event, its attributes by bare name, nothing of its duration."""

    text: str
    schema: Schema

    def name(self, name: syntax.Name) -> Term:
        if name.qualifier is not None:
            found = f"'${name.qualifier}.{name.attribute}'"
            refuse(self.text, name.at, f"expected an attribute by its bare name, found {found}; variables are $x")
        return find(self.schema, Side.EVENT, name, self.text)

    def duration(self, at: int) -> NoReturn:
        refuse(self.text, at, "expected no DUR, since P-ToPSS reads the time of an event alone")


class _Lowering:
    def __init__(self, text: str, schema: Schema) -> None:
        self.text = text
        self.schema = schema
        self.variables: dict[str, int] = {}
        self.types: list[tuple[ValueType, str]] = []  # of each variable: its type so far, and an attribute of that type

    def composite(self, query: cs.Query) -> Composite:
        partition = tuple(find(self.schema, Side.EVENT, name, self.text).position for name in query.partition)
        defined = {operand.name: operand for d in query.definitions for operand in self.operands(d)}
        names = [primitive.name for primitive in cs.primitives(query.pattern)]
        index = {name: number for number, name in enumerate(names)}
        structure = _structure(query.pattern, index)
        conditions = []
        for written in cs.conditions(query.pattern):
            first, second = index[written.minuend.name], index[written.subtrahend.name]
            time = Condition(first, second, written.operator, written.duration)
            if _decided(structure, time, query.within) is False:
                found = f"{_shown(time, names)}: {_reason(structure, time, query.within, names)}"
                refuse(self.text, written.at, f"expected a condition that can hold, found {found}")
            conditions.append(time)
        return Composite(
            stream=query.stream,
            schema=self.schema,
            partition=partition,
            operands=tuple(defined[name] for name in names),
            variables=tuple(self.variables),
            structure=structure,
            conditions=tuple(conditions),
            within=query.within,
            publish=query.publish,
        )

    def operands(self, definition: cs.Definition) -> Iterator[Operand]:
        joins = {self.join(join) for join in definition.joins}
        ordered = tuple(sorted(joins, key=lambda join: (join.position, join.variable)))
        guard = ALWAYS if definition.predicate is None else self.guard(definition.predicate)
        for primitive in definition.names:
            yield Operand(primitive.name, guard, ordered)

    def guard(self, predicate: syntax.Expression) -> Form:
        term = condition(predicate, _EventScope(self.text, self.schema))
        try:
            form = normalise(term)
        except LimitExceeded as error:
            raise LimitExceeded(str(query_error(self.text, predicate.at, str(error)))) from None
        if form == NEVER:
            refuse(self.text, predicate.at, "expected a predicate that can hold, found one that is always false")
        return form

    def join(self, join: cs.Join) -> Join:
        attribute = _EventScope(self.text, self.schema).name(join.attribute)
        position = self.schema.position(join.attribute.attribute)
        if join.variable not in self.variables:
            self.types.append((attribute.type, join.attribute.attribute))
        variable = self.variables.setdefault(join.variable, len(self.variables))
        type_, like = self.types[variable]
        if _family(type_) != _family(attribute.type):
            wanted = f"expected a {_family(type_)} for '${join.variable}', which {like!r} is"
            refuse(self.text, join.attribute.at, f"{wanted}, found {join.attribute.attribute!r}, a {attribute.type}")
        return Join(position, variable)


def _family(type_: ValueType) -> str:
    return "number" if type_ in ("int", "float") else type_


def _structure(pattern: cs.Pattern, index: dict[str, int]) -> Structure:
    match pattern:
        case cs.Primitive(name):
            return Leaf(index[name])
        case cs.Timed(part):
            return _structure(part, index)
        case cs.Chain(parts, separators):
            return Chain(tuple(_structure(part, index) for part in parts), separators)
        case cs.Both(parts):
            return Both(tuple(_structure(part, index) for part in parts))
        case cs.Either(parts):
            return Either(tuple(_structure(part, index) for part in parts))


def _range(structure: Structure, time: Condition, within: int | None) -> tuple[float, float]:
    """The least and the greatest difference that the condition can meet, whatever the events; ties exist."""
    longest = inf if within is None else within
    if time.minuend < time.subtrahend and order(structure, time.minuend, time.subtrahend) == "ordered":
        return -longest, 0
    return 0, longest


def _decided(structure: Structure, time: Condition, within: int | None) -> bool | None:
    """Whether a condition holds for all events, True, or for none, False. Where it depends on them, None."""
    if order(structure, time.minuend, time.subtrahend) == "exclusive":
        return True
    low, high = _range(structure, time, within)
    duration = time.duration
    match time.operator:
        case "<":
            return _unanimous(high < duration, low >= duration)
        case "<=":
            return _unanimous(high <= duration, low > duration)
        case ">":
            return _unanimous(low > duration, high <= duration)
        case ">=":
            return _unanimous(low >= duration, high < duration)
        case "=":
            return _unanimous(low == high == duration, not low <= duration <= high)
        case _:
            return _unanimous(not low <= duration <= high, low == high == duration)


def _unanimous(always: bool, never: bool) -> bool | None:
    return always if always or never else None


def _shown(time: Condition, names: list[str]) -> str:
    difference = f"t({names[time.minuend]}) - t({names[time.subtrahend]})"
    return f"{difference} {time.operator} {format_duration(time.duration)}"


def _reason(structure: Structure, time: Condition, within: int | None, names: list[str]) -> str:
    first, second = (names[operand] for operand in sorted((time.minuend, time.subtrahend)))
    match order(structure, time.minuend, time.subtrahend):
        case "exclusive":
            return f"no match has both {first} and {second}"
        case "ordered":
            why = f"{first} comes before {second}"
        case "unordered":
            why = f"{first} and {second} have no order, which makes the difference absolute"
    low, high = _range(structure, time, within)
    bounds = [f"at least {_signed(low)}"] if low > -inf else []
    bounds += [f"at most {_signed(high)}"] if high < inf else []
    return f"{why}, so it is {' and '.join(bounds)}"


def _signed(duration: float) -> str:
    return f"{'-' if duration < 0 else ''}{format_duration(abs(int(duration)))}"
