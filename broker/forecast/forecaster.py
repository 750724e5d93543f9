"""The forecasts of one subscription: its counts by context, and their probabilities.

Transitions are recorded once, under their whole context. Pools over all, over the key, and over what else the context
holds are sums of these, made when a model is loaded and kept up step by step. A context borrows from the mean of its
key's pool and its circumstances' pool, and both borrow from the pool of all (forecasting 3).

Here: the levels, which chains have which. Not here: what a chain forecasts (context_chain), how a level estimates
(level), when a forecast is reported (notifying).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

from .chain import KRICHEVSKY_TROFIMOV, Shape
from .context_chain import ChainFrame, ContextChain
from .counts import Context, Counts, CountTable, GenerationClock
from .level import Level

POOL_STRENGTH: Final = 20.0  # what the pool weighs for a key or a circumstance, in transitions
PARENT_STRENGTH: Final = 10.0  # what these two weigh for a key in a circumstance
TOLERANCE: Final = 0.05
"""How far a probability may be from that of the counts to the last, at the very worst; in practice a fiftieth of it."""
CONTEXTS_MAX: Final = 100_000
DEPTH: Final = 3


@final
class Forecaster(ChainFrame):
    """The chains of all contexts of one version of a subscription."""

    def __init__(
        self,
        version: str,
        form: Shape,
        horizon: int,
        counts: Counts,
        parts: int = 0,
        keyed: bool = False,
        smoothing: float = KRICHEVSKY_TROFIMOV,
        tolerance: float = TOLERANCE,
        contexts_max: int = CONTEXTS_MAX,
    ) -> None:
        """`parts` and `keyed`: how many values a context has, and whether the first is the key. `counts`: the model,
        with what is already known; what is counted here goes into it. `tolerance`: see TOLERANCE; 0 computes anew after
        every step.
        """
        super().__init__(form, horizon)
        self.version = version
        self.counts = counts
        self.parts = parts
        self.keyed = keyed
        self.contexts_max = contexts_max
        self.refused: int = 0  # contexts beyond the limit, counted together under ()
        self._tolerance = tolerance / (DEPTH * max(horizon, 1))
        # Without parts what is counted under () is all there is.
        pool = counts.table(version) if parts == 0 else CountTable(counts.clock_of(version))
        self.pool = Level(pool, form, (), 0.0, smoothing, self._tolerance)
        self._shared: dict[tuple[str, Context], Level] = {}
        self._chains: dict[Context, ContextChain] = {}
        self._spread(counts)

    def clock(self) -> GenerationClock:
        """What its counts are forgotten by."""
        return self.counts.clock_of(self.version)

    def chain(self, context: Context = ()) -> ContextChain:
        """Where a context's steps go; made when it is first asked for. O(1).

        Beyond `contexts_max` contexts, what is new is counted together: the model stays bounded.
        """
        found = self._chains.get(context)
        if found is not None:
            return found
        if len(self._chains) >= self.contexts_max and context != ():
            self.refused += 1
            return self.chain(())
        if self.parts == 0:
            found = ContextChain(self, context, (self.pool,))
        else:
            parents = self._parents(context)
            strength = PARENT_STRENGTH if len(parents) > 1 else POOL_STRENGTH
            table = self.counts.table(self.version, context)
            leaf = Level(table, self.form, parents or (self.pool,), strength, 0.0, self._tolerance)
            found = ContextChain(self, context, (self.pool, *parents, leaf))
        self._chains[context] = found
        return found

    def aside(self, context: Context | None) -> ContextChain:
        """The chain of a context, or where that is not known of all, with estimates of its own (ContextChain.aside)."""
        found = None if context is None else self._chains.get(context)
        return ContextChain(self, (), (self.pool.aside(()),)) if found is None else found.aside()

    def _parents(self, context: Context, with_pool: bool = False) -> tuple[Level, ...]:
        found = [self.pool] if with_pool else []
        if self.keyed and len(context) > 1:
            found += [self._between("others", context[1:]), self._between("key", context[:1])]
        return tuple(found)

    def _between(self, name: str, part: Context) -> Level:
        """A pool between that of all and those of contexts; made when it is first asked for."""
        level = self._shared.get((name, part))
        if level is None:
            table = CountTable(self.counts.clock_of(self.version))
            level = Level(table, self.form, (self.pool,), POOL_STRENGTH, 0.0, self._tolerance)
            self._shared[name, part] = level
        return level

    def absorb(self, other: Counts) -> None:
        """Add counts from elsewhere, also of other versions. Places stay valid. Raises as `Counts.merge`."""
        self.counts.merge(other)
        self._spread(other)
        self.estimate_anew()

    def _spread(self, counts: Counts) -> None:
        """Add what has come to the model to the pools."""
        if self.parts == 0:
            return
        for version, context, generation, state, following, times in counts.records():
            if version == self.version:
                for level in self._parents(context, with_pool=True):
                    level.table.put(generation, state, following, times)

    def estimate_anew(self) -> None:
        """Have everything estimated again: after the counts or the clock's rate were changed from outside."""
        for level in self._levels():
            level.estimate_anew()

    def reach(self, steps: int) -> None:
        """Have passages reach so many steps at least, as horizons in time may ask for. Then `within` is of these."""
        if steps > self.horizon:
            self.horizon = steps
            for chain in self._chains.values():
                chain.forget()

    def _levels(self) -> list[Level]:
        leaves = [chain.levels[-1] for chain in self._chains.values() if self.parts]
        return [self.pool, *self._shared.values(), *leaves]

    def dump(self) -> dict[str, Any]:
        """The state of its estimates as plain data; the counts are the model's."""
        return {
            "contexts": [list(context) for context in self._chains],
            "levels": [level.dump() for level in self._levels()],
            "shared": [[name, list(part)] for name, part in self._shared],
            "refused": self.refused,
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """Load a dump into a new forecaster of the same counts: it forecasts to the last digit as the old one."""
        # Levels stand in the order in which they were first asked for, not in that of the counts.
        self._chains = {}
        for context in data["contexts"]:
            self.chain(tuple(context))
        order = {(name, tuple(part)): number for number, (name, part) in enumerate(data["shared"])}
        for name, part in order:  # of some everything that was loaded may be forgotten
            self._between(name, part)
        self._shared = dict(sorted(self._shared.items(), key=lambda item: order[item[0]]))
        for level, saved in zip(self._levels(), data["levels"], strict=True):
            level.load(saved)
        self.refused = data["refused"]

    def check_invariants(self) -> None:
        """Raise AssertionError unless all levels are sound and the pool is the sum of its parts."""
        for level in self._levels():
            level.check_invariants()
        own = [record for record in self.counts.records() if record[0] == self.version]
        pooled = [rows for generation in self.pool.table.generations.values() for rows in generation.values()]
        assert sum(sum(row.values()) for row in pooled) >= sum(record[5] for record in own)

    def statistics(self) -> dict[str, int]:
        """Sizes, for operators."""
        return {"contexts": len(self._chains), "pools": 1 + len(self._shared), "contexts_refused": self.refused}
