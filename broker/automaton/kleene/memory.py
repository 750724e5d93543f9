"""What later conditions still read of what a run remembers: runs that agree on it are equal (SASE+ 4.3; semantics 2.7).

Here: for each component, once it has its newest event, which slots and which attributes in them. Not here: what is done
with equal runs (broker.engine.executors.kleene).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...algebra.kleene import Aggregate, Bound, Pattern
from ...algebra.normal_form import Form
from ...algebra.terms import Register, walk
from .plan import ANY, Plan


@dataclass(frozen=True, slots=True)
class Memory:
    """`rows`: by slot that holds an event, the positions that are read of it, ascending; `values`: slots of aggregates
    that are read, those of the component itself, which may still change, and others alike."""

    rows: tuple[tuple[int, tuple[int, ...]], ...]
    values: tuple[int, ...]


def memories(plan: Plan) -> tuple[Memory, ...]:
    """What each component's newest event leaves to be remembered. O(components x conditions)."""
    return tuple(_memory(plan, number) for number in range(len(plan.steps)))


def _memory(plan: Plan, number: int) -> Memory:
    step = plan.steps[number]
    forms: list[Form] = [step.take_rest, step.end]
    for later in plan.steps[number + 1 :]:
        forms += [later.begin_rest, later.take_rest, later.end]
    rows: dict[int, set[int]] = {}
    values: set[int] = set()
    for form in forms:
        for clause in form:
            for atom in clause:
                for part in walk(atom):
                    if not isinstance(part, Register) or not _known(plan.pattern, part.slot, number):
                        continue
                    if part.position < 0:
                        values.add(part.slot)
                    else:
                        rows.setdefault(part.slot, set()).add(part.position)
    kept = tuple((slot, tuple(sorted(positions))) for slot, positions in sorted(rows.items()))
    return Memory(kept, tuple(sorted(values)))


def _known(pattern: Pattern, slot: int, number: int) -> bool:
    """Whether a slot is filled once a component has an event."""
    match pattern.slots[slot]:
        case Bound(component) | Aggregate(component):
            return component <= number


def shares_pasts(plan: Plan) -> bool:
    """Whether runs of a pattern are few once equal ones are one, so that their pasts are worth sharing.

    All strategies let relevant events be skipped, nothing is remembered that nearly every path has a value of its own
    of, and negations are marks in the middle.
    """
    if any(step.strategy != ANY for step in plan.steps) or plan.pattern.output == "nonoverlap":
        return False
    if len(plan.steps) == 1 and plan.steps[0].take < 0:
        return False  # an event alone has no past
    if any(not 0 < n.place < len(plan.steps) or n.rest != ((),) for n in plan.negations):
        return False
    slots = plan.pattern.slots
    for memory in memories(plan):
        for slot in memory.values:
            found = slots[slot]
            if isinstance(found, Aggregate) and found.function in ("sum", "avg"):
                return False
    return True
