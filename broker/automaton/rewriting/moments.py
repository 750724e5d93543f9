"""Times in an automaton: which terms are times of events, where that of the first event stands, and differences of two.

A time is at most LARGEST away from 1970, so that sums of two and two constants up to DISTANCE_MAX fit into 64 bits.
Not here: what is done with them (window, spans, lapses, untimed).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from ...algebra.functions import MIRRORED
from ...algebra.terms import Arithmetic, Attribute, Comparison, Constant, Register, Side, Term
from ...language.literal_orders import at_most, total
from ..automaton import TAKING, Arc, Automaton, BoundRow, Carry, EventRow, EventTime, Kind, TimeModel
from .facts import LAST, Facts, Image

DISTANCE_MAX: Final = 1_152_921_504_606_846_976  # half of LARGEST
WAYS_MAX: Final = 64  # after as many ways to a state nothing is known of it

Way: TypeAlias = frozenset[Term]
"""The registers that have a value of the first event, on one way to a state."""


class Apart(NamedTuple):
    """`later - earlier operator distance`, none of which can leave 64 bits if both are times."""

    later: Term
    earlier: Term
    operator: str
    distance: Constant


def apart(atom: Comparison, later: Callable[[Term], bool]) -> Apart | None:
    """A comparison of two values of which `later` knows one, in any writing: `b - a < 5`, `a + 5 > b`, `-5 < a - b`.

    >>> a, b = (Attribute(Side.EVENT, position, "int") for position in range(2))
    >>> found = apart(Comparison(">", Arithmetic("+", a, Constant(5, "int"), "int"), b), lambda term: term == b)
    >>> found == (b, a, "<", Constant(5, "int"))
    True
    """
    signed = [*_signed(atom.left, 1), *_signed(atom.right, -1)]
    values = [(term, sign) for term, sign in signed if not isinstance(term, Constant)]
    constants = [(term.value, sign) for term, sign in signed if isinstance(term, Constant)]
    if len(values) != 2 or len(constants) > 2 or values[0][1] == values[1][1]:
        return None
    first, second = values if later(values[0][0]) else values[::-1]
    if not later(first[0]) or not all(isinstance(value, int) and _is_small(value) for value, _ in constants):
        return None
    distances: list[Any] = [value if sign * first[1] < 0 else -value for value, sign in constants]  # type: ignore[operator]
    distance = total(*distances) if len(distances) == 2 else distances[0] if distances else 0
    operator = atom.operator if first[1] > 0 else MIRRORED[atom.operator]
    return Apart(first[0], second[0], operator, Constant(distance, "int"))


def _is_small(value: Any) -> bool:
    return at_most(value, DISTANCE_MAX) and at_most(-DISTANCE_MAX, value)


def _signed(term: Term, sign: int) -> Iterator[tuple[Term, int]]:
    """The parts of a sum of ints, each with its sign."""
    match term:
        case Arithmetic("+", left, right, "int"):
            yield from _signed(left, sign)
            yield from _signed(right, sign)
        case Arithmetic("-", left, right, "int"):
            yield from _signed(left, sign)
            yield from _signed(right, -sign)
        case _:
            yield term, sign


def first_values(automaton: Automaton, read: Callable[[Arc], list[Term]]) -> list[set[Way]]:
    """By state the ways there, each as the registers with what `read` takes from the first event; none where there are
    too many."""
    found: list[set[Way]] = [set() for _ in range(automaton.final)]
    waiting = [0]
    while waiting:
        source = waiting.pop()
        for arc in automaton.arcs:
            if arc.source != source or arc.target == automaton.final or arc.kind is Kind.KILL:
                continue
            image = Image(arc, automaton.time is TimeModel.EPOCHS)
            times = [slot for slot, each in enumerate(arc.update) if isinstance(each, EventTime)]
            begun: list[Term] = [Register(slot, -1, "int") for slot in times]
            ways: set[Way] = {frozenset(begun).union(*[image.of(term) for term in read(arc)])}
            if source:
                ways = {frozenset[Term]().union(*[image.of(term) for term in way]) for way in found[source]}
            if not ways <= found[arc.target]:
                found[arc.target] |= ways
                waiting.append(arc.target)
                if len(found[arc.target]) > WAYS_MAX:
                    return [set() for _ in found]
    return found


def time_read(facts: Facts, arc: Arc) -> list[Term]:
    """The time of the event that an arc takes."""
    position = facts.time_of(facts.stream_of(arc))
    return [] if position is None or arc.kind not in TAKING else [Attribute(Side.EVENT, position, "int")]


def row_streams(facts: Facts) -> list[dict[int, set[str]]]:
    """By state and slot, the streams of the rows that may be there."""
    automaton = facts.automaton
    found: list[dict[int, set[str]]] = [{} for _ in range(automaton.final + 1)]
    waiting = [0]
    while waiting:
        source = waiting.pop()
        for arc in automaton.arcs:
            if arc.source != source or arc.kind is Kind.KILL:
                continue
            here, there = found[source], found[arc.target]
            taken = {facts.stream_of(arc)} if arc.kind in TAKING else here.get(LAST, set())
            kept = {LAST: taken}
            for slot, each in enumerate(arc.update):
                if isinstance(each, EventRow):
                    kept[slot] = taken
                elif isinstance(each, BoundRow):
                    kept[slot] = here.get(LAST, set())
                elif isinstance(each, Carry):
                    kept[slot] = here.get(each.slot, set())
            before = sum(map(len, there.values())) + len(there)
            for slot, streams in kept.items():
                there[slot] = there.get(slot, set()) | streams
            if arc.target != automaton.final and sum(map(len, there.values())) + len(there) > before:
                waiting.append(arc.target)
    return found
