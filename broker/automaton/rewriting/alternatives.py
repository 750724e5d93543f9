"""alternatives: a clause that another clause includes goes.

`p < 5 OR (p < 5 AND v > 9)` is `p < 5`, and an alternative that can never hold goes, too. Sound, run by run: where the
longer clause holds, the other one does. Whether a comparison with one literal follows from that with another is a
question of their order, which is noted and then decides the form of a text; so only a few alternatives are compared. Of
more, as where several such conditions were multiplied out, first those go that follow from equal literals alone, and
then those that differ in comparisons of one term only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ...algebra.functions import NEGATED
from ...algebra.normal_form import Clause, Form
from ...algebra.terms import Term
from ..automaton import Automaton
from .facts import Facts
from .forms import each_form
from .known import KnownAtoms
from .rule import Rewritten

ALTERNATIVES_MAX: Final = 3  # the most alternatives whose literals are put in order
EQUAL_MAX: Final = 32  # the most of which literals are compared for equality


def alternatives(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> shown(alternatives, cel("SELECT * FROM FILTER{price < 5.0 OR (price < 5.0 AND volume > 9)}(Stock)"))
    ['price < 5.0']
    """
    return each_form(automaton, _form)


def _form(form: Form) -> Form:
    if not 1 < len(form) <= EQUAL_MAX:
        return form
    kept = _shortened(form, False)
    for term in dict.fromkeys(atom.left for clause in kept for atom in clause):
        if len(kept) > ALTERNATIVES_MAX:
            kept = _by_term(kept, term)
    if 1 < len(kept) <= ALTERNATIVES_MAX:
        kept = _shortened([clause for clause in kept if not _never(clause)] or kept, True)
    return form if len(kept) == len(form) else tuple(kept)


def _shortened(form: Sequence[Clause], ordered: bool) -> Sequence[Clause]:
    """Without what another clause includes; by the order of literals, too, if `ordered`."""
    kept = list(form)
    for clause in form:
        others = [other for other in kept if other is not clause]
        if any(_includes(other, clause, ordered) for other in others):
            kept = others
    return kept


def _never(clause: Clause) -> bool:
    """Whether two bounds of one term exclude each other."""
    for atom in clause:
        others = [other for other in clause if other is not atom and other.left == atom.left]
        if others and KnownAtoms(others).implies(replace(atom, operator=NEGATED[atom.operator])):
            return True
    return False


def _by_term(form: Sequence[Clause], term: Term) -> Sequence[Clause]:
    """Without clauses that are others but for what a term is asked, and ask it for more."""
    about: dict[Clause, dict[Clause, Clause]] = {}  # by the rest of a clause and its part about the term
    for clause in form:
        rest = tuple([atom for atom in clause if atom.left != term])
        about.setdefault(rest, {})[tuple([atom for atom in clause if atom.left == term])] = clause
    kept = {id(parts[part]) for parts in about.values() for part in _few(list(parts))}
    return [clause for clause in form if id(clause) in kept]


def _few(parts: list[Clause]) -> Sequence[Clause]:
    return _shortened(parts, True) if len(parts) <= ALTERNATIVES_MAX else parts


def _includes(wide: Clause, narrow: Clause, ordered: bool) -> bool:
    """Whether the wide clause holds wherever the narrow one does."""
    known = KnownAtoms(narrow)
    doubtful = [atom for atom in wide if not known.implies(atom, ordered=False)]
    alike = {(atom.left, atom.operator[0]) for atom in narrow}
    if not ordered or any((atom.left, atom.operator[0]) not in alike for atom in doubtful):
        return not doubtful  # no order is asked where it cannot decide
    return all(known.implies(atom) for atom in doubtful)
