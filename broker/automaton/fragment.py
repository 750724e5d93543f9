"""An automaton under construction: complete up to its last state, whose last arc is still open.

Here: the fragment that constructions extend, and the closing of its arc, which chooses the register of each value.
Not here: operators (constructions).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..algebra.normal_form import canonical, normalise
from ..algebra.terms import TRUE, Attribute, Constant, Duration, Instant, Register, Side, Term, nullable, replace
from .automaton import Arc, BoundRow, Carry, Computed, EventRow, SlotSource, State

Times: TypeAlias = tuple[Term, ...]
"""When a result ended and began, in a query that reads times; () in others."""

NO_TIMES: Final[Times] = ()


@dataclass(frozen=True, slots=True)
class Fragment:
    """The open arc leaves the last of `states`. It will have `guard` and compute `values`, the operator's output row,
    and `times`.

    All read EVENT (a row of the last state's stream), that state's registers and the duration.
    """

    states: tuple[State, ...]
    arcs: tuple[Arc, ...]
    guard: Term
    values: tuple[Term, ...]
    times: Times = NO_TIMES

    @property
    def composed(self) -> bool:
        """Whether the fragment's results span several events."""
        return len(self.states) > 1

    def read(self, term: Term) -> Term:
        """A term over this fragment's output (EVENT, its own DUR) as one over the open arc's event and registers."""

        def leaf(t: Term) -> Term:
            match t:
                case Attribute(Side.EVENT, position):
                    return self.values[position]
                case Duration(False):
                    return Duration(self.composed)
                case Instant(_, begins):
                    return self.times[begins]
                case _:
                    return t

        return replace(term, leaf)


@dataclass(frozen=True, slots=True)
class EventView:
    """A right operand that is one event of `stream`: the condition on it, its values and its times."""

    stream: str
    guard: Term
    values: tuple[Term, ...]
    times: Times = NO_TIMES


class SlotTable:
    """The slots of a state, as the arc into it fills them; equal sources share a slot."""

    def __init__(self) -> None:
        self.sources: list[SlotSource] = []

    def keep(self, source: SlotSource) -> int:
        """The slot that holds `source`, a new one if there is none; for values that do not change."""
        if source not in self.sources:
            return self.own(source)
        return self.sources.index(source)

    def own(self, source: SlotSource) -> int:
        """A new slot for a computed value: the number of slots must not depend on the values of literals."""
        self.sources.append(source)
        return len(self.sources) - 1


def remember(value: Term, name: str, slots: SlotTable, rebinds: bool) -> Term:
    """The register or constant in which the target state finds `value` of the closing arc; `name`: for people.

    `rebinds`: the target binds further rows, so that the event's row needs a slot to outlive them.
    """
    value = canonical(value)
    match value:
        case Constant():
            return value
        case Attribute(Side.EVENT, position, type_, _, maybe_null) if rebinds:
            return Register(slots.keep(EventRow()), position, type_, name, maybe_null)
        case Attribute(Side.EVENT, position, type_, _, maybe_null):
            return Register(-1, position, type_, name, maybe_null)
        case Register(-1, position, type_, _, maybe_null):
            return Register(slots.keep(BoundRow()), position, type_, name, maybe_null)
        case Register(slot, position, type_, _, maybe_null):
            return Register(slots.keep(Carry(slot)), position, type_, name, maybe_null)
        case _:
            return Register(slots.own(Computed(value)), -1, value.type, name, nullable(value))


def close(fragment: Fragment, state: State, update: list[SlotSource]) -> tuple[tuple[State, ...], tuple[Arc, ...]]:
    """The states and arcs, with the open arc leading to `state`."""
    source = len(fragment.states) - 1
    arc = Arc(source, source + 1, normalise(fragment.guard), tuple(update))
    return (*fragment.states, state), (*fragment.arcs, arc)


def composition(
    theta: Term,
    first: Callable[[int], Term],
    last: Callable[[int], Term],
    event: tuple[Term, ...],
    times: dict[Side, Times],
) -> Term:
    """A term of NEXT or FOLD whose sides read the registers that keep their values and their times."""

    def leaf(t: Term) -> Term:
        match t:
            case Instant(side, begins):
                return times[side][begins]
            case Attribute(Side.FIRST, position):
                return first(position)
            case Attribute(Side.LAST, position):
                return last(position)
            case Attribute(Side.EVENT, position):
                return event[position]
            case _:
                return t

    return TRUE if theta == TRUE else replace(theta, leaf)
