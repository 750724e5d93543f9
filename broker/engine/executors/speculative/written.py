"""Arcs as they were written: their conditions divided into what reads the event alone and what reads registers.

Here: one arc, and what a list of arcs says of it. Not here: the lists (arcs), operations (operations).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.normal_form import Clause
from ....algebra.terms import Register, walk
from ....automaton.automaton import Arc, Kind
from .arena import NodeLayout
from .operations import Operation, conditions, updates

# What a list says of an arc, behind the number of arcs: its length, where it leads to, the label of that for digests,
# whether a run under way is as before, clauses of which one must hold (none: always), and assignments.
LENGTH: Final = 0
TARGET: Final = 1
LABEL: Final = 2
IGNORES: Final = 3
CLAUSES: Final = 4
UPDATES: Final = 5
HEAD: Final = 6


@final
class Written:
    """An arc with split clauses: for each, its condition on the event alone, the number of that, and the rest.

    A `target` beyond the states is a result, of the final state with that number. `ignores`: the arc leaves a run that
    is under way unchanged. It exists for events of the times [`begin`, `end`). `numbered`: which numbering
    of conditions `numbers` are of.
    """

    def __init__(self, source: int, target: int, label: int, stream: int, begin: int, end: int) -> None:
        self.source: i64 = source
        self.target: i64 = target
        self.label: i64 = label
        self.stream: i64 = stream
        self.begin: i64 = begin
        self.end: i64 = end
        self.alone: list[Clause] = []
        self.numbers: list[int] = []
        self.numbered: i64 = 0
        self.rests: list[list[Operation]] = []
        self.updates: list[Operation] = []
        self.ignores = False

    def lasting(self, begin: int, end: int) -> Written:
        """The same arc for other times. O(1)."""
        made = Written(int(self.source), int(self.target), int(self.label), int(self.stream), begin, end)
        made.alone, made.numbers, made.rests = self.alone, self.numbers, self.rests
        made.numbered = self.numbered
        made.updates, made.ignores = self.updates, self.ignores
        return made


def written(arc: Arc, stream: int, final_state: int, label: int, layout: NodeLayout) -> Written:
    """An arc, with the label of its target, or -1 for the target's number. O(its conditions)."""
    target = arc.target if arc.target < final_state else final_state + arc.operand
    made = Written(arc.source, target, target if label < 0 else label, stream, arc.begin, arc.end)
    for clause in arc.guard:
        own = tuple([atom for atom in clause if not any(isinstance(term, Register) for term in walk(atom))])
        made.alone.append(() if arc.kind is Kind.EPSILON else own)
        rest = clause if arc.kind is Kind.EPSILON else tuple([atom for atom in clause if atom not in own])
        made.rests.append(conditions(layout, rest))
    made.updates = updates(layout, arc.update)
    made.ignores = arc.kind is Kind.LOOP and arc.target < final_state and len(made.updates) == 0
    return made
