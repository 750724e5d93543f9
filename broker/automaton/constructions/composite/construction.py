"""From a composite subscription to its automaton: what its states keep, and what its arcs ask and fill.

Here: states and arcs. Not here: which states there are (exploration), what the time conditions mean (conditions), how
tuples are counted (engine).

A state is how far a match is, with the times that open conditions refer to and the variables that are bound: slots in
this order. Every state but the start keeps what it has when an arc is taken; where `,` wants the very next event of the
partition, only events of other partitions pass.
"""

from __future__ import annotations

from ....algebra.composite import Composite
from ....algebra.guard import Join
from ....algebra.normal_form import ALWAYS, Form, reordered
from ....algebra.partitioned_stream import PartitionedStream
from ....algebra.terms import Attribute, Comparison, Constant, Function, Register, Side, Term
from ...automaton import Arc, Automaton, Carry, Computed, Elapsed, EventTime, Report, SlotSource, State, Stay, TimeModel
from ...paths.compilation import explored
from ...paths.configurations import DONE
from ...paths.exploration import Exploration, Move, Place


def automaton_of_composite(composite: Composite, report: Report = Report.EACH) -> Automaton:
    """The automaton of a subscription. O(states * operands * conditions).

    Raises LimitExceeded beyond MOVES_MAX moves or LIMITS_MAX conditions, DefinitionError where no events can
    satisfy the conditions.
    """
    exploration, run_of, places, moves = explored(composite, frozenset(range(len(composite.variables))))
    waiting = [place for place in places if place.at != DONE]
    tables = _Tables(exploration, run_of, waiting)
    return Automaton(
        states=tuple(map(tables.state, waiting)),
        arcs=tuple(map(tables.arc, sorted(moves, key=lambda m: (tables.number[m.source], m.operand)))),
        schema=composite.result_schema,
        sources=(PartitionedStream(composite.stream, composite.schema, composite.partition),),
        operands=tuple(operand.name for operand in composite.operands),
        within=composite.within,
        time=TimeModel.ARRIVAL,
        report=report,
    )


class _Tables:
    def __init__(self, exploration: Exploration, run_of: dict[int, tuple[int, int]], waiting: list[Place]) -> None:
        self.exploration = exploration
        self.run_of = run_of
        self.composite = exploration.composite
        self.results = self.composite.result_schema.attributes
        self.number = {place: number for number, place in enumerate(waiting)}

    def state(self, place: Place) -> State:
        return State("", stay=Stay.ALL if self.exploration.skips(place) else Stay.FOREIGN)

    def arc(self, move: Move) -> Arc:
        source, operand, target = move
        final = target.at == DONE
        joins, rest, read = self.joined(source, operand)
        return Arc(
            source=self.number[source],
            target=len(self.number) if final else self.number[target],
            guard=self.composite.operands[operand].guard,
            update=() if final else self.update(source, target, read),
            output=self.output(source, read) if final else (),
            operand=operand,
            joins=joins,
            rest=rest,
            elapsed=self.elapsed(move),
        )

    def joined(self, source: Place, operand: int) -> tuple[tuple[Join, ...], Form, dict[int, Attribute]]:
        """What an event of the operand has to do with the variables: equalities with those that are bound, conditions
        on it alone, and the attribute that each of the others is read from."""
        joins: list[Join] = []
        atoms: list[Comparison] = []
        read: dict[int, Attribute] = {}
        for join in self.composite.operands[operand].joins:
            if join.variable in source.bound:
                joins.append(Join(join.position, self.register(source, join.variable)))
            else:
                attribute = self.attribute(join.position)
                known = read.setdefault(join.variable, attribute)
                atoms.append(Comparison("=", known, attribute))  # an attribute equals itself unless it is null
        return tuple(joins), reordered((tuple(atoms),)) if atoms else ALWAYS, read

    def attribute(self, position: int) -> Attribute:
        found = self.composite.schema.attributes[position]
        return Attribute(Side.EVENT, position, found.type, found.name, found.nullable)

    def register(self, place: Place, variable: int) -> Register:
        slot = len(self.exploration.kept(place)) + sorted(place.bound).index(variable)
        return Register(slot, -1, self.results[variable].type, self.results[variable].name)

    def update(self, source: Place, target: Place, read: dict[int, Attribute]) -> tuple[SlotSource, ...]:
        before = self.exploration.kept(source)
        times = [Carry(before.index(one)) if one in before else EventTime() for one in self.exploration.kept(target)]
        values: list[SlotSource] = [
            Carry(self.register(source, variable).slot) if variable in source.bound else Computed(read[variable])
            for variable in sorted(target.bound)
        ]
        return (*times, *values)

    def output(self, source: Place, read: dict[int, Attribute]) -> tuple[Term, ...]:
        found: list[Term] = []
        for variable, result in enumerate(self.results):
            value: Term = Constant(None, result.type)
            if variable in source.bound:
                value = self.register(source, variable)
            elif variable in read:
                value = read[variable]
            if result.type == "float" and self.mixed(variable) and not isinstance(value, Constant):
                value = Function("float", (value,), "float")
            found.append(value)
        return tuple(found)

    def mixed(self, variable: int) -> bool:
        """Whether int and float attributes share the variable."""
        joins = [join for operand in self.composite.operands for join in operand.joins]
        types = {self.attribute(join.position).type for join in joins if join.variable == variable}
        return len(types) > 1

    def elapsed(self, move: Move) -> tuple[Elapsed, ...]:
        source, operand, target = move
        kept = self.exploration.kept(source)
        far = [
            Elapsed(kept.index(one), limit.allowed, limit.text, limit.number, one)
            for limit, one in self.exploration.decided(source, operand, target.at)
        ]
        near = [
            Elapsed(self.run_of[first][1] - self.run_of[operand][1], limit.allowed, limit.text, limit.number, first)
            for limit in self.exploration.near
            for first, last in [sorted((limit.first, limit.last))]
            if operand == last
        ]
        return (*far, *near)
