"""Grouping plans: how to register a subscription of two steps without states of its own, as a member of a family.

Most subscriptions differ from others in numbers only. A recipe is made once for a form, from automata with marked
literals. With a subscription's literals it gives the key of its cell and its bounds; nothing else is stored.

Here: which automata have a recipe, and the recipe's content. Not here: storing members
(keyed_runs.grouped_subscriptions, index.intervals).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias, final

from ...algebra.marked_terms import exchanged, exchanged_form, exchanger, number_of
from ...algebra.normal_form import ALWAYS, Clause, Form
from ...algebra.terms import Attribute, Comparison, Constant, Side, Term, walk
from ...automaton.automaton import Automaton
from ...events.schema import Value
from ...language.marked_literals import Literals, chosen
from ..index.columns import EXACT
from ..index.intervals import Bounds
from ..index.spaces import Key, equalities
from ..options import Options

LOW: Final = 0
HIGH: Final = 1

Structure: TypeAlias = tuple[object, ...]
"""The part that two recipes share if their members may stand in one column."""


@final
class Given:
    """A constant: the literal with that number, or a value that is the same for all subscriptions of the form."""

    __slots__ = ("marked", "number", "value")

    def __init__(self, constant: Constant) -> None:
        number = number_of(constant)
        self.marked = number is not None
        self.number = -1 if number is None else number
        self.value: Value = constant.value

    def of(self, literals: Literals) -> Value:
        if not self.marked:
            return self.value
        return literals[self.number] if self.number >= 0 else chosen(literals, self.number)


@final
class Limit:
    """A constant as a bound on an axis: `side` is LOW or HIGH; `strict` bounds become the next float."""

    __slots__ = ("given", "negated", "side", "strict")

    def __init__(self, side: int, negated: bool, strict: bool, given: Given) -> None:
        self.side = side
        self.negated = negated
        self.strict = strict
        self.given = given


@final
@dataclass(frozen=True, slots=True)
class Way:
    """An axis: a position (-1 for none), and whether it is negated."""

    position: int
    negated: bool = False


NOWHERE: Final = Way(-1)


@final
class GroupKind:
    """A numbered structure, while `groups` of such members are in use."""

    def __init__(self, structure: Structure, number: int) -> None:
        self.structure = structure
        self.number = number
        self.groups = 0


@final
class Recipe:
    """The plan of a family.

    `stream` and `positions` define the cells, and `keys` are the values at the positions. `first` and `second` are the
    axes of the bounds, those of its two events. `theta` and `output` may contain the literals numbered in
    `varying`; if there are none, `kind` is remembered.
    """

    def __init__(
        self,
        automaton: Automaton,
        positions: tuple[int, ...],
        keys: list[Given],
        ways: tuple[Way, Way],
        limits: list[Limit],
    ) -> None:
        self.automaton = automaton
        self.stream = automaton.states[0].stream
        self.positions = positions
        self.keys = keys
        self.first, self.second = ways
        self.limits = limits
        self.state = automaton.states[1]
        self.output = automaton.forward(1).output
        terms: list[Term] = [*self.output, *(atom for clause in self.state.theta for atom in clause)]
        numbers = {number_of(leaf) for term in terms for leaf in walk(term)}
        self.kind: GroupKind | None = None
        self.varying = sorted(max(number, ~number) for number in numbers if number is not None)

    def key(self, literals: Literals) -> Key:
        """The key of the cell."""
        if len(self.keys) == 1:
            return self.keys[0].of(literals)
        return tuple([given.of(literals) for given in self.keys])

    def bounds(self, literals: Literals) -> Bounds | None:
        """The bounds; None if floats cannot hold a number exactly because it is too large."""
        low, high = -math.inf, math.inf
        for limit in self.limits:
            value = limit.given.of(literals)
            if isinstance(value, str | tuple) or value is None or not -EXACT < value < EXACT:
                return None
            bound = -float(value) if limit.negated else float(value)
            if limit.side == LOW:
                low = max(low, math.nextafter(bound, math.inf) if limit.strict else bound)
            else:
                high = min(high, math.nextafter(bound, -math.inf) if limit.strict else bound)
        return Bounds(low, high)

    def theta(self, literals: Literals) -> Form:
        return exchanged_form(self.state.theta, exchanger(literals)) if self.varying else self.state.theta

    def outputs(self, literals: Literals) -> tuple[Term, ...]:
        if not self.varying:
            return self.output
        exchange = exchanger(literals)
        return tuple(exchanged(term, exchange) for term in self.output)

    def structure(self, literals: Literals) -> Structure:
        return (
            self.stream,
            self.positions,
            self.first,
            self.second,
            self.automaton.schema.names,
            self.state.stream,
            self.theta(literals),
            self.outputs(literals),
        )


def recipe_of(automaton: Automaton, options: Options) -> Recipe | None:
    """The recipe of an automaton with marked literals; None if it needs states, or the switches demand them."""
    entry = automaton.forward(0)
    if not options.indexes or len(automaton.states) != 2 or len(entry.guard) != 1:
        return None
    found, rest = equalities(entry.guard)
    positions = tuple(sorted(found))
    keys = [Given(value) for value in (found[p] for p in positions) if isinstance(value, Constant)]
    clause = () if rest == ALWAYS else rest[0]
    last = automaton.forward(1)
    if automaton.loop(1) is not None or entry.update or len(last.guard) != 1:
        return None
    return _family(automaton, positions, keys, clause, last.guard[0])


def _family(
    automaton: Automaton, positions: tuple[int, ...], keys: list[Given], start: Clause, forward: Clause
) -> Recipe | None:
    """A family: one lower bound at most at the first step, one upper bound at the second; axes may be negated."""
    limits: list[Limit] = []
    ways: list[Way] = []
    for side, clause in ((LOW, start), (HIGH, forward)):
        if not clause:
            ways.append(NOWHERE)
            continue
        atom = _compared(clause[0]) if len(clause) == 1 else None
        if atom is None or atom[1] == "=":
            return None
        position, operator, constant = atom
        negated = (operator[0] == "<") is (side == LOW)
        ways.append(Way(position, negated))
        limits.append(Limit(side, negated, len(operator) == 1, Given(constant)))
    return Recipe(automaton, positions, keys, (ways[0], ways[1]), limits)


def _compared(atom: Comparison) -> tuple[int, str, Constant] | None:
    """Position, operator and constant of a comparison of an event's number; None for any other."""
    match atom:
        case Comparison(
            ("<" | "<=" | ">" | ">=" | "=") as operator,
            Attribute(Side.EVENT, position, "int" | "float"),
            Constant(int() | float() as value) as constant,
        ) if not isinstance(value, bool):
            return position, operator, constant
        case _:
            return None
