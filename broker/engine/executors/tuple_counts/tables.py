"""The tables of a composite subscription that its partitions share.

Here: tables and limits. Not here: how they follow from the automaton (counting_plan), partial matches (partition).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from mypy_extensions import i64

from ....automaton.automaton import Automaton
from ...program.account import UNLIMITED, Account
from .arcs import ArcMoves
from .counting_plan import CountingPlan, counting_plan
from .tuples import ALWAYS_GOOD

PLANS_MAX: Final = 1024  # sets of operands whose arcs are remembered


@dataclass(frozen=True, slots=True)
class CountBounds:
    """Limits of one partition; for each, the oldest partial matches are forgotten, and completions which may lack
    tuples say so. `bindings`: key values. `cells`: keys, and `nodes`: events kept for tuples, of one key value. `work`
    and `earned` are those of the account, of all partitions."""

    bindings: int = 1_000_000
    cells: int = 100_000
    nodes: int = 10_000_000
    work: int = UNLIMITED
    earned: int = UNLIMITED


@final
class CountingTables:
    """Immutable tables, the moves that were derived from them, and the account of all partitions.

    `tuples`: each completion hands out all its tuples, not only a witness. `windows` may be False to count by cells
    whatever the conditions. `single`: an event has one key value; `beginners`: operands that can take a match's first
    event; `depth`: of how many events in a row times are asked for. By span: the greatest and least distance, `bounds`
    and `nearest`, `sizes`, and the states that are `fleeting`, which do not skip; `slack`: how much longer windows may
    keep what no condition asks for. `listed`: the states of which all nodes are kept.
    `plan`: the automaton's, where it is known already.
    """

    def __init__(
        self,
        automaton: Automaton,
        tuples: bool = False,
        limits: CountBounds | None = None,
        windows: bool = True,
        plan: CountingPlan | None = None,
    ) -> None:
        self.plan = plan = counting_plan(automaton) if plan is None else plan
        self.tuples = tuples
        self.limits = limits or CountBounds()
        self.account = Account(self.limits.work, self.limits.earned)
        self.cells_max = self.limits.cells
        self.nodes_max = self.limits.nodes
        self.windowed = windows and plan.uses_windows(tuples)
        self.horizon: i64 = ALWAYS_GOOD if plan.horizon is None else plan.horizon
        self.keyed = len(plan.key) > 0
        self.keys: list[list[int]] = [list(positions) for positions in plan.keys]
        self.single = all(positions == self.keys[0] for positions in self.keys)
        self.beginners: i64 = 0
        for arc in plan.arcs:
            if arc.source == 0:
                self.beginners |= 1 << arc.operand
        self.depth: i64 = max([n for arc in plan.arcs for n in arc.recents], default=0)
        self.states = plan.states
        self.skips: list[bool] = [state.skips for state in plan.states]
        self.bounds: list[int] = [span.bound for span in plan.spans or ()]
        self.nearest: list[int] = [span.nearest for span in plan.spans or ()]
        self.sizes: list[int] = [len(span.states) for span in plan.spans or ()]
        self.slack: i64 = max(self.bounds, default=0)
        self.fleeting: list[list[int]] = [[] for _ in self.bounds]
        for state in plan.states:
            if state.span >= 0 and not state.skips:
                self.fleeting[state.span].append(int(state.at))
        self.listed = [tuples or (state.span >= 0 and self.nearest[state.span] > 0) for state in plan.states]
        self._arcs = sorted(plan.arcs, key=lambda arc: -arc.source)
        self._moves: dict[int, ArcMoves] = {}

    @property
    def method(self) -> str:
        """How tuples are counted, for users."""
        return self.plan.method(self.windowed)

    def moves(self, mask: int) -> ArcMoves:
        """The moves of an event that satisfies the operands in `mask`."""
        moves = self._moves.get(mask)
        if moves is None:
            if len(self._moves) >= PLANS_MAX:
                self._moves.clear()
            moves = ArcMoves([arc for arc in self._arcs if mask >> arc.operand & 1], len(self.bounds))
            self._moves[mask] = moves
        return moves

    def until(self, time: i64) -> i64:
        """The time until which the partial matches of a time can be of use."""
        if self.horizon >= ALWAYS_GOOD:
            return ALWAYS_GOOD
        return time + self.horizon
