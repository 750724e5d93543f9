"""comparisons: one spelling for comparisons with constants that an index of ranges finds, and a range of one int.

`-x op c` on floats is `x mirrored -c`. Sound, run by run: negating a float is exact and reverses its order, and a null
makes either false. Not for ints, whose negation may leave 64 bits, nor for what rounds: `x - c > r`, `2 * x > c`.

`x >= c AND x <= c` on ints is `x = c`. Floats keep their range: as keys they would cost more.
"""

from __future__ import annotations

from typing import Final

from ...algebra.functions import MIRRORED
from ...algebra.normal_form import Clause, Form, reordered
from ...algebra.terms import Arithmetic, Comparison, Constant, Term
from ...language.literal_orders import equal
from ..automaton import Automaton
from .facts import Facts
from .forms import each_form
from .rule import Rewritten

ZERO: Final = Constant(0, "int")


def comparisons(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> shown(comparisons, cel("SELECT * FROM FILTER{-price <= -90.0 AND volume >= 5 AND volume <= 5}(Stock)"))
    ['volume = 5 AND price >= 90.0']
    """
    return each_form(automaton, _form)


def _form(form: Form) -> Form:
    found = tuple([_points([_plain(atom) for atom in clause]) for clause in form])
    return form if found == form else reordered(found)


def _plain(atom: Comparison) -> Comparison:
    match atom:
        case Comparison(operator, Arithmetic("-", zero, inner, "float"), Constant(int() | float() as value, type_)):
            if zero == ZERO:
                return Comparison(MIRRORED[operator], inner, Constant(-value, type_))
        case _:
            pass
    return atom


def _points(clause: list[Comparison]) -> Clause:
    """The clause with equalities for ranges of one int."""
    least = {atom.left: atom for atom in clause if atom.operator == ">=" and _is_int(atom.left, atom.right)}
    for atom in clause:
        other = least.get(atom.left)
        if atom.operator != "<=" or other is None or not _is_int(atom.left, atom.right):
            continue
        if isinstance(atom.right, Constant) and isinstance(other.right, Constant):
            if equal(other.right.value, atom.right.value):
                kept = [each for each in clause if each is not atom and each is not other]
                return _points([*kept, Comparison("=", other.left, other.right)])
    return tuple(clause)


def _is_int(term: Term, constant: Term) -> bool:
    return term.type == "int" and isinstance(constant, Constant) and constant.type == "int"
