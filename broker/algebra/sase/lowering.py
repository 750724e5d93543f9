"""SASE+ to its typed form: names become components, conditions guards on their edges (semantics 2.1-2.3).

Here: scopes and type rules, registers, what WITHIN and equivalence tests are needed for. Not here: typing of
expressions (resolution), where a condition belongs (placement), which variants a pattern has (variants), what the typed
form means (semantics).

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
from ..normal_form import ALWAYS, NEVER, Form, normalise, product, reordered
from ..partitioned_stream import PartitionedStream
from ..resolution import condition, find, partitioned_streams, refuse, resolve, type_family
from ..terms import Attribute, Comparison, Constant, Register, Side, Term, walk
from .equivalence import joining_conditions, partition_tests
from .pattern import Aggregate, Bound, Component, Negated, Pattern, Slot, Strategy, Variants
from .placement import RUNNING, GuardedEdge, GuardPlace, Variable, conjuncts, is_length, placed, refuse_running
from .variants import Absent, demanded, denied_in, names_of, places_of, variants_of


def lower(
    query: ss.SaseQuery, text: str, schema_of: Callable[[str], Schema | None], known: Callable[[], list[str]]
) -> Variants:
    """The typed form of a parsed query: a pattern, or the variants of one whose elements may be absent.

    `schema_of` gives the schema of a stream or None; `known` the names for a suggestion. Raises QueryError with the
    place of an unknown stream or attribute, of a type that does not fit, of a condition that has no place or can never
    hold, of what lacks WITHIN; LimitExceeded, also with its place, for a condition that is too large in normal form.
    """
    written = [(component.stream, component.at) for component in query.components]
    sources = partitioned_streams(written, partition_tests(query), text, schema_of, known)
    patterns = [_PatternLowering(query, text, sources, absent).pattern() for absent in variants_of(query, text)]
    # All variants see the same rows: those with times, if one of them reads times.
    seen = zip(*[pattern.sources for pattern in patterns])
    shared = tuple([replace(each[0], timed=any(source.timed for source in each)) for each in seen])
    return tuple([replace(pattern, sources=shared) for pattern in patterns])


class _PatternLowering:
    """One variant, without the variables in `absent`; those of them that are `denied` are negated."""

    def __init__(
        self, query: ss.SaseQuery, text: str, sources: tuple[PartitionedStream, ...], absent: Absent
    ) -> None:
        self.query = query
        self.text = text
        self.sources = sources
        self.absent = absent
        self.order = places_of(query)
        self.components = [c for c in query.components if c.kind != "negated" and c.variable not in absent]
        self.strategies = self._strategies()
        self.denied = denied_in(query, absent, self.strategies) if self.components else absent
        self.variables = self._variables()
        self.timed: set[int] = set()  # the sources whose times are read
        self.slots: dict[Slot, int] = {}
        self.guards: dict[GuardPlace, list[tuple[Term, Form]]] = {}

    def pattern(self) -> Pattern:
        query = self.query
        self._check_within()
        joining = joining_conditions(query, self.absent, self.denied, self.text)
        for written in (*joining, *query.conditions):
            for conjunct in conjuncts(written):
                if demanded(conjunct, self.absent, self.denied, self.variables, self.order):
                    self._place(conjunct)
        components = tuple(self._component(c, number) for number, c in enumerate(self.components))
        negated, items = self._negated(), self._items()
        return Pattern(
            sources=tuple(replace(source, timed=at in self.timed) for at, source in enumerate(self.sources)),
            names=tuple(names_of(query.components)),
            components=components,
            negated=negated,
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
            negated = component.kind == "negated" or component.variable in self.absent
            variables[component.variable] = Variable(
                counts[negated], numbers[component.stream], component.kind == "kleene", negated
            )
            counts[negated] += component.variable not in self.absent or component.variable in self.denied
        if not counts[False]:
            refuse(self.text, self.query.components[0].at, "expected a component that is not negated, found none")
        return variables

    def _strategies(self) -> dict[str, Strategy]:
        """Of the positive variables, absent ones too."""
        positive = [c for c in self.query.components if c.kind != "negated"]
        if not self.query.selections:
            return {component.variable: "skip_till_next_match" for component in positive}
        chosen = {variable: s for s in self.query.selections for variable in s.variables}
        for component in positive:
            if component.variable not in chosen:
                found = f"found none for {component.variable!r}"
                refuse(self.text, component.named_at, f"expected a strategy for every variable in WHERE, {found}")
        for selection in self.query.selections:
            if selection.strategy == "partition_contiguity" and not self.sources[0].key:
                message = "expected an equivalence test such as [name], which partition_contiguity needs, found "
                only = "only tests of some variables" if self.query.equivalence else "none"
                refuse(self.text, selection.at, message + only)
        return {component.variable: chosen[component.variable].strategy for component in positive}

    def _check_within(self) -> None:
        """WITHIN bounds whatever could wait, or multiply, without end (design 4.6)."""
        if self.query.within is not None:
            return
        for component in self.query.components:
            variable = component.variable
            if component.kind == "negated":
                if self._place_of(component) in (0, len(self.components)):
                    self._require_within(component, "a negation at the beginning or the end")
            elif self.strategies[variable] == "skip_till_any_match":
                self._require_within(component, "skip_till_any_match")
            elif self.strategies[variable] == "skip_till_next_match" and component.kind == "kleene":
                self._require_within(component, "a Kleene component under skip_till_next_match")

    def _require_within(self, component: ss.ComponentExpression, why: str) -> NoReturn:
        message = f"expected WITHIN, which {why} needs ({component.variable!r}), found none"
        refuse(self.text, component.named_at, message)

    def _place_of(self, negated: ss.ComponentExpression) -> int:
        """How many positive components stand before a negated one."""
        place = self.order[negated.variable]
        return sum(self.order[component.variable] < place for component in self.components)

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

    def _component(self, component: ss.ComponentExpression, number: int) -> Component:
        kleene = component.kind == "kleene"
        self._bound(component, number)
        return Component(
            name=component.variable,
            source=self.variables[component.variable].source,
            strategy=self.strategies[component.variable],
            begin=self._guard(GuardPlace(number, GuardedEdge.BEGIN), component.at),
            take=self._guard(GuardPlace(number, GuardedEdge.TAKE), component.at) if kleene else None,
            proceed=self._guard(GuardPlace(number, GuardedEdge.PROCEED), component.at) if kleene else None,
        )

    def _bound(self, component: ss.ComponentExpression, number: int) -> None:
        """Bound the number of events: a component that has its most takes none, one that has too few does not end."""
        bounds: list[tuple[GuardedEdge, str, int]] = []
        if component.most is not None:
            bounds.append((GuardedEdge.TAKE, "<", component.most))
        if component.least > 1:
            bounds.append((GuardedEdge.PROCEED, ">=", component.least))
        for edge, operator, bound in bounds:
            shown = f"{component.variable}.LEN"
            length = self._remembered(Aggregate(number, "len", -1, "int"), "int", shown, False)
            term = Comparison(operator, length, Constant(bound, "int"))
            self.guards.setdefault(GuardPlace(number, edge), []).append((term, normalise(term)))

    def _negated(self) -> tuple[Negated, ...]:
        found = []
        for component in self.query.components:
            variable = self.variables[component.variable]
            if component.kind == "negated" or component.variable in self.denied:
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
        alternatives = product([form for form in forms if len(form) != 1])
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

    def missing(self, member: syntax.MemberAccess) -> Constant:
        """What is read of an absent variable: no events, and no value."""
        variable = self.variables[member.variable]
        if is_length(member, variable):
            return Constant(0, "int")
        type_ = self.attribute(member, variable).type
        if member.aggregate == "count":
            return Constant(0, "int")
        return Constant(None, "float" if member.aggregate == "avg" else type_)

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
        if member.variable in self.lowering.absent:
            return self.lowering.missing(member)
        if self.lowering.variables[member.variable].negated:
            found = f"{member.variable!r}, which is negated"
            refuse(self.text, member.at, f"expected a variable that has an event, found {found}")
        if member.subscript in RUNNING:
            refuse_running(member, self.text)
        return self.lowering.register(member)
