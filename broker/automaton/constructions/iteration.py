"""FOLD: one more state with a rebind loop; every iteration also leaves by the open arc.

The rebind arc is guarded by F's selection and stores the new last values. The runtime takes no other arc if it fails,
so the forward guard need not repeat the selection. First values have their own slots. Shared attributes of a row need
no slot, because the bound row is their register.
"""

from __future__ import annotations

from ...algebra.normal_form import canonical, normalise
from ...algebra.operators import Iteration
from ...algebra.terms import TRUE, Attribute, Register, Side, Term, both, nullable
from ...events.event import TIME_NAMES
from ..automaton import Arc, Carry, Computed, Kind, SlotSource, State
from ..fragment import EventView, Fragment, SlotTable, close, composition, remember


def iteration(operator: Iteration, left: Fragment, right: EventView) -> Fragment:
    slots = SlotTable()
    shared = dict(operator.shared())
    aggregates = dict(operator.aggregates)
    names = operator.left.schema.names
    first = tuple(remember(value, name, slots, rebinds=True) for name, value in zip(names, left.values, strict=True))
    last: list[Term] = []
    changing: dict[int, int] = {}  # by slot, the left attribute whose last value it holds
    for i, value in enumerate(left.values):
        if i not in shared and i not in aggregates:
            last.append(first[i])
        elif i not in aggregates and _in_row(value, right.values[shared[i]]):
            last.append(_row_register(value))
        else:
            slot = slots.own(Computed(canonical(value)))
            changing[slot] = i
            last.append(Register(slot, -1, value.type, names[i], nullable(value) or i in aggregates))

    begun = tuple(remember(value, name, slots, rebinds=True) for name, value in zip(TIME_NAMES, left.times))
    so_far: tuple[Term, ...] = ()
    ending = -1  # the slot that holds when the last iteration ended
    if left.times:
        ended = left.times[0]
        if _in_row(ended, right.times[0]):
            so_far = (_row_register(ended), begun[1])
        else:
            ending = slots.own(Computed(canonical(ended)))
            so_far = (Register(ending, -1, "int", TIME_NAMES[0]), begun[1])
    times = {Side.FIRST: begun, Side.LAST: so_far, Side.EVENT: right.times}

    def term(t: Term) -> Term:
        return composition(t, lambda i: first[i], lambda i: last[i], right.values, times)

    def stepped(i: int) -> Term:
        if i in aggregates:
            return term(aggregates[i])
        return right.values[shared[i]] if i in shared else first[i]

    state = State(right.stream, normalise(both(right.guard, term(operator.theta))))
    states, arcs = close(left, state, slots.sources)
    here = len(states) - 1
    update: list[SlotSource] = [
        Computed(canonical(stepped(changing[slot]))) if slot in changing else Carry(slot)
        for slot in range(len(slots.sources))
    ]
    if ending >= 0:
        update[ending] = Computed(canonical(right.times[0]))
    rebind = Arc(here, here, normalise(term(operator.rebind)), tuple(update), kind=Kind.LOOP)
    values = tuple(first[i] for i in shared) + tuple(stepped(i) for i in range(len(left.values)))
    return Fragment(states, (*arcs, rebind), TRUE, values, right.times[:1] + begun[1:])


def _in_row(before: Term, after: Term) -> bool:
    """Whether the bound row holds the value, before the first iteration and after each."""
    match canonical(before), canonical(after):
        case Attribute(Side.EVENT, a), Attribute(Side.EVENT, b):
            return a == b
        case _:
            return False


def _row_register(value: Term) -> Register:
    assert isinstance(value, Attribute)
    return Register(-1, value.position, value.type, value.name, value.nullable)
