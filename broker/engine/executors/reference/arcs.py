"""An arc ready to be tried: its conditions and computations, compiled.

Here: an arc's conditions on a run and an event, and the values that it puts into slots. Not here: windows, partitions,
earlier events, the order in which arcs are tried (interpreter).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast, final

from ....algebra.computation import Slots
from ....algebra.functions import Number, bounded
from ....algebra.predicate import computation, condition, holds
from ....automaton.automaton import Accumulated, Arc, BoundRow, Carry, Computed, EventRow, EventTime, SlotSource
from ....events.schema import Row, Value
from .run import ReferenceRun, SeenEvent

Surrounding: TypeAlias = tuple[Row, Row, Slots, int, int]
"""Row of the event, row taken last, slots, DUR of the event, DUR of the composition (computation)."""


@final
class RunnableArc:
    def __init__(self, arc: Arc) -> None:
        self.arc = arc
        self._guard = condition(arc.guard)
        self._rest = condition(arc.rest)
        self._joins = [(join.position, computation(join.register)) for join in arc.joins]
        self._output = [computation(term) for term in arc.output]
        self._computed = {s.term: computation(s.term) for s in arc.update if isinstance(s, Computed)}

    def holds(self, run: ReferenceRun, event: SeenEvent | None) -> bool:
        """Whether guard, joins and rest hold for the event; for an arc without an event, for the run alone."""
        row, bound, slots, length, span = surrounding(run, event)
        for position, register in self._joins:
            value, other = row[position], register.value(row, bound, slots, length, span)
            if value is None or other is None or value != other:
                return False
        return holds(self._guard, row, bound, slots, length, span) and holds(
            self._rest, row, bound, slots, length, span
        )

    def output(self, run: ReferenceRun, event: SeenEvent | None) -> Row:
        """The values of the result."""
        row, bound, slots, length, span = surrounding(run, event)
        return tuple([each.value(row, bound, slots, length, span) for each in self._output])

    def update(self, run: ReferenceRun, event: SeenEvent | None) -> Slots:
        """The slots of the target."""
        return tuple([self._filled(source, run, event) for source in self.arc.update])

    def _filled(self, source: SlotSource, run: ReferenceRun, event: SeenEvent | None) -> Any:
        if isinstance(source, Carry):
            return run.slots[source.slot] if source.slot < len(run.slots) else None
        if isinstance(source, BoundRow):
            return run.last().row
        if isinstance(source, Computed):
            row, bound, slots, length, span = surrounding(run, event)
            return self._computed[source.term].value(row, bound, slots, length, span)
        assert event is not None, "only an arc that takes an event remembers it"
        if isinstance(source, EventRow):
            return event.row
        if isinstance(source, EventTime):
            return event.end
        rows = [before.row for arc, before in run.taken if arc.operand == self.arc.operand and not source.first]
        return accumulated(source, [*rows, event.row])


def surrounding(run: ReferenceRun, event: SeenEvent | None) -> Surrounding:
    """The values that guards and computations read before the event is taken."""
    bound = run.last().row if run.taken else ()
    if event is None:
        return (), bound, run.slots, 0, 0
    start = run.first().start if run.taken else event.start
    return event.row, bound, run.slots, event.end - event.start + 1, event.end - start + 1


def accumulated(source: Accumulated, rows: Sequence[Row]) -> Value:
    """The aggregate over the rows of an operand's events, at least one."""
    if source.function == "len":
        return len(rows)
    present = [row[source.position] for row in rows if row[source.position] is not None]
    if source.function == "count":
        return len(present)
    if not present:
        return None
    numbers = cast("list[Number]", present)
    if source.function == "min":
        return min(numbers)
    if source.function == "max":
        return max(numbers)
    total = numbers[0]
    for number in numbers[1:]:  # from left to right, unlike sum() of floats in some Python versions
        total = total + number
    return bounded(total if source.function == "sum" else total / len(numbers))
