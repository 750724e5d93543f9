"""Templates: the compiled form of all texts that differ only in the values of literals.

The first query of a shape is compiled with marked literals. If no computation used a marked literal, and all of them
reach the automata, then replacing the literals equals compiling another text of the shape. The facts and the plan of
such an automaton do not depend on the values of literals, but may depend on which of them are equal. So a plan is kept
for each pattern of equal literals.

`automata` have marked literals (`marked_terms.number_of`), and a subscription of the template stores its literals as a
tuple: these are the coordinates of groups. Here: templates. Not here: marks (language/marked_literals), replacing them
(automaton/binding), deciding whether a template may be used (query_compiler), how its machine finds matches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, final

from ...algebra.operators import Query
from ...algebra.terms import LiteralUsed
from ...automaton.automaton import Automaton
from ...automaton.binding import AutomatonMaker, MarkedParts, constants
from ...automaton.compilation import Compiled
from ...language.marked_literals import Literals, chosen, mark, number_in
from ..executors.machine_plan import MachinePlan, PlanMaker

Equalities: TypeAlias = tuple[int, ...]
"""For each used literal the first literal, or the constant, that it equals."""
Planning: TypeAlias = Callable[[Automaton], MachinePlan]

EQUALITIES_MAX: Final = 64  # the most patterns of equal literals of one template whose plans are kept


@final
class Template:
    """Automata over epochs, which are merged into the program."""

    def __init__(self, query: Query, compiled: Compiled) -> None:
        self.query = query
        self.compiled = compiled
        self._parts = MarkedParts()
        self._makers = [self._parts.automaton(automaton) for automaton in compiled.automata]

    @property
    def automata(self) -> tuple[Automaton, ...]:
        return self.compiled.automata

    def bound(self, literals: Literals) -> Compiled:
        """The automata for these literals.

        O(size of the parts with marks); parts without marks are shared with the template.
        """
        if not literals:
            return self.compiled
        bound = self._parts.bind(literals)
        return Compiled(tuple([maker(bound) for maker in self._makers]))


@final
class MachineTemplate:
    """An automaton that a machine runs, and `planned`, the function that chooses its executor."""

    def __init__(self, automaton: Automaton, planned: Planning) -> None:
        self.automaton = automaton
        self._planned = planned
        found = list(constants(automaton))
        marks = dict.fromkeys(number for c in found if (number := number_in(c)) is not None)
        self._used = list(marks)
        self._fixed = list(dict.fromkeys((type(c), c) for c in found if number_in(c) is None))
        self._parts = MarkedParts()
        self._bound = self._parts.automaton(automaton)
        self._kept: dict[Equalities, _KeptPlan | None] = {}
        self._seen: Equalities | None = None  # those of the last text whose plan was not kept
        self._only = None if marks else planned(automaton)

    @property
    def automata(self) -> tuple[Automaton, ...]:
        return (self.automaton,)

    def plan(self, literals: Literals) -> MachinePlan:
        """The plan for these literals. Raises LimitExceeded or DefinitionError as the planner does.

        O(size of the parts with marks), and twice for each pattern of equal literals O(size of the plan).
        """
        if self._only is not None:
            return self._only
        equal = self._equalities(literals)
        kept = self._kept.get(equal)
        if equal not in self._kept:
            if len(self._kept) >= EQUALITIES_MAX:
                self._kept.clear()
            if self._seen != equal:  # most shapes have one text, for which nothing needs to be kept
                self._seen = equal
                return self._planned(self._bound(self._parts.bind(literals)))
            marks = self._marks(equal, literals)
            kept = None if marks is None else _KeptPlan(self._bound(self._parts.bind(marks)), self._planned)
            self._kept[equal] = kept
        if kept is None:
            return self._planned(self._bound(self._parts.bind(literals)))
        return kept.plan(literals)

    def _equalities(self, literals: Literals) -> Equalities:
        first: dict[Any, int] = {fixed: ~place for place, fixed in enumerate(self._fixed)}
        return tuple(
            [
                first.setdefault((type(value), value), place)
                for place, number in enumerate(self._used)
                for value in [chosen(literals, number)]
            ]
        )

    def _marks(self, equal: Equalities, literals: Literals) -> Literals | None:
        """Marked literals, one mark for equal ones. Literals that equal constants stay values.

        None if a literal equals the opposite of another one.
        """
        found: list[Any] = list(literals)
        within = number_in(self.automaton.within)
        for place, (number, other) in enumerate(zip(self._used, equal)):
            first = number if other == place else -1 if other < 0 else self._used[other]
            if other != place and (number < 0 or first < 0) and not (number < 0 and other >= 0 and first < 0):
                if number >= 0 and other < 0:
                    continue  # a constant's value stays as it is
                return None
            at = max(number, ~number)
            value = literals[at] or 1 if at == within else literals[at]  # as in `marked_places`
            found[at] = mark(value, max(first, ~first))
        return tuple(found)


@final
class _KeptPlan:
    """The plan of the automata whose literals are equal in one pattern."""

    def __init__(self, automaton: Automaton, planned: Planning) -> None:
        parts = MarkedParts()
        self._parts = parts
        self._planned = planned
        self._automaton: AutomatonMaker = parts.automaton(automaton)
        self._plan: PlanMaker | None = None
        try:
            self._first = planned(automaton)
            maker = self._first.maker(parts)
        except LiteralUsed:
            return
        if parts.stable:
            self._plan = maker

    def plan(self, literals: Literals) -> MachinePlan:
        """The plan for these literals; made anew if the planner might decide otherwise for them."""
        bound = self._parts.bind(literals)
        plan = None if self._plan is None else self._plan(bound, self._automaton)
        if plan is None:
            return self._planned(self._automaton(bound))
        plan.passed_over = self._first.passed_over
        plan.wanted = self._first.wanted
        plan.alone = self._first.alone
        return plan


def marks_in(automata: tuple[Automaton, ...]) -> set[int]:
    """The numbers of the literals that occur in automata."""
    found = (number_in(value) for automaton in automata for value in constants(automaton))
    return {max(number, ~number) for number in found if number is not None}
