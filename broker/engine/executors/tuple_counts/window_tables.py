"""What the windows of one machine share: its states and arcs, and its spans as sums of windows over their first events.

How many ways have a distance of at most d is a window; a range of distances is the difference of two, and no bound at
all a window that loses nothing. Here: tables, made once. Not here: windows themselves (window_sums, window_stacks).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64, mypyc_attr

from ....automaton.analyses.countable import Span
from ....automaton.distances import FOREVER, Distances
from ....events.schema import Value
from ...account import Account
from .cell_tables import PLANS_MAX
from .completion import ALWAYS_GOOD
from .plan import CountingPlan
from .runner import FlatArc

UNBOUNDED: Final = -1  # the window that loses nothing

LATEST: Final = 0  # the way with the latest first event is a witness for every exit
EARLIEST: Final = 1
SEARCHED: Final = 2  # neither: a witness is looked for among the events in the window


@final
class SpanTables:
    """One span: its windows' `bounds`, the one that holds all that the others do being `widest`."""

    def __init__(self, plan: CountingPlan, span: Span) -> None:
        allowed = [distances for _, distances in span.exits]
        self.size: i64 = len(span.states)
        self.stacked = span.stacked
        self.skips = [plan.states[state].skips for state in span.states]
        if all(a[0][0] == 0 for a in allowed):
            self.witness: i64 = LATEST
        else:
            self.witness = EARLIEST if all(a[0][1] == FOREVER for a in allowed) else SEARCHED
        self.bounds: list[int] = []
        self.exits = {number: self._sum(distances) for number, distances in span.exits}
        self.reach: i64 = max(a[0][1] for a in allowed)
        inside = set(span.states)
        self.inner = any(arc.source in inside and arc.target in inside for arc in plan.arcs)
        unbounded = UNBOUNDED in self.bounds
        self.widest: i64 = self.bounds.index(UNBOUNDED if unbounded else max(self.bounds))

    def _sum(self, distances: Distances) -> list[int]:
        """Which windows to add up: (window, sign), flat."""
        ((low, high),) = distances
        found = [self._window(UNBOUNDED if high == FOREVER else high), 1]
        if low > 0:
            found += [self._window(low - 1), -1]
        return found

    def _window(self, bound: int) -> int:
        if bound not in self.bounds:
            self.bounds.append(bound)
        return self.bounds.index(bound)


@final
@mypyc_attr(acyclic=True)
class WindowMove:
    """An arc as windows see it. `span`: that of its source, `into`: that which it begins, -1 if none; `inner`: it stays
    within its source's. `at` and `to` number its states within their spans. `windows`: what leaves its source's span,
    as (window, sign), flat, has a first event between `nearest` and `reach` ago, which is `searched` for."""

    __slots__ = (
        "arc",
        "at",
        "conditional",
        "final",
        "inner",
        "into",
        "nearest",
        "operand",
        "reach",
        "searched",
        "skips",
        "source",
        "span",
        "stays",
        "target",
        "to",
        "windows",
    )

    def __init__(self, plan: CountingPlan, arc: FlatArc, spans: tuple[Span, ...], tables: list[SpanTables]) -> None:
        span_of = {state: (number, at) for number, span in enumerate(spans) for at, state in enumerate(span.states)}
        span, at = span_of.get(arc.source, (-1, -1))
        into, to = span_of.get(arc.target, (-1, -1))
        self.arc = arc
        self.conditional: bool = len(arc.recents) + len(arc.equals) > 0
        self.source: i64 = arc.source
        self.target: i64 = arc.target
        self.operand: i64 = arc.operand
        self.span: i64 = span
        self.at: i64 = at
        self.to: i64 = to
        self.inner: bool = span >= 0 and span == into
        self.into: i64 = -1 if self.inner else into
        self.skips: bool = plan.states[arc.source].skips
        self.stays: bool = plan.states[arc.target].skips
        self.final: bool = plan.states[arc.target].final
        self.windows: list[int] = []
        self.nearest: i64 = 0
        self.reach: i64 = ALWAYS_GOOD
        self.searched: bool = span >= 0 and not self.inner and tables[span].witness == SEARCHED
        if span >= 0 and not self.inner:
            self.windows = tables[span].exits[arc.number]
            ((self.nearest, self.reach),) = dict(spans[span].exits)[arc.number]


@final
class WindowPlan:
    """What an event does that satisfies one set of operands: moves from late states first. `inner`: for each span its
    inner moves as (at, to, operand), flat; `depends`: some of them ask more of the event, so not all of it holds."""

    def __init__(self, moves: list[WindowMove], spans: int) -> None:
        self.moves = moves
        self.inner: list[list[int]] = [[] for _ in range(spans)]
        self.depends = any(move.inner and move.conditional for move in moves)
        self.spans: list[int] = sorted({n for m in moves for n in (m.span if m.inner else -1, m.into) if n >= 0})
        for move in moves:
            if move.inner:
                self.inner[move.span] += [int(move.at), int(move.to), int(move.operand)]


@final
class WindowTables:
    """All of one machine's."""

    def __init__(self, plan: CountingPlan, tuples: bool, nodes_max: int, account: Account) -> None:
        assert plan.spans is not None
        self.tuples = tuples
        self.account = account
        self.nodes_max = nodes_max
        self.horizon: i64 = ALWAYS_GOOD if plan.horizon is None else plan.horizon
        self.states = len(plan.states)
        self.skips = [state.skips for state in plan.states]
        self.spans = [SpanTables(plan, span) for span in plan.spans]
        self.span_of: list[int] = [-1] * self.states
        self.at: list[int] = [-1] * self.states  # within its span
        for number, span in enumerate(plan.spans):
            for at, state in enumerate(span.states):
                self.span_of[state], self.at[state] = number, at
        arcs = [FlatArc(plan, number) for number in range(len(plan.arcs))]
        self.depth: i64 = max([n for arc in arcs for n in arc.recents], default=0)
        self.unbound: tuple[Value, ...] = (None,) * plan.variables
        self._moves = [WindowMove(plan, arc, plan.spans, self.spans) for arc in arcs]
        self._moves.sort(key=lambda move: -move.source)
        self._plans: dict[int, WindowPlan] = {}

    def plan(self, mask: int) -> WindowPlan:
        plan = self._plans.get(mask)
        if plan is None:
            if len(self._plans) >= PLANS_MAX:
                self._plans.clear()
            moves = [move for move in self._moves if mask >> move.operand & 1]
            plan = self._plans[mask] = WindowPlan(moves, len(self.spans))
        return plan
