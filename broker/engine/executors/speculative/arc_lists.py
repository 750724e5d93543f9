"""Lists of arcs as rows of numbers, which a step reads: what an event of one class asks of the runs in one state.

Here: writing them. Hot. Not here: which arcs are in a list (arcs), what a row says (written, operations).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from ....algebra.computation import Computation
from ....algebra.predicate import All
from ..packed import Floats, Integers, floats, integers, roomy, roomy_floats
from .operations import WORDS, Operation
from .written import CLAUSES, HEAD, IGNORES, LABEL, LENGTH, TARGET, UPDATES, Written

ALL: Final = -1  # instead of the conditions that hold: they are not asked


class ArcLists:
    """`code`: all lists, up to `size`; `numbers`: constants, beside the code; `objects`: what has no form of its own.
    """

    def __init__(self) -> None:
        self.code: Integers = integers()
        self.numbers: Floats = floats()
        self.size: i64 = 0
        self.objects: list[All | Computation] = []

    def begin_list(self) -> i64:
        """Begin a list, which begins with the number of its arcs."""
        at = self.size
        self._reserve(at + 1)
        self.size = at + 1
        return at

    def write_arc(self, made: Written, held: int) -> bool:
        """Write an arc for events of which these conditions hold; False: it is not for them. O(its operations)."""
        numbers, rests = made.numbers, made.rests
        clauses: i64 = 0
        always = False
        size = self.size + HEAD + WORDS * len(made.updates)
        i: i64
        for i in range(len(rests)):
            if held == ALL or held >> numbers[i] & 1:
                clauses += 1
                atoms: i64 = len(rests[i])
                size += 1 + WORDS * atoms
                always = always or atoms == 0
        if clauses == 0 and held != ALL:
            return False
        self._reserve(size)
        code = self.code
        first = self.size
        code[first + TARGET] = made.target
        code[first + LABEL] = made.label
        code[first + IGNORES] = 1 if made.ignores else 0
        code[first + CLAUSES] = 0 if always else clauses
        code[first + UPDATES] = len(made.updates)
        at = first + HEAD
        if not always:
            for i in range(len(rests)):
                if held == ALL or held >> numbers[i] & 1:
                    code[at] = len(rests[i])
                    at += 1
                    for operation in rests[i]:
                        at = self._operation(operation, at)
        for operation in made.updates:
            at = self._operation(operation, at)
        code[first + LENGTH] = at - first
        self.size = at
        return True

    def _operation(self, operation: Operation, at: i64) -> i64:
        """Write an operation there; returns the place behind it."""
        words = operation.words
        code = self.code
        i: i64
        for i in range(WORDS):
            code[at + i] = words[i]
        if operation.condition is not None:
            code[at + WORDS - 1] = len(self.objects)
            self.objects.append(operation.condition)
        elif operation.term is not None:
            code[at + WORDS - 1] = len(self.objects)
            self.objects.append(operation.term)
        else:
            self.numbers[at + WORDS - 1] = operation.number
        return at + WORDS

    def _reserve(self, size: i64) -> None:
        """Make room for so many numbers. Columns fetched before are stale then."""
        if len(self.code) < size:
            self.code = roomy(self.code, size)
        if len(self.numbers) < size:
            self.numbers = roomy_floats(self.numbers, size)
