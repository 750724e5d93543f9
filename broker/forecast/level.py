"""The rows of one pool of counts, shrunk towards larger pools, and first passages from them.

A level is the pool of all, that of a key, that of other circumstances, or that of both. Its rows are means of Dirichlet
posteriors around the mean of its parents' rows (forecasting 3): p = (n + k * parent) / (sum n + k).

Estimates are published and stay until they may have moved by more than `tolerance`, in half the sum of absolute
differences. `a` additions to a row of mass m move it by at most a / (m + a): that bound needs no estimate, so it is
looked at with every count. What the bound cannot exclude is estimated again, and published if it has moved indeed. A
passage over N steps then errs by at most N times what rows err, which is the tolerance of the level and of those above.

Here: when to estimate and what. Not here: which levels there are (forecaster).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from mypy_extensions import i64

from .chain import MarkovChain, Shape, TransitionRow, chain_of, distance, known_row, mean_row, pooled_row, shrunk_row
from .counts import CountTable
from .passage import Passage, first_passage, reached


@final
class Level:
    """One pool: its counts, its published rows, its passage."""

    def __init__(
        self,
        table: CountTable,
        form: Shape,
        parents: tuple[Level, ...] = (),
        strength: float = 0.0,
        smoothing: float = 0.0,
        tolerance: float = 0.0,
    ) -> None:
        """`strength`: what the parents weigh, in transitions; `smoothing`: see chain, for a level without parents."""
        self.table = table
        self.form = form
        self.parents = parents
        self.strength = strength
        self.smoothing = smoothing
        self.tolerance = tolerance
        self.stamp: int = 0  # how often rows were published
        self.rows: list[TransitionRow] = []
        self.stamps: list[int] = [0] * form.states  # of each row, when it was published
        self._limits: list[float] = [-1.0] * form.states  # additions that cannot have moved the row too far
        self._moved: list[int] = [0] * form.states
        self._due: list[int] = []
        self._seen: int = 0  # the sum of the parents' stamps
        self._seen_rows: list[int] = [0] * form.states
        self._generation = table.clock.generation
        self._passage: Passage | None = None
        self._passage_stamp = -1
        self.estimate_anew()

    def add(self, state: i64, following: i64, times: i64) -> None:
        """Count transitions. O(1)."""
        self.table.add(state, following, times)
        moved = self._moved[state]
        if moved >= 0:
            moved += int(times)
            if moved > self._limits[state]:
                self._due.append(int(state))
                moved = -1
            self._moved[state] = moved

    def estimate_anew(self) -> None:
        """Have all rows estimated again, whatever the bounds say: counts or weights were changed from outside."""
        self._due = list(range(self.form.states))
        self._moved = [-1] * self.form.states

    def refresh(self) -> None:
        """Bring the rows up to date within the tolerance. O(1) where nothing may have moved."""
        if self.parents:
            stamp = 0
            for parent in self.parents:
                parent.refresh()
                stamp += parent.stamp
            if stamp != self._seen:
                self._seen = stamp
                self._follow_parents()
        if self._generation != self.table.clock.generation:
            self._generation = self.table.clock.generation
            self.estimate_anew()
        if self._due:
            due, self._due = self._due, []
            for state in due:
                self._estimate(state)

    def _follow_parents(self) -> None:
        for state in range(self.form.states):
            stamp = 0
            for parent in self.parents:
                stamp += parent.stamps[state]
            if stamp != self._seen_rows[state]:
                self._seen_rows[state] = stamp
                if self._moved[state] >= 0:
                    self._moved[state] = -1
                    self._due.append(state)

    def _estimate(self, state: int) -> None:
        if self.parents:
            counted = self.table.weighted(state)
            parent = mean_row([level.rows[state] for level in self.parents])
            row, mass, growth = shrunk_row(counted, parent, self.strength), self.strength, 1.0
            for target in sorted(counted):
                mass += counted[target]
        else:
            row = self._pooled(state)
            mass, growth = row.weight, 1.0 + self.smoothing
        slack = 0.0
        if state == len(self.rows):
            self.rows.append(row)
            self._publish(state, row)
        else:
            slack = distance(row, self.rows[state])
            if slack > 0.5 * self.tolerance:
                slack = 0.0
                self._publish(state, row)
            else:
                self.rows[state] = TransitionRow(self.rows[state].targets, self.rows[state].chances, row.weight)
        room = self.tolerance - slack
        self._limits[state] = mass * room / ((1.0 - room) * growth) if room < 1.0 else float("inf")
        self._moved[state] = 0

    def _pooled(self, state: int) -> TransitionRow:
        """The row of a state from its counts alone."""
        successors = self.form.successors
        if successors is not None and self.smoothing > 0.0:
            counted = self.table.current(state)
            if counted is not None:
                row = known_row(counted, successors[state], self.smoothing)
                if row is not None:
                    return row
        return pooled_row(self.table.weighted(state), self.form, state, self.smoothing)

    def _publish(self, state: int, row: TransitionRow) -> None:
        self.rows[state] = row
        self.stamp += 1
        self.stamps[state] = self.stamp

    # --- estimates that are kept elsewhere ----------------------------------------------------------------------

    def published(self) -> tuple[list[TransitionRow], list[float], list[int]]:
        """The published rows; additions that cannot have moved each too far; those since it was estimated, -1 for one
        that is to be estimated."""
        return self.rows, self._limits, self._moved

    def publish_anew(self, rows: list[TransitionRow], limits: list[float], moved: list[int]) -> None:
        """The inverse of `published`, for a new level without parents that has the same counts."""
        self.rows, self._limits, self._moved = rows, limits, moved
        self._due = [state for state, added in enumerate(moved) if added < 0]

    def aside(self, parents: tuple[Level, ...]) -> Level:
        """The same estimates of the same counts beside these, with parents of its own. O(states)."""
        found = Level(self.table, self.form, parents, self.strength, self.smoothing, self.tolerance)
        found.rows, found.stamps, found.stamp = self.rows[:], self.stamps[:], self.stamp
        found._limits, found._moved, found._due = self._limits[:], self._moved[:], self._due[:]
        found._seen, found._seen_rows, found._generation = self._seen, self._seen_rows[:], self._generation
        found._passage, found._passage_stamp = self._passage, self._passage_stamp
        return found

    def chain(self) -> MarkovChain:
        """The chain of the published rows. O(states)."""
        self.refresh()
        return chain_of(self.form, self.rows)

    def passage(self, horizon: int) -> Passage:
        """First passages of the published rows. O(1) where no row was published since, else O(horizon x edges)."""
        self.refresh()
        found = self._passage
        if found is None or self._passage_stamp != self.stamp or found.horizon < horizon:
            found = self._passage = first_passage(chain_of(self.form, self.rows), horizon)
            self._passage_stamp = self.stamp
        return found

    def reached(self, horizon: int) -> list[float]:
        """P(a match within the horizon) from each state but the final one, as a passage says. O(horizon x edges)."""
        self.refresh()
        return reached(self.rows, horizon)

    def dump(self) -> list[Any]:
        """Published rows and when they are estimated again, as plain data: all that does not follow from the counts."""
        rows = [[list(row.targets), list(row.chances), row.weight] for row in self.rows]
        books = [self.stamps[:], self._limits[:], self._moved[:], self._due[:], self._seen_rows[:]]
        return [rows, books, self.stamp, self._seen, self._generation]

    def load(self, data: Sequence[Any]) -> None:
        """Load a dump into a level with the same counts."""
        rows, books, self.stamp, self._seen, self._generation = data
        self.rows = [TransitionRow(tuple(targets), tuple(chances), weight) for targets, chances, weight in rows]
        self.stamps, self._limits, self._moved, self._due, self._seen_rows = [list(book) for book in books]

    def check_invariants(self) -> None:
        """Raise AssertionError unless the bookkeeping is sound."""
        waiting = [state for state, moved in enumerate(self._moved) if moved < 0]
        assert sorted(self._due) == waiting
        for row in self.rows:
            assert abs(sum(row.chances) - 1.0) < 1e-9
