"""alternatives: a clause that another clause includes goes.

`p < 5 OR (p < 5 AND v > 9)` is `p < 5`. Sound, run by run: where the longer clause holds, the other one does. Whether a
comparison with one literal follows from that with another is a question of their order, which is noted and then decides
the form of a text; so only a few alternatives are compared.
"""

from __future__ import annotations

from typing import Final

from ...algebra.normal_form import Clause, Form
from ..automaton import Automaton
from .facts import Facts
from .forms import each_form
from .known import KnownAtoms
from .rule import Rewritten

ALTERNATIVES_MAX: Final = 3  # the most alternatives that are compared


def alternatives(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> shown(alternatives, cel("SELECT * FROM FILTER{price < 5.0 OR (price < 5.0 AND volume > 9)}(Stock)"))
    ['price < 5.0']
    """
    return each_form(automaton, _form)


def _form(form: Form) -> Form:
    if not 1 < len(form) <= ALTERNATIVES_MAX:
        return form
    kept = list(form)
    for clause in form:
        others = [other for other in kept if other is not clause]
        if any(_includes(other, clause) for other in others):
            kept = others
    return form if len(kept) == len(form) else tuple(kept)


def _includes(wide: Clause, narrow: Clause) -> bool:
    """Whether the wide clause holds wherever the narrow one does."""
    known = KnownAtoms(narrow)
    doubtful = [atom for atom in wide if not known.implies(atom, ordered=False)]
    alike = {(atom.left, atom.operator[0]) for atom in narrow}
    if any((atom.left, atom.operator[0]) not in alike for atom in doubtful):
        return False  # no order is asked where it cannot decide
    return all(known.implies(atom) for atom in doubtful)
