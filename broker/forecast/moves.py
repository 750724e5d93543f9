"""How often which mark follows which: the cells of numbers after a step, by those before it and the new state.

p(m' | m, s') is drawn towards p(m' | s'), that of all marks: the mean of a Dirichlet posterior, as for states. Where a
state has never been entered nothing is known of the mark, and it is thought to stay. Fixed values have no part in it:
that a hot day is followed by a hotter one is counted for all stations alike.

Counts are transitions like others, kept beside those of the states under a version of their own, `VERSION/marks`: the
context is the mark before, the state the one that was entered, the next state the code of the new mark. So they are
merged, saved, trained and forgotten like these.

Here: these counts and rows. Not here: what a mark is (varying), the chain over both (product).
"""

from __future__ import annotations

from typing import Final, final

from .chain import Shape, TransitionRow
from .counts import Context, Counts, CountTable
from .level import Level
from .varying import Varying

MARKS: Final = "/marks"
UNKNOWN: Final = 0
MOVE_STRENGTH: Final = 2.0
"""What the moves of all marks weigh for those of one, in transitions. Little: each mark mostly has neighbours."""


def marks_of(version: str) -> str:
    """What the moves of a version's marks are counted under."""
    return version + MARKS


@final
class Moves:
    """The moves of one version's marks."""

    def __init__(self, version: str, varying: Varying, counts: Counts, states: int, tolerance: float) -> None:
        self.version = marks_of(version)
        self.varying = varying
        self.counts = counts
        self.tolerance = tolerance
        counts.table(self.version)  # so that it forgets as the version does, also before anything is counted
        # A move that was never counted leads to the code 0, which no mark has.
        self.form = Shape(states, frozenset(), (0,) * states)
        self.pool = Level(CountTable(counts.clock_of(self.version)), self.form, (), 0.0, 0.0, tolerance)
        self.levels: dict[Context, Level] = {}  # by the cells before

    def count(self, before: Context, following: int, after: Context, times: int) -> None:
        """A step to the state `following` has led from one context to another. O(values)."""
        code = self.varying.code(after)
        self.level(self.varying.binned(before)).add(following, code, times)
        self.pool.add(following, code, times)

    def put(self, binned: Context, generation: int, state: int, code: int, times: int) -> None:
        """A count of any generation has come to the model."""
        self.level(binned)
        self.pool.table.put(generation, state, code, times)

    def level(self, binned: Context) -> Level:
        """The moves from some cells; made when they are first asked for."""
        found = self.levels.get(binned)
        if found is None:
            table = self.counts.table(self.version, binned)
            # Its parent is estimated before it, and nothing is counted here that is not counted there.
            found = Level(table, self.form, (self.pool,), MOVE_STRENGTH, 0.0, self.tolerance)
            self.levels[binned] = found
        return found

    def row(self, binned: Context, following: int) -> TransitionRow | None:
        """Which codes follow; None where the state has never been entered."""
        found = self.levels.get(binned, self.pool).rows[following]
        return None if found.targets[0] == UNKNOWN else found
