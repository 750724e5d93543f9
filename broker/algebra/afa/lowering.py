"""AFA to its typed form: names become states and registers, predicates conditions on arcs (semantics 4.1).

Here: type rules, which arcs a line of the text stands for, and cycles that never take an event. Not here: typing of
expressions (resolution), which arcs belong to which states (language), what the typed form means (semantics).

A bare name is an attribute of the arc's event or a register; no name may be both. Over several streams an arc without
ON is an arc for each of them, so that all must have the attributes that it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from ...events.event import TIME
from ...events.nearest import suggestion
from ...events.schema import Attribute as SchemaAttribute
from ...events.schema import Row, Schema, Value, ValueType
from ...language import syntax
from ...language.afa import syntax as afa
from ..partitioned_stream import PartitionedStream
from ..resolution import condition, partitioned_streams, refuse, resolve
from ..semantics import Environment, Occurrence, value
from ..terms import TRUE, Attribute, Side, Term, nullable
from .register_automaton import RegisterArc, RegisterAutomaton


def lower(
    query: afa.AfaQuery, text: str, schema_of: Callable[[str], Schema | None], known: Callable[[], list[str]]
) -> RegisterAutomaton:
    """The typed form of a parsed query.

    `schema_of` gives the schema of a stream or None; `known` the names for a suggestion. Raises QueryError with the
    place of an unknown stream, attribute or register, of a type that does not fit, of a cycle of `~>` that changes
    nothing.
    """
    written = [(stream.name, stream.at) for stream in query.streams]
    sources = partitioned_streams(written, query.partition, text, schema_of, known)
    registers = _declared(query.registers, sources, text)
    names = [query.start.name, *(state.name for arc in query.arcs for state in (arc.source, arc.target))]
    states = tuple(dict.fromkeys(names))
    scope = _ArcScope(text, sources, registers, states, set())
    arcs = tuple(one for arc in query.arcs for one in scope.arcs(arc))
    sources = tuple(replace(source, timed=at in scope.timed) for at, source in enumerate(sources))
    _check_progress(query.arcs, text)
    nullables = {at for arc in arcs for at, term in enumerate(arc.updates) if nullable(term)}
    attributes = enumerate(registers.attributes)
    schema = Schema(tuple(SchemaAttribute(a.name, a.type, at in nullables) for at, a in attributes))
    finals = frozenset(states.index(state.name) for state in query.finals)
    initial = _initial(query.registers, text)
    return RegisterAutomaton(sources, schema, initial, states, 0, finals, arcs, query.within, query.publish)


def lower_arcs(automaton: RegisterAutomaton, arc: afa.ArcExpression, text: str) -> tuple[RegisterArc, ...]:
    """The arcs that one line stands for, which an update inserts. Raises QueryError as `lower` does, for a state that
    the automaton does not have, and for a time if the automaton reads none."""
    known = {at for at, source in enumerate(automaton.sources) if source.timed}
    scope = _ArcScope(text, automaton.sources, automaton.registers, automaton.states, set(known))
    arcs = scope.arcs(arc)
    if scope.timed != known:
        refuse(text, arc.at, "expected no time of an event, since the text that is updated reads none")
    return arcs


@dataclass(frozen=True, slots=True)
class _ArcScope:
    """What the names on arcs can mean. `timed`: the sources whose times they read."""

    text: str
    sources: tuple[PartitionedStream, ...]
    registers: Schema
    states: tuple[str, ...]
    timed: set[int]

    def arcs(self, arc: afa.ArcExpression) -> tuple[RegisterArc, ...]:
        """One for each stream whose events the arc takes; one if it takes none."""
        if not arc.takes:
            return (self._arc(arc, -1),)
        return tuple(self._arc(arc, stream) for stream in self._streams(arc))

    def _streams(self, arc: afa.ArcExpression) -> Sequence[int]:
        names = [source.stream for source in self.sources]
        if arc.stream is None:
            return range(len(names))
        if arc.stream.name not in names:
            hint = suggestion(arc.stream.name, names)
            refuse(self.text, arc.stream.at, f"expected a stream of FROM, found {arc.stream.name!r}{hint}")
        return [names.index(arc.stream.name)]

    def _arc(self, arc: afa.ArcExpression, stream: int) -> RegisterArc:
        every = arc.stream is None and len(self.sources) > 1
        taken = self.sources[stream] if stream >= 0 else None
        scope = _TermScope(self.text, taken, self.registers, every, stream, self.timed)
        holds = TRUE if arc.condition is None else condition(arc.condition, scope)
        source, target = self._state(arc.source), self._state(arc.target)
        return RegisterArc(arc.name or "", source, target, stream, holds, self._updates(arc, scope))

    def _state(self, state: afa.Label) -> int:
        if state.name not in self.states:
            hint = suggestion(state.name, self.states)
            refuse(self.text, state.at, f"expected a state of the subscription, found {state.name!r}{hint}")
        return self.states.index(state.name)

    def _updates(self, arc: afa.ArcExpression, scope: _TermScope) -> tuple[Term, ...]:
        if not arc.assignments:
            return ()
        updates: list[Term] = [_register(self.registers, at) for at in range(len(self.registers))]
        for assignment in arc.assignments:
            at = self.registers.position(assignment.register)
            if at < 0:
                hint = suggestion(assignment.register, self.registers.names)
                refuse(self.text, assignment.at, f"expected a register, found {assignment.register!r}{hint}")
            updates[at] = _typed(assignment.value, scope, self.registers.attributes[at])
        return tuple(updates)


@dataclass(frozen=True, slots=True)
class _TermScope:
    """The names in one condition or update: `source`, whose number is `stream`, is None on an arc that takes no event;
    `every`: the arc takes the events of all streams. `time` is the time of the event, unless a register or an attribute
    has that name; then the source is one of the `timed`."""

    text: str
    source: PartitionedStream | None
    registers: Schema
    every: bool
    stream: int
    timed: set[int]

    def name(self, name: syntax.Name) -> Term:
        if name.qualifier is not None:
            found = f"'${name.qualifier}.{name.attribute}'"
            refuse(self.text, name.at, f"expected an attribute or a register by its bare name, found {found}")
        at = self.registers.position(name.attribute)
        if at >= 0:
            return _register(self.registers, at)
        if self.source is None:
            hint = suggestion(name.attribute, self.registers.names)
            found = f"found {name.attribute!r}{hint}"
            refuse(
                self.text,
                name.at,
                f"expected a register, since '~>' takes no event whose attributes it could read, {found}",
            )
        schema = self.source.schema
        position = schema.position(name.attribute)
        if position < 0 and name.attribute == TIME:
            self.timed.add(self.stream)
            return Attribute(Side.EVENT, len(schema), "int", TIME)
        if position < 0:
            hint = suggestion(name.attribute, (*schema.names, *self.registers.names))
            lacking = f" in {self.source.stream!r}" if self.every else ""
            refuse(self.text, name.at, f"unknown attribute or register {name.attribute!r}{lacking}{hint}")
        found_attribute = schema.attributes[position]
        return Attribute(Side.EVENT, position, found_attribute.type, found_attribute.name, found_attribute.nullable)

    def duration(self, at: int) -> NoReturn:
        refuse(self.text, at, "expected no DUR, since AFA reads the time of an event alone, as 'time'")


@dataclass(frozen=True, slots=True)
class _ConstantScope:
    """The initial value of a register: it reads nothing."""

    text: str

    def name(self, name: syntax.Name) -> NoReturn:
        refuse(self.text, name.at, f"expected a constant as the initial value of a register, found {name.attribute!r}")

    def duration(self, at: int) -> NoReturn:
        refuse(self.text, at, "expected a constant as the initial value of a register, found 'DUR'")


def _register(registers: Schema, at: int) -> Attribute:
    attribute = registers.attributes[at]
    return Attribute(Side.LAST, at, attribute.type, attribute.name, True)


def _declared(written: Sequence[afa.RegisterDeclaration], sources: Sequence[PartitionedStream], text: str) -> Schema:
    for register in written:
        for source in sources:
            if source.schema.position(register.name) >= 0:
                message = f"expected a name that is no attribute of {source.stream!r}, found {register.name!r}"
                refuse(text, register.at, message)
    return Schema(tuple(SchemaAttribute(register.name, register.type, True) for register in written))


def _initial(written: Sequence[afa.RegisterDeclaration], text: str) -> Row:
    nothing = Environment(Occurrence((), 0, 0, ()))
    values: list[Value] = []
    for register in written:
        term = _typed(register.initial, _ConstantScope(text), SchemaAttribute(register.name, register.type))
        found = value(term, nothing)
        values.append(float(found) if register.type == "float" and isinstance(found, int) else found)
    return tuple(values)


def _typed(expression: syntax.Expression, scope: _TermScope | _ConstantScope, register: SchemaAttribute) -> Term:
    """A term for a register. Raises QueryError at the expression if it has another type."""
    term = resolve(expression, scope)
    if term.type != register.type and not (term.type == "int" and register.type == "float"):
        wanted: ValueType = register.type
        message = f"expected a value of type {wanted} for {register.name!r}, found one of type {term.type}"
        refuse(scope.text, expression.at, message)
    return term


def _check_progress(arcs: Sequence[afa.ArcExpression], text: str) -> None:
    """Refuse a cycle of `~>` none of whose arcs sets a register: a run in it would never come to an end."""
    after: dict[str, list[afa.ArcExpression]] = {}
    for arc in arcs:
        if not arc.takes and not arc.assignments:
            after.setdefault(arc.source.name, []).append(arc)
    for first in [arc for own in after.values() for arc in own]:
        waiting, known = [first.target.name], {first.target.name}
        while waiting:
            state = waiting.pop()
            if state == first.source.name:
                refuse(text, first.at, f"expected every cycle of '~>' to set a register, found one through {state!r}")
            for arc in after.get(state, []):
                if arc.target.name not in known:
                    known.add(arc.target.name)
                    waiting.append(arc.target.name)
