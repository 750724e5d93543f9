"""Arcs as they were written: their conditions divided into what reads the event alone and what reads registers.

Here: one arc, and what a list of arcs says of it. Not here: the lists (arcs), operations (operations).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.normal_form import Clause
from ....algebra.terms import Register, walk
from ....automaton.automaton import Arc, Kind
from .arena import Layout
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
    is under way unchanged. It exists for events of the times [`begin`, `end`).
    """

    def __init__(self, arc: Arc, stream: int, final_state: int, label: int, layout: Layout) -> None:
        self.source: i64 = arc.source
        self.target: i64 = arc.target if arc.target < final_state else final_state + arc.operand
        self.label: i64 = self.target if label < 0 else label
        self.stream: i64 = stream
        self.begin: i64 = arc.begin
        self.end: i64 = arc.end
        self.alone: list[Clause] = []
        self.numbers: list[int] = []
        self.rests: list[list[Operation]] = []
        for clause in arc.guard:
            own = tuple([atom for atom in clause if not any(isinstance(term, Register) for term in walk(atom))])
            self.alone.append(() if arc.kind is Kind.EPSILON else own)
            rest = clause if arc.kind is Kind.EPSILON else tuple([atom for atom in clause if atom not in own])
            self.rests.append(conditions(layout, rest))
        self.updates = updates(layout, arc.update)
        loops = arc.kind is Kind.LOOP and arc.target < final_state
        self.ignores = loops and len(self.updates) == 0

    def lasting(self, begin: i64, end: i64) -> Written:
        """The same arc for other times. O(1)."""
        made: Written = Written.__new__(Written)
        made.source, made.target, made.label, made.stream = self.source, self.target, self.label, self.stream
        made.begin, made.end = begin, end
        made.alone, made.numbers, made.rests = self.alone, self.numbers, self.rests
        made.updates, made.ignores = self.updates, self.ignores
        return made
