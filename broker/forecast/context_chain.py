"""The chain of a subscription under one context: where its steps are counted, and what is forecast from there.

Where all values of the context are fixed, forecasts are those of a level's chain over states. Where some vary, they are
those of the product chain over states and marks, of which the context is one mark: each step leads to another context.

Here: one context. Not here: which levels it has (forecaster), how they estimate (level, product).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

from mypy_extensions import i64

from .chain import MarkovChain
from .counts import Context
from .level import Level
from .passage import Passage
from .product import Product
from .uncertainty import interval, product_error, standard_error

if TYPE_CHECKING:
    from .forecaster import Forecaster


@final
class ContextChain:
    """`levels`: the pool first, the whole context last. `products` by level: they forecast where values vary."""

    def __init__(
        self, forecaster: Forecaster, context: Context, levels: tuple[Level, ...], products: dict[int, Product]
    ) -> None:
        self.forecaster = forecaster
        self.context = context
        self.levels = levels
        self.products = products
        self._next: list[float] = []  # by state, what `within` says, as of the level and its stamp
        self._level: Level | None = None
        self._stamp = -1

    def step(self, state: i64, following: i64, times: i64 = 1) -> None:
        """`times` events have each led from a state to the following one. O(levels)."""
        for level in self.levels:
            level.add(state, following, times)

    def stay(self, state: i64, times: i64) -> None:
        """`times` events have left the state and the values of the context as they were. O(levels)."""
        self.step(state, state, times)
        self.moved(int(state), self, int(times))

    def moved(self, following: int, after: ContextChain, times: int = 1) -> None:
        """These steps have led from this context to that one. O(values); nothing where all of them are fixed."""
        moves = self.forecaster.moves
        if moves is not None and len(self.context) > 0 and len(after.context) > 0:
            moves.count(self.context, following, after.context, times)

    def within(self, state: int) -> float:
        """P(the next match comes within the horizon's steps | state). O(levels) where nothing has moved."""
        model = self._model()
        steps = self.forecaster.horizon
        if len(self.products) > 0:
            product = self.products.get(model)
            if product is not None:
                number = product.number(state, self._own(model))
                return product.passage(steps).within(number, steps)
        level = self.levels[model]
        if state + 1 == self.forecaster.form.states:  # a match has just come
            return level.passage(steps).next(state, steps)
        level.refresh()
        if level is not self._level or level.stamp != self._stamp:
            self._next = level.reached(steps)
            self._level, self._stamp = level, level.stamp
        return self._next[state]

    def forget(self) -> None:
        """The horizon is another one."""
        self._stamp = -1

    def curve(self, state: int, model: int = -1) -> list[float]:
        """P(the next match within n steps | state), n = 0 .. at least the horizon. `model`: of a level; -1: the one
        that forecasts are taken from."""
        if model < 0:
            model = self._model()
        product = self.products.get(model)
        if product is not None:
            number = product.number(state, self._own(model))
            return product.passage(self.forecaster.horizon).curve(number)
        return self.levels[model].passage(self.forecaster.horizon).curve(state)

    def passage(self, steps: int = 0) -> Passage:
        """First passages over so many steps and at least the horizon's, of the chain whose states are `number`s."""
        product = self.products.get(self._model())
        most = max(steps, self.forecaster.horizon)
        return self.level().passage(most) if product is None else product.passage(most)

    def level(self) -> Level:
        """The level whose rows are those of this context: the one that forecasts are taken from."""
        return self.levels[self._model()]

    def source(self) -> Level | Product:
        """Whose estimates forecasts are."""
        model = self._model()
        product = self.products.get(model)
        return self.levels[model] if product is None else product

    def number(self, state: int) -> int:
        """The number of a state in the source's chain, as its rows are."""
        model = self._model()
        product = self.products.get(model)
        return state if product is None else product.number(state, self._own(model))

    def markov(self) -> MarkovChain:
        """The source's chain."""
        product = self.products.get(self._model())
        return self.level().chain() if product is None else product.chain()

    def candidates(self, state: int) -> list[list[float]]:
        """The curve of each level. O(levels), and of those that have moved O(horizon x edges)."""
        return [self.curve(state, model) for model in range(len(self.levels))]

    def effective(self, state: int) -> float:
        """How many transitions stand behind the row of a state; what larger pools know counts up to their strength."""
        level = self.level()
        level.refresh()
        return level.rows[state].weight

    def error(self, state: int, steps: int) -> float:
        """The standard error of `over`. O(steps x edges)."""
        number = self.number(state)
        passage = self.passage(steps)
        product = self.products.get(self._model())
        if product is not None:
            return product_error(product, passage, number, steps)
        return standard_error(self.level().chain(), passage, number, steps)

    def interval(self, state: int, steps: int) -> tuple[float, float]:
        """Where the true probability of a match within so many steps is thought to lie with nine chances in ten.

        O(horizon x edges)."""
        return interval(self.over(state, steps), self.error(state, steps))

    def over(self, state: int, steps: int) -> float:
        """P(the next match comes within so many steps | state), beyond the horizon too. O(1) or O(steps x edges). For
        the horizon's steps this is what `within` says."""
        if self.products.get(self._model()) is None and state + 1 < self.forecaster.form.states:
            return self.level().reached(steps)[state]
        number = self.number(state)
        return self.passage(steps).next(number, steps)

    def aside(self) -> ContextChain:
        """A copy with estimates of its own, whose use changes nothing here. O(levels x states)."""
        copies: list[Level] = []
        for level in self.levels:
            copies.append(level.aside(tuple([copies[self.levels.index(parent)] for parent in level.parents])))
        products = {model: product.aside() for model, product in self.products.items()}
        return ContextChain(self.forecaster, self.context, tuple(copies), products)

    def _model(self) -> int:
        choice = self.forecaster.choice
        if choice is None or len(self.levels) != len(choice.losses):
            return len(self.levels) - 1
        return choice.best()

    def _own(self, model: int) -> Context:
        """The context as the pool of a level knows it: the whole one, or without the key."""
        return self.context if model == len(self.levels) - 1 else self.context[1:]
