"""One state machine of P-ToPSS: terms of symbols, the states N0..Nm and the links between them (P-ToPSS 4.1).

Here: BuildStateMachine, the time conditions of links, and a replay by the printed firing rules, for explanations. Not
here: decomposing a subscription (decomposition), matching (engine).

Machines are equal if they have the same meaning: texts for people take no part in equality.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Final, TypeAlias, final

from ...algebra.functions import compare
from ...events.errors import LimitExceeded

STAR: Final = "*"
INSTANCES_MAX: Final = 1_000  # live at once in a replay; the printed rules never drop one

Address: TypeAlias = tuple[int, ...]
Term: TypeAlias = tuple["Symbol", ...]


class Case(enum.IntEnum):
    """Where the two operands of a time condition are (P-ToPSS, table 3). "Master" means any machine above another.

    APART is not in the table: the operands are in different branches of an OR, so no match has both, and the condition
    always holds.
    """

    APART = 0
    SAME = 1
    MASTER_TO_CHILD = 2
    CHILD_TO_MASTER = 3
    UNORDERED = 4
    ACROSS = 5


@final
@dataclass(frozen=True, slots=True)
class TimeCondition:
    """`t(dependent) - t(reference) operator duration`, in microseconds, or the absolute value in case 4.

    The reference is the operand that comes first in the pattern. `addresses` locate it relative to the machine that
    tests the condition: how many state machines to leave, then the positions of symbols from there down to the operand.
    So equal conditions of different subscriptions are equal, wherever their operands are. In case 4 the dependent
    operand has an address, too.
    """

    case: Case
    addresses: tuple[Address, ...]
    operator: str
    duration: int
    reference: int = field(default=-1, compare=False)
    dependent: int = field(default=-1, compare=False)
    text: str = field(default="", compare=False)

    def holds(self, reference: int, dependent: int) -> bool:
        """Whether the condition holds between two times."""
        difference = dependent - reference
        return compare(self.operator, abs(difference) if self.case is Case.UNORDERED else difference, self.duration)


@final
@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol of a machine: a primitive subscription or another machine's match.

    `label`: identifies the triggering events; two symbols have equal labels exactly if the same events trigger them.
    `conditions`: tested when it is triggered. `meaning`: the label for people.
    """

    name: str = field(compare=False)
    label: Hashable
    conditions: tuple[TimeCondition, ...] = ()
    meaning: str = field(default="", compare=False)

    def __str__(self) -> str:
        return " ".join([self.name, *(f"@({condition.text})" for condition in self.conditions)])


class LinkKind(enum.Enum):
    """Primary: the state's symbol comes for the first time; secondary: again; star: an event that triggers neither."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    STAR = "star"


@final
@dataclass(frozen=True, slots=True)
class Link:
    """From state to state, by number. A star link has no symbol."""

    source: int
    target: int
    kind: LinkKind
    symbol: Symbol | None

    @property
    def name(self) -> str:
        return STAR if self.symbol is None else self.symbol.name


@final
@dataclass(frozen=True, slots=True)
class StateMachine:
    """States N0..Nm: in Nj the first j symbols have been matched; Nm is the match."""

    terms: tuple[Term, ...]
    links: tuple[Link, ...]

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        return tuple(symbol for term in self.terms for symbol in term)

    @property
    def final(self) -> int:
        return sum(map(len, self.terms))

    @property
    def states(self) -> range:
        return range(self.final + 1)

    @property
    def boundaries(self) -> frozenset[int]:
        """The states after each term but the last: those that have secondary and star links."""
        return frozenset(link.source for link in self.links if link.kind is LinkKind.STAR)

    def count(self, kind: LinkKind) -> int:
        return sum(link.kind is kind for link in self.links)

    def __str__(self) -> str:
        return "; ".join(", ".join(map(str, term)) for term in self.terms)


def build_state_machine(terms: Iterable[Sequence[Symbol]]) -> StateMachine:
    """BuildStateMachine (P-ToPSS 4.1) for contiguous terms that `;` separates, O(m) for m symbols in all.

    n terms give m + 1 states, m primary, n - 1 secondary and n - 1 star links. Raises ValueError without a symbol in
    each term.
    """
    words = tuple(map(tuple, terms))
    if not words or not all(words):
        raise ValueError("a state machine needs a term, and each term a symbol")
    links: list[Link] = []
    state = 0
    for index, word in enumerate(words):
        for symbol in word:
            links.append(Link(state, state + 1, LinkKind.PRIMARY, symbol))
            state += 1
        if index < len(words) - 1:
            links.append(Link(state, state, LinkKind.SECONDARY, word[-1]))
            links.append(Link(state, state, LinkKind.STAR, None))
    return StateMachine(words, tuple(links))


@final
@dataclass(frozen=True, slots=True)
class Instance:
    """One live instance: its state and, in order, each entry into a state by a primary or secondary link, with its
    time (P-ToPSS, table 2)."""

    state: int
    entries: tuple[tuple[int, int], ...]

    @property
    def times(self) -> list[int]:
        return [time for _, time in self.entries]

    def __str__(self) -> str:
        return f"N{self.state}: " + ", ".join(f"N{state} at {time}" for state, time in self.entries)


def live_instances(machine: StateMachine, events: Iterable[tuple[AbstractSet[str], int]]) -> list[Instance]:
    """The live instances after the events, older ones first, for explanations. At least quadratic.

    An event is the set of the names of the symbols that it triggers, and its time. The rules are the printed ones: N0
    is tried for every event; a state with a star link is both left and kept; a state without one is lost if nothing
    matches; a matched instance lives until the next event. A condition holds if it holds for one of the reference's
    times; conditions on other machines are assumed to hold.

    One gap in the rules is closed: an instance is dropped if another one in the same state has all of its entries.
    Otherwise a repeat before `;` would count twice, as a secondary link and as a new instance. Raises LimitExceeded
    beyond INSTANCES_MAX.
    """
    symbols, boundaries, final_state = machine.symbols, machine.boundaries, machine.final
    live: list[Instance] = []
    for triggered, time in events:
        after: list[Instance] = []
        for instance in [*live, Instance(0, ())]:
            state = instance.state
            if state < final_state and _fires(symbols[state], instance, triggered, time):
                after.append(Instance(state + 1, (*instance.entries, (state + 1, time))))
            if state in boundaries:
                again = _fires(symbols[state - 1], instance, triggered, time)
                after.append(Instance(state, (*instance.entries, (state, time))) if again else instance)
        live = _without_doubles(after)
        if len(live) > INSTANCES_MAX:
            raise LimitExceeded(f"a replay keeps at most {INSTANCES_MAX} instances, this one needs more")
    return live


def _fires(symbol: Symbol, instance: Instance, triggered: AbstractSet[str], time: int) -> bool:
    if symbol.name not in triggered:
        return False
    for condition in symbol.conditions:
        if condition.case is Case.SAME:
            referenced = condition.addresses[0][1] + 1
            if not any(condition.holds(t, time) for state, t in instance.entries if state == referenced):
                return False
    return True


def _without_doubles(instances: list[Instance]) -> list[Instance]:
    kept: list[Instance] = []
    entries: dict[int, list[set[tuple[int, int]]]] = {}
    for instance in instances:
        others = entries.setdefault(instance.state, [])
        own = set(instance.entries)
        if not any(own <= other for other in others):
            others.append(own)
            kept.append(instance)
    return kept
