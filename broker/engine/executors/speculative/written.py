"""Arcs as they were written: their conditions divided into what reads the event alone and what reads registers.

Here: one arc, and what a list of arcs says of it. Not here: the lists (arcs), operations (operations).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.normal_form import Clause
from ....algebra.terms import Register, walk
from ....automaton.automaton import Arc, Computed, Kind
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
@mypyc_attr(acyclic=True)
class Written:
    """An arc. A `target` beyond the states is a result, of the final state with that number; `label`: what digests say
    of it, -1 for that number. It exists for events of the times [`begin`, `end`).

    `alone`, `numbers`, `rests`: for each clause its condition on the event alone, the number of that, and the rest.
    `numbered`: which numbering of conditions `numbers` are of. `ignores`: the arc leaves a run that is under way
    unchanged, but for what it notes. `arc`: that of the automaton, by which it is found again.
    """

    def __init__(self, arc: Arc, stream: i64, final_state: i64, label: i64, layout: NodeLayout) -> None:
        """O(conditions)."""
        self.arc = arc
        self.source: i64 = arc.source
        self.target: i64 = arc.target if arc.target < final_state else final_state + arc.operand
        self.label: i64 = self.target if label < 0 else label
        self.stream = stream
        self.begin: i64 = arc.begin
        self.end: i64 = arc.end
        self.alone: list[Clause] = []
        self.rests: list[list[Operation]] = []
        for clause in arc.guard:
            own = tuple([atom for atom in clause if not any(isinstance(term, Register) for term in walk(atom))])
            self.alone.append(() if arc.kind is Kind.EPSILON else own)
            rest = clause if arc.kind is Kind.EPSILON else tuple([atom for atom in clause if atom not in own])
            self.rests.append(conditions(layout, rest))
        self.updates = updates(layout, arc.update)
        told = any(isinstance(source, Computed) and not source.noted for source in arc.update)
        self.ignores = arc.kind is Kind.LOOP and arc.target < final_state and not told
        self.numbers: list[int] = []
        self.numbered: i64 = -1
