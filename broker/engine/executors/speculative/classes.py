"""Classes of events: which of the conditions on an event alone hold (AFA, F.1: the triggering set).

They are evaluated once an event, at its arrival. Hot. Not here: arcs (arcs), conditions on registers (operations).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.normal_form import Clause
from ....algebra.predicate import All, conjunction, holds
from ....algebra.terms import Attribute, Comparison, Constant, Side
from ....events.schema import Row
from ..packed import Integers, integers
from .arena import unknowns
from .operations import EXACT_MAX
from .written import Written

UNKNOWN: Final = -1
DIRECT_MAX: Final = 10  # conditions on events alone, up to which classes have a table


@final
class EventClasses:
    """`numbers`: the number of a condition of a stream; `known`: by class, the stream and the conditions that hold."""

    def __init__(self, streams: int) -> None:
        self.streams = streams
        self.numbers: dict[tuple[int, Clause], int] = {}
        self.known: list[tuple[int, int]] = []
        self._forms: list[list[All | None]] = []  # by stream, conditions on its events alone
        self._numbered = False
        self._classes: dict[tuple[int, int], int] = {}  # by stream and by the conditions that hold
        # Classes by the conditions that hold, from a stream's base on, if these are few.
        self._direct: Integers = integers()
        self._bases: list[int] = []

    def number(self, arcs: list[list[Written]]) -> bool:
        """Number the conditions of all arcs. If that is not as it was, forget the classes and return True. O(arcs)."""
        before = self.numbers
        self._forms = [[] for _ in range(self.streams)]
        self.numbers = {}
        for written in arcs:
            for made in written:
                made.numbers = []
                for alone in made.alone:
                    number = self.numbers.get((int(made.stream), alone))
                    if number is None:
                        number = self.numbers[(int(made.stream), alone)] = len(self._forms[made.stream])
                        self._forms[made.stream].append(conjunction(tuple([floated(atom) for atom in alone])))
                    made.numbers.append(number)
        if before == self.numbers and self._numbered:
            return False
        self._numbered = True
        self._classes, self.known = {}, []
        sizes = [len(forms) for forms in self._forms]
        few = max(sizes) <= DIRECT_MAX
        self._bases = [sum(1 << size for size in sizes[:stream]) for stream in range(len(sizes))] if few else []
        self._direct = unknowns(sum(1 << size for size in sizes) if few else 0)
        return True

    def classify(self, stream: i64, row: Row) -> i64:
        """The class of an event, a new one maybe. O(conditions on its stream's events alone)."""
        if stream >= len(self._bases):
            return self._class_of(stream, row)
        forms = self._forms[stream]
        base: i64 = self._bases[stream]
        held: i64 = 0
        bit: i64 = 1
        i: i64
        for i in range(len(forms)):
            if holds(forms[i], row, (), (), 1, 1):
                held += bit
            bit += bit
        found = self._direct[base + held]
        if found == UNKNOWN:
            found = self._new_class((int(stream), int(held)))
            self._direct[base + held] = found
        return found

    def _class_of(self, stream: i64, row: Row) -> i64:
        held = 0
        for number, form in enumerate(self._forms[stream]):
            if holds(form, row, (), (), 1, 1):
                held |= 1 << number
        found = self._classes.get((int(stream), held))
        return self._new_class((int(stream), held)) if found is None else found

    def _new_class(self, key: tuple[int, int]) -> i64:
        found = self._classes[key] = len(self.known)
        self.known.append(key)
        return found


def floated(atom: Comparison) -> Comparison:
    """A comparison of a float with an integer as one with a float, which is faster, if that is exact."""
    match atom:
        case Comparison(operator, Attribute(Side.EVENT, _, "float"), Constant(int() as value, "int")):
            if type(value) is int and abs(value) <= EXACT_MAX:
                return Comparison(operator, atom.left, Constant(float(value), "float"))
    return atom
