"""The parts of the compiled program that the runtime follows: places where runs wait, and transitions between them.

Here: final classes with flat fields, written once when a subscription joins and read for every event. Not here: runs,
finding the places of an event (spaces), building the program (program).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ...algebra.computation import Computation, Slots
from ...algebra.normal_form import Form
from ...algebra.predicate import All, computation, condition
from ...automaton.automaton import BoundRow, Carry, Computed, EventRow, SlotSource
from ...events.schema import Row
from ..index.arcs import ArcIndex, Guarded
from ..index.bounds import WaitingClause
from ..index.spaces import Space, WaitingKeyPart
from .target import Target
from .watcher import Watch

UNBOUNDED: Final = -1
NO_SYMBOL: Final = -1

_CARRY: Final = 0
_BOUND_ROW: Final = 1
_EVENT_ROW: Final = 2
_COMPUTED: Final = 3


@final
class Fill:
    """The source of one slot."""

    __slots__ = ("computation", "kind", "slot")

    def __init__(self, source: SlotSource) -> None:
        self.kind: i64 = _COMPUTED
        self.slot: i64 = 0
        self.computation = Computation()
        match source:
            case Carry(slot):
                self.kind, self.slot = _CARRY, slot
            case BoundRow():
                self.kind = _BOUND_ROW
            case EventRow():
                self.kind = _EVENT_ROW
            case Computed(term):
                self.computation = computation(term)

    def computed(self) -> bool:
        """Whether `computation` is the source."""
        return self.kind == _COMPUTED

    def carries(self, slot: int) -> bool:
        """Whether it keeps the value of a slot."""
        return self.kind == _CARRY and self.slot == slot

    def value(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Any:
        kind = self.kind
        if kind == _COMPUTED:
            return self.computation.value(row, bound, slots, length, span)
        if kind == _CARRY:
            return slots[self.slot]
        return row if kind == _EVENT_ROW else bound


@final
class SlotUpdate:
    """The sources of a run's slots in its new place, in order; at least one."""

    def __init__(self, sources: tuple[SlotSource, ...]) -> None:
        self.fills = [Fill(source) for source in sources]

    def fill(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> Slots:
        return tuple([fill.value(row, bound, slots, length, span) for fill in self.fills])


@final
class Transition(Guarded):
    """An arc ready to run: it leads to a place with an update of the slots, or to a target, or it reports a symbol."""

    def __init__(self, form: Form, update: SlotUpdate | None, place: Place | None, target: Target | None) -> None:
        super().__init__(form)
        self.update = update
        self.place = place
        self.target = target
        self.symbol = NO_SYMBOL  # a symbol that is an input of machines; set if the arc reports one


@final
class Place:
    """A state ready to run. Its waiting runs are in `space`, under the key made of `key`.

    `theta` is the rest of the stay guard beside the key. `window`: the longest DUR with which a run can still match, in
    microseconds, or UNBOUNDED. `local`: its runs begin with events of its own stream, in its cell. `stranger`: they may
    wait under another key than that of the event that they have just taken; or they are not local, and the next event
    of the key does not end them. Who sees only what begins in a cell does not know of such runs.
    """

    def __init__(self, number: int, depth: int, space: Space, key: list[WaitingKeyPart], theta: Form, few: int) -> None:
        self.number = number
        self.depth: i64 = depth
        self.space = space
        self.key = key
        # Most runs wait under one value of the row that they have just bound.
        self.own: i64 = key[0].position if len(key) == 1 and key[0].bound else -1
        self.theta: All | None = condition(theta)
        self.rebind: Transition | None = None
        self.arcs: ArcIndex[Transition] = ArcIndex(few)
        self.window: i64 = UNBOUNDED
        self.lineage = 0  # the number of subscribers below that want lineage
        self.dead = False
        self.watches: list[Watch] | None = None
        self.clauses: list[WaitingClause] | None = None  # of theta, if an index of runs can ask some of it
        self.local = True
        self.stranger = False
