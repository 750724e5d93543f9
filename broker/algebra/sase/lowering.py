"""SASE+ to its typed form: names become components, conditions guards on their edges (semantics 2.1-2.3).

Here: scopes and type rules, registers, what WITHIN and equivalence tests are needed for. Not here: typing of
expressions (resolution), where a condition belongs (placement), what the typed form means (semantics).

A query without WHERE skips till the next match. Where there is a WHERE, each positive variable has a strategy in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

from ...events.errors import LimitExceeded
from ...events.event import TIME
from ...events.schema import Schema, ValueType
from ...language import syntax
from ...language.diagnostics import query_error
from ...language.printing import print_expression
from ...language.sase import syntax as ss
from ..guard import Accumulation, Guard, Join
from ..naming import generated
from ..normal_form import ALWAYS, CLAUSES_MAX, NEVER, Clause, Form, normalise, reordered
from ..resolution import condition, find, partitioned_streams, refuse, resolve, type_family
from ..terms import Attribute, Comparison, Register, Side, Term, walk
from .pattern import Aggregate, Bound, Component, Negated, Pattern, Slot, Strategy
from .placement import RUNNING, GuardedEdge, GuardPlace, Variable, conjuncts, is_length, placed, refuse_running


def lower(
    query: ss.SaseQuery, text: str, schema_of: Callable[[str], Schema | None], known: Callable[[], list[str]]
) -> Pattern:
    """The typed form of a parsed query.

    `schema_of` gives the schema of a stream or None; `known` the names for a suggestion. Raises QueryError with the
    place of an unknown stream or attribute, of a type that does not fit, of a condition that has no place or can never
    hold, of what lacks WITHIN; LimitExceeded, also with its place, for a condition that is too large in normal form.
    """
    return _PatternLowering(query, text, schema_of, known).pattern()


class _PatternLowering:
    def __init__(
        self, query: ss.SaseQuery, text: str, schema_of: Callable[[str], Schema | None], known: Callable[[], list[str]]
    ) -> None:
        self.query = query
        self.text = text
        written = [(component.stream, component.at) for component in query.components]
        self.sources = partitioned_streams(written, query.equivalence, text, schema_of, known)
        self.variables = self._variables()
        self.timed: set[int] = set()  # the sources whose times are read
        self.slots: dict[Slot, int] = {}
        self.guards: dict[GuardPlace, list[tuple[Term, Form]]] = {}

    def pattern(self) -> Pattern:
        query = self.query
        strategies = self._strategies()
        self._check_within(strategies)
        for written in query.conditions:
            for conjunct in conjuncts(written, self.text):
                self._place(conjunct)
        positive = [c for c in query.components if c.kind != "negated"]
        items = self._items()
        return Pattern(
            sources=tuple(replace(source, timed=at in self.timed) for at, source in enumerate(self.sources)),
            partition=tuple(name.attribute for name in query.equivalence),
            components=tuple(self._component(c, number, strategies) for number, c in enumerate(positive)),
            negated=self._negated(),
            items=items,
            slots=tuple(self.slots),
            within=query.within,
            output=query.output,
            publish=query.publish,
        )

    def _variables(self) -> dict[str, Variable]:
        numbers = {source.stream: number for number, source in enumerate(self.sources)}
        variables: dict[str, Variable] = {}
        counts = [0, 0]
        for component in self.query.components:
            negated = component.kind == "negated"
            variables[component.variable] = Variable(
                counts[negated], numbers[component.stream], component.kind == "kleene", negated
            )
            counts[negated] += 1
        if not counts[False]:
            refuse(self.text, self.query.components[0].at, "expected a component that is not negated, found none")
        return variables

    def _strategies(self) -> list[Strategy]:
        """Of the positive components."""
        positive = [c for c in self.query.components if c.kind != "negated"]
        if not self.query.selections:
            return ["skip_till_next_match"] * len(positive)
        chosen = {variable: s for s in self.query.selections for variable in s.variables}
        for component in positive:
            if component.variable not in chosen:
                found = f"found none for {component.variable!r}"
                refuse(self.text, component.named_at, f"expected a strategy for every variable in WHERE, {found}")
        for selection in self.query.selections:
            if selection.strategy == "partition_contiguity" and not self.query.equivalence:
                message = "expected an equivalence test such as [name], which partition_contiguity needs, found none"
                refuse(self.text, selection.at, message)
        return [chosen[component.variable].strategy for component in positive]

    def _check_within(self, strategies: list[Strategy]) -> None:
        """WITHIN bounds whatever could wait, or multiply, without end (design 4.6)."""
        if self.query.within is not None:
            return
        for component in self.query.components:
            variable = self.variables[component.variable]
            if variable.negated:
                if self._place_of(component) in (0, len(strategies)):
                    self._require_within(component, "a negation at the beginning or the end")
            elif strategies[variable.index] == "skip_till_any_match":
                self._require_within(component, "skip_till_any_match")
            elif strategies[variable.index] == "skip_till_next_match" and variable.kleene:
                self._require_within(component, "a Kleene component under skip_till_next_match")

    def _require_within(self, component: ss.ComponentExpression, why: str) -> NoReturn:
        message = f"expected WITHIN, which {why} needs ({component.variable!r}), found none"
        refuse(self.text, component.named_at, message)

    def _place_of(self, negated: ss.ComponentExpression) -> int:
        """How many positive components stand before a negated one."""
        before = self.query.components[: self.query.components.index(negated)]
        return sum(component.kind != "negated" for component in before)

    def _place(self, conjunct: syntax.Expression) -> None:
        place = placed(conjunct, self.variables, self.text)
        term = condition(conjunct, _ConditionScope(self, place))
        try:
            form = normalise(term)
        except LimitExceeded as error:
            raise LimitExceeded(str(query_error(self.text, conjunct.at, str(error)))) from None
        if form == NEVER:
            refuse(self.text, conjunct.at, "expected a condition that can hold, found one that is always false")
        if form != ALWAYS and place is not None:
            self.guards.setdefault(place, []).append((term, form))

    def _component(self, component: ss.ComponentExpression, number: int, strategies: list[Strategy]) -> Component:
        kleene = component.kind == "kleene"
        return Component(
            name=component.variable,
            source=self.variables[component.variable].source,
            strategy=strategies[number],
            begin=self._guard(GuardPlace(number, GuardedEdge.BEGIN), component.at),
            take=self._guard(GuardPlace(number, GuardedEdge.TAKE), component.at) if kleene else None,
            proceed=self._guard(GuardPlace(number, GuardedEdge.PROCEED), component.at) if kleene else None,
        )

    def _negated(self) -> tuple[Negated, ...]:
        found = []
        for component in self.query.components:
            variable = self.variables[component.variable]
            if variable.negated:
                guard = self._guard(GuardPlace(variable.index, GuardedEdge.BEGIN, True), component.at)
                found.append(Negated(component.variable, variable.source, self._place_of(component), guard))
        return tuple(found)

    def _guard(self, place: GuardPlace, at: int) -> Guard:
        static: list[Form] = []
        residual: list[Form] = []
        joins: list[Join] = []
        terms = self.guards.get(place, [])
        slots = tuple(self.slots)
        for term, form in terms:
            match form:
                case ((Comparison("=", Attribute(Side.EVENT, position), Register() as register),),) if isinstance(
                    slots[register.slot], Bound
                ):
                    joins.append(Join(position, register))
                case _:
                    reads = any(isinstance(part, Register) for part in walk(term))
                    (residual if reads else static).append(form)
        unique = tuple(dict.fromkeys(joins))
        return Guard(tuple(term for term, _ in terms), self._form(static, at), unique, self._form(residual, at))

    def _form(self, forms: list[Form], at: int) -> Form:
        """The conjunction of canonical forms, what is the same in all alternatives put into them once."""
        alternatives: list[Clause] = [()]
        for form in forms:
            if len(form) > 1:
                alternatives = [one + other for one in alternatives for other in form]
            if len(alternatives) > CLAUSES_MAX and len(forms) > 1:
                message = f"conditions have more than {CLAUSES_MAX} alternatives once their ORs are multiplied out"
                raise LimitExceeded(str(query_error(self.text, at, message)))
        everywhere = tuple(atom for form in forms if len(form) == 1 for atom in form[0])
        return reordered(tuple(one + everywhere for one in alternatives))

    def _items(self) -> tuple[tuple[str, Term], ...]:
        scope = _ResultScope(self)
        columns: list[tuple[str | None, int, Term]] = []
        for item in self.query.items:
            name = item.alias
            if name is None and isinstance(item.expression, syntax.MemberAccess) and item.expression.aggregate is None:
                name = item.expression.attribute
            columns.append((name, item.at, resolve(item.expression, scope)))
        taken: set[str] = set()
        for name, at, _ in columns:
            if name in taken:
                refuse(self.text, at, f"expected each name once, found {name!r} twice; rename one with AS")
            if name is not None:
                taken.add(name)
        return tuple(
            (generated(f"column_{number}", taken) if name is None else name, term)
            for number, (name, _, term) in enumerate(columns, 1)
        )

    def register(self, member: syntax.MemberAccess) -> Register:
        """What a run remembers of a variable."""
        variable = self.variables[member.variable]
        shown = print_expression(member)
        if is_length(member, variable):
            return self._remembered(Aggregate(variable.index, "len", -1, "int"), "int", shown, False)
        found = self.attribute(member, variable)
        match member.aggregate:
            case None:
                slot = Bound(variable.index, member.subscript in ("LEN", "i-1"))
            case "first" | "last":
                slot = Bound(variable.index, member.aggregate == "last")
            case "count":
                position = found.position if found.nullable else -1
                function: Accumulation = "count" if found.nullable else "len"
                return self._remembered(Aggregate(variable.index, function, position, "int"), "int", shown, False)
            case "avg" | "sum" | "min" | "max" as function:
                if type_family(found.type) != "number":
                    refuse(self.text, member.at, f"expected a number in {function}, found a {found.type}")
                type_: ValueType = "float" if function == "avg" else found.type
                null = found.nullable or function in ("avg", "sum")  # a sum may leave the numbers
                return self._remembered(Aggregate(variable.index, function, found.position, type_), type_, shown, null)
            case other:
                raise AssertionError(other)
        number = self.slots.setdefault(slot, len(self.slots))
        return Register(number, found.position, found.type, shown, found.nullable)

    def _remembered(self, slot: Aggregate, type_: ValueType, shown: str, null: bool) -> Register:
        return Register(self.slots.setdefault(slot, len(self.slots)), -1, type_, shown, null)

    def attribute(self, member: syntax.MemberAccess, variable: Variable) -> Attribute:
        """The attribute of the event that is read now; its time is one behind those of the schema."""
        name = syntax.Name(None, member.attribute, member.at)
        schema = self.sources[variable.source].schema
        if member.attribute == TIME and schema.position(TIME) < 0:
            self.timed.add(variable.source)
            return Attribute(Side.EVENT, len(schema), "int", print_expression(member))
        found = find(schema, Side.EVENT, name, self.text)
        return Attribute(Side.EVENT, found.position, found.type, print_expression(member), found.nullable)


@dataclass(frozen=True, slots=True)
class _VariableScope:
    """Attributes of variables only."""

    lowering: _PatternLowering

    @property
    def text(self) -> str:
        return self.lowering.text

    def name(self, name: syntax.Name) -> NoReturn:
        variable = next(iter(self.lowering.variables))
        found = name.attribute if name.qualifier is None else f"${name.qualifier}.{name.attribute}"
        example = f"such as {variable}.{name.attribute}"
        refuse(self.text, name.at, f"expected an attribute of a variable, {example}, found '{found}'")

    def duration(self, at: int) -> NoReturn:
        refuse(self.text, at, "expected no DUR, since SASE+ bounds the time of a match by WITHIN")


@dataclass(frozen=True, slots=True)
class _ConditionScope(_VariableScope):
    """One conjunct, at the place where it is tested: the current event, and what came before."""

    place: GuardPlace | None

    def member(self, member: syntax.MemberAccess) -> Term:
        variable, place = self.lowering.variables[member.variable], self.place
        if place is not None and (variable.index, variable.negated) == (place.component, place.negated):
            current = "i" if place.edge == GuardedEdge.TAKE else None if not variable.kleene else "1"
            if place.edge != GuardedEdge.PROCEED and member.subscript == current:
                return self.lowering.attribute(member, variable)
        return self.lowering.register(member)


@dataclass(frozen=True, slots=True)
class _ResultScope(_VariableScope):
    """RETURN: the whole match."""

    def member(self, member: syntax.MemberAccess) -> Term:
        if self.lowering.variables[member.variable].negated:
            found = f"{member.variable!r}, which is negated"
            refuse(self.text, member.at, f"expected a variable that has an event, found {found}")
        if member.subscript in RUNNING:
            refuse_running(member, self.text)
        return self.lowering.register(member)
