"""What a wait asks of its events: the conditions of a group that waits until a guard holds.

Not here: who waits (wait).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from .columns import INFINITY, Floats, filled
from .starts import NONE
from .steps import StepClause


@final
class WaitTemplate:
    """The conditions of a wait. `begin`: those on a start; `wait`: the guard, whose one bound is of coordinate 0;
    `later`: steps after it. `kill`: the negation's bound, if there is a negation, and its other conditions. `window`:
    the coordinate of an own WITHIN, or DUR with `extra` 1; `within`: a common one. `arrival`: each event is an epoch.
    """

    def __init__(
        self, d: int, begin: StepClause, wait: StepClause, later: list[StepClause], *, kill: StepClause | None = None,
        window: int = NONE, extra: int = 0, within: int = NONE, arrival: bool = False,
    ) -> None:  # fmt: skip
        assert len(wait.bounds) == 1, "a guard with several constants has no order"
        assert wait.bounds[0].coordinate == 0
        self.d: i64 = d
        self.begin = begin
        self.wait = wait
        self.later = later
        self.kill = kill
        self.killed: i64 = kill.bounds[0].coordinate if kill is not None else NONE
        self.window: i64 = window
        self.extra: i64 = extra
        self.within: i64 = within
        self.arrival = arrival
        self.goes_on = len(later) > 0
        self.y: Floats = filled(d, INFINITY)  # scratch for one event of one cell
        self.top: Floats = filled(d, -INFINITY)
