"""Key spaces: one dictionary for each stream and set of equality attributes, not for each state (layout notes, 2).

Here: the space and key of a guard, for start arcs (constants) and for waiting runs (joins and constants). Not here: the
cells with the runs of a key (cells).
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias, final

from ...algebra.computation import Slots
from ...algebra.normal_form import ALWAYS, Form
from ...algebra.terms import Attribute, Comparison, Constant, Register, Side
from ...events.schema import Row, Value

Key: TypeAlias = Any  # a value, a tuple of values, or () in the space without attributes

_BOUND: Final = 0
_SLOT: Final = 1
_SLOT_ROW: Final = 2
_CONSTANT: Final = 3


@final
class Space:
    """The events of one stream by the values at `positions`.

    `strangers`: places with runs that need more than the newest event of their key (transition.Place).
    """

    def __init__(self, number: int, stream: str, positions: tuple[int, ...]) -> None:
        self.number = number
        self.stream = stream
        self.positions = positions
        self.single: int = positions[0] if len(positions) == 1 else -1
        self.strangers = 0

    def key_of(self, row: Row) -> Key:
        """The key of an event; None if a value is null, because null equals nothing."""
        if self.single >= 0:
            return row[self.single]
        values = tuple([row[p] for p in self.positions])
        return None if None in values else values


@final
class WaitingKeyPart:
    """Where a run has the value that an event must equal at one position of the space."""

    def __init__(self, source: Register | Constant) -> None:
        self.constant: Value = None
        self.bound = isinstance(source, Register) and source.slot < 0
        self.slot = 0
        self.position = 0
        if isinstance(source, Constant):
            self.kind = _CONSTANT
            self.constant = source.value
        else:
            self.slot, self.position = source.slot, source.position
            self.kind = _BOUND if source.slot < 0 else _SLOT if source.position < 0 else _SLOT_ROW

    def value(self, row: Row, slots: Slots) -> Any:
        """The value, from the run's `row` and `slots` while it waits."""
        if self.kind == _BOUND:
            return row[self.position]
        if self.kind == _SLOT:
            return slots[self.slot]
        if self.kind == _SLOT_ROW:
            return slots[self.slot][self.position]
        return self.constant


def waiting_key(parts: list[WaitingKeyPart], row: Row, slots: Slots) -> Key:
    """The key under which a run waits; None if a value is null: then no event ever affects the run."""
    if len(parts) == 1:
        return parts[0].value(row, slots)
    values = tuple([p.value(row, slots) for p in parts])
    return None if None in values else values


def equalities(form: Form) -> tuple[dict[int, Register | Constant], Form]:
    """The equalities that all clauses of a form contain, by event position, and the form without those atoms.

    The rest without a common atom is equivalent to the form only together with that atom, which the key tests.
    """
    if not form:
        return {}, form
    shared = [atom for atom in form[0] if all(atom in clause for clause in form[1:])]
    found: dict[int, Register | Constant] = {}
    taken: set[Comparison] = set()
    for atom in shared:
        match atom:
            case Comparison("=", Attribute(Side.EVENT, position), (Register() | Constant()) as other):
                if position not in found:
                    found[position] = other
                    taken.add(atom)
    rest = tuple(tuple(atom for atom in clause if atom not in taken) for clause in form)
    return found, ALWAYS if () in rest else rest
