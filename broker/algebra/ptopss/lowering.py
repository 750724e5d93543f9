"""P-ToPSS to its typed form: names become operands and variables, predicates guards (semantics 3.1).

Here: type rules, what can never hold, and what is worth a remark. Not here: typing of expressions (resolution), which
names a query uses (language), what the typed form means (semantics).

A variable has the type of its attributes. Those of type int and float may share one, since equality is that of numbers;
as a result it is a float then. Variables come in the order of the definitions, operands in the order of MATCH.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NoReturn

from ...events.errors import LimitExceeded
from ...events.event import TIME
from ...events.schema import TEXTS, Schema, ValueType
from ...language import syntax
from ...language.diagnostics import query_error
from ...language.names import SEQUENTIAL
from ...language.ptopss import syntax as cs
from ..normal_form import ALWAYS, NEVER, Form, normalise
from ..partitioned_stream import PartitionedStream
from ..resolution import condition, find, partitioned_streams, refuse, type_family
from ..structure import Both, Chain, Condition, Either, Primitive, Structure
from ..terms import Attribute, Side, Term, check_plain
from .composite import Composite
from .constant_conditions import condition_text, decided, reason_for


def lower(
    query: cs.PtopssQuery, text: str, schema_of: Callable[[str], Schema | None], known: Callable[[], list[str]]
) -> Composite:
    """The typed form of a parsed query.

    `schema_of` gives the schema of a stream or None; `known` the names for a suggestion. Raises QueryError with the
    place of an unknown stream or attribute, of a type that does not fit, of a predicate or a condition that can never
    hold; LimitExceeded, also with its place, for a predicate that is too large in normal form.
    """
    written = [(stream.name, stream.at) for stream in query.streams]
    return _CompositeLowering(text, partitioned_streams(written, query.partition, text, schema_of, known)).composite(
        query
    )


@dataclass(frozen=True, slots=True)
class _EventScope:
    """A definition's predicate: the one event of a source, its attributes by bare name, its time as `time` unless the
    stream has an attribute of that name, nothing of its duration. `timed`: the sources whose times are read."""

    text: str
    schema: Schema
    source: int
    timed: set[int]

    def name(self, name: syntax.Name) -> Term:
        return self.attribute(name)

    def attribute(self, name: syntax.Name) -> Attribute:
        if name.qualifier is not None:
            found = f"'${name.qualifier}.{name.attribute}'"
            refuse(self.text, name.at, f"expected an attribute by its bare name, found {found}; variables are $x")
        if name.attribute == TIME and self.schema.position(TIME) < 0:
            self.timed.add(self.source)
            return Attribute(Side.EVENT, len(self.schema), "int", TIME)
        hint = ""
        if "." in name.attribute:  # of users of SASE+, who write the variable before its attribute
            hint = (
                f"; not in this language: write {name.attribute.rpartition('.')[2]} = $v in both definitions to join "
                f"them; other comparisons are in language = {SEQUENTIAL!r}"
            )
        return find(self.schema, Side.EVENT, name, self.text, hint)

    def duration(self, at: int) -> NoReturn:
        refuse(self.text, at, "expected no DUR, since P-ToPSS reads the time of an event alone, as 'time'")


class _CompositeLowering:
    def __init__(self, text: str, sources: tuple[PartitionedStream, ...]) -> None:
        self.text = text
        self.sources = sources
        self.timed: set[int] = set()
        self.variables: dict[str, int] = {}
        self.types: list[tuple[ValueType, str]] = []  # of each variable: its type so far, and an attribute of that type

    def composite(self, query: cs.PtopssQuery) -> Composite:
        defined = {name: primitive for each in query.definitions for name, primitive in self.primitives(each)}
        names = [primitive.name for primitive in cs.primitives(query.pattern)]
        index = {name: number for number, name in enumerate(names)}
        structure = _structure(query.pattern, index)
        conditions = []
        for written in cs.conditions(query.pattern):
            first, second = index[written.minuend.name], index[written.subtrahend.name]
            time = Condition(first, second, written.operator, written.duration)
            if decided(structure, time, query.within) is False:
                check_plain(time.duration)
                check_plain(query.within)
                found = f"{condition_text(time, names)}: {reason_for(structure, time, query.within, names)}"
                refuse(self.text, written.at, f"expected a condition that can hold, found {found}")
            conditions.append(time)
        return Composite(
            sources=tuple(replace(source, timed=at in self.timed) for at, source in enumerate(self.sources)),
            names=tuple(names),
            primitives=tuple(defined[name] for name in names),
            variables=tuple(self.variables),
            structure=structure,
            conditions=tuple(conditions),
            within=query.within,
            publish=query.publish,
        )

    def primitives(self, definition: cs.Definition) -> Iterator[tuple[str, Primitive]]:
        names = [source.stream for source in self.sources]
        source = 0 if definition.stream is None else names.index(definition.stream.name)
        scope = _EventScope(self.text, self.sources[source].schema, source, self.timed)
        variables = tuple(sorted({self.join(join, scope) for join in definition.joins}))
        guard = ALWAYS if definition.predicate is None else self.guard(definition.predicate, scope)
        for written in definition.names:
            yield written.name, Primitive(guard, variables, source)

    def guard(self, predicate: syntax.Expression, scope: _EventScope) -> Form:
        term = condition(predicate, scope)
        try:
            form = normalise(term)
        except LimitExceeded as error:
            raise LimitExceeded(str(query_error(self.text, predicate.at, str(error)))) from None
        if form == NEVER:
            refuse(self.text, predicate.at, "expected a predicate that can hold, found one that is always false")
        return form

    def join(self, join: cs.JoinExpression, scope: _EventScope) -> tuple[int, int]:
        """The position of the attribute, and the variable."""
        attribute = scope.attribute(join.attribute)
        if attribute.type == TEXTS:
            name = join.attribute.attribute
            refuse(
                self.text, join.attribute.at, f"expected a single value for '${join.variable}', found the list {name!r}"
            )
        if join.variable not in self.variables:
            self.types.append((attribute.type, join.attribute.attribute))
        variable = self.variables.setdefault(join.variable, len(self.variables))
        type_, like = self.types[variable]
        if type_family(type_) != type_family(attribute.type):
            wanted = f"expected a {type_family(type_)} for '${join.variable}', which {like!r} is"
            refuse(self.text, join.attribute.at, f"{wanted}, found {join.attribute.attribute!r}, a {attribute.type}")
        return attribute.position, variable


def _structure(pattern: cs.Pattern, index: dict[str, int]) -> Structure:
    match pattern:
        case cs.PrimitiveDeclaration(name):
            return index[name]
        case cs.Timed(part):
            return _structure(part, index)
        case cs.SequenceExpression(parts, separators):
            return Chain(tuple(_structure(part, index) for part in parts), separators)
        case cs.BothExpression(parts):
            return Both(tuple(_structure(part, index) for part in parts))
        case cs.EitherExpression(parts):
            return Either(tuple(_structure(part, index) for part in parts))
