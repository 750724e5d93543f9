"""The compiled program's parts: places where runs wait, and transitions between them.

Here: what the runtime follows, final classes with flat fields, written once when a subscription comes and read for
every event. Not here: runs; how events find places (spaces); who builds all this (program).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ..algebra.computation import Computation, Slots
from ..algebra.normal_form import Form
from ..algebra.predicate import Predicate, computation, predicates
from ..automaton.automaton import BoundRow, Carry, Computed, EventRow, SlotSource
from ..events.schema import Row
from .arcs import ArcIndex, Guarded
from .family import Family
from .spaces import KeyPart, Space
from .target import Target

UNBOUNDED: Final = -1

_CARRY: Final = 0
_BOUND_ROW: Final = 1
_EVENT_ROW: Final = 2
_COMPUTED: Final = 3


@final
class Update:
    """What fills the slots of a run in its new place, in order; at least one."""

    def __init__(self, sources: tuple[SlotSource, ...]) -> None:
        self.kinds: list[int] = []
        self.slots: list[int] = []
        self.computations: list[Computation] = []
        nothing = Computation()
        for source in sources:
            entry: tuple[int, int, Computation]
            match source:
                case Carry(slot):
                    entry = (_CARRY, slot, nothing)
                case BoundRow():
                    entry = (_BOUND_ROW, 0, nothing)
                case EventRow():
                    entry = (_EVENT_ROW, 0, nothing)
                case Computed(term):
                    entry = (_COMPUTED, 0, computation(term))
            self.kinds.append(entry[0])
            self.slots.append(entry[1])
            self.computations.append(entry[2])

    def fill(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Slots:
        n = len(self.kinds)
        first = self._one(0, row, bound, slots, length, span)
        if n == 1:
            return (first,)
        second = self._one(1, row, bound, slots, length, span)
        if n == 2:
            return (first, second)
        filled: list[Any] = [first, second]
        for i in range(2, n):
            filled.append(self._one(i, row, bound, slots, length, span))
        return tuple(filled)

    def _one(self, i: int, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Any:
        kind = self.kinds[i]
        if kind == _CARRY:
            return slots[self.slots[i]]
        if kind == _COMPUTED:
            return self.computations[i].value(row, bound, slots, length, span)
        return row if kind == _EVENT_ROW else bound


@final
class Transition(Guarded):
    """An arc ready to run: to a place, with an update of the slots, or to a target."""

    def __init__(self, form: Form, update: Update | None, place: Place | None, target: Target | None) -> None:
        super().__init__(form)
        self.update = update
        self.place = place
        self.target = target


@final
class Place:
    """A state ready to run. Runs that wait here are found in `space` under the key made of `key`.

    `theta` is what the key leaves of the stay guard; `window` the longest DUR with which a run can still come to
    something, in microseconds, or UNBOUNDED; `family` where the place stands for a whole family of siblings.
    """

    def __init__(self, number: int, depth: int, space: Space, key: list[KeyPart], theta: Form, few: int) -> None:
        self.number = number
        self.depth: i64 = depth
        self.space = space
        self.key = key
        # Most runs wait under one value of the row that they have just bound.
        self.own: i64 = key[0].position if len(key) == 1 and key[0].bound else -1
        self.theta: list[Predicate] = predicates(theta)
        self.rebind: Transition | None = None
        self.arcs: ArcIndex[Transition] = ArcIndex(few)
        self.window: i64 = UNBOUNDED
        self.family: Family | None = None
        self.lineage = 0  # subscribers below that want it
        self.dead = False
