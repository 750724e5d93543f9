"""The numbers of a batch that conditions compare, packed: a row an attribute, a place an event.

A null is NaN, of which every comparison but != is false. Ints beyond 2**53, which floats do not hold, and what is no
number are refused, and the batch goes event by event.

Here: filling it from columns and from rows. Hot. Not here: conditions (number_tests).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import NULL_NUMBER, Batch, FloatColumn, Floats, IntegerColumn, ObjectColumn, batch_of_rows
from ..packed import floats, roomy_floats

EXACT: Final = 2**53
ROOM: Final = 64  # events for which there is room at first


@final
class NumberMatrix:
    """`numbers[slot * stride + event]`; `slots` by the position of an attribute.

    `held`: by slot the batch whose numbers are there. Behind the events of the batch is room for as many that came
    before it and are still waited on (waiting_events).
    """

    def __init__(self) -> None:
        self.numbers: Floats = floats()
        self.stride: i64 = ROOM
        self.slots: dict[int, int] = {}
        self._positions: list[int] = []
        self._held: list[int] = []
        self._unfit: list[int] = []
        self._serial = 0
        self._batch = batch_of_rows([])

    def slot(self, position: int) -> int:
        """The slot of an attribute, made if there is none yet."""
        slot = self.slots.get(position)
        if slot is None:
            slot = self.slots[position] = len(self._positions)
            self._positions.append(position)
            self._held.append(0)
            self._unfit.append(0)
        return slot

    def begin(self, batch: Batch) -> None:
        """Turn to another batch. O(1), amortised."""
        self._batch = batch
        self._serial += 1
        if 2 * batch.count > self.stride:
            self.stride = 2 * batch.count
            self._held = [0] * len(self._held)

    def need(self, slots: list[int]) -> bool:
        """Have the numbers of these attributes there. Whether they are: O(events) for each that is not there yet."""
        for slot in slots:
            if self._held[slot] == self._serial:
                continue
            if self._unfit[slot] == self._serial or not self._fill(slot, self._positions[slot]):
                self._unfit[slot] = self._serial
                return False
            self._held[slot] = self._serial
        return True

    def positions(self) -> list[int]:
        """The attribute of each slot."""
        return self._positions

    def _fill(self, slot: int, position: int) -> bool:
        base: i64 = slot * self.stride
        if len(self.numbers) < base + self.stride:
            self.numbers = roomy_floats(self.numbers, base + self.stride)
        batch = self._batch
        if batch.columns:
            column = batch.columns[position]
            if isinstance(column, FloatColumn):
                return self._copy(base, column.numbers, batch.count)
            if isinstance(column, IntegerColumn):
                return self._convert(base, column, batch.count)
            if not isinstance(column, ObjectColumn):
                return False
            return self._unbox(base, column.objects)
        numbers, rows = self.numbers, batch.rows()
        at: i64
        for at in range(batch.count):
            value: Any = rows[at][position]
            if type(value) is float:
                numbers[base + at] = value
            elif not self._other(base + at, value):
                return False
        return True

    def _other(self, at: i64, value: Any) -> bool:
        if value is None:
            self.numbers[at] = NULL_NUMBER
            return True
        if type(value) is not int or not -EXACT <= value <= EXACT:
            return False
        self.numbers[at] = float(value)
        return True

    def _copy(self, base: i64, given: Floats, count: i64) -> bool:
        numbers = self.numbers
        at: i64
        for at in range(count):
            numbers[base + at] = given[at]
        return True

    def _convert(self, base: i64, column: IntegerColumn, count: i64) -> bool:
        numbers, given = self.numbers, column.numbers
        most: i64 = EXACT
        at: i64
        for at in range(count):
            whole = given[at]
            if whole < -most or whole > most:
                return False
            numbers[base + at] = float(whole)
        return True

    def _unbox(self, base: i64, objects: list[Any]) -> bool:
        at: i64 = base
        for value in objects:
            if not self._other(at, value):
                return False
            at += 1
        return True
