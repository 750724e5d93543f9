"""What an arc asks of an event, parted by what can answer it: an index, a hash of keys, or a look at the run.

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
    """The event's attribute at `position` equals the register. A null equals nothing; numbers compare as numbers."""

    position: int
    register: Register


@dataclass(frozen=True, slots=True)
class Guard:
    """A conjunction, twice. `conjuncts`: as they follow from the text, each on its own, for reading and for the truth.

    The rest is the same in canonical form: `static` reads the event alone, `residual` is what is neither static nor a
    join. The equality of the partition key is not in it, nor are the stream and the window.
    """

    conjuncts: tuple[Term, ...]
    static: Form
    joins: tuple[Join, ...]
    residual: Form

    @property
    def reads(self) -> tuple[int, ...]:
        """The slots that it reads, ascending."""
        return slots_of(self.conjuncts)


def slots_of(terms: tuple[Term, ...]) -> tuple[int, ...]:
    """The slots that terms read, ascending."""
    return tuple(sorted({part.slot for term in terms for part in walk(term) if isinstance(part, Register)}))
