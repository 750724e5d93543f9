"""What a chain says, from what was counted, by all ways through it.

Rows are estimated for each question from the counts alone, and ways are followed one step after the other; nothing is
numbered, shared or kept. Only the means of Dirichlet posteriors are those of the engine (broker.forecast.chain), which
have tests of their own.

Here: from counts to a curve. Not here: what must be counted (chain_counts).
"""

from __future__ import annotations

from typing import Any, TypeAlias, final

from broker.forecast.chain import Shape, TransitionRow, mean_row, pooled_row, shrunk_row
from broker.forecast.counts import Counts
from broker.forecast.forecaster import Forecaster

Context: TypeAlias = tuple[Any, ...]
Weighted: TypeAlias = dict[Context, dict[int, dict[int, float]]]

POOL, PARENT = 20.0, 10.0


@final
class Ways:
    """Of one version. `written`: the parts of its context, as the subscription says them."""

    def __init__(self, counts: Counts, version: str, form: Shape, written: list[str]) -> None:
        self.form = form
        self.keyed = "key" in written
        self.steps = weighted(counts, version)
        self.known: dict[tuple[int, int, bool], float] = {}

    def curve(self, state: int, context: Context, steps: int) -> list[float]:
        """P(the next match within n steps), n = 0 .. steps, of a context with the key first."""
        self.known = {}
        return [self.within(state, context, n, True) for n in range(steps + 1)]

    def within(self, state: int, context: Context, steps: int, begins: bool = False) -> float:
        """P(a final state within so many steps)."""
        if state in self.form.finals and not begins:
            return 1.0
        if steps == 0:
            return 0.0
        asked = state, steps, begins
        if asked not in self.known:
            total = 0.0
            row = self.row(state, context)
            for target, chance in zip(row.targets, row.chances):
                total += chance * self.within(target, context, steps - 1)
            self.known[asked] = total
        return self.known[asked]

    def row(self, state: int, context: Context) -> TransitionRow:
        pool = pooled_row(self.counted(state, [], ()), self.form, state, 0.5)
        places = list(range(len(context)))
        if not places:
            return pool
        own = self.counted(state, places, context)
        if len(places) == 1 or not self.keyed:
            return shrunk_row(own, pool, POOL)
        key, others = (shrunk_row(self.counted(state, told, context), pool, POOL) for told in ([0], places[1:]))
        return shrunk_row(own, mean_row([others, key]), PARENT)

    def counted(self, state: int, told: list[int], context: Context) -> dict[int, float]:
        """What was counted where these values of the context are the same."""
        found: dict[int, float] = {}
        for where, rows in self.steps.items():
            if all(where[at] == context[at] for at in told):
                for following, weight in rows.get(state, {}).items():
                    found[following] = found.get(following, 0.0) + weight
        return found


def weighted(counts: Counts, version: str) -> Weighted:
    """What was counted of a version, as it weighs now."""
    clock = counts.clock_of(version)
    found: Weighted = {}
    for known, context, generation, state, following, count in counts.records():
        if known == version:
            row = found.setdefault(context, {}).setdefault(state, {})
            row[following] = row.get(following, 0.0) + count * clock.weight(generation)
    return found


def exact(forecaster: Forecaster) -> None:
    """Have a forecaster that has counted nothing yet estimate anew after every step."""
    forecaster._tolerance = 0.0
    levels = [forecaster.pool]
    for chain in forecaster._chains.values():
        levels += chain.levels
    for level in levels:
        level.tolerance = 0.0
