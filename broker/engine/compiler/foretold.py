"""The forecast plans of a form's subscriptions: one for all whose literals are equal in the same pattern.

A plan has the states of an automaton, the key of its chain, and how long runs are of use. None of this depends on the
values of literals, unless they bound durations; but whether two literals are equal may decide the key (templates).

Here: keeping plans. Not here: making one (broker.forecast.plan).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias, final

from ...algebra.terms import LiteralUsed
from ...automaton.automaton import Automaton
from ...events.instant import FOREVER
from ...forecast.plan import ForecastPlan
from ...language.literal_orders import first_equal
from ...language.marked_literals import Literals, mark
from .recently_used import Recent

Automata: TypeAlias = tuple[Automaton, ...]
AutomataOf: TypeAlias = Callable[[Literals], Automata]
Foretelling: TypeAlias = Callable[[Automata], ForecastPlan]
Equalities: TypeAlias = tuple[int, ...]

ZERO: Final = -1
PATTERNS_MAX: Final = 64  # the most patterns of equal literals of one form whose plans are kept


@final
class ForecastPlans:
    """`make`: makes a plan from the automata."""

    def __init__(self, make: Foretelling) -> None:
        self._make = make
        self._kept: Recent[Equalities, ForecastPlan] = Recent(PATTERNS_MAX)
        self._missing: set[Equalities] = set()  # patterns whose plans depend on values

    def plan(
        self, literals: Literals, fixed: tuple[int, ...], own: Callable[[], Automata], alike: AutomataOf | None
    ) -> ForecastPlan:
        """The plan of a subscription, which has its machine, if it needs one. Raises DefinitionError or LimitExceeded.

        `own`: its automata as they are written; `alike`: those with other literals, of which those at `fixed` are the
        same in all texts of the form; None if there are no others. O(literals), or O(size of the automata squared)."""
        if not literals or alike is None:
            return self._make(own())
        equal = _pattern(literals)
        found = self._kept.get(equal)
        if found is None and equal not in self._missing:
            found = self._shared(alike, literals, fixed, equal)
            if found is not None:
                self._kept.put(equal, found)
            else:
                if len(self._missing) >= PATTERNS_MAX:
                    self._missing.clear()
                self._missing.add(equal)
        return self._make(own()) if found is None else found

    def _shared(
        self, alike: AutomataOf, literals: Literals, fixed: tuple[int, ...], equal: Equalities
    ) -> ForecastPlan | None:
        """The plan of all with such literals; None if it depends on their values."""
        marked = [
            value if number in fixed or first in fixed or first == ZERO else mark(value, first)
            for number, (value, first) in enumerate(zip(literals, equal))
        ]
        try:
            found = self._make(alike(tuple(marked)))
        except LiteralUsed:
            return None
        return found if all(window == FOREVER for window in found.windows) else None  # bounds are values of literals


def _pattern(literals: Literals) -> Equalities:
    """For each literal the number of the first one that it equals, ZERO for zero, which equals its opposite."""
    return tuple([ZERO if literal == 0 else first for literal, first in zip(literals, first_equal(literals))])
