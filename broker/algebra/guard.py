"""The condition of an arc, divided by what can answer it: an index, a hash of keys, or a test of the run.

Here: guards as values. Not here: evaluation (predicate), canonical forms (normal_form).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from .normal_form import Form
from .terms import Register, Term, walk

Accumulation: TypeAlias = Literal["avg", "sum", "min", "max", "count", "len"]


@dataclass(frozen=True, slots=True)
class Join:
    """The event's attribute at `position` equals the register. A null equals nothing; numbers are compared by value."""

    position: int
    register: Register


@dataclass(frozen=True, slots=True)
class Guard:
    """A conjunction in two forms. `conjuncts` has the conditions as they are in the text, for display and reference.

    The other fields have the same conditions in canonical form: `static` reads only the event, `residual` is neither
    static nor a join. They do not include the equality of the partition key, the stream and the window.
    """

    conjuncts: tuple[Term, ...]
    static: Form
    joins: tuple[Join, ...]
    residual: Form

    @property
    def reads(self) -> tuple[int, ...]:
        """Return the slots that the guard reads, ascending."""
        return slots_of(self.conjuncts)


def slots_of(terms: tuple[Term, ...]) -> tuple[int, ...]:
    """Return the slots that terms read, ascending."""
    return tuple(sorted({part.slot for term in terms for part in walk(term) if isinstance(part, Register)}))
