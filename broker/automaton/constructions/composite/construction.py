"""Builds the automaton of a composite pattern from its machines; one path is one tuple of events.

Here: the registers of states, the conditions and updates of arcs. Not here: finding the states (exploration), the
meaning of time conditions (conditions), counting tuples (engine).

A state is a configuration with the times that open conditions refer to and the bound variables, which are its slots in
this order. A run stays in its state when it takes an arc. If `,` requires the next event of the partition, it stays
only at events of other partitions.
"""

from __future__ import annotations

from typing import Final

from ....algebra.guard import Join
from ....algebra.normal_form import ALWAYS, Form, reordered
from ....algebra.terms import Attribute, Comparison, Constant, Function, Register, Side, Term
from ...automaton import Arc, Automaton, Carry, Computed, Elapsed, EventTime, Report, SlotSource, State, Stay, TimeModel
from ...machines.tree import MachineTree
from .configurations import DONE
from .exploration import Exploration, PathMove

SKIPPING: Final = State("", stay=Stay.ALL)
ADJACENT: Final = State("", stay=Stay.FOREIGN)


def automaton_of(tree: MachineTree, report: Report = Report.EACH) -> Automaton:
    """The automaton of a pattern. O(states * operands * conditions).

    Raises LimitExceeded beyond MOVES_MAX moves or LIMITS_MAX conditions, DefinitionError if no events can satisfy the
    conditions.
    """
    exploration = Exploration(tree)
    tables = _AutomatonTables(tree, exploration)
    return Automaton(
        states=tuple([SKIPPING if exploration.skips(place) else ADJACENT for place in tables.waiting]),
        arcs=tuple([tables.arc(move) for move in exploration.moves]),
        schema=tree.results,
        sources=tree.sources,
        operands=tree.names,
        within=tree.within,
        time=TimeModel.ARRIVAL,
        report=report,
        machines=tree,
    )


class _AutomatonTables:
    """`waiting`: the places that are not final. `number`: the state of each place; all final places are one state.
    `kept` and `bound`: by place, the operands whose times it keeps, and its variables."""

    def __init__(self, tree: MachineTree, exploration: Exploration) -> None:
        self.tree = tree
        self.exploration = exploration
        self.places = exploration.places
        self.waiting = [place for place in self.places if place.at != DONE]
        number = {place: number for number, place in enumerate(self.waiting)}
        self.number = [number.get(place, len(number)) for place in self.places]
        self.kept = [exploration.kept(place) for place in self.places]
        self.bound = [sorted(place.bound) for place in self.places]

    def arc(self, move: PathMove) -> Arc:
        final = self.places[move.target].at == DONE
        joins, rest, read = self.joined(move.source, move.operand)
        return Arc(
            source=self.number[move.source],
            target=self.number[move.target],
            guard=self.tree.primitives[move.operand].guard,
            update=() if final else self.update(move, read),
            output=self.output(move.source, read) if final else (),
            stream=self.stream(move.operand),
            operand=move.operand,
            joins=joins,
            rest=rest,
            elapsed=self.elapsed(move),
        )

    def joined(self, source: int, operand: int) -> tuple[tuple[Join, ...], Form, dict[int, Attribute]]:
        """How an event of the operand relates to the variables: equalities with bound variables, conditions on the
        event alone, and the attribute that binds each of the others."""
        joins: list[Join] = []
        atoms: list[Comparison] = []
        read: dict[int, Attribute] = {}
        for position, variable in self.tree.primitives[operand].variables:
            if variable in self.places[source].bound:
                joins.append(Join(position, self.register(source, variable)))
            else:
                attribute = self.attribute(operand, position)
                known = read.setdefault(variable, attribute)
                atoms.append(Comparison("=", known, attribute))  # an attribute equals itself unless it is null
        return tuple(joins), reordered((tuple(atoms),)) if atoms else ALWAYS, read

    def stream(self, operand: int) -> str:
        """The stream of an operand's events; "" where there is but one."""
        sources = self.tree.sources
        return sources[self.tree.primitives[operand].source].stream if len(sources) > 1 else ""

    def attribute(self, operand: int, position: int) -> Attribute:
        found = self.tree.sources[self.tree.primitives[operand].source].schema.attributes[position]
        return Attribute(Side.EVENT, position, found.type, found.name, found.nullable)

    def register(self, place: int, variable: int) -> Register:
        slot = len(self.kept[place]) + self.bound[place].index(variable)
        result = self.tree.results.attributes[variable]
        return Register(slot, -1, result.type, result.name)

    def update(self, move: PathMove, read: dict[int, Attribute]) -> tuple[SlotSource, ...]:
        before = self.kept[move.source]
        found: list[SlotSource] = [
            Carry(before.index(one)) if one in before else EventTime() for one in self.kept[move.target]
        ]
        for variable in self.bound[move.target]:
            attribute = read.get(variable)
            if attribute is None:
                found.append(Carry(self.register(move.source, variable).slot))
            else:
                found.append(Computed(attribute))
        return tuple(found)

    def output(self, source: int, read: dict[int, Attribute]) -> tuple[Term, ...]:
        found: list[Term] = []
        for variable, result in enumerate(self.tree.results.attributes):
            value: Term = Constant(None, result.type)
            if variable in self.places[source].bound:
                value = self.register(source, variable)
            elif variable in read:
                value = read[variable]
            if result.type == "float" and not isinstance(value, Constant) and self.mixed(variable):
                value = Function("float", (value,), "float")
            found.append(value)
        return tuple(found)

    def mixed(self, variable: int) -> bool:
        """Whether the variable is a float and is also read from int attributes."""
        joins = [(o, *join) for o, primitive in enumerate(self.tree.primitives) for join in primitive.variables]
        return any(self.attribute(o, position).type == "int" for o, position, other in joins if other == variable)

    def elapsed(self, move: PathMove) -> tuple[Elapsed, ...]:
        kept, run_of = self.kept[move.source], self.exploration.run_of
        source, at = self.places[move.source], self.places[move.target].at
        found = [
            Elapsed(kept.index(one), limit.allowed, limit.said, limit.number, one)
            for limit, one in self.exploration.decided(source, move.operand, at)
        ]
        for limit in self.exploration.near:
            first, last = sorted((limit.first, limit.last))
            if move.operand == last:
                back = run_of[first][1] - run_of[last][1]
                found.append(Elapsed(back, limit.allowed, limit.said, limit.number, first))
        return tuple(found)
