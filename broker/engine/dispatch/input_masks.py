"""The inputs of one machine, tried with all events of a batch.

Here: that. Hot. Not here: an index over the inputs of many machines (index.spaces), loops over columns (marking).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ...algebra.predicate import All, condition
from ...events.batch import Batch
from ..executors.packed import Integers, integers
from .marking import filled, mark, mark_column
from .matchers import Matcher


@final
class InputMasks:
    """The inputs of one machine, all of one stream: `always` are those that every event satisfies, `guards` and `bits`
    the others; `masks` those that the events of the current batch satisfy."""

    def __init__(self, matcher: Matcher) -> None:
        self.matcher = matcher
        self.always: i64 = 0
        self.masks: Integers = integers()
        self.guards: list[All] = []
        self.bits: list[int] = []
        for at, given in enumerate(matcher.machine.inputs):
            guard = condition(given.guard)
            if guard is None:
                self.always |= 1 << at
            else:
                self.guards.append(guard)
                self.bits.append(1 << at)

    def mark(self, batch: Batch) -> None:
        """Find the inputs that each event of a batch satisfies. Raises what a condition raises."""
        self.masks = filled(self.masks, len(batch), self.always)
        for guard, bit in zip(self.guards, self.bits):
            if batch.made is not None or not mark_column(self.masks, batch, guard, bit):
                mark(self.masks, batch.rows(), guard, bit)
