"""Classes of events: which of the conditions on an event alone hold (AFA, F.1: the triggering set).

They are evaluated once an event, at its arrival. Where all of them compare one attribute with numbers, these cut its
values into regions, each of one class, and a search replaces the evaluation. Where some want a text, only those that
want the event's are evaluated. Hot. Not here: arcs (arcs), conditions on registers (operations).
"""

from __future__ import annotations

import itertools
from typing import Any, Final, cast, final

from mypy_extensions import i64

from ....algebra.normal_form import Clause
from ....algebra.predicate import All, conjunction, holds
from ....algebra.terms import Attribute, Comparison, Constant, Side
from ....events.schema import Row
from ..packed import Floats, Integers, floats_of
from .arena import unknowns
from .operations import EXACT_MAX
from .written import Written

UNKNOWN: Final = -1
NONE: Final[list[int]] = []  # not to be changed
UNCUT: Final = -1  # the conditions of a stream are not all about one attribute


@final
class EventCuts:
    """`classes`: by region, UNKNOWN before an event has come that lies there; the last region is that of NaN."""

    def __init__(self, numbers: list[float]) -> None:
        self.count: i64 = len(numbers)
        self.numbers: Floats = floats_of(numbers)
        self.classes: Integers = unknowns(2 * self.count + 2)

    def region(self, value: float) -> i64:
        """Where a value lies. O(log numbers)."""
        numbers = self.numbers
        low: i64 = 0
        high = self.count
        while low < high:
            middle = (low + high) >> 1
            if numbers[middle] < value:
                low = middle + 1
            else:
                high = middle
        if low < self.count:
            if numbers[low] == value:
                return 2 * low + 1
        if value != value:
            return 2 * self.count + 1
        return 2 * low


@final
class TextConditions:
    """The conditions of a stream by the text that they want of an attribute, and those that want none; by number.
    `attribute`: that of which most want a text, -1 for none."""

    def __init__(self, clauses: list[Clause]) -> None:
        texts = [_texts(clause) for clause in clauses]
        counts: dict[int, int] = {}
        for own in texts:
            for attribute in own:
                counts[attribute] = counts.get(attribute, 0) + 1
        self.attribute: i64 = max(counts, key=lambda each: (counts[each], -each)) if counts else -1
        self.wanted: dict[Any, list[int]] = {}
        self.others: list[int] = []
        for number, own in enumerate(texts):
            if self.attribute in own:
                self.wanted.setdefault(own[int(self.attribute)], []).append(number)
            else:
                self.others.append(number)

    def of(self, row: Row) -> list[int]:
        """Those that want the event's text. O(1)."""
        return self.wanted.get(row[self.attribute], NONE) if self.attribute >= 0 else NONE


@final
class EventClasses:
    """`numbers`: the number of a condition of a stream; `known`: by class, the stream and the conditions that hold.
    `cutting`: the switch of regions, for comparison."""

    def __init__(self, streams: int, cutting: bool = True) -> None:
        self.streams = streams
        self.numbers: dict[tuple[int, Clause], int] = {}
        self.known: list[tuple[int, int]] = []
        self._forms: list[list[All | None]] = []  # by stream, conditions on its events alone
        self._texts: list[TextConditions] = []
        self.numbering: i64 = 0  # how often conditions were numbered
        self._classes: dict[tuple[int, int], int] = {}  # by stream and by the conditions that hold
        # By stream: the attribute that numbers cut into regions, these, and the classes of the regions: below the first
        # number, that number, up to the next one, and so on.
        self.cutting = cutting
        self._attributes: list[int] = []
        self._cuts: list[EventCuts] = []

    def knows(self, made: Written) -> bool:
        """Number the conditions of an arc on events alone, if all have numbers. O(1), or O(their sizes) once."""
        if made.numbered != self.numbering:
            keys = [(int(made.stream), alone) for alone in made.alone]
            if any(key not in self.numbers for key in keys):
                return False
            made.numbers = [self.numbers[key] for key in keys]
            made.numbered = self.numbering
        return True

    def number(self, arcs: list[list[Written]]) -> bool:
        """Number the conditions of all arcs. If that is not as it was, forget the classes and return True. O(arcs)."""
        before = self.numbers
        self.numbering += 1
        self._forms = [[] for _ in range(self.streams)]
        self.numbers = {}
        for written in arcs:
            for made in written:
                made.numbers = []
                made.numbered = self.numbering
                for alone in made.alone:
                    number = self.numbers.get((int(made.stream), alone))
                    if number is None:
                        number = self.numbers[(int(made.stream), alone)] = len(self._forms[made.stream])
                        self._forms[made.stream].append(conjunction(tuple([floated(atom) for atom in alone])))
                    made.numbers.append(number)
        if before == self.numbers and self.numbering > 1:
            return False
        self.forget()
        return True

    def forget(self) -> None:
        """Forget the classes, but not the conditions. O(conditions)."""
        self._classes, self.known = {}, []
        self._cut()

    def _cut(self) -> None:
        by_stream: list[list[Clause]] = [[] for _ in range(self.streams)]
        for stream, alone in self.numbers:
            by_stream[stream].append(alone)
        self._texts = [TextConditions(clauses) for clauses in by_stream]
        cuts = [_cuts(clauses) if self.cutting else None for clauses in by_stream]
        self._attributes = [UNCUT if cut is None else cut[0] for cut in cuts]
        self._cuts = [EventCuts([] if cut is None else cut[1]) for cut in cuts]

    def classify(self, stream: i64, row: Row) -> i64:
        """The class of an event, a new one maybe. O(log numbers), or O(conditions on its stream's events alone)."""
        attribute = self._attributes[stream]
        if attribute == UNCUT:
            return self._evaluated(stream, row)
        value = row[attribute]
        if value is None:
            return self._evaluated(stream, row)
        cuts = self._cuts[stream]
        region = cuts.region(cast("float", value))
        found = cuts.classes[region]
        if found == UNKNOWN:
            found = cuts.classes[region] = self._evaluated(stream, row)
        return found

    def _evaluated(self, stream: i64, row: Row) -> i64:
        held = self._held(stream, row)
        key = int(stream), held
        found = self._classes.get(key)
        if found is None:
            found = self._classes[key] = len(self.known)
            self.known.append(key)
        return found

    def _held(self, stream: i64, row: Row) -> int:
        """The conditions that hold, a bit each. O(conditions without a text, or with the event's)."""
        forms, texts, held = self._forms[stream], self._texts[stream], 0
        for number in texts.of(row):
            if holds(forms[number], row, (), (), 1, 1):
                held |= 1 << number
        for number in texts.others:
            if holds(forms[number], row, (), (), 1, 1):
                held |= 1 << number
        return held


def _texts(clause: Clause) -> dict[int, str]:
    """By attribute the text that a condition wants it to equal."""
    found: dict[int, str] = {}
    for atom in clause:
        match atom:
            case Comparison("=", Attribute(Side.EVENT, position), Constant(str() as text, "string")):
                found[position] = text
    return found


def _cuts(clauses: list[Clause]) -> tuple[int, list[float]] | None:
    """The one attribute that conditions compare with numbers, and these in order; None if there is more to them."""
    attributes: set[int] = set()
    numbers: set[float] = set()
    for atom in itertools.chain.from_iterable(clauses):
        match floated(atom):
            case Comparison(_, Attribute(Side.EVENT, position, "float"), Constant(float() as number, "float")):
                attributes.add(position)
                numbers.add(number)
            case _:
                return None
    return (attributes.pop(), sorted(numbers)) if len(attributes) == 1 else None


def floated(atom: Comparison) -> Comparison:
    """A comparison of a float with an integer as one with a float, which is faster, if that is exact."""
    match atom:
        case Comparison(operator, Attribute(Side.EVENT, _, "float"), Constant(int() as value, "int")):
            if type(value) is int and abs(value) <= EXACT_MAX:
                return Comparison(operator, atom.left, Constant(float(value), "float"))
    return atom
