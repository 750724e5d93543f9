"""What automata have in common that differ in constants only: a template, and the constants as numbers.

A template has, step by step, how a run waits and what the event is asked: comparisons with an unknown constant, and
what is left of a condition without them. Its key are the equalities with constants that all steps share. Comparisons
are ordered by what they compare, and several of one kind are one, so that differently written conditions meet.

Here: the template of a line of single operands over one stream in order of arrival. Not here: how its runs are kept
(mechanism), a constant's number (coordinates).
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from ...algebra.normal_form import Clause, Form
from ...algebra.terms import Arithmetic, Attribute, Comparison, Constant, Register, Side, Term, walk
from ...events.schema import Value
from ..automaton import Arc, Automaton, EventRow, Kind, Report, Stay, TimeModel
from .coordinates import exact, turned, turned_offset
from .keys import key_parts, places, within_key
from .line import line_of

CLAUSES_MAX: Final = 8  # alternatives of a step
TURNING: Final = ("<", "<=", ">", ">=")


class Source(enum.Enum):
    """What is compared with an unknown constant: an attribute, the time since the first event, or an attribute with the
    constant times a register, or added to one."""

    ATTRIBUTE = "attribute"
    SPAN = "span"
    FACTOR = "factor"
    OFFSET = "offset"


@dataclass(frozen=True, slots=True)
class Asked:
    """A comparison with an unknown constant. `sign`: -1 where the constant is an upper bound; `register`: a step, and
    an attribute of its event."""

    source: Source
    attribute: int
    sign: int
    strict: bool = False
    register: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class TemplateClause:
    """A conjunction; `rest` has no unknown constants."""

    asked: tuple[Asked, ...]
    rest: Clause

    @property
    def alone(self) -> bool:
        """Whether it reads the event only."""
        return not any(map(reads_registers, self.rest)) and all(each.register is None for each in self.asked)


@dataclass(frozen=True, slots=True)
class TemplateStep:
    """`stay`: how a run waits for it; of the first step nothing is asked of it."""

    stay: Stay
    clauses: tuple[TemplateClause, ...]


@dataclass(frozen=True, slots=True)
class TemplateKill:
    """What no event between two steps may be: `place` steps stand before it."""

    place: int
    clauses: tuple[TemplateClause, ...]


@dataclass(frozen=True, slots=True)
class GroupTemplate:
    """`constants`: the attributes that have the key's values; `parts`: those by which runs are kept apart beyond them;
    `partition`: those that part the stream. `late`: time completes a match. `window`: how far the last event may be
    from the first one is an unknown constant, too; where time completes it, all have the same, `within`. `slots`: of
    each the step whose event it has, -1 for none."""

    stream: str
    constants: tuple[int, ...]
    parts: tuple[int, ...]
    partition: tuple[int, ...]
    steps: tuple[TemplateStep, ...]
    kills: tuple[TemplateKill, ...]
    late: bool
    window: bool
    within: int | None
    slots: tuple[int, ...]
    output: tuple[Term, ...]
    names: tuple[str, ...]

    def clauses(self) -> Iterable[TemplateClause]:
        """All of them, in the order of their constants."""
        for step in self.steps:
            yield from step.clauses
        for kill in self.kills:
            yield from kill.clauses


class Grouping(NamedTuple):
    """An automaton as its template, the values of its key, and its constants in the order of the template's clauses, at
    the end the window's."""

    template: GroupTemplate
    key: tuple[Value, ...]
    values: tuple[float, ...]


Valued: TypeAlias = tuple[TemplateClause, tuple[float, ...]]


class _NoTemplate(Exception):
    """Raised with the reason."""


def grouping_of(automaton: Automaton) -> Grouping | str:
    """The template of an automaton and its constants, or why it has none. O(its size squared)."""
    try:
        return _grouping(automaton)
    except _NoTemplate as reason:
        return str(reason)


def _grouping(automaton: Automaton) -> Grouping:
    if automaton.time is not TimeModel.ARRIVAL or automaton.report is not Report.EACH or not automaton.distinct:
        raise _NoTemplate("it does not report each match of single events")
    if len(automaton.sources) != 1:
        raise _NoTemplate("it reads several streams")
    line = line_of(automaton)
    if not line or any(link.take is not None for link in line):
        raise _NoTemplate("it is not a line of single events")
    parts = key_parts(automaton)
    inner = within_key(automaton, parts)
    begins = [link.begin for link in line_of(inner)]
    kills = [arc for arc in inner.arcs if arc.kind is Kind.KILL]
    together = _uniform(inner, parts, [*begins, *kills])
    asking = [arc.guard for arc in (*begins, *kills)]
    known = _shared_constants(asking)
    slots = _slots(begins)
    values: list[float] = []

    def clauses(arc: Arc) -> tuple[TemplateClause, ...]:
        found = sorted((_clause(one, known, slots) for one in _joined(arc)), key=_order)
        values.extend(value for _, own in found for value in own)
        return tuple(clause for clause, _ in found)

    steps = tuple(TemplateStep(inner.states[arc.source].stay, clauses(arc)) for arc in begins)
    places_of = {arc.source: number for number, arc in enumerate(begins)}
    forbidden = tuple(TemplateKill(places_of.get(arc.source, len(begins)), clauses(arc)) for arc in kills)
    late = any(arc.kind is Kind.TIMEOUT for arc in automaton.arcs)
    if automaton.within is not None and not late:
        window = exact(automaton.within)
        if window is None:
            raise _NoTemplate("its window is too large to be compared exactly")
        values.append(-window)
    (source,) = automaton.sources
    template = GroupTemplate(
        source.stream,
        tuple(sorted(known)),
        tuple(position for position in together if position not in known),
        source.key,
        steps,
        forbidden,
        late,
        automaton.within is not None and not late,
        automaton.within if late else None,
        slots,
        automaton.output,
        automaton.schema.names,
    )
    return Grouping(template, tuple(known[position].value for position in sorted(known)), tuple(values))


def _uniform(automaton: Automaton, parts: tuple[object, ...], asking: list[Arc]) -> tuple[int, ...]:
    """Where every event has the parts of the key."""
    found = {tuple(places(automaton, parts, arc).values()) for arc in asking}  # type: ignore[arg-type]
    if len(found) != 1:
        raise _NoTemplate("its events have the key in different attributes")
    return found.pop()


def _shared_constants(forms: list[Form]) -> dict[int, Constant]:
    """What every clause of every form wants attributes to equal."""
    shared: dict[int, Constant] | None = None
    for form in forms:
        for clause in form:
            own = {atom.left.position: atom.right for atom in clause if _is_equality(atom)}  # type: ignore[union-attr]
            if shared is None:
                shared = own  # type: ignore[assignment]
            else:
                shared = {position: value for position, value in shared.items() if own.get(position) == value}
    return shared or {}


def _is_equality(atom: Comparison) -> bool:
    left = atom.left
    event = isinstance(left, Attribute) and left.side is Side.EVENT
    return event and atom.operator == "=" and isinstance(atom.right, Constant)


def _slots(begins: list[Arc]) -> tuple[int, ...]:
    found = [-1] * max(len(arc.update) for arc in begins)
    for step, arc in enumerate(begins):
        for slot, source in enumerate(arc.update):
            if isinstance(source, EventRow):
                found[slot] = step
    return tuple(found)


def _joined(arc: Arc) -> list[Clause]:
    """What an arc asks of the event and the registers, as alternatives."""
    found = [(*guard, *rest) for guard in arc.guard for rest in arc.rest]
    if not found:
        raise _NoTemplate("a condition never holds")
    if len(found) > CLAUSES_MAX:
        raise _NoTemplate(f"a condition has more than {CLAUSES_MAX} alternatives")
    return found


def _order(valued: Valued) -> tuple[str, tuple[float, ...]]:
    return repr(valued[0]), valued[1]


def _clause(clause: Clause, known: dict[int, Constant], slots: tuple[int, ...]) -> Valued:
    """A conjunction without what the key says; of comparisons of one kind only the closest counts, but for factors:
    which is closer there depends on the register."""
    closest: dict[Asked, float] = {}
    factors: list[tuple[Asked, float]] = []
    rest: list[Comparison] = []
    for atom in clause:
        if _is_equality(atom) and known.get(atom.left.position) == atom.right:  # type: ignore[union-attr]
            continue
        found = _asked(atom, slots)
        if not found:
            rest.append(atom)
        for asked, value in found:
            if asked.source is Source.FACTOR:
                factors.append((asked, value))
            else:
                closest[asked] = max(value, closest.get(asked, value))
    order = sorted([*closest.items(), *factors], key=repr)
    return TemplateClause(tuple(asked for asked, _ in order), tuple(rest)), tuple(value for _, value in order)


def _asked(atom: Comparison, slots: tuple[int, ...]) -> list[tuple[Asked, float]]:
    """A comparison as bounds on unknown constants; [] where it has none."""
    operator = atom.operator
    sign = -1 if operator in ("<", "<=") else 1
    strict = operator in ("<", ">")
    match atom:
        case Comparison(_, Attribute(Side.EVENT, position, "int" | "float"), Constant(int() | float() as value)):
            if operator == "!=":
                return []
            if operator == "=":
                return [
                    (Asked(Source.ATTRIBUTE, position, 1), _number(turned(">=", value))),
                    (Asked(Source.ATTRIBUTE, position, -1), _number(turned("<=", value))),
                ]
            return [(Asked(Source.ATTRIBUTE, position, sign), _number(turned(operator, value)))]
        case Comparison(
            _,
            Attribute(Side.EVENT, position, "float"),
            Arithmetic("*", Constant(int() | float() as value), Register(slot, at, "float")),
        ) if operator in TURNING and at >= 0 and slots[slot] >= 0:
            return [(Asked(Source.FACTOR, position, sign, strict, (slots[slot], at)), _number(exact(value)))]
        case Comparison(
            _,
            Attribute(Side.EVENT, position, "float"),
            Arithmetic("+", Constant(int() | float() as value), Register(slot, at, "float")),
        ) if operator in TURNING and at >= 0 and slots[slot] >= 0:
            asked = Asked(Source.OFFSET, position, sign, strict, (slots[slot], at))
            return [(asked, _number(turned_offset(operator, value)))]
        case Comparison(_, Attribute(Side.EVENT, _), Constant(str())):
            raise _NoTemplate("it compares a text with a constant that is not its key")
        case _:
            return []


def _number(value: float | None) -> float:
    if value is None:
        raise _NoTemplate("a constant is too large to be compared exactly")
    return value


def reads_registers(term: Term) -> bool:
    """Whether a term reads anything but the event."""
    return any(isinstance(part, Register) for part in walk(term))
