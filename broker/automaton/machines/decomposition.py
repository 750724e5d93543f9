"""The machines of a composite pattern and their triggers: master, child state machines, Boolean machines (P-ToPSS 4.2).

Here: names, triggers, and the machine that tests each time condition (table 3), for explaining and drawing. Not here:
the tree of a pattern (tree), a single machine, merging, drawing. Matching executes the paths of the whole pattern,
which include the triggers.

The match of a machine is a symbol of its parent: X, Y, Z, ... from the inside out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, count
from typing import Final, TypeAlias, final

from ...algebra.functions import MIRRORED
from ...algebra.normal_form import ALWAYS, describe_form
from ...algebra.structure import Both, Chain, Condition, Either, Structure, parts_of
from ...algebra.timed_stream import untimed
from ...events.instant import format_duration
from .boolean_machine import BooleanMachine
from .state_machine import Address, Case, StateMachine, Symbol, TimeCondition
from .tree import MachineTree

MASTER: Final = "master"
_LETTERS: Final = ("X", "Y", "Z", "U", "V", "W")  # the first four as in figure 5

Body: TypeAlias = StateMachine | BooleanMachine


@final
@dataclass(frozen=True, slots=True)
class Trigger:
    """Another machine, by index, and the number of one of its states; None for a Boolean machine."""

    machine: int
    state: int | None


@final
@dataclass(frozen=True, slots=True)
class PlacedMachine:
    """A machine with its position: symbol `position` of its `parent`, -1 for the master. `name`: that of the symbol.

    `in_trigger`: the parent's state in which the machine starts, with the following event; it stays active for further
    matches until the master ends. A Boolean parent starts its children when it starts itself. `out_trigger`: the
    parent's state that is entered when the machine matches, with the completing event's time.
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
    """A time condition and the index of the machine that tests it; with Case.APART no machine does."""

    machine: int
    condition: TimeCondition


@final
@dataclass(frozen=True, slots=True)
class Machines:
    """All machines of a subscription, parents before children, the master first.

    `definitions`: each operand's name and predicate, for people; `conditions`: in the order of the text. Different
    operands need different events, whichever machines they belong to.
    """

    streams: tuple[str, ...]
    partition: tuple[str, ...]
    within: int | None
    machines: tuple[PlacedMachine, ...]
    conditions: tuple[Placed, ...]
    definitions: tuple[tuple[str, str], ...]

    @property
    def master(self) -> PlacedMachine:
        return self.machines[0]

    def children(self) -> tuple[dict[int, int], ...]:
        """For each machine its child machines: index by position of the symbol."""
        found: tuple[dict[int, int], ...] = tuple({} for _ in self.machines)
        for index, machine in enumerate(self.machines):
            if machine.parent >= 0:
                found[machine.parent][machine.position] = index
        return found

    def activation(self, index: int) -> tuple[int, int] | None:
        """The state machine and its state that start a machine, perhaps through Boolean machines; None if none does."""
        trigger = self.machines[index].in_trigger
        while trigger is not None and trigger.state is None:
            trigger = self.machines[trigger.machine].in_trigger
        return None if trigger is None or trigger.state is None else (trigger.machine, trigger.state)


def machines_of(tree: MachineTree) -> Machines:
    """The machines of a pattern. O(operands + conditions), times the depth of nesting."""
    return _Placement(tree).machines()


def _meaning(body: Body) -> str:
    """A machine in terms of predicates alone, because names differ between subscriptions that share it."""
    match body:
        case StateMachine(terms):
            return "; ".join(", ".join(symbol.meaning for symbol in term) for term in terms)
        case BooleanMachine(gate, inputs):
            return f" {gate} ".join(f"({symbol.meaning})" for symbol in inputs)


class _Placement:
    def __init__(self, tree: MachineTree) -> None:
        self.tree = tree
        self.paths: dict[int, Address] = {}  # by operand, the positions of symbols from the master down
        self.places: dict[Address, Structure] = {}  # by such an address of a machine, its node
        self.numbers: dict[Address, int] = {}
        self.survey(tree.root, ())
        numbered = (f"{letter}{number}" for number in count(2) for letter in _LETTERS)
        self.fresh = (name for name in chain(_LETTERS, numbered) if name not in tree.names)
        self.tests: dict[Address, list[TimeCondition]] = {}  # by operand, or by gate
        self.owned: list[tuple[Address, TimeCondition]] = []
        for condition in tree.conditions:
            self.place(condition)

    def survey(self, node: Structure, path: Address) -> None:
        self.places[path] = node
        self.numbers[path] = len(self.numbers)
        for position, symbol in enumerate(parts_of(node)):
            if isinstance(symbol, int):
                self.paths[symbol] = (*path, position)
            else:
                self.survey(symbol, (*path, position))

    def is_gate(self, path: Address) -> bool:
        return isinstance(self.places[path], Both | Either)

    def place(self, condition: Condition) -> None:
        """Determine the case of table 3 for a condition, and the machine that tests it."""
        reference, dependent = sorted((condition.minuend, condition.subtrahend))
        there, here = self.paths[reference], self.paths[dependent]
        depth = next(level for level, (one, other) in enumerate(zip(there, here)) if one != other)
        common = here[:depth]
        operator, duration = condition.operator, condition.duration
        machine = self.places[common]
        if isinstance(machine, Both | Either):
            case = Case.UNORDERED if isinstance(machine, Both) else Case.APART
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
        found = TimeCondition(case, addresses, operator, duration, self.text(condition, case))
        self.owned.append((owner, found))
        if case is not Case.APART:
            self.tests.setdefault(tested, []).append(found)

    def text(self, condition: Condition, case: Case) -> str:
        """The condition as it was written."""
        names = [self.tree.names[i] for i in (condition.minuend, condition.subtrahend)]
        difference = f"t({names[0]}) - t({names[1]})"
        shown = f"|{difference}|" if case is Case.UNORDERED else difference
        return f"{shown} {condition.operator} {format_duration(condition.duration)}"

    def tested(self, path: Address) -> tuple[TimeCondition, ...]:
        """The conditions of an operand or gate, each once, in an order that does not depend on the text."""
        distinct = dict.fromkeys(self.tests.get(path, ()))
        return tuple(sorted(distinct, key=lambda c: (c.addresses, c.operator, c.duration)))

    def machines(self) -> Machines:
        tree = self.tree
        built: dict[Address, tuple[str, Body]] = {}
        self.build((), built)
        placed = tuple(Placed(self.numbers[owner], condition) for owner, condition in self.owned)
        return Machines(
            tuple(untimed(source.stream) for source in tree.sources),
            tuple(tree.sources[0].schema.names[position] for position in tree.sources[0].key),
            tree.within,
            tuple(self.machine(path, *built[path]) for path in self.numbers),
            placed,
            tuple((name, self.meaning(operand)) for operand, name in enumerate(tree.names)),
        )

    def machine(self, path: Address, name: str, body: Body) -> PlacedMachine:
        if not path:
            return PlacedMachine(MASTER, body, -1, 0, None, None)
        *above, position = path
        parent = self.numbers[tuple(above)]
        if self.is_gate(tuple(above)):
            return PlacedMachine(name, body, parent, position, Trigger(parent, None), Trigger(parent, None))
        return PlacedMachine(name, body, parent, position, Trigger(parent, position), Trigger(parent, position + 1))

    def build(self, path: Address, built: dict[Address, tuple[str, Body]]) -> Body:
        """The machine at a path; children, and their names, before their parents."""
        node = self.places[path]
        symbols: list[Symbol] = []
        for position, part in enumerate(parts_of(node)):
            here = (*path, position)
            if isinstance(part, int):
                label = self.tree.primitives[part]
                symbols.append(Symbol(self.tree.names[part], label, self.tested(here), self.meaning(part)))
            else:
                child = self.build(here, built)
                symbols.append(Symbol(built[here][0], child, (), _meaning(child)))
        body: Body
        if isinstance(node, Both | Either):
            body = BooleanMachine("AND" if isinstance(node, Both) else "OR", tuple(symbols), self.tested(path))
        else:
            terms: list[list[Symbol]] = [symbols[:1]]
            separators = node.separators if isinstance(node, Chain) else ()
            for separator, symbol in zip(separators, symbols[1:], strict=True):
                if separator == ";":
                    terms.append([])
                terms[-1].append(symbol)
            body = StateMachine(tuple(map(tuple, terms)))
        built[path] = (next(self.fresh) if path else MASTER, body)
        return body

    def meaning(self, operand: int) -> str:
        """An operand's predicate, for people."""
        primitive = self.tree.primitives[operand]
        source = self.tree.sources[primitive.source]
        names = source.schema.names
        parts = [f"{names[at]} = ${self.tree.results.names[variable]}" for at, variable in primitive.variables]
        if primitive.guard != ALWAYS:
            shown = describe_form(primitive.guard)
            parts.append(f"({shown})" if parts and len(primitive.guard) > 1 else shown)
        on = f" on {untimed(source.stream)}" if len(self.tree.sources) > 1 else ""
        return (" AND ".join(parts) or "TRUE") + on
