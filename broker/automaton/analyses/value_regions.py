"""Which classes of events can follow each other, where conditions compare an event with the one before it.

The values of an attribute fall into regions: the constants that it is compared with, and what lies between them. In the
same open region a value may be less than, equal to or greater than the one before, however many there are: the order
of floats is taken as dense (the completion property, semantics 5.4). So what can follow depends on the regions of the
last values alone.

Here: these regions, for conditions that compare an attribute of type float with constants and with itself one event
before. None for others: integers, strings, times, arithmetic, and conditions that mix such a comparison with one of
another value.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Final, TypeAlias

from ...algebra.functions import IS_NULL, compare
from ...algebra.normal_form import Form
from ...algebra.terms import Attribute, Comparison, Constant, Function, Register, Side, Term, walk
from ..windows.window_automaton import WindowAutomaton

COMBINATIONS_MAX: Final = 64
"""The most combinations of regions, of all attributes that are looked back at."""

Place: TypeAlias = int
"""The region of a value: 2k + 1 is the constant number k, 2k lies below it, NULL is no value."""
NULL: Final = -1


@dataclass(frozen=True, slots=True)
class Regions:
    """`moves`: by combination of regions of the last event, each column that an event can have, with the combination
    after it. The first event of a partition comes after number 0."""

    moves: tuple[tuple[tuple[int, int], ...], ...]


def free_regions(windows: WindowAutomaton) -> Regions:
    """Every class may follow every other one."""
    return Regions((tuple((column, 0) for column in range(windows.columns)),))


def regions_of(windows: WindowAutomaton) -> Regions | None:
    """The regions of a window automaton; None if what can follow what is not known. O(combinations squared)."""
    if windows.back == 0:
        return free_regions(windows)
    if windows.back > 1:
        return None
    looked = [number for number, atom in enumerate(windows.atoms) if _looks(atom)]
    attributes = sorted({position for number in looked for position in _positions(windows.atoms[number])})
    asked = [n for n, atom in enumerate(windows.atoms) if n in looked or _positions(atom) & set(attributes)]
    constants: dict[int, set[float]] = {position: set() for position in attributes}
    for number in asked:
        for clause in windows.atoms[number]:
            for comparison in clause:
                if not _understood(comparison, constants):
                    return None
    nullable = _nullable(windows.atoms)
    if any(position not in nullable for position in attributes):
        return None
    ordered = {position: sorted(values) for position, values in constants.items()}
    nothing = (NULL,) * len(attributes)
    places = [(NULL, *range(2 * len(ordered[position]) + 1)) for position in attributes]
    combinations: list[tuple[Place, ...]] = [nothing]
    count = 1
    for each in places:
        count *= len(each)
    if count > COMBINATIONS_MAX:
        return None
    combinations += [combination for combination in product(*places) if combination != nothing]
    by_signature: dict[tuple[bool, ...], set[int]] = {}
    for letter, column in windows.classes:
        by_signature.setdefault(tuple(bool(letter >> n & 1) for n in asked), set()).add(column)
    moves: list[tuple[tuple[int, int], ...]] = []
    for before in combinations:
        found: dict[tuple[int, int], None] = {}
        for after, now in enumerate(combinations):
            if any(one == NULL and not nullable[position] for position, one in zip(attributes, now)):
                continue
            relations = [_relations(one, other) for one, other in zip(before, now)]
            for relation in product(*relations):
                place = dict(zip(attributes, zip(before, now, relation)))
                signature = tuple(_holds(windows.atoms[n], place, ordered) for n in asked)
                for column in sorted(by_signature.get(signature, ())):
                    found[column, after] = None
        moves.append(tuple(found))
    return Regions(tuple(moves))


def _looks(atom: Form) -> bool:
    return any(isinstance(part, Register) for clause in atom for one in clause for part in walk(one))


def _positions(atom: Form) -> set[int]:
    """The attributes that a condition reads, of this event or the one before."""
    parts = [part for clause in atom for one in clause for part in walk(one)]
    return {part.position for part in parts if isinstance(part, Attribute | Register)}


def _nullable(atoms: tuple[Form, ...]) -> dict[int, bool]:
    """For each attribute that a condition reads of its own event, whether it may be null."""
    found: dict[int, bool] = {}
    for part in [part for atom in atoms for clause in atom for one in clause for part in walk(one)]:
        if isinstance(part, Attribute):
            found[part.position] = found.get(part.position, False) or part.nullable
    return found


def _understood(comparison: Comparison, constants: dict[int, set[float]]) -> bool:
    """Whether it is about one value of type float and a constant, or the value before; notes its constant."""
    match comparison:
        case Comparison("=", Function(name, (value,)), Constant(bool())) if name == IS_NULL:
            return _value_of(value) in constants
        case Comparison(_, value, Constant(int() | float() as constant)) if not isinstance(constant, bool):
            position = _value_of(value)
            if position not in constants or float(constant) != constant:
                return False  # floats skip it: two constants could become one
            constants[position].add(float(constant))
            return True
        case Comparison(_, Attribute() as value, Register() as earlier):
            return _value_of(value) == _value_of(earlier) and _value_of(value) in constants
    return False


def _value_of(term: Term) -> int | None:
    """The attribute of type float that a term is; None for any other."""
    match term:
        case Attribute(Side.EVENT, position, "float"):
            return position
        case Register(0, position, "float") if position >= 0:
            return position
    return None


def _relations(before: Place, now: Place) -> tuple[int, ...]:
    """How a value can compare with the one before: as -1, 0 or 1 with 0; () stands for no comparison of nulls."""
    if NULL in (before, now):
        return (2,)
    if before != now:
        return (1 if now > before else -1,)
    return (0,) if now % 2 else (-1, 0, 1)


def _holds(atom: Form, place: dict[int, Any], constants: dict[int, list[float]]) -> bool:
    return any(all(_true(comparison, place, constants) for comparison in clause) for clause in atom)


def _true(comparison: Comparison, place: dict[int, Any], constants: dict[int, list[float]]) -> bool:
    match comparison:
        case Comparison(_, Function(_, (value,)), Constant(bool() as wanted)):
            return (_place(value, place) == NULL) == wanted
        case Comparison(operator, Attribute() as value, Register()):
            relation = place[_known(value)][2]
            return relation != 2 and compare(operator, relation, 0)
        case Comparison(operator, value, Constant(constant)):
            at = _place(value, place)
            return at != NULL and compare(operator, at, 2 * constants[_known(value)].index(float(constant)) + 1)  # type: ignore[arg-type]
    raise AssertionError(comparison)


def _place(term: Term, place: dict[int, Any]) -> Place:
    before, now, _ = place[_known(term)]
    found: Place = before if isinstance(term, Register) else now
    return found


def _known(term: Term) -> int:
    position = _value_of(term)
    assert position is not None
    return position
