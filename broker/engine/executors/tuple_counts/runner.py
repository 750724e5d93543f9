"""What takes events for the partial matches of one key value of one machine: the common form of all methods.

Here: that form, and the plan: what an event does that satisfies a given set of operands. Not here: a method.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from mypy_extensions import i64, mypyc_attr

from ....automaton.distances import Distances
from ....events.schema import Row, Value
from .completion import ALWAYS_GOOD, Completion, Tuple
from .plan import CountedArc, CountingPlan

Binding: TypeAlias = tuple[Value, ...]

NEVER: Final = -(1 << 62)  # before any position


@mypyc_attr(acyclic=True)
class FlatArc:
    """An arc, flat. Ranges of distances are low, high, low, high, ..."""

    __slots__ = (
        "check_limits",
        "check_ranges",
        "check_slots",
        "equals",
        "number",
        "operand",
        "present",
        "recent_ranges",
        "recents",
        "source",
        "target",
        "tests",
        "times",
        "values",
    )

    def __init__(self, plan: CountingPlan, number: int) -> None:
        arc: CountedArc = plan.arcs[number]
        self.number: i64 = number
        self.source: i64 = arc.source
        self.operand: i64 = arc.operand
        self.target: i64 = arc.target
        self.check_slots: list[int] = [slot for slot, _ in arc.checks]
        self.check_limits: list[int] = [1 << limit for _, limit in arc.checks]
        self.check_ranges: list[list[int]] = [flat(plan.limits[limit]) for _, limit in arc.checks]
        self.recents: list[int] = [distance for distance, _ in arc.recents]
        self.recent_ranges: list[list[int]] = [flat(allowed) for _, allowed in arc.recents]
        self.tests: list[int] = [number for test in arc.tests for number in test]
        self.equals: list[int] = [number for pair in arc.equals for number in pair]
        self.present: list[int] = list(arc.present)
        self.times: list[int] = list(arc.times)
        self.values: list[int] = list(arc.values)


def flat(allowed: Distances) -> list[int]:
    return [bound for low_high in allowed for bound in low_high]


def within(ranges: list[int], distance: i64) -> bool:
    """Whether a distance lies in one of the ranges."""
    for at in range(0, len(ranges), 2):
        if distance <= ranges[at + 1]:
            return distance >= ranges[at]
    return False


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

    def dump(self) -> list[Any]:
        return [int(self.last), self.times]

    def load(self, data: Any) -> None:
        self.last, times = data
        self.times = list(times)

    def allow(self, arc: FlatArc) -> bool:
        """Whether the current event, already taken, is at allowed distances after those before it."""
        times = self.times
        at = len(times) - 1
        for i in range(len(arc.recents)):
            before = at - arc.recents[i]
            if before < 0 or not within(arc.recent_ranges[i], times[at] - times[before]):
                return False
        return True


@mypyc_attr(acyclic=True)  # partial matches lead to tables and to earlier events only
class Runner:
    """Partial matches of one key value. Positions count the events of a stream or partition, also those not taken.

    Completions up to the time `doubtful` may lack tuples, because a limit was hit.
    """

    __slots__ = ("doubtful", "losses")

    def __init__(self) -> None:
        self.doubtful: i64 = NEVER
        self.losses: i64 = 0  # how often a limit was hit

    def lose(self, time: i64, horizon: i64) -> None:
        """A limit was hit: as long as what was forgotten could have been of use, tuples may be missing."""
        self.doubtful = ALWAYS_GOOD if horizon >= ALWAYS_GOOD else time + horizon
        self.losses += 1

    def take(self, mask: int, row: Row, time: i64, position: i64, item: object, found: list[Completion]) -> None:
        """An event that satisfies the operands in `mask`; appends what it completes."""
        raise AssertionError

    def empty(self, time: i64, position: i64) -> bool:
        """Whether nothing would be lost without it, before an event at that time and position or later."""
        raise AssertionError

    def live(self, time: i64, position: i64) -> list[int]:
        """The states, ascending and without the start, that hold something for an event from that time on which is
        the next after this position. O(what is kept in them that time has settled + states)."""
        raise AssertionError

    def sure(self) -> i64:
        """The last moment up to which time alone cannot change what is live."""
        raise AssertionError

    def end(self, state: i64) -> i64:
        """The last moment at which what the state holds can still be completed, as far as that is known."""
        return ALWAYS_GOOD

    def way(self, state: i64) -> Tuple:
        """One way to a state that is live."""
        raise AssertionError

    def partial(self, position: i64) -> Iterator[Tuple]:
        """The tuples begun that an event after this position can go on with, as far as they are kept: one way to each
        state where no tuples are. For people: those that time rules out may still be among them."""
        raise AssertionError

    def tally(self, figures: dict[str, int]) -> None:
        """Add its figures."""
        raise AssertionError

    def check_invariants(self) -> None:
        raise AssertionError

    def dump(self) -> list[Any]:
        """All of it as plain values."""
        raise AssertionError

    def load(self, data: Any) -> None:
        """The inverse, into a new one."""
        raise AssertionError
