"""The inputs of one machine, tried one by one, with an event or with all events of a batch.

Here: that. Hot. Not here: an index over the inputs of many machines (index.spaces), loops over columns (marking).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...algebra.predicate import All, condition, holds
from ...events.batch import Batch
from ...events.schema import Row
from ..executors.packed import Integers, integers
from .marking import filled, mark, mark_column
from .matchers import Matcher


@final
class Trial:
    """The inputs of one machine.

    `always` are those that every event satisfies, `guards` and `bits` the others; `mask` those that the current event
    satisfies, `masks` those of the current batch.
    """

    def __init__(self, matcher: Matcher, stream: str) -> None:
        self.matcher = matcher
        self.always: i64 = 0
        self.mask: i64 = 0
        self.masks: Integers = integers()
        self.guards: list[All | None] = []
        self.bits: list[int] = []
        for at, given in enumerate(matcher.machine.inputs):
            if given.stream != stream:
                continue
            guard = condition(given.guard)
            if guard is None:
                self.always |= 1 << at
            else:
                self.guards.append(guard)
                self.bits.append(1 << at)

    def test(self, row: Row) -> None:
        """Find the inputs that an event satisfies."""
        mask = self.always
        guards = self.guards
        j: i64
        for j in range(len(guards)):
            if holds(guards[j], row, (), (), 1, 1):
                mask |= self.bits[j]
        self.mask = mask

    def column(self, masks: Integers, batch: Batch) -> Integers:
        """For each event of a batch the inputs that it satisfies, in this column. Raises what a condition raises."""
        masks = filled(masks, len(batch), self.always)
        by_columns = batch.made is None and self.matcher.machine.by_columns
        for guard, bit in zip(self.guards, self.bits):
            if guard is not None and not (by_columns and mark_column(masks, batch, guard, bit)):
                mark(masks, batch.rows(), guard, bit)
        return masks
