"""comparisons: one spelling for comparisons with constants that an index of ranges finds, and a range of one int.

`-x op c` on floats is `x mirrored -c`. Sound, run by run: negating a float is exact and reverses its order, and a null
makes either false. Not for ints, whose negation may leave 64 bits, nor for what rounds: `x - c > r`, `2 * x > c`.

`x >= c AND x <= c` on ints and texts is `x = c`. Floats keep their range: as keys they would cost more. `x >= c AND
x != c` is `x > c`.

`x < 5.5` of an int is `x < 6`, and `x = 5.0` is `x = 5`. Sound, as int and float are compared exactly, and rounding a
float up to 2 ** 53 is exact. An equality with what is no whole number stays, as it never holds.

`x - 5 > 0` is `x > 5`, and `x + 0` is `x`. Sound of floats, as a difference is above 0 exactly if x is above 5; with
another number it rounds. Of ints, a sum that leaves 64 bits is null: the comparison is then false, and must be false
without the sum, too. So it is of `x - c > d`, `x + c < d` and `c - x < d`, where c is not below 0, and not the other
way round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...algebra.functions import MIRRORED
from ...algebra.normal_form import Clause, Form, reordered
from ...algebra.terms import Arithmetic, Comparison, Constant, Term
from ...language.literal_orders import at_most, equal, rounded, total
from ..automaton import Automaton
from .facts import Facts
from .forms import each_form
from .rule import Rewritten

ZERO: Final = Constant(0, "int")
JOINED: Final[Mapping[frozenset[str], str]] = {
    frozenset(("<=", ">=")): "=",
    frozenset(("<=", "!=")): "<",
    frozenset((">=", "!=")): ">",
}
"""Two comparisons of a term with one constant, as one."""
KEYS: Final = ("int", "string")
WHOLE_MAX: Final = 9_007_199_254_740_992  # 2 ** 53, up to which floats have all whole numbers


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
    """The comparison of less with a constant."""
    found = _stripped(atom)
    return atom if found is atom else _plain(found)


def _stripped(atom: Comparison) -> Comparison:
    match atom:
        case Comparison(operator, Arithmetic("-", zero, inner, "float"), Constant(int() | float() as value, type_)):
            if zero == ZERO:
                return Comparison(MIRRORED[operator], inner, Constant(-value, type_))
        case Comparison(operator, inner, Constant(float() as value, "float")) if inner.type == "int":
            if _is_exact(value):
                whole = rounded(value, "ceil" if operator in ("<", ">=") else "floor")
                if operator not in ("=", "!=") or equal(whole, value):
                    return Comparison(operator, inner, Constant(whole, "int"))
        case _:
            pass
    match atom:
        case Comparison(operator, Arithmetic(("-" | "+") as sign, one, other, type_), Constant(right)):
            inner, constant = (other, one) if isinstance(one, Constant) else (one, other)
            if isinstance(constant, Constant) and not isinstance(inner, Constant) and type_ == inner.type:
                turned = sign == "-" and constant is one
                return _moved(atom, inner, constant, right, sign, turned)
        case _:
            pass
    return atom


def _moved(atom: Comparison, inner: Term, constant: Constant, right: Any, sign: str, turned: bool) -> Comparison:
    """`x - c > d` as `x > d + c`: of floats where d is 0, of ints where no sum that leaves 64 bits would matter."""
    moved, value = MIRRORED[atom.operator] if turned else atom.operator, constant.value
    if not turned and isinstance(value, int | float) and equal(value, 0):
        return Comparison(moved, inner, atom.right)
    if not isinstance(value, int | float) or not (_is_exact(value) and _is_exact(right)):
        return atom
    if inner.type == "float" and equal(right, 0):
        return Comparison(moved, inner, Constant(-value if sign == "+" else value, constant.type))
    if inner.type == "int" and isinstance(value, int) and isinstance(right, int) and at_most(0, value):
        if sign == "+" and moved in ("<", "<="):
            return Comparison(moved, inner, Constant(total(right, -value), "int"))
        if sign == "-" and moved in (">", ">="):
            return Comparison(moved, inner, Constant(total(value, -right if turned else right), "int"))
    return atom


def _is_exact(value: Any) -> bool:
    return at_most(value, WHOLE_MAX) and at_most(-WHOLE_MAX, value)


def _points(clause: list[Comparison]) -> Clause:
    """The clause with equalities for ranges of one value, and without ends of ranges that are excluded."""
    for at, atom in enumerate(clause):
        for other in clause[at + 1 :]:
            found = JOINED.get(frozenset((atom.operator, other.operator)))
            if found is None or atom.left != other.left or (found == "=" and atom.left.type not in KEYS):
                continue
            if _are_equal(atom.right, other.right):
                kept = [each for each in clause if each is not atom and each is not other]
                return _points([*kept, Comparison(found, atom.left, atom.right)])
    return tuple(clause)


def _are_equal(one: Term, other: Term) -> bool:
    if isinstance(one, Constant) and isinstance(other, Constant):
        return one.type == other.type and equal(one.value, other.value)
    return False
