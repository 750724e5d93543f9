"""States and arcs as flat tables, without the conditions that a key or a window decides.

An automaton's path from its start to its end is one tuple of events. Here: these tables. Not here: how they follow from
the automaton (counting_plan), counts of any stream (cell_counting, window_counting).
"""

from __future__ import annotations

from typing import Final, NamedTuple, final

from mypy_extensions import i64

from ....automaton.distances import Distances
from ....events.schema import Row
from .kept_times import Asked, Slots, flat, within

NOWHERE: Final = -1  # in no span
ALL: Final = -2  # an arc that tests none of its source's variables
EXACT: Final = -1  # one that tests all of them
NEVER: Final = -(1 << 62)  # before any time and position


@final
class CountedState:
    """`number`: the automaton's, 0 where nothing waits. `skips`: events may pass by; else its matches are of use for
    the very next event only. `times` of each slot, `variables`, sorted, are bound beside the key's; `bound`: where each
    variable of a match is among them, -1: unbound. `indexes`: the sets of variables that arcs look for, beside all.
    `span` and `at`: which span the state is in, and its number there."""

    def __init__(
        self,
        number: int,
        skips: bool,
        final: bool,
        times: list[Asked],
        variables: tuple[int, ...],
        limits: list[Distances],
        matched: int,
    ) -> None:
        self.number = number
        self.skips = skips
        self.final = final
        self.times = times
        self.slots = Slots(times, limits)
        self.variables = variables
        self.bound: list[int] = [variables.index(v) if v in variables else -1 for v in range(matched)]
        self.indexes: list[tuple[int, ...]] = []
        self.span: i64 = NOWHERE
        self.at: i64 = NOWHERE


class ArcQuestions(NamedTuple):
    """What an arc asks of an event: `checks` of the distance, by its number, from the time in a slot; `recents` of the
    allowed distances from an event so many positions before; `tests` of attributes to be as variables; `equals`, pairs
    of attributes; `present`, those that must not be null."""

    checks: list[tuple[int, int]]
    recents: list[tuple[int, Distances]]
    tests: list[tuple[int, int]]
    equals: list[tuple[int, int]]
    present: list[int]


@final
class CountedArc:
    """An event of `operand` leads from the state numbered `source` to `target` if

    - it is an allowed distance, in `check_ranges`, after each of the source's times at `checks`, or the bit in
      `check_bits` says that it was;
    - so it is, in `recent_ranges`, after the event `recents` positions before it;
    - `probe`: these attributes have the values of the source's variables that index `into` is by;
    - `equals`: these pairs of its attributes, flat, are equal; and `present`: these are not null.

    `times` fills the target's, each from the source's time of that index, or, -1, with the event's own; `values` its
    variables, from those of the source likewise, or, below zero, from attribute -1 - n. `span`: the source's, in which
    it is number `at`; the target is number `to` in its own. `inner`: both are one; `begins`: the span that it enters.
    """

    def __init__(
        self,
        operand: int,
        source: int,
        target: int,
        states: list[CountedState],
        asked: ArcQuestions,
        times: list[int],
        values: list[int],
        limits: list[Distances],
    ) -> None:
        checks, present = asked.checks, asked.present
        before, after = states[source], states[target]
        self.operand: i64 = operand
        self.source: i64 = source
        self.target: i64 = target
        self.checks: list[int] = [slot for slot, _ in checks]
        self.check_bits: list[int] = [1 << limit for _, limit in checks]
        self.check_ranges: list[list[int]] = [flat(limits[limit]) for _, limit in checks]
        self.recents: list[int] = [distance for distance, _ in asked.recents]
        self.recent_ranges: list[list[int]] = [flat(allowed) for _, allowed in asked.recents]
        self.equals: list[int] = [attribute for pair in asked.equals for attribute in pair]
        self.present = present
        self.times = times
        self.values = values
        attributes: dict[int, int] = {}
        for attribute, variable in asked.tests:
            if variable in attributes:
                self.equals += [attributes[variable], attribute]
            attributes.setdefault(variable, attribute)
        subset = tuple(sorted(attributes))
        self.probe: list[int] = [attributes[variable] for variable in subset]
        if len(subset) == len(before.variables):
            self.into: i64 = EXACT
        elif not subset:
            self.into = ALL
        else:
            if subset not in before.indexes:
                before.indexes.append(subset)
            self.into = before.indexes.index(subset)
        self.conditional: bool = len(self.recents) + len(self.equals) + len(present) > 0
        self.skips = before.skips
        self.final = after.final
        self.span: i64 = before.span
        self.at: i64 = before.at
        self.to: i64 = after.at
        self.inner = before.span >= 0 and before.span == after.span
        self.begins: i64 = NOWHERE if self.inner else after.span

    def fits(self, row: Row, recents: Recents) -> bool:
        """Whether an event, which is the newest of `recents`, satisfies what it alone decides."""
        for attribute in self.present:
            if row[attribute] is None:
                return False
        for at in range(0, len(self.equals), 2):
            if row[self.equals[at]] != row[self.equals[at + 1]]:
                return False
        times = recents.times
        newest = len(times) - 1
        for i in range(len(self.recents)):
            before = newest - self.recents[i]
            if before < 0 or not within(self.recent_ranges[i], times[newest] - times[before]):
                return False
        return True


@final
class Recents:
    """The times of the last events in a row, for conditions within a contiguous run. `depth` of them are asked for."""

    __slots__ = ("depth", "last", "times")

    def __init__(self, depth: i64) -> None:
        self.depth = depth
        self.last: i64 = NEVER
        self.times: list[int] = []

    def take(self, position: i64, time: i64) -> None:
        if position != self.last + 1:
            self.times.clear()
        self.last = position
        self.times.append(time)
        if len(self.times) > 2 * self.depth + 8:
            del self.times[: -self.depth - 1]


@final
class ArcMoves:
    """What an event may do that satisfies one set of operands: `arcs`, late states first. Of each span, by its number,
    the moves within as (from, to), flat: `inner`; `depends`: whether these are all depends on more. `spans`: those that
    the event concerns; `leaves`: it may lead out of one, and asks what is too old."""

    def __init__(self, arcs: list[CountedArc], spans: int) -> None:
        self.arcs = arcs
        self.leaves = any(arc.span >= 0 and not arc.inner for arc in arcs)
        self.inner: list[list[int]] = [[] for _ in range(spans)]
        self.depends = any(arc.inner and (arc.conditional or not arc.skips) for arc in arcs)
        for arc in arcs:
            if arc.inner:
                self.inner[arc.span] += [int(arc.at), int(arc.to)]
        self.spans: list[int] = sorted({int(arc.span if arc.inner else arc.begins) for arc in arcs} - {NOWHERE})
