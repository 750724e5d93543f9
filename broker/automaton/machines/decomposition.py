"""From a composite subscription to its machines: the master, child state machines, Boolean machines (P-ToPSS 4.2).

Here: which part of the expression is which machine, who triggers whom, and where each time condition is tested (table
3). Not here: what one machine is, merging, drawing. The decomposition is how a pattern is explained and how forecasts
combine; matching runs the paths of the whole expression, which have the triggers in them.

A sequence within a sequence is the same with and without its parentheses, so that it is one machine; a tree of AND and
OR is a machine a gate. A machine that matches is a symbol of its parent: X, Y, Z, ... from the inside out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, count
from typing import Final, TypeAlias, final

from ...algebra.composite import Both, Chain, Composite, Condition, Either, Join, Leaf, Structure
from ...algebra.functions import MIRRORED
from ...algebra.normal_form import ALWAYS, Form, describe_form
from ...events.instant import format_duration
from .boolean_machine import BooleanMachine, Gate
from .state_machine import Address, Case, StateMachine, Symbol, TimeCondition, build_state_machine

MASTER: Final = "master"
_LETTERS: Final = ("X", "Y", "Z", "U", "V", "W")  # the first four as in figure 5

Body: TypeAlias = StateMachine | BooleanMachine


@final
@dataclass(frozen=True, slots=True)
class Primitive:
    """What triggers a primitive symbol: the operand without its name."""

    guard: Form
    joins: tuple[Join, ...]


@final
@dataclass(frozen=True, slots=True)
class Trigger:
    """Another machine, by index, and the number of one of its states; None where it is a Boolean machine."""

    machine: int
    state: int | None


@final
@dataclass(frozen=True, slots=True)
class Machine:
    """A machine in its place: symbol `position` of its `parent`, -1 for the master. `name` is that symbol's.

    `in_trigger`: where the parent must be for it to start, with the event after; it stays active for more matches,
    until the master ends. A Boolean parent starts its children when it is started itself. `out_trigger`: what the
    parent enters when it matches, with the completing event's time.
    """

    name: str
    body: Body
    parent: int
    position: int
    in_trigger: Trigger | None
    out_trigger: Trigger | None


@final
@dataclass(frozen=True, slots=True)
class Placed:
    """A time condition and the machine, by index, that tests it; in Case.APART none ever does."""

    machine: int
    condition: TimeCondition


@final
@dataclass(frozen=True, slots=True)
class Machines:
    """All machines of a subscription, parents before children, the master first.

    `definitions`: each operand's name and predicate, for people; `conditions`: in the order of the text. Distinct
    operands need distinct events, whichever machines they are in.
    """

    stream: str
    partition: tuple[str, ...]
    within: int | None
    machines: tuple[Machine, ...]
    conditions: tuple[Placed, ...]
    definitions: tuple[tuple[str, str], ...]

    @property
    def master(self) -> Machine:
        return self.machines[0]

    @property
    def state_machines(self) -> tuple[tuple[Machine, StateMachine], ...]:
        return tuple((m, m.body) for m in self.machines if isinstance(m.body, StateMachine))

    @property
    def boolean_machines(self) -> tuple[tuple[Machine, BooleanMachine], ...]:
        return tuple((m, m.body) for m in self.machines if isinstance(m.body, BooleanMachine))

    def children(self) -> tuple[dict[int, int], ...]:
        """For each machine its child machines: index by position of the symbol."""
        found: tuple[dict[int, int], ...] = tuple({} for _ in self.machines)
        for index, machine in enumerate(self.machines):
            if machine.parent >= 0:
                found[machine.parent][machine.position] = index
        return found

    def activation(self, index: int) -> tuple[int, int] | None:
        """The state machine, and its state, that starts a machine through Boolean machines; None: nothing has to."""
        trigger = self.machines[index].in_trigger
        while trigger is not None and trigger.state is None:
            trigger = self.machines[trigger.machine].in_trigger
        return None if trigger is None or trigger.state is None else (trigger.machine, trigger.state)


def decompose(composite: Composite) -> Machines:
    """The machines of a subscription. O(operands + conditions), times the depth of nesting."""
    return _Decomposition(composite).machines()


def _parts(structure: Structure) -> tuple[Structure, ...]:
    """The symbols of the machine that a structure becomes, sequences within sequences dissolved."""
    match structure:
        case Leaf():
            return (structure,)
        case Chain(parts):
            return tuple(chain.from_iterable(_parts(p) if isinstance(p, Chain) else (p,) for p in parts))
        case Both(parts) | Either(parts):
            return parts


def _separators(structure: Structure) -> Iterator[str]:
    """What stands between the symbols of a state machine."""
    if isinstance(structure, Chain):
        for index, part in enumerate(structure.parts):
            if index > 0:
                yield structure.separators[index - 1]
            yield from _separators(part)


def _meaning(body: Body) -> str:
    """A machine in terms of predicates alone: names differ between subscriptions that share it."""
    match body:
        case StateMachine(terms):
            return "; ".join(", ".join(symbol.meaning for symbol in term) for term in terms)
        case BooleanMachine(gate, inputs):
            return f" {gate.value} ".join(f"({symbol.meaning})" for symbol in inputs)


class _Decomposition:
    def __init__(self, composite: Composite) -> None:
        self.composite = composite
        self.paths: dict[int, Address] = {}  # operand -> positions of symbols, from the master down
        self.places: dict[Address, Structure] = {}  # the same of a machine -> what it is made of
        self.numbers: dict[Address, int] = {}
        self.survey(composite.structure, ())
        names = {operand.name for operand in composite.operands}
        numbered = (f"{letter}{number}" for number in count(2) for letter in _LETTERS)
        self.fresh = (name for name in chain(_LETTERS, numbered) if name not in names)
        self.tests: dict[Address, list[TimeCondition]] = {}  # by operand, or by gate
        self.owned: list[tuple[Address, TimeCondition]] = []
        for condition in composite.conditions:
            self.place(condition)

    def survey(self, structure: Structure, path: Address) -> None:
        self.places[path] = structure
        self.numbers[path] = len(self.numbers)
        for position, part in enumerate(_parts(structure)):
            if isinstance(part, Leaf):
                self.paths[part.operand] = (*path, position)
            else:
                self.survey(part, (*path, position))

    def is_gate(self, path: Address) -> bool:
        return isinstance(self.places[path], Both | Either)

    def place(self, condition: Condition) -> None:
        """Which case of table 3 a condition is, and where it is tested."""
        reference, dependent = sorted((condition.minuend, condition.subtrahend))
        there, here = self.paths[reference], self.paths[dependent]
        depth = next(level for level, (one, other) in enumerate(zip(there, here)) if one != other)
        common = here[:depth]
        operator, duration = condition.operator, condition.duration
        if self.is_gate(common):
            case = Case.UNORDERED if isinstance(self.places[common], Both) else Case.APART
            owner = tested = common
            addresses: tuple[Address, ...] = ((0, *there[depth:]), (0, *here[depth:]))
        else:
            inside = (len(there) - depth > 1, len(here) - depth > 1)
            case = {
                (False, False): Case.SAME,
                (False, True): Case.MASTER_TO_CHILD,
                (True, False): Case.CHILD_TO_MASTER,
                (True, True): Case.ACROSS,
            }[inside]
            owner, tested = here[:-1], here
            climbed = sum(not self.is_gate(here[:level]) for level in range(depth + 1, len(here)))
            addresses = ((climbed, *there[depth:]),)
            if condition.minuend == reference:
                operator, duration = MIRRORED[operator], -duration
        found = TimeCondition(case, addresses, operator, duration, reference, dependent, self.text(condition, case))
        self.owned.append((owner, found))
        if case is not Case.APART:
            self.tests.setdefault(tested, []).append(found)

    def text(self, condition: Condition, case: Case) -> str:
        """The condition as it was written."""
        names = [self.composite.operands[i].name for i in (condition.minuend, condition.subtrahend)]
        difference = f"t({names[0]}) - t({names[1]})"
        shown = f"|{difference}|" if case is Case.UNORDERED else difference
        return f"{shown} {condition.operator} {format_duration(condition.duration)}"

    def tested(self, path: Address) -> tuple[TimeCondition, ...]:
        """The conditions of an operand or gate, each once and in an order that the text does not decide."""
        distinct = dict.fromkeys(self.tests.get(path, ()))
        return tuple(sorted(distinct, key=lambda c: (c.addresses, c.operator, c.duration)))

    def machines(self) -> Machines:
        composite = self.composite
        built: dict[Address, tuple[str, Body]] = {}
        self.build((), built)
        placed = tuple(Placed(self.numbers[owner], condition) for owner, condition in self.owned)
        return Machines(
            composite.stream,
            tuple(composite.schema.names[position] for position in composite.partition),
            composite.within,
            tuple(self.machine(path, *built[path]) for path in self.numbers),
            placed,
            tuple((operand.name, self.meaning(index)) for index, operand in enumerate(composite.operands)),
        )

    def machine(self, path: Address, name: str, body: Body) -> Machine:
        if not path:
            return Machine(MASTER, body, -1, 0, None, None)
        *above, position = path
        parent = self.numbers[tuple(above)]
        if self.is_gate(tuple(above)):
            return Machine(name, body, parent, position, Trigger(parent, None), Trigger(parent, None))
        return Machine(name, body, parent, position, Trigger(parent, position), Trigger(parent, position + 1))

    def build(self, path: Address, built: dict[Address, tuple[str, Body]]) -> Body:
        """The machine at a path; children, and their names, before their parents."""
        structure = self.places[path]
        symbols: list[Symbol] = []
        for position, part in enumerate(_parts(structure)):
            here = (*path, position)
            if isinstance(part, Leaf):
                operand = self.composite.operands[part.operand]
                label = Primitive(operand.guard, operand.joins)
                symbols.append(Symbol(operand.name, label, self.tested(here), self.meaning(part.operand)))
            else:
                child = self.build(here, built)
                symbols.append(Symbol(built[here][0], child, (), _meaning(child)))
        body: Body
        match structure:
            case Both():
                body = BooleanMachine(Gate.AND, tuple(symbols), self.tested(path))
            case Either():
                body = BooleanMachine(Gate.OR, tuple(symbols))
            case _:
                terms: list[list[Symbol]] = [symbols[:1]]
                for separator, symbol in zip(_separators(structure), symbols[1:], strict=True):
                    if separator == ";":
                        terms.append([])
                    terms[-1].append(symbol)
                body = build_state_machine(terms)
        built[path] = (next(self.fresh) if path else MASTER, body)
        return body

    def meaning(self, operand: int) -> str:
        """An operand's predicate, for people."""
        composite = self.composite
        guard, joins = composite.operands[operand].guard, composite.operands[operand].joins
        names = composite.schema.names
        parts = [f"{names[join.position]} = ${composite.variables[join.variable]}" for join in joins]
        if guard != ALWAYS:
            shown = describe_form(guard)
            parts.append(f"({shown})" if parts and len(guard) > 1 else shown)
        return " AND ".join(parts) or "TRUE"
