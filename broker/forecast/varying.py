"""The values of a context that change with the events: the mark, and which mark may follow which.

A key, a month or a carrier is the same at the end of a horizon: a *fixed* value. A number with cuts and the last states
are others with each event: *varying* values, in the word of regression with time-varying covariates. Together they are
the *mark* of an event, as in a marked point process. The last states of the next mark are known with the next state;
its cells of numbers are not, and have a number here, their `code`, so that they can be counted like states.

Here: positions and numbers. Not here: how often which mark follows (moves), the chain over states and marks (product).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from ..events.errors import LimitExceeded
from .contexts import MISSING, ContextDefinition
from .counts import Context

PAIRS_MAX: Final = 8_192
"""Pairs of a state and a mark that one chain may have."""
TABLE_MAX: Final = 2**20
"""Pairs times steps of the horizon: the probabilities that one chain keeps."""
STEPS_IN_TIME: Final = 1_000
"""Steps that a horizon in time may have."""


@final
class Varying:
    """`cells`: the positions of numbers with cuts in a context, and `sizes`, how many values each has, null included;
    `begin`, `end`: where the last states are, equal where there are none."""

    def __init__(self, cells: list[int], sizes: list[int], begin: int, end: int) -> None:
        self.cells = cells
        self.sizes = sizes
        self.begin = begin
        self.end = end

    def fixed(self, context: Context) -> Context:
        """The values that stay. O(values)."""
        found: list[str | int] = []
        for at, value in enumerate(context):
            if at not in self.cells and not self.begin <= at < self.end:
                found.append(value)
        return tuple(found)

    def binned(self, context: Context) -> Context:
        """The cells of numbers."""
        return tuple([context[at] for at in self.cells])

    def code(self, context: Context) -> int:
        """The cells of numbers as one number from 1 on."""
        found = 0
        for at, size in zip(self.cells, self.sizes):
            value = context[at]
            cell = value - MISSING if isinstance(value, int) else 0
            found = found * size + min(max(cell, 0), size - 1)
        return found + 1

    def onward(self, context: Context, following: int, code: int) -> Context:
        """The context after a step to the state `following` with cells of that code. O(values)."""
        found: list[str | int] = list(context)
        code -= 1
        for place in range(len(self.cells) - 1, -1, -1):
            size = self.sizes[place]
            found[self.cells[place]] = code % size + MISSING
            code //= size
        if self.end > self.begin:
            found[self.begin : self.end] = [*context[self.begin + 1 : self.end], following]
        return tuple(found)

    def remembers(self, context: Context, state: int) -> bool:
        """Whether a chain can be in the state with this context: the last of the last states is the state itself."""
        return self.end == self.begin or context[self.end - 1] == state

    def without_key(self) -> Varying:
        """The same of contexts whose first value, the key, is left out."""
        return Varying([at - 1 for at in self.cells], self.sizes, self.begin - 1, self.end - 1)

    def pairs(self, states: int) -> int:
        """How many pairs of a state and a mark there can be."""
        found = states
        if self.end > self.begin:
            found = sum([states**known for known in range(1, self.end - self.begin + 1)])
        for size in self.sizes:
            found *= size
        return found


def varying_of(definition: ContextDefinition) -> Varying | None:
    """The varying values of a context; None where all are fixed."""
    cells: list[int] = []
    sizes: list[int] = []
    begin = end = at = 0
    for part in definition.parts:
        if part.kind == "last":
            begin, end = at, at + part.length
            at += part.length
            continue
        if part.cuts and part.kind == "attribute":
            cells.append(at)
            sizes.append(len(part.cuts) + 2)
        at += 1
    return Varying(cells, sizes, begin, end) if cells or end > begin else None


def check_varying(definition: ContextDefinition, states: Sequence[int], steps: int) -> None:
    """`states` of each chain; `steps` of the horizon, 0 where it is in time. Raises LimitExceeded in one line."""
    varying = varying_of(definition)
    if varying is None:
        return
    most = min(PAIRS_MAX, TABLE_MAX // max(steps or STEPS_IN_TIME, 1))
    for each in states:
        pairs = varying.pairs(each)
        if pairs > most:
            raise LimitExceeded(
                f"forecast: context: expected at most {most:,} pairs of one of {each} states and values that vary"
                f" (cuts, last) for this horizon, found {pairs:,}"
            )
