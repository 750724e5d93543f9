"""What forecasts of a large subscription are put together from: the parts of AND, of OR, and of a sequence with `;`.

The automaton of a whole subscription grows with the product of its parts, those of the parts with their sum. A
part is a subscription of its own: its operands, the conditions between them, its variables, BY and WITHIN. What lies
between parts is not in it: conditions across them, a variable that only some share, and that no event counts twice.
Leaves that follow each other in a sequence are one part, and what `,` joins stays together.

Here: finding them. Not here: how they are counted and put together (combination).
"""

from __future__ import annotations

from typing import Final, final

from ..algebra.structure import leaves
from ..automaton.automaton import Automaton, Report
from ..automaton.constructions.composite import automaton_of
from ..automaton.machines.tree import Dividing, divided, part_of
from ..events.errors import DefinitionError
from .states import States, states_of

PRODUCT_STATES_MAX: Final = 64
"""States of partial matches up to which the whole is one chain."""


@final
class PartPlan:
    """One part: `number` from 1; `operands` are those of the whole that are its own, in its order."""

    def __init__(self, number: int, operands: list[int], automaton: Automaton, states: States) -> None:
        self.number = number
        self.operands = operands
        self.automaton = automaton
        self.states = states

    def version(self, whole: str) -> str:
        """What its counts are kept under."""
        return f"{whole}/{self.number}"


@final
class Division:
    """The parts, at least two, and how they belong together. `within`: the whole subscription's, in microseconds."""

    def __init__(self, kind: Dividing, parts: list[PartPlan], within: int | None) -> None:
        self.kind: Dividing = kind
        self.parts = parts
        self.within = within


def division(automaton: Automaton, sets: bool) -> Division | None:
    """The parts of a subscription; None where there are none, as in a chain of operands. O(their automata).

    Raises LimitExceeded where `sets` are wanted and a part is too large for these.
    """
    tree = automaton.machines
    if tree is None:
        return None
    kind, nodes = divided(tree.root)
    parts: list[PartPlan] = []
    for node in nodes if len(nodes) > 1 else ():
        try:
            own = automaton_of(part_of(tree, node), Report.COMPLETIONS)
        except DefinitionError:  # a branch of OR that nothing can satisfy
            continue
        states, _ = states_of((own,), sets)
        parts.append(PartPlan(len(parts) + 1, list(leaves(node)), own, states))
    return Division(kind, parts, automaton.within) if len(parts) > 1 else None
