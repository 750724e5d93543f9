"""The steps of a group's template, as the host's recipe gives them; immutable.

A step is a union of clauses; a clause has bounds, which depend on a member's constants, and a rest without constants.
Registers are numbers that a run remembers. Here: these forms, and how an event is tested against them. Not here: making
them.
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.predicate import All, holds
from ....events.schema import Row
from .columns import (
    INFINITY,
    Floats,
    Integers,
    floats,
    floats_from,
    integers,
    integers_from,
    with_room,
    with_room_for_integers,
)
from .coordinates import ATTRIBUTE, CoordinateBound, narrowed, number, number_of
from .kept_events import KeptEvents
from .members import Members
from .text_members import TextMembers

FEW: Final = 16  # members

# How a run waits for a step: for the next event of its cell, of the stream, of its partition, or for one that fits.
NEXT: Final = 0
STRICT: Final = 1
PARTITION: Final = 2
SKIP: Final = 3


@final
class Remembered:
    """A number that a run remembers: an attribute of the event taken at a step."""

    def __init__(self, attribute: int, step: int) -> None:
        self.attribute: i64 = attribute
        self.step: i64 = step

    def begun(self, row: Row) -> float:
        """Its value when an event begins the run."""
        return number(row, self.attribute)

    def taken(self, row: Row, step: i64, value: float) -> float:
        """Its value after the run, in which it was `value`, takes an event at a step after the first."""
        return number(row, self.attribute) if self.step == step else value


@final
class EarlierRows:
    """A condition on the event and earlier ones of the run, with the step of each slot's event."""

    def __init__(self, condition: All, slots: list[int]) -> None:
        self.condition = condition
        self.slots = slots

    def holds(self, row: Row, events: KeptEvents, numbers: Integers, first: i64) -> bool:
        """Whether it holds. O(slots x log(events kept)). `first`: where the numbers of the run's events begin."""
        known: list[Row] = []
        for step in self.slots:
            known.append(events.row(numbers[first + step]) if step >= 0 else ())
        return holds(self.condition, row, (), tuple(known), 0, 0)

    def among(self, row: Row, rows: list[Row]) -> bool:
        """The same with the events of the run, by step. O(slots)."""
        known: list[Row] = []
        for step in self.slots:
            known.append(rows[step] if step >= 0 else ())
        return holds(self.condition, row, (), tuple(known), 0, 0)


@final
class StepClause:
    """Bounds, and conditions without a member's constants.

    These are `guard` on the event alone, and `compares` on earlier events, which only a chain can test.
    """

    def __init__(
        self,
        bounds: list[CoordinateBound],
        guard: All | None = None,
        compares: EarlierRows | None = None,
    ) -> None:
        self.bounds = bounds
        self.guard = guard
        self.compares = compares
        self.earlier = [bound for bound in bounds if len(bound.slots) > 0]
        """The bounds that read earlier events, which only a chain and a skip till can."""
        self._single: i64 = -1  # that of the only bound, -1 if there are others
        self._coordinate: i64 = 0
        self._sign = 1.0
        self._prepare()

    def _prepare(self) -> None:
        bounds = self.bounds
        if len(bounds) == 1 and bounds[0].source == ATTRIBUTE:
            self._single, self._coordinate = bounds[0].attribute, bounds[0].coordinate
            self._sign = bounds[0].sign
        else:
            self._single = -1

    def ask(self, bound: CoordinateBound) -> None:
        """Add a bound."""
        self.bounds.append(bound)
        self._prepare()

    def narrows(self, row: Row, time: i64, start: i64, registers: Floats, first: i64, x: Floats, at: i64) -> bool:
        """Lower the values, from `at` on, to those of an event, as `narrowed`; most clauses have one bound."""
        if self._single < 0:
            return narrowed(self.bounds, row, time, start, registers, first, x, at)
        given = row[self._single]
        value = self._sign * (given if isinstance(given, float) else number_of(given))
        if value != value:
            return False
        j = at + self._coordinate
        if value < x[j]:
            x[j] = value
        return True

    def misses(self, row: Row, members: Members) -> bool:
        """Whether the event alone rules out every member, where they are few: O(bounds), changes nothing.

        Few members have a corner that says nearly as much as they do; that of many says nothing.
        """
        return members.count <= FEW and self.exceeds(row, members)

    def ascending(self, window: i64) -> CoordinateBound | None:
        """The only bound but that of the window, if a run that one event meets is met by all that give more."""
        asked = [bound for bound in self.bounds if bound.coordinate != window]
        alone = len(asked) == 1 and self.compares is None and asked[0].ascends
        return asked[0] if alone else None

    def exceeds(self, row: Row, members: Members) -> bool:
        """Whether the event alone rules out every member. O(bounds), changes nothing."""
        root = members.root
        for bound in self.bounds:
            if bound.source == ATTRIBUTE:
                given = row[bound.attribute]
                value = given if isinstance(given, float) else number_of(given)
                if not root[bound.coordinate] <= bound.sign * value:
                    return True
            elif bound.of_event and not root[bound.coordinate] <= bound.given(row):
                return True
        return False

    def runs_with(self, rows: list[Row]) -> None:
        """Let its terms read the events of a run, by step. O(slots that they read)."""
        for bound in self.earlier:
            bound.rows = tuple([rows[step] if step >= 0 else () for step in bound.slots])

    def admits(self, row: Row) -> bool:
        """Whether the conditions without constants and without earlier events hold."""
        return self.guard is None or holds(self.guard, row, (), (), 0, 0)


@final
class ChainTemplate:
    """The steps of a pattern, each a union of clauses. `d`: the number of a member's coordinates.

    `stays`: how a run waits for each step. In a chain a step that skips has no bounds except that of `window`, the
    coordinate of an own WITHIN. `sees`: what an event is asked that a run waiting for NEXT sees, None for nothing; no
    bounds. `texts`: the members by the texts of the steps, if these have some.
    """

    def __init__(
        self,
        d: int,
        steps: list[list[StepClause]],
        registers: list[Remembered] | None = None,
        stays: list[int] | None = None,
        window: int = -1,
        sees: list[StepClause | None] | None = None,
        texts: TextMembers | None = None,
    ) -> None:
        self.texts = texts
        self.sees: list[StepClause | None] = [None] * len(steps) if sees is None else sees
        self.passes = any(clause is not None for clause in self.sees)
        """Whether runs let some events pass for `sees`."""
        self.stays: list[int] = [NEXT] * len(steps) if stays is None else stays
        self.window: i64 = window
        self.d: i64 = d
        self.steps = steps
        self.length: i64 = len(steps)
        self.registers: list[Remembered] = [] if registers is None else registers
        self.unions = any(len(step) > 1 for step in steps)
        """Whether a run may reach an end by two clauses."""
        self.ascending = [step[0].ascending(window) if len(step) == 1 else None for step in steps]


@final
class Stretch:
    """Runs as rows of columns: `floats_each` values and registers, `integers_each` times, numbers and places."""

    def __init__(self, floats_each: i64, integers_each: i64) -> None:
        self.floats_each: i64 = floats_each
        self.integers_each: i64 = integers_each
        self.count: i64 = 0
        self.floats: Floats = floats()
        self.integers: Integers = integers()

    def room(self) -> None:
        """Room for one more row; the columns may have moved."""
        n = self.count + 1
        if len(self.floats) < n * self.floats_each:
            self.floats = with_room(self.floats, n * self.floats_each)
        if len(self.integers) < n * self.integers_each:
            self.integers = with_room_for_integers(self.integers, n * self.integers_each)

    def open(self, d: i64) -> i64:
        """Make room for a row whose first `d` values are infinite; returns where its floats begin."""
        self.room()
        at = self.count * self.floats_each
        column = self.floats
        j: i64
        for j in range(d):
            column[at + j] = INFINITY
        return at

    def copy(self, source: Stretch, row: i64) -> i64:
        """Make room for a row with the floats of another one; returns where they begin.

        The caller sets the integers.
        """
        self.room()
        at, base = self.count * self.floats_each, row * source.floats_each
        column, old = self.floats, source.floats
        j: i64
        for j in range(self.floats_each):
            column[at + j] = old[base + j]
        return at

    def add(self, source: Stretch, row: i64) -> None:
        """Append a copy of another row."""
        self.copy(source, row)
        at, base = self.count * self.integers_each, row * source.integers_each
        j: i64
        for j in range(self.integers_each):
            self.integers[at + j] = source.integers[base + j]
        self.count += 1

    def dump(self) -> tuple[list[float], list[int]]:
        """The rows as plain lists."""
        n = self.count
        return (
            [self.floats[i] for i in range(n * self.floats_each)],
            [int(self.integers[i]) for i in range(n * self.integers_each)],
        )

    def load(self, dumped: Any) -> None:
        values, numbers = list(dumped[0]), list(dumped[1])
        self.floats, self.integers = floats_from(values), integers_from(numbers)
        self.count = len(numbers) // self.integers_each
