"""NEXT: one more state, entered by the open arc, which waits for a right event that satisfies theta.

The first event that affects a run ends it in this state, whatever the arcs require: there is no rebind arc, and the
state does not stay (semantics 1.2 e). Its open arc has no condition beyond theta.
"""

from __future__ import annotations

from ...algebra.normal_form import normalise
from ...algebra.operators import Sequence
from ...algebra.terms import TRUE, Side, both
from ...events.event import TIME_NAMES
from ..automaton import State
from ..fragment import EventView, Fragment, SlotTable, close, composition, remember


def sequence(operator: Sequence, left: Fragment, right: EventView) -> Fragment:
    slots = SlotTable()
    names = operator.left.schema.names
    kept = tuple(remember(value, name, slots, rebinds=False) for name, value in zip(names, left.values, strict=True))
    before = tuple(remember(value, name, slots, rebinds=False) for name, value in zip(TIME_NAMES, left.times))
    times = {Side.FIRST: before, Side.EVENT: right.times}
    theta = composition(operator.theta, lambda i: kept[i], lambda i: kept[i], right.values, times)
    state = State(right.stream, normalise(both(right.guard, theta)))
    states, arcs = close(left, state, slots.sources)
    return Fragment(states, arcs, TRUE, kept + right.values, right.times[:1] + before[1:])
