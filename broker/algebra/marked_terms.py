"""Marked literals in terms and forms: which terms have any, and replacing them by values.

Here: terms as such. Not here: marks (language/marked_literals), doing this often (automaton/binding).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..language.marked_literals import Literals, chosen, number_in
from .normal_form import Form
from .terms import Constant, Term, leaves

Exchange: TypeAlias = Callable[[Term], Term]


def number_of(term: Term) -> int | None:
    """The number of a constant that is a marked literal; None for any other term."""
    return number_in(term.value) if isinstance(term, Constant) else None


def exchanger(literals: Literals) -> Exchange:
    """A function that replaces marks by literals."""

    def exchange(term: Term) -> Term:
        number = number_of(term)
        return term if number is None else Constant(chosen(literals, number), term.type)

    return exchange


def is_marked(term: Term) -> bool:
    return any(number_of(leaf) is not None for leaf in leaves(term))


def has_marks(form: Form) -> bool:
    return any(is_marked(atom) for clause in form for atom in clause)
