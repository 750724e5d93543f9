"""Merges the state machines of many subscriptions by P-ToPSS's equivalence of states (4.3; semantics 3.6).

Here: the merged graph with counts. Not here: adding and removing subscriptions at run time (automaton.sharing, engine).

Two states are equivalent if equally many links enter them and can be paired, each with one of the same kind, symbol and
time conditions from an equivalent state; a state's own loops are assumed equivalent. A state is entered by one primary
link, and perhaps by its own secondary and star links, so (parent, symbol with conditions, loops or none) identifies it.
Initial states are equivalent if they have the same start: a master's if streams, BY and WITHIN are equal, a child's if
its in-trigger comes from an equivalent state. A derived symbol is identified by its whole machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, final

from .boolean_machine import BooleanMachine
from .decomposition import Machines
from .state_machine import StateMachine, Symbol


@final
@dataclass(frozen=True, slots=True)
class Start:
    """The start of a master machine: the merged events of streams or of their partitions, within a time."""

    streams: tuple[str, ...]
    partition: tuple[str, ...]
    within: int | None


Activation: TypeAlias = Start | int  # a merged state, by number


@final
@dataclass(frozen=True, slots=True)
class StateFeed:
    """The machine whose match is a merged state."""

    state: int


@final
@dataclass(frozen=True, slots=True)
class GateFeed:
    """The machine that is a merged gate."""

    gate: int


Feed: TypeAlias = StateFeed | GateFeed


@final
@dataclass(slots=True)
class MergedState:
    """A state, entered from `parent` by `symbol`; -1 and None for an initial state. `loops`: it has the secondary and
    the star link. `fed`: the machine whose out-trigger the symbol is. `uses`: how many states it replaces. `ends`: the
    subscriptions that match here."""

    number: int
    parent: int
    symbol: Symbol | None
    loops: bool
    activation: Activation
    fed: Feed | None = None
    uses: int = 0
    ends: list[str] = field(default_factory=list)


@final
@dataclass(slots=True)
class MergedGate:
    """A Boolean machine; `feeds`: the machine of each input, None for a primitive."""

    number: int
    body: BooleanMachine
    activation: Activation
    feeds: tuple[Feed | None, ...]
    uses: int = 0
    ends: list[str] = field(default_factory=list)


@final
@dataclass(frozen=True, slots=True)
class Merged:
    """States and gates by number, parents before children. `before`: the number of states without merging."""

    states: tuple[MergedState, ...]
    gates: tuple[MergedGate, ...]
    before: int

    @property
    def shared(self) -> int:
        """The number of states that replace several."""
        return sum(state.uses > 1 for state in self.states)

    @property
    def commonality(self) -> float:
        """The ratio of shared states to the states without merging (P-ToPSS, figure 9 d); 0 without states."""
        return self.shared / self.before if self.before else 0.0


def merge(subscriptions: Iterable[tuple[str, Machines]]) -> Merged:
    """Merge the machines of named subscriptions. O(states * size of a symbol)."""
    merging = _Merging()
    for name, machines in subscriptions:
        start = Start(machines.streams, machines.partition, machines.within)
        match merging.place(machines, machines.children(), 0, start):
            case StateFeed(state):
                merging.states[state].ends.append(name)
            case GateFeed(gate):
                merging.gates[gate].ends.append(name)
    return Merged(tuple(merging.states), tuple(merging.gates), sum(state.uses for state in merging.states))


class _Merging:
    def __init__(self) -> None:
        self.states: list[MergedState] = []
        self.gates: list[MergedGate] = []
        self.initial: dict[Activation, int] = {}
        self.successors: dict[tuple[int, Symbol, bool], int] = {}
        self.gate_numbers: dict[tuple[Activation, BooleanMachine], int] = {}

    def place(
        self, machines: Machines, children: tuple[dict[int, int], ...], index: int, activation: Activation
    ) -> Feed:
        """Merge a machine and those below it."""
        body = machines.machines[index].body
        match body:
            case StateMachine():
                boundaries = body.boundaries
                here = self.first(activation)
                for position, symbol in enumerate(body.symbols):
                    child = children[index].get(position)
                    fed = None if child is None else self.place(machines, children, child, here)
                    here = self.next(here, symbol, position + 1 in boundaries, activation, fed)
                return StateFeed(here)
            case BooleanMachine():
                feeds = tuple(
                    self.place(machines, children, children[index][position], activation)
                    if position in children[index]
                    else None
                    for position in range(len(body.inputs))
                )
                return GateFeed(self.gate(body, activation, feeds))

    def first(self, activation: Activation) -> int:
        number = self.initial.setdefault(activation, len(self.states))
        if number == len(self.states):
            self.states.append(MergedState(number, -1, None, False, activation))
        self.states[number].uses += 1
        return number

    def next(self, parent: int, symbol: Symbol, loops: bool, activation: Activation, fed: Feed | None) -> int:
        number = self.successors.setdefault((parent, symbol, loops), len(self.states))
        if number == len(self.states):
            self.states.append(MergedState(number, parent, symbol, loops, activation, fed))
        self.states[number].uses += 1
        return number

    def gate(self, body: BooleanMachine, activation: Activation, feeds: tuple[Feed | None, ...]) -> int:
        number = self.gate_numbers.setdefault((activation, body), len(self.gates))
        if number == len(self.gates):
            self.gates.append(MergedGate(number, body, activation, feeds))
        self.gates[number].uses += 1
        return number
