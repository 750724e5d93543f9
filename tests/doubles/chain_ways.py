"""What a chain over states and marks says, from what was counted, by all ways through it.

Rows are estimated for each question from the counts alone, marks are contexts with other values in them, and ways are
followed one step after the other; nothing is numbered, shared or kept. Only the means of Dirichlet posteriors are those
of the engine (broker.forecast.chain), which have tests of their own.

Here: from counts to a curve. Not here: what must be counted (chain_counts).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, final

from broker.forecast.chain import Shape, TransitionRow, mean_row, pooled_row, shrunk_row
from broker.forecast.counts import Counts
from broker.forecast.forecaster import Forecaster

Context: TypeAlias = tuple[Any, ...]
"""None for the values that a pool does not tell apart."""
Weighted: TypeAlias = dict[Context, dict[int, dict[int, float]]]

POOL, PARENT, MOVES = 20.0, 10.0, 2.0


@final
class Ways:
    """Of one version. `written`: the parts of its context, as the subscription says them."""

    def __init__(self, counts: Counts, version: str, form: Shape, written: list[Any]) -> None:
        self.form = form
        self.parts = sorted(written, key=lambda part: part != "key")
        self.keyed = "key" in self.parts
        self.steps = weighted(counts, version)
        self.marks = weighted(counts, f"{version}/marks")
        self.known: dict[tuple[int, Context, int, bool], float] = {}

    def curve(self, state: int, context: Context, steps: int, model: int = -1) -> list[float]:
        """P(the next match within n steps), n = 0 .. steps. `model`: of which pool, in the order of levels."""
        pools: list[Context] = [()] if not self.parts else [(), context]
        if self.keyed and len(context) > 1:
            pools = [(), only(context, range(1, len(context))), only(context, [0]), context]
            if 1 < len(self.fixed()) < len(context):
                pools[3:] = [only(context, self.fixed()[1:]), only(context, self.fixed()), context]
        self.known = {}
        where = pools[model]
        return [self.within(state, where, n, True) for n in range(steps + 1)]

    def within(self, state: int, context: Context, steps: int, begins: bool = False) -> float:
        """P(a final state within so many steps)."""
        if state in self.form.finals and not begins:
            return 1.0
        if steps == 0:
            return 0.0
        asked = state, context, steps, begins
        if asked not in self.known:
            total = 0.0
            row = self.row(state, context)
            for target, chance in zip(row.targets, row.chances):
                for after, share in self.onward(context, target).items():
                    total += chance * share * self.within(target, after, steps - 1)
            self.known[asked] = total
        return self.known[asked]

    # --- rows -----------------------------------------------------------------------------------------------------

    def row(self, state: int, context: Context) -> TransitionRow:
        pool = pooled_row(self.counted(state, (), ()), self.form, state, 0.5)
        told = [at for at, value in enumerate(context) if value is not None]
        if not told:
            return pool
        own = self.counted(state, told, context)
        if len(told) == len(context) > 1 and self.keyed:
            near = self.near(state, context, pool)
            others = shrunk_row(self.counted(state, told[1:], context), pool, POOL)
            return shrunk_row(own, mean_row([others, near]), PARENT)
        if len(told) > 1 and self.keyed and told[0] == 0:
            return self.near(state, context, pool)
        return shrunk_row(own, pool, POOL)

    def near(self, state: int, context: Context, pool: TransitionRow) -> TransitionRow:
        """The key's row, or that of the key and all else that is fixed."""
        key = shrunk_row(self.counted(state, [0], context), pool, POOL)
        fixed = self.fixed() if len(self.fixed()) < len(context) else [0]
        if len(fixed) == 1:
            return key
        others = shrunk_row(self.counted(state, fixed[1:], context), pool, POOL)
        return shrunk_row(self.counted(state, fixed, context), mean_row([others, key]), PARENT)

    def fixed(self) -> list[int]:
        """The positions of what does not vary."""
        found: list[int] = []
        at = 0
        for part in self.parts:
            if not isinstance(part, dict):
                found.append(at)
            at += part["last"] if isinstance(part, dict) and "last" in part else 1
        return found

    def counted(self, state: int, told: Any, context: Context) -> dict[int, float]:
        """What was counted where these values of the context are the same."""
        found: dict[int, float] = {}
        for where, rows in self.steps.items():
            if all(where[at] == context[at] for at in told):
                for following, weight in rows.get(state, {}).items():
                    found[following] = found.get(following, 0.0) + weight
        return found

    # --- marks ----------------------------------------------------------------------------------------------------

    def onward(self, context: Context, following: int) -> Mapping[Context, float]:
        """The contexts after a step, and how likely each is."""
        values: list[Any] = list(context)
        cells: list[tuple[int, int]] = []
        at = 0
        for part in self.parts:
            length = part["last"] if isinstance(part, dict) and "last" in part else 1
            if at < len(values) and values[at] is not None and isinstance(part, dict):
                if "last" in part:
                    values[at : at + length] = [*values[at + 1 : at + length], following]
                else:
                    cells.append((at, len(part["cuts"]) + 2))
            at += length
        shares = self.moved(tuple(context[at] for at, _ in cells), following) if cells else {}
        if not shares:
            return {tuple(values): 1.0}
        found: dict[Context, float] = {}
        for code, share in shares.items():
            rest = code - 1
            for at, size in reversed(cells):
                values[at] = rest % size - 1
                rest //= size
            found[tuple(values)] = share
        return found

    def moved(self, cells: Context, following: int) -> dict[int, float]:
        pool: dict[int, float] = {}
        for rows in self.marks.values():
            for code, weight in rows.get(following, {}).items():
                pool[code] = pool.get(code, 0.0) + weight
        total = sum(pool.values())
        if total <= 0.0:
            return {}
        own = self.marks.get(cells, {}).get(following, {})
        mass = sum(own.values()) + MOVES
        return {code: (own.get(code, 0.0) + MOVES * weight / total) / mass for code, weight in pool.items()}


def only(context: Context, positions: Iterable[int]) -> Context:
    """Nothing else of a context."""
    kept = set(positions)
    return tuple([value if at in kept else None for at, value in enumerate(context)])


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
    if forecaster.moves is not None:
        forecaster.moves.tolerance = 0.0
        levels.append(forecaster.moves.pool)
    for chain in forecaster._chains.values():
        levels += chain.levels
    for level in levels:
        level.tolerance = 0.0
