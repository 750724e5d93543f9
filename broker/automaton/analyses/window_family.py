"""What windows have in common whose conditions differ in one constant only: a family, and the constant.

Conditions compare a value of the event, or of events before it, with the constant. How the value stands to it (below,
equal, above, or null) says whether these comparisons hold, so that an event divides the members of a family into a few
ranges of their constants, in each of which it has one class.

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

TERMS_MAX: Final = 2
"""The most values that are compared with the constant."""

Asked: TypeAlias = tuple[int, str]
"""A comparison with the constant: the number of the value, and the operator."""


@final
@dataclass(frozen=True, slots=True)
class FamilyClause:
    """A conjunction; `rest` does not have the constant."""

    asked: tuple[Asked, ...]
    rest: Clause


@final
class WindowFamily:
    """`automaton`: that of all members, with no conditions; `conditions`: each as alternatives; `values`: what is
    compared with the constant. Equal for all members; the hash is kept, since members are many."""

    __slots__ = ("_hash", "automaton", "conditions", "values")

    def __init__(
        self, automaton: Automaton, conditions: tuple[tuple[FamilyClause, ...], ...], values: tuple[Term, ...]
    ) -> None:
        self.automaton = automaton
        self.conditions = conditions
        self.values = values
        self._hash = hash(self.parts)

    @property
    def parts(self) -> tuple[Any, ...]:
        """What it is compared by."""
        return self.automaton, self.conditions, self.values

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, WindowFamily) and self.parts == other.parts)

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


def family_of(automaton: Automaton) -> tuple[WindowFamily, Constant] | str:
    """The family and the constant of a member, or the reason why it is in none. O(size of the conditions)."""
    windows = automaton.windows
    if windows is None or windows.clock is not None:
        return "it has no conditions"
    if windows.keep not in ("each", "shortest"):
        return f"which windows KEEP {windows.keep.upper()} chooses depends on all windows of a subscription"
    if len(windows.parts) != 1:
        return "its pairs have different bounds"
    constant = next(_candidates(windows.atoms), None)
    if constant is None:
        return "no condition compares a value with a constant of its own"
    values: dict[Term, int] = {}
    conditions = tuple(tuple(_clause(clause, constant, values) for clause in form) for form in windows.atoms)
    if len(values) > TERMS_MAX:
        return f"more than {TERMS_MAX} values are compared with its constant"
    common = replace(automaton, windows=replace(windows, atoms=(), said=UNSAID))
    return WindowFamily(common, conditions, tuple(values)), constant


def _candidates(forms: tuple[Form, ...]) -> Iterator[Constant]:
    """The constants in which members may differ: numbers, in the order of the conditions; if there are none, texts."""
    found = [
        atom.right
        for form in forms
        for clause in form
        for atom in clause
        if isinstance(atom.right, Constant) and not isinstance(atom.left, Constant)
    ]
    yield from (constant for constant in found if constant.type in ("int", "float"))
    yield from (constant for constant in found if constant.type == "string")


def _clause(clause: Clause, constant: Constant, values: dict[Term, int]) -> FamilyClause:
    """A conjunction with the constant unknown; values that are new get the next number."""
    asked: list[Asked] = []
    rest: list[Comparison] = []
    for atom in clause:
        if atom.right == constant and not any(part == constant for part in walk(atom.left)):
            asked.append((values.setdefault(atom.left, len(values)), atom.operator))
        else:
            rest.append(atom)
    return FamilyClause(tuple(asked), tuple(rest))
