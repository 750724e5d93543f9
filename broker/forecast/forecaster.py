"""The forecasts of one subscription: what was counted where, and the probabilities for whoever asks.

Transitions are recorded once, under their whole context. Pools over all, over the key, and over what else the context
holds are sums of these, made when a model is loaded and kept up step by step. A context borrows from the mean of its
key's pool and its circumstances' pool, and both borrow from the pool of all (forecasting 3). `choose` lets the
prequential log loss pick the pool that forecasts are taken from.

Here: the levels and their places. Not here: how a level estimates (level), when somebody is told (notifying).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

from .chain import KRICHEVSKY_TROFIMOV, Shape
from .choice import Choice, load_choice
from .counts import Context, Counts, Table
from .level import Level
from .passage import Passage
from .uncertainty import interval, standard_error

POOL_STRENGTH: Final = 20.0  # what the pool weighs for a key or a circumstance, in transitions
PARENT_STRENGTH: Final = 10.0  # what these two weigh for a key in a circumstance
TOLERANCE: Final = 0.05
"""How far a probability may be from that of the counts to the last, at the very worst; in practice a fiftieth of it."""
CONTEXTS_MAX: Final = 100_000
DEPTH: Final = 3


@final
class Place:
    """A context of a subscription: where its steps are counted, and what is forecast there. Kept by whoever runs it."""

    def __init__(self, forecaster: Forecaster, context: Context, levels: tuple[Level, ...]) -> None:
        self.forecaster = forecaster
        self.context = context
        self.levels = levels  # the pool first, the whole context last
        self._next: list[float] = []  # by state, what `within` says, as of the level and its stamp
        self._level: Level | None = None
        self._stamp = -1

    def step(self, state: int, following: int, times: int = 1) -> None:
        """`times` events have each led from a state to the following one. O(levels)."""
        choice = self.forecaster.choice
        if choice is not None and len(self.levels) == len(choice.losses):
            choice.score([self._chance(level, state, following) for level in self.levels], times)
        for level in self.levels:
            level.add(state, following, times)

    def _chance(self, level: Level, state: int, following: int) -> float:
        level.refresh()
        return level.rows[state].chance(following)

    def within(self, state: int) -> float:
        """P(the next match comes within the horizon's steps | state). O(levels) where nothing has moved."""
        level = self.level()
        level.refresh()
        if level is not self._level or level.stamp != self._stamp:
            steps = self.forecaster.horizon
            passage = level.passage(steps)
            self._next = [passage.next(each, steps) for each in range(self.forecaster.form.states)]
            self._level, self._stamp = level, level.stamp
        return self._next[state]

    def forget(self) -> None:
        """The horizon is another one."""
        self._stamp = -1

    def passage(self) -> Passage:
        """First passages from all states, over at least the horizon's steps."""
        return self.level().passage(self.forecaster.horizon)

    def level(self) -> Level:
        """The level that forecasts are taken from."""
        choice = self.forecaster.choice
        if choice is None or len(self.levels) != len(choice.losses):
            return self.levels[-1]
        return self.levels[choice.best()]

    def effective(self, state: int) -> float:
        """How many transitions stand behind the row of a state; what larger pools know counts up to their strength."""
        level = self.level()
        level.refresh()
        return level.rows[state].weight

    def interval(self, state: int, steps: int) -> tuple[float, float]:
        """Where the true probability of a match within so many steps is thought to lie with nine chances in ten.

        O(horizon x edges)."""
        level = self.level()
        chain, passage = level.chain(), level.passage(max(steps, self.forecaster.horizon))
        return interval(passage.next(state, steps), standard_error(chain, passage, state, steps))

    def over(self, state: int, steps: int) -> float:
        """P(the next match comes within so many steps | state), beyond the horizon too. O(1) or O(steps x edges)."""
        return self.level().passage(max(steps, self.forecaster.horizon)).next(state, steps)

    def aside(self) -> Place:
        """As this one, with estimates of its own: what is asked of it changes nothing here. O(levels x states)."""
        copies: list[Level] = []
        for level in self.levels:
            copies.append(level.aside(tuple([copies[self.levels.index(parent)] for parent in level.parents])))
        return Place(self.forecaster, self.context, tuple(copies))


@final
class Forecaster:
    """All places of one version of a subscription."""

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
    ) -> None:
        """`parts` and `keyed`: how many values a context has, and whether the first is the key. `counts`: the model,
        with what is already known; what is counted here goes into it. `tolerance`: see TOLERANCE; 0 computes anew after
        every step.
        """
        self.version = version
        self.form = form
        self.horizon = horizon
        self.counts = counts
        self.parts = parts
        self.keyed = keyed
        self.contexts_max = contexts_max
        self.refused: int = 0  # contexts beyond the limit, counted together under ()
        self._smoothing = smoothing
        self._tolerance = tolerance / (DEPTH * max(horizon, 1))
        models = 1 if parts == 0 else 4 if keyed and parts > 1 else 2
        self.choice: Choice | None = Choice(models) if choose and models > 1 else None
        # Without parts what is counted under () is all there is.
        pool = counts.table(version) if parts == 0 else Table(counts.clock_of(version))
        self.pool = Level(pool, form, (), 0.0, smoothing, self._tolerance)
        self._shared: dict[tuple[str, Context], Level] = {}
        self._places: dict[Context, Place] = {}
        if parts:
            for known, context, generation, state, following, times in counts.records():
                if known == version:
                    for level in self._parents(context, with_pool=True):
                        level.table.put(generation, state, following, times)

    def place(self, context: Context = ()) -> Place:
        """Where a context's steps go; made when it is first asked for. O(1).

        Beyond `contexts_max` contexts, what is new is counted together: the model stays bounded.
        """
        found = self._places.get(context)
        if found is not None:
            return found
        if len(self._places) >= self.contexts_max and context != ():
            self.refused += 1
            return self.place(())
        if self.parts == 0:
            found = Place(self, context, (self.pool,))
        else:
            parents = self._parents(context)
            strength = PARENT_STRENGTH if len(parents) == 2 else POOL_STRENGTH
            table = self.counts.table(self.version, context)
            leaf = Level(table, self.form, parents or (self.pool,), strength, 0.0, self._tolerance)
            found = Place(self, context, (self.pool, *parents, leaf))
        self._places[context] = found
        return found

    def aside(self, context: Context | None) -> Place:
        """The place of a context, or where it is not known that of all, with estimates of its own (Place.aside)."""
        found = None if context is None else self._places.get(context)
        return Place(self, (), (self.pool.aside(()),)) if found is None else found.aside()

    def _parents(self, context: Context, with_pool: bool = False) -> tuple[Level, ...]:
        found = [self.pool] if with_pool else []
        if self.keyed and len(context) > 1:
            found += [self._between("others", context[1:]), self._between("key", context[:1])]
        return tuple(found)

    def _between(self, name: str, part: Context) -> Level:
        """A pool between that of all and those of contexts; made when it is first asked for."""
        level = self._shared.get((name, part))
        if level is None:
            table = Table(self.counts.clock_of(self.version))
            level = self._shared[name, part] = Level(
                table, self.form, (self.pool,), POOL_STRENGTH, 0.0, self._tolerance
            )
        return level

    def absorb(self, other: Counts) -> None:
        """Add what was trained elsewhere, also of other versions. Places stay valid. Raises as `Counts.merge`."""
        self.counts.merge(other)
        for version, context, generation, state, following, times in other.records():
            if version == self.version and self.parts:
                for level in self._parents(context, with_pool=True):
                    level.table.put(generation, state, following, times)
        self.estimate_anew()

    def estimate_anew(self) -> None:
        """Have everything estimated again: after the counts or the clock's rate were changed from outside."""
        for level in self._levels():
            level.estimate_anew()

    def reach(self, steps: int) -> None:
        """Have passages reach so many steps at least, as horizons in time may ask for. Then `within` is of these."""
        if steps > self.horizon:
            self.horizon = steps
            for place in self._places.values():
                place.forget()

    def _levels(self) -> list[Level]:
        leaves = [place.levels[-1] for place in self._places.values() if self.parts]
        return [self.pool, *self._shared.values(), *leaves]

    def dump(self) -> dict[str, Any]:
        """The state of its estimates as plain data; the counts are the model's."""
        return {
            "contexts": [list(context) for context in self._places],
            "levels": [level.dump() for level in self._levels()],
            "shared": [[name, list(part)] for name, part in self._shared],
            "choice": None if self.choice is None else self.choice.dump(),
            "refused": self.refused,
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """What was dumped, into a new forecaster of the same counts: it forecasts to the last digit as the old one."""
        for context in data["contexts"]:
            self.place(tuple(context))
        order = {(name, tuple(part)): number for number, (name, part) in enumerate(data["shared"])}
        for name, part in order:  # of some everything that was loaded may be forgotten
            self._between(name, part)
        shared = sorted(self._shared.items(), key=lambda item: order[item[0]])
        self._shared = dict(shared)
        for level, saved in zip(self._levels(), data["levels"], strict=True):
            level.load(saved)
        if data["choice"] is not None:
            self.choice = load_choice(data["choice"])
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
        return {"contexts": len(self._places), "pools": 1 + len(self._shared), "contexts_refused": self.refused}
