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
class WrittenTerms:
    """What an arc asks and assigns: for each clause its condition on the event alone, the number of that, and the rest.

    `ignores`: the arc leaves a run that is under way unchanged, but for what it notes. `numbered`: which numbering of
    conditions `numbers` are of.
    """

    __slots__ = ("alone", "ignores", "numbered", "numbers", "rests", "updates")

    def __init__(
        self, alone: list[Clause], rests: list[list[Operation]], updates: list[Operation], ignores: bool
    ) -> None:
        self.alone = alone
        self.rests = rests
        self.updates = updates
        self.ignores = ignores
        self.numbers: list[int] = []
        self.numbered: i64 = -1


@final
@mypyc_attr(acyclic=True)
class Written:
    """An arc. A `target` beyond the states is a result, of the final state with that number.

    It exists for events of the times [`begin`, `end`). `arc`: that of the automaton, by which it is found again.
    """

    __slots__ = ("arc", "begin", "end", "label", "source", "stream", "target", "terms")

    def __init__(
        self, source: i64, target: i64, label: i64, stream: i64, terms: WrittenTerms, begin: i64, end: i64, arc: object
    ) -> None:
        self.source = source
        self.target = target
        self.label = label
        self.stream = stream
        self.terms = terms
        self.begin = begin
        self.end = end
        self.arc = arc


def written(arc: Arc, stream: int, final_state: int, label: int, layout: NodeLayout) -> Written:
    """An arc, with the label of its target, or -1 for the target's number. O(its conditions)."""
    target = arc.target if arc.target < final_state else final_state + arc.operand
    alone: list[Clause] = []
    rests: list[list[Operation]] = []
    for clause in arc.guard:
        own = tuple([atom for atom in clause if not any(isinstance(term, Register) for term in walk(atom))])
        alone.append(() if arc.kind is Kind.EPSILON else own)
        rest = clause if arc.kind is Kind.EPSILON else tuple([atom for atom in clause if atom not in own])
        rests.append(conditions(layout, rest))
    changed = updates(layout, arc.update)
    told = any(isinstance(source, Computed) and not source.noted for source in arc.update)
    ignores = arc.kind is Kind.LOOP and arc.target < final_state and not told
    named = target if label < 0 else label
    terms = WrittenTerms(alone, rests, changed, ignores)
    return Written(arc.source, target, named, stream, terms, arc.begin, arc.end, arc)
