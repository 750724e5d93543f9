"""FILTER: the condition is added to the guard of the open arc.

After NEXT and FOLD this makes an outer selection end a run where theta would skip the event (semantics 1.2 d): the
event affects the run and ends it, and only the arc tests the condition.
"""

from __future__ import annotations

from dataclasses import replace

from ...algebra.operators import Selection
from ...algebra.terms import both
from ..fragment import Fragment


def select(operator: Selection, fragment: Fragment) -> Fragment:
    return replace(fragment, guard=both(fragment.guard, fragment.read(operator.condition)))
