"""The forecasts of one subscription: its counts by context, and their probabilities.

Transitions are recorded once, under their whole context. Pools over all, over the key, and over what else the context
holds are sums of these, made when a model is loaded and kept up step by step. A context borrows from the mean of its
key's pool and its circumstances' pool, and both borrow from the pool of all (forecasting 3). Where some of its values
vary, it borrows from the pool of its key and fixed circumstances, which borrows likewise, instead of its key's: a value
of today must not make forgotten what is known of the key in this month. `choose` lets the log loss
of what became of earlier forecasts pick the pool that forecasts are taken from.

Values of a context that vary move on with the chain: pools that have such values are forecast as products (product).

Here: the levels, which chains have which. Not here: what a chain forecasts (context_chain), how a level estimates
(level), when a forecast is reported (notifying).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

from .chain import KRICHEVSKY_TROFIMOV, Shape
from .choice import Choice, load_choice
from .context_chain import ContextChain
from .counts import Context, Counts, CountTable, GenerationClock
from .level import Level
from .moves import MARKS, Moves
from .notifying import Run
from .product import Pool, Product
from .trials import Trials, load_trials
from .varying import Varying

POOL_STRENGTH: Final = 20.0  # what the pool weighs for a key or a circumstance, in transitions
PARENT_STRENGTH: Final = 10.0  # what these two weigh for a key in a circumstance
TOLERANCE: Final = 0.05
"""How far a probability may be from that of the counts to the last, at the very worst; in practice a fiftieth of it."""
CONTEXTS_MAX: Final = 100_000
DEPTH: Final = 3
MOVES_DEPTH: Final = 2  # levels of the moves of marks, which err as well


@final
class Forecaster:
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
        choose: bool = False,
        contexts_max: int = CONTEXTS_MAX,
        varying: Varying | None = None,
    ) -> None:
        """`parts` and `keyed`: how many values a context has, and whether the first is the key. `counts`: the model,
        with what is already known; what is counted here goes into it. `tolerance`: see TOLERANCE; 0 computes anew after
        every step. `varying`: which values of a context move on.
        """
        self.version = version
        self.form = form
        self.horizon = horizon
        self.counts = counts
        self.parts = parts
        self.keyed = keyed
        self.contexts_max = contexts_max
        self.refused: int = 0  # contexts beyond the limit, counted together under ()
        cells = varying is not None and len(varying.cells) > 0
        # How many fixed values a context has whose varying ones borrow from these.
        self._fixed = 0 if varying is None or not keyed else parts - len(varying.cells) - varying.end + varying.begin
        depth = DEPTH + (self._fixed > 1) + MOVES_DEPTH * cells
        self._tolerance = tolerance / (depth * max(horizon, 1))
        models = 1 if parts == 0 else 6 if self._fixed > 1 else 4 if keyed and parts > 1 else 2
        self.choice: Choice | None = Choice(models) if choose and models > 1 else None
        # Without parts what is counted under () is all there is.
        pool = counts.table(version) if parts == 0 else CountTable(counts.clock_of(version))
        self.pool = Level(pool, form, (), 0.0, smoothing, self._tolerance)
        self._shared: dict[tuple[str, Context], Level] = {}
        self._chains: dict[Context, ContextChain] = {}
        self.varying = varying
        self.moves: Moves | None = None
        if varying is not None and cells:
            self.moves = Moves(version, varying, counts, form.states, self._tolerance)
        self._pools: dict[tuple[bool, Context], Pool] = {}  # by whether the key is in it, and fixed values
        self._products: dict[tuple[bool, Context], Product] = {}
        self._trials: dict[Run, Trials] = {}
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
            found = ContextChain(self, context, (self.pool,), {})
        else:
            parents = self._parents(context)
            strength = PARENT_STRENGTH if len(parents) > 1 else POOL_STRENGTH
            table = self.counts.table(self.version, context)
            near = (parents[0], parents[-1]) if len(parents) > 1 else (self.pool,)
            leaf = Level(table, self.form, near, strength, 0.0, self._tolerance)
            products: dict[int, Product] = {}
            if self.varying is not None and len(context) == self.parts:
                products[1 + len(parents)] = self._product(True, context, leaf)
                if len(parents) > 1:
                    products[1] = self._product(False, context[1:], parents[0])
            found = ContextChain(self, context, (self.pool, *parents, leaf), products)
        self._chains[context] = found
        return found

    def _product(self, whole: bool, context: Context, level: Level) -> Product:
        """The product that a level belongs to; made when it is first asked for."""
        pool = self._pool(whole, context)
        pool.levels[context] = level
        at = whole, pool.varying.fixed(context)
        found = self._products.get(at)
        if found is None:
            found = self._products[at] = Product(self.form, pool, self.moves)
        return found

    def _pool(self, whole: bool, context: Context) -> Pool:
        """The levels of all marks beside the fixed values of a context; `whole`: with its key, if it has one."""
        varying = self.varying
        assert varying is not None
        below = self.keyed and len(context) > 1 if whole else False
        if not whole:
            varying = varying.without_key()
        at = whole, varying.fixed(context)
        found = self._pools.get(at)
        if found is None:
            others = self._pool(False, context[1:]) if below else None
            key = self._parents(context)[-1] if below else None
            strength = PARENT_STRENGTH if below else POOL_STRENGTH
            found = self._pools[at] = Pool(varying, strength, others, key, self.pool)
        return found

    def aside(self, context: Context | None) -> ContextChain:
        """The chain of a context, or where that is not known of all, with estimates of its own (ContextChain.aside)."""
        found = None if context is None else self._chains.get(context)
        return ContextChain(self, (), (self.pool.aside(()),), {}) if found is None else found.aside()

    def _parents(self, context: Context, with_pool: bool = False) -> tuple[Level, ...]:
        found = [self.pool] if with_pool else []
        if self.keyed and len(context) > 1:
            found += [self._between("others", context[1:]), self._between("key", context[:1])]
            if self._fixed > 1 and self.varying is not None and len(context) == self.parts:
                fixed = self.varying.fixed(context)
                found += [self._between("fixed others", fixed[1:]), self._between("fixed", fixed)]
        return tuple(found)

    def _between(self, name: str, part: Context) -> Level:
        """A pool between that of all and those of contexts; made when it is first asked for."""
        level = self._shared.get((name, part))
        if level is None:
            table = CountTable(self.counts.clock_of(self.version))
            parents: tuple[Level, ...] = (self.pool,)
            strength = POOL_STRENGTH
            if name == "fixed":
                parents = (self._between("fixed others", part[1:]), self._between("key", part[:1]))
                strength = PARENT_STRENGTH
            level = self._shared[name, part] = Level(table, self.form, parents, strength, 0.0, self._tolerance)
            self._register(name, part, level)
        return level

    def _register(self, name: str, part: Context, level: Level) -> None:
        if self.varying is not None and name == "others" and len(part) == self.parts - 1:
            self._pool(False, part).levels[part] = level

    def absorb(self, other: Counts) -> None:
        """Add counts from elsewhere, also of other versions. Places stay valid. Raises as `Counts.merge`."""
        self.counts.merge(other)
        self._spread(other)
        self.estimate_anew()

    def _spread(self, counts: Counts) -> None:
        """Add what has come to the model to the pools. Where values vary, each context is a mark of a product."""
        if self.parts == 0:
            return
        marks = self.version + MARKS
        for version, context, generation, state, following, times in counts.records():
            if version == self.version:
                for level in self._parents(context, with_pool=True):
                    level.table.put(generation, state, following, times)
                if self.varying is not None and len(self._chains) < self.contexts_max:
                    self.chain(context)
            elif version == marks and self.moves is not None:
                self.moves.put(context, generation, state, following, times)

    # --- which pool foretells best ------------------------------------------------------------------------------

    def propose(self, run: Run, deadline: int, chances: list[float]) -> None:
        """The forecasts of each level for a run up to a deadline, for `choose`. O(levels)."""
        trials = self._trials.get(run)
        if trials is None:
            trials = self._trials[run] = Trials()
        trials.put(deadline, chances)

    def decide(self, run: Run, over: int, matched: bool) -> None:
        """Count a run's forecasts up to the deadline `over` as misses, and if it has `matched`, the rest as hits.

        O(what this decides)."""
        trials = self._trials.get(run)
        if trials is not None and self.choice is not None:
            trials.decide(self.choice, over, matched)

    def drop(self, run: Run | None = None) -> None:
        """Of what is open nothing will be known: of a run, or of all."""
        if run is None:
            self._trials.clear()
        else:
            self._trials.pop(run, None)

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
        moves = [] if self.moves is None else [self.moves.pool, *self.moves.levels.values()]
        return [self.pool, *self._shared.values(), *leaves, *moves]

    def dump(self) -> dict[str, Any]:
        """The state of its estimates as plain data; the counts are the model's."""
        return {
            "contexts": [list(context) for context in self._chains],
            "levels": [level.dump() for level in self._levels()],
            "shared": [[name, list(part)] for name, part in self._shared],
            "moves": [] if self.moves is None else [list(binned) for binned in self.moves.levels],
            "choice": None if self.choice is None else self.choice.dump(),
            "trials": [[run, trials.dump()] for run, trials in self._trials.items() if len(trials)],
            "refused": self.refused,
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """Load a dump into a new forecaster of the same counts: it forecasts to the last digit as the old one."""
        # Levels stand in the order in which they were first asked for, not in that of the counts.
        self._chains, self._pools, self._products = {}, {}, {}
        for context in data["contexts"]:
            self.chain(tuple(context))
        order = {(name, tuple(part)): number for number, (name, part) in enumerate(data["shared"])}
        for name, part in order:  # of some everything that was loaded may be forgotten
            self._between(name, part)
        shared = sorted(self._shared.items(), key=lambda item: order[item[0]])
        self._shared = dict(shared)
        for (name, part), level in shared:
            self._register(name, part, level)
        if self.moves is not None:
            self.moves.levels = {binned: self.moves.level(binned) for binned in map(tuple, data["moves"])}
        for level, saved in zip(self._levels(), data["levels"], strict=True):
            level.load(saved)
        if data["choice"] is not None:
            self.choice = load_choice(data["choice"])
        self._trials = {run: load_trials(saved) for run, saved in data["trials"]}
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
