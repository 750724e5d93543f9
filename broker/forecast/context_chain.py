"""The chain of a subscription under one context: where its steps are counted, and what is forecast from there.

Here: one context. Not here: which levels it has (forecaster), how they estimate (level).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from .chain import Shape
from .counts import Context
from .level import Level
from .passage import Passage
from .uncertainty import interval, standard_error


class ChainFrame:
    """What the chains of one subscription share: their form, and how many steps ahead they forecast."""

    def __init__(self, form: Shape, horizon: int) -> None:
        self.form = form
        self.horizon = horizon


@final
class ContextChain:
    """`levels`: the pool first, the whole context last, which forecasts."""

    def __init__(self, frame: ChainFrame, context: Context, levels: tuple[Level, ...]) -> None:
        self.frame = frame
        self.context = context
        self.levels = levels
        self._next: list[float] = []  # by state, what `within` says, as of the level's stamp
        self._stamp = -1

    def step(self, state: i64, following: i64, times: i64 = 1) -> None:
        """`times` events have each led from a state to the following one. O(levels)."""
        for level in self.levels:
            level.add(state, following, times)

    def within(self, state: int) -> float:
        """P(the next match comes within the horizon's steps | state). O(levels) where nothing has moved."""
        steps = self.frame.horizon
        level = self.levels[-1]
        if state + 1 == self.frame.form.states:  # a match has just come
            return level.passage(steps).next(state, steps)
        level.refresh()
        if level.stamp != self._stamp:
            self._next = level.reached(steps)
            self._stamp = level.stamp
        return self._next[state]

    def forget(self) -> None:
        """The horizon is another one."""
        self._stamp = -1

    def curve(self, state: int) -> list[float]:
        """P(the next match within n steps | state), n = 0 .. at least the horizon."""
        return self.passage().curve(state)

    def passage(self, steps: int = 0) -> Passage:
        """First passages over so many steps and at least the horizon's."""
        return self.level().passage(max(steps, self.frame.horizon))

    def level(self) -> Level:
        """The level whose rows are those of this context: the one that forecasts are taken from."""
        return self.levels[-1]

    def effective(self, state: int) -> float:
        """How many transitions stand behind the row of a state; what larger pools know counts up to their strength."""
        level = self.level()
        level.refresh()
        return level.rows[state].weight

    def error(self, state: int, steps: int) -> float:
        """The standard error of `over`. O(steps x edges)."""
        return standard_error(self.level().chain(), self.passage(steps), state, steps)

    def interval(self, state: int, steps: int) -> tuple[float, float]:
        """Where the true probability of a match within so many steps is thought to lie with nine chances in ten.

        O(horizon x edges)."""
        return interval(self.over(state, steps), self.error(state, steps))

    def over(self, state: int, steps: int) -> float:
        """P(the next match comes within so many steps | state), beyond the horizon too. O(1) or O(steps x edges). For
        the horizon's steps this is what `within` says."""
        if state + 1 < self.frame.form.states:
            return self.level().reached(steps)[state]
        return self.passage(steps).next(state, steps)

    def aside(self) -> ContextChain:
        """A copy with estimates of its own, whose use changes nothing here. O(levels x states)."""
        copies: list[Level] = []
        for level in self.levels:
            copies.append(level.aside(tuple([copies[self.levels.index(parent)] for parent in level.parents])))
        return ContextChain(self.frame, self.context, tuple(copies))
