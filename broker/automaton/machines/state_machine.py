"""One state machine of P-ToPSS: terms of symbols, the states N0..Nm and the links between them (P-ToPSS 4.1).

Here: BuildStateMachine, and the time conditions of links. Not here: decomposing a subscription (decomposition),
matching (engine).

Machines are equal if they have the same meaning: texts for people take no part in equality.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeAlias, final

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
    text: str = field(default="", compare=False)


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


@final
@dataclass(frozen=True, slots=True)
class StateMachine:
    """BuildStateMachine (P-ToPSS 4.1) for contiguous terms that `;` separates, each with a symbol.

    States N0..Nm for m symbols in all: in Nj the first j symbols have been matched; Nm is the match. A primary link
    leads from each state to the next. The state after each term but the last has two links to itself: a secondary one
    for its symbol, which comes again, and a star link for an event that triggers neither.
    """

    terms: tuple[Term, ...]

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
        return frozenset(accumulate(len(term) for term in self.terms[:-1]))

    def __str__(self) -> str:
        return "; ".join(", ".join(map(str, term)) for term in self.terms)
