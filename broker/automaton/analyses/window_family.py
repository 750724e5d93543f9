"""What windows have in common whose conditions differ in constants only: a family, and the constants.

Conditions compare a value of the event, or of events before it, with a constant. How the value stands to it (below,
equal, above, or null) says whether these comparisons hold, so that an event divides the members of a family into ranges
of their constants, in each of which it has one class. With one constant these are few. With several they may be as many
as members, so that members differ in several only where each start is soon over.

Here: the family of an automaton, or why it has none. Not here: how members share windows (executors/windows/family_*).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias, final

from ...algebra.normal_form import Clause, Form
from ...algebra.terms import Comparison, Constant, Term, walk
from ...language.wording import UNSAID
from ..automaton import Automaton
from ..windows.window_automaton import DEAD, WindowAutomaton

TERMS_MAX: Final = 2
"""The most values that are compared with the only constant."""
PAIRS_MAX: Final = 4
"""The most comparisons of different values, or with different constants, where there are several constants."""
BRIEF_MAX: Final = 8
"""The most events after which each start is over, where there are several constants."""

Asked: TypeAlias = tuple[int, str]
"""A comparison with a constant of its own: its number among the values, and the operator."""


Compared: TypeAlias = tuple[Term, int]
"""A value, and the place of the constant that it is compared with."""


@final
@dataclass(frozen=True, slots=True)
class FamilyClause:
    """A conjunction; `rest` has none of the constants."""

    asked: tuple[Asked, ...]
    rest: Clause


@final
class WindowFamily:
    """`automaton`: that of all members, with no conditions; `conditions`: each as alternatives; `values`: what is
    compared with a constant of the members' own, and the place of this among them; `width`: how many there are. Equal
    for all members; the hash is kept, since members are many."""

    __slots__ = ("_hash", "automaton", "conditions", "values", "width")

    def __init__(
        self, automaton: Automaton, conditions: tuple[tuple[FamilyClause, ...], ...], values: tuple[Compared, ...]
    ) -> None:
        self.automaton = automaton
        self.conditions = conditions
        self.values = values
        self.width = 1 + max(slot for _, slot in values)
        self._hash = hash((conditions, values))  # hardly any automata with equal conditions differ

    @property
    def parts(self) -> tuple[Any, ...]:
        """What it is compared by."""
        return self.automaton, self.conditions, self.values

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, WindowFamily) and self.parts == other.parts)

    def of_others(self, forms: tuple[Form, ...], constants: tuple[Constant, ...]) -> WindowFamily:
        """The family of an automaton that differs from those of this one in constants only, of which the same ones are
        equal: with these conditions, and constants of its own. O(size of the conditions)."""
        conditions, values = _conditions(forms, constants)
        return WindowFamily(self.automaton, conditions, tuple(values))

    def apart(self) -> list[Form]:
        """The different conditions without the constant that decide the others."""
        found = [form for alternatives in self.conditions for form in apart(alternatives)]
        return list(dict.fromkeys(found))

    def rests(self) -> list[Form]:
        """What each condition wants beside the constant."""
        return [tuple(clause.rest for clause in alternatives) for alternatives in self.conditions]

    @property
    def forgets(self) -> bool:
        """Whether a partition without open windows is as if it had had no event, so that members may join any time."""
        windows = self.automaton.windows
        assert windows is not None
        return windows.back == 0 and all(len(part.starts) == 1 for part in windows.parts)


def apart(alternatives: tuple[FamilyClause, ...]) -> list[Form]:
    """The conditions that decide one condition, if how values stand to the constant is known: itself, if it does not
    have the constant; else the rest of each alternative."""
    if not any(clause.asked for clause in alternatives):
        return [tuple(clause.rest for clause in alternatives)]
    return [(clause.rest,) for clause in alternatives if clause.rest]


def family_of(automaton: Automaton) -> tuple[WindowFamily, tuple[Constant, ...]] | str:
    """The family and the constants of a member, or the reason why it is in none. O(size of conditions and tables)."""
    windows = automaton.windows
    if windows is None or windows.clock is not None:
        return "it has no conditions"
    if windows.keep not in ("each", "shortest"):
        return f"which windows KEEP {windows.keep.upper()} chooses depends on all windows of a subscription"
    if len(windows.parts) != 1:
        return "its pairs have different bounds"
    constants = tuple(dict.fromkeys(_candidates(windows.atoms)))
    if not constants:
        return "no condition compares a value with a constant of its own"
    ways = [(constants[:1], TERMS_MAX)]
    numbers = tuple(constant for constant in constants if constant.type != "string")
    if len(numbers) > 1 and _is_brief(windows):
        ways.insert(0, (numbers, PAIRS_MAX))
    for own, most in ways:
        conditions, values = _conditions(windows.atoms, own)
        if not values:
            return "its constants are parts of the values that are compared with them"
        if len(values) <= most:
            common = replace(automaton, windows=replace(windows, atoms=(), said=UNSAID))
            return WindowFamily(common, conditions, tuple(values)), own
    return f"more than {TERMS_MAX} values are compared with its constant"


def _is_brief(windows: WindowAutomaton) -> bool:
    """Whether each start is over after a few events."""
    (part,) = windows.parts
    if part.most is not None and part.most <= BRIEF_MAX:
        return True
    states = set(part.starts) - {DEAD}
    columns = windows.columns
    for _ in range(BRIEF_MAX):
        rows = [part.body[state * columns : (state + 1) * columns] for state in states]
        before, states = states, {target for row in rows for target in row} - {DEAD}
        if states == before:
            break
    return not states


def _candidates(forms: tuple[Form, ...]) -> Iterator[Constant]:
    """The constants in which members may differ: numbers, in the order of the conditions, then texts."""
    found = [
        atom.right
        for form in forms
        for clause in form
        for atom in clause
        if isinstance(atom.right, Constant) and not isinstance(atom.left, Constant)
    ]
    yield from (constant for constant in found if constant.type in ("int", "float"))
    yield from (constant for constant in found if constant.type == "string")


def _conditions(
    forms: tuple[Form, ...], constants: tuple[Constant, ...]
) -> tuple[tuple[tuple[FamilyClause, ...], ...], dict[Compared, int]]:
    """The conditions with the constants unknown, and the number of each value that is compared with one of them."""
    values: dict[Compared, int] = {}
    return tuple([tuple([_clause(clause, constants, values) for clause in form]) for form in forms]), values


def _clause(clause: Clause, constants: tuple[Constant, ...], values: dict[Compared, int]) -> FamilyClause:
    """A conjunction with the constants unknown; what is new of values gets the next number."""
    asked: list[Asked] = []
    rest: list[Comparison] = []
    for atom in clause:
        slot = next((at for at, constant in enumerate(constants) if atom.right == constant), -1)
        if slot >= 0 and not any(part == constants[slot] for part in walk(atom.left)):
            asked.append((values.setdefault((atom.left, slot), len(values)), atom.operator))
        else:
            rest.append(atom)
    return FamilyClause(tuple(asked), tuple(rest))
