"""The registers of a run of a line as a tuple: a value or row for each slot, then the components of sums.

Here: filling them as events are taken. Hot: typed for compilation. Not here: the choice of slots (broker.automaton).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias, cast, final

from mypy_extensions import i64

from ...algebra.computation import Slots
from ...algebra.functions import bounded
from ...automaton.automaton import Accumulated, EventRow, SlotSource
from ...events.schema import Row

Updates: TypeAlias = tuple[tuple[SlotSource, ...], tuple[SlotSource, ...]]
"""What an operand's first event and each further one leave in the slots; () if there is no further one."""

COUNT: Final = 0
LENGTH: Final = 1
SUM: Final = 2
AVERAGE: Final = 3
MIN: Final = 4
MAX: Final = 5
KINDS: Final[dict[str, int]] = {"count": COUNT, "len": LENGTH, "sum": SUM, "avg": AVERAGE, "min": MIN, "max": MAX}


@final
class Fold:
    """One aggregate. `hidden`: the index of the exact sum; for an average the count of values follows."""

    __slots__ = ("hidden", "kind", "position", "slot")

    def __init__(self, slot: int, aggregate: Accumulated, hidden: int) -> None:
        self.slot = slot
        self.kind: i64 = KINDS[aggregate.function]
        self.position = aggregate.position
        self.hidden = hidden


@final
class Registers:
    """The slots of a line, or `only` some of them, by operand."""

    def __init__(self, operands: Sequence[Updates], only: frozenset[int] | None = None) -> None:
        number = len(operands)
        self.firsts: list[list[int]] = [[] for _ in range(number)]
        self.lasts: list[list[int]] = [[] for _ in range(number)]
        self.folds: list[list[Fold]] = [[] for _ in range(number)]
        size = slots = len(operands[0][0])
        for slot in range(slots):
            if only is not None and slot not in only:
                continue
            for at, (begun, taken) in enumerate(operands):
                source = begun[slot]
                if isinstance(source, EventRow):
                    last = bool(taken) and isinstance(taken[slot], EventRow)
                    (self.lasts if last else self.firsts)[at].append(slot)
                elif isinstance(source, Accumulated):
                    self.folds[at].append(Fold(slot, source, size))
                    size += {"sum": 1, "avg": 2}.get(source.function, 0)
        self.size = size
        self.growing = [len(a) + len(b) > 0 for a, b in zip(self.lasts, self.folds)]
        self.changing = [grows or len(a) > 0 for grows, a in zip(self.growing, self.firsts)]

    def fresh(self) -> Slots:
        return (None,) * self.size

    def begun(self, slots: Slots, component: i64, row: Row) -> Slots:
        """The registers after a component's only or first event."""
        if not self.changing[component]:
            return slots
        fresh = list(slots)
        for at in self.firsts[component]:
            fresh[at] = row
        for at in self.lasts[component]:
            fresh[at] = row
        for fold in self.folds[component]:
            fresh[fold.slot] = 0 if fold.kind <= LENGTH else None
            if fold.kind == SUM or fold.kind == AVERAGE:
                fresh[fold.hidden] = None
            if fold.kind == AVERAGE:
                fresh[fold.hidden + 1] = 0
            _taken(fold, fresh, row)
        return tuple(fresh)

    def taken(self, slots: Slots, component: i64, row: Row) -> Slots:
        """The registers after one more event of a Kleene component."""
        if not self.growing[component]:
            return slots
        fresh = list(slots)
        for at in self.lasts[component]:
            fresh[at] = row
        for fold in self.folds[component]:
            _taken(fold, fresh, row)
        return tuple(fresh)


def _taken(fold: Fold, slots: list[Any], row: Row) -> None:
    kind = fold.kind
    if kind == LENGTH:
        slots[fold.slot] = cast("int", slots[fold.slot]) + 1
        return
    value: Any = row[fold.position]
    if value is None:
        return
    if kind == COUNT:
        slots[fold.slot] = cast("int", slots[fold.slot]) + 1
    elif kind == MIN:
        known = slots[fold.slot]
        if known is None or value < known:
            slots[fold.slot] = value
    elif kind == MAX:
        known = slots[fold.slot]
        if known is None or value > known:
            slots[fold.slot] = value
    else:
        total = slots[fold.hidden]
        total = value if total is None else total + value
        slots[fold.hidden] = total
        if kind == SUM:
            slots[fold.slot] = bounded(total)
        else:
            count = cast("int", slots[fold.hidden + 1]) + 1
            slots[fold.hidden + 1] = count
            slots[fold.slot] = quotient(total, count)


def quotient(total: Any, count: int) -> Any:
    """An average: a float, or None beyond the floats."""
    try:
        return bounded(float(total / count))
    except ArithmeticError:
        return None
