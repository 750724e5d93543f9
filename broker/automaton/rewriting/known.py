"""Atoms that hold together, and what follows from them: equal terms, terms that are not null, weaker comparisons.

Here: one such set. Not here: which atoms hold where (facts).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias, final

from ...algebra.functions import IS_NULL
from ...algebra.normal_form import canonical
from ...algebra.terms import (
    FALSE,
    Arithmetic,
    Attribute,
    Comparison,
    Constant,
    Duration,
    Function,
    Instant,
    Register,
    Term,
    nullable,
    walk,
)
from ...language.literal_orders import comparable, equal

Atoms: TypeAlias = dict[Comparison, None]
"""Atoms in the order in which they were found."""

CLASS_MAX: Final = 12  # equalities of more terms than these are not written out


@final
class KnownAtoms:
    """`atoms`: canonical atoms that all hold, with the equalities that follow from others.

    >>> from ...algebra.terms import Side
    >>> a, b, c = (Attribute(Side.EVENT, position, "string") for position in range(3))
    >>> known = KnownAtoms([Comparison("=", a, b), Comparison("=", b, c)])
    >>> known.implies(Comparison("=", a, c)), known.implies(Comparison("=", a, Constant("x", "string")))
    (True, False)
    """

    def __init__(self, atoms: Iterable[Comparison]) -> None:
        self.atoms: Atoms = dict.fromkeys(atoms)
        self._class: dict[Term, list[Term]] = {}  # by term, all that equal it
        self._present: dict[Term, None] = {}  # what is not null, because a comparison holds
        for atom in list(self.atoms):
            for side in (atom.left, atom.right):
                for term in _operands(side):
                    self._present[term] = None
            if atom.operator == "=":
                self._unite(atom.left, atom.right)
        for members in {id(members): members for members in self._class.values()}.values():
            if len(members) > CLASS_MAX:
                continue
            for at, one in enumerate(members):
                for other in members[at + 1 :]:
                    if (found := compared("=", one, other)) is not None:
                        self.atoms[found] = None

    def _unite(self, one: Term, other: Term) -> None:
        first, second = self.equals(one), self.equals(other)
        if first is not second:
            first += second
        for term in first:
            self._class[term] = first

    def equals(self, term: Term) -> list[Term]:
        """All terms that equal it, itself included."""
        return self._class.get(term) or [term]

    def constant(self, term: Term) -> Constant | None:
        """A constant that the term equals."""
        return next((each for each in self.equals(term) if isinstance(each, Constant)), None)

    def contradicts(self) -> bool:
        """Whether a term would equal two different constants, so that the atoms never hold together."""
        return any(
            not equal(one.value, other.value)
            for members in {id(members): members for members in self._class.values()}.values()
            for one, other in pairwise([each for each in members if isinstance(each, Constant)])
        )

    def present(self, term: Term) -> bool:
        """Whether the term is not null."""
        return not nullable(term) or term in self._present

    def implies(self, atom: Comparison, ordered: bool = True) -> bool:
        """Whether the atom holds, too. Asks for the equality or, if `ordered`, the order of constants only where one
        term is compared with both. Not `ordered`, a comparison follows from one with an equal constant alone."""
        if atom in self.atoms:
            return True
        left, right, operator = atom.left, atom.right, atom.operator
        if left == right and operator in ("=", "<=", ">="):
            return self.present(left)
        if isinstance(left, Function) and left.name == IS_NULL:
            return right == FALSE and operator == "=" and self.present(left.arguments[0])
        if isinstance(right, Constant):
            return any(
                _follows(operator, right, known.operator, known.right, ordered)
                for term in self.equals(left)
                for known in self._about(term)
            )
        if operator == "=":
            return right in self.equals(left)
        pairs = ((one, other) for one in self.equals(left) for other in self.equals(right))
        return any(found in self.atoms for one, other in pairs if (found := compared(operator, one, other)) is not None)

    def _about(self, term: Term) -> Iterator[Comparison]:
        """What is known of a term and a constant."""
        for atom in self.atoms:
            if atom.left == term and isinstance(atom.right, Constant):
                yield atom


def _follows(operator: str, wanted: Constant, known: str, constant: Term, ordered: bool) -> bool:
    """Whether a value that has a known relation to one constant has the wanted one to another."""
    if not isinstance(constant, Constant):
        return False
    if known == operator and constant == wanted:
        return True
    if not ordered or operator == "=" or (operator == "!=" and known == "!="):
        return known == operator and constant.type == wanted.type and equal(constant.value, wanted.value)
    if operator == "!=" or known == "!=" or _sort(constant) != _sort(wanted):
        return False
    if known not in ("=", operator[0], operator[0] + "="):
        return False
    plain = comparable([constant.value, wanted.value])
    if plain is None:
        return False
    least, most = (plain[0], plain[-1]) if operator[0] == "<" else (plain[-1], plain[0])
    if known in ("=", operator[0] + "=") and operator in "<>":
        return bool(least < most)
    return bool(least <= most)


def _sort(constant: Constant) -> str:
    return "number" if constant.type in ("int", "float") else constant.type


def _operands(side: Term) -> Iterator[Term]:
    """The terms that are not null if this one is not."""
    yield side
    if isinstance(side, Arithmetic):
        yield from _operands(side.left)
        yield from _operands(side.right)


def compared(operator: str, left: Term, right: Term) -> Comparison | None:
    """The canonical comparison; None of two constants, of which no literal may decide."""
    if isinstance(right, Constant):
        if isinstance(left, Constant):
            return None
        if isinstance(left, Register | Attribute):
            return Comparison(operator, left, right)
    found = canonical(Comparison(operator, left, right))
    return found if isinstance(found, Comparison) else None


def reads_run(atom: Comparison) -> bool:
    """Whether an atom reads some register, and otherwise constants alone."""
    found = False
    for part in walk(atom):
        if isinstance(part, Attribute | Duration | Instant):
            return False
        found = found or isinstance(part, Register)
    return found
