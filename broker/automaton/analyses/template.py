"""What automata have in common that differ in constants only: a template, and the constants as numbers.

A template has, step by step, how a run waits and what the event is asked: comparisons with an unknown constant, and
what is left of a condition without them. Its key are the equalities with constants that all steps share; without a key,
the text with which an attribute begins at all steps may be part of the template. Comparisons are ordered by what they
compare, and several of one kind are one, so that differently written conditions meet.

Here: what a template is, and conditions as parts of one. Not here: the template of an automaton (grouping), how its
runs are kept (mechanism), a constant's number (coordinates).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, TypeAlias

from ...algebra.normal_form import Clause, Form
from ...algebra.terms import (
    Arithmetic,
    Attribute,
    Comparison,
    Constant,
    Duration,
    Instant,
    Register,
    Side,
    Term,
    leaves,
)
from ..automaton import Arc, Automaton, Kind, SlotSource, Stay, TimeModel
from .coordinates import exact, turned, turned_offset
from .event_constants import CLAUSES_MAX, OwnText, beginning, equality
from .keys import KeyPart, key_parts, places, within_key
from .line import LineOperand, line_of
from .measures import Measure

TURNING: Final = ("<", "<=", ">", ">=")

NO_CONSTANTS: Final = "it has no constants that could differ"


class Compared(enum.Enum):
    """What is compared with an unknown constant: an attribute, how long the composition takes, the time since the first
    event, an attribute with the constant times a register, or added to one, or a value computed of several, of the
    event alone or of the run, too."""

    ATTRIBUTE = "attribute"
    DURATION = "duration"
    SPAN = "span"
    FACTOR = "factor"
    OFFSET = "offset"
    COMPUTED = "computed"


@dataclass(frozen=True, slots=True)
class Asked:
    """A comparison with an unknown constant. `sign`: -1 where the constant is an upper bound; `term`: the register of a
    factor or an offset, or what is computed."""

    source: Compared
    attribute: int
    sign: int
    strict: bool = False
    term: Term | None = None

    @property
    def of_event(self) -> bool:
        """Whether the event's attributes say it."""
        computed = self.source is Compared.COMPUTED and self.term is not None and not reads_registers(self.term)
        return self.source is Compared.ATTRIBUTE or computed


@dataclass(frozen=True, slots=True)
class TemplateClause:
    """A conjunction; `rest` has no unknown constants. `among`: an attribute equals one of these constants, too, which
    are the template's; () for none."""

    asked: tuple[Asked, ...]
    rest: Clause
    among: Form = ()

    @property
    def alone(self) -> bool:
        """Whether it reads the event only."""
        of_event = all(each.term is None or each.of_event for each in self.asked)
        return of_event and not any(map(reads_registers, self.rest))

    def remaining(self) -> Form:
        """All that has no unknown constants, as alternatives."""
        return tuple((*self.rest, *one) for one in self.among) or (self.rest,)


@dataclass(frozen=True, slots=True)
class TemplateStep:
    """`stay`: how a run waits for it; of the first step nothing is asked of it. `again`: where a run takes any number
    of events, what each of them is asked. Over epochs an event that it takes and that satisfies `clauses` ends a match;
    otherwise `clauses` are what the first of these events is asked. `sees`: over epochs, what an event must satisfy
    beyond the key, or a run that waits lets it pass."""

    stay: Stay
    clauses: tuple[TemplateClause, ...]
    again: tuple[TemplateClause, ...] | None = None
    sees: Clause = ()


@dataclass(frozen=True, slots=True)
class TemplateKill:
    """What no event between two steps may be: `place` steps stand before it."""

    place: int
    clauses: tuple[TemplateClause, ...]


@dataclass(frozen=True, slots=True)
class CommonLine:
    """A line of operands whose runs all members have in common: constants that differ decide only whose matches they
    are, which is known where a run begins and where it ends.

    `automaton`: the line without these constants. Behind its first `outputs` results are the `compared` values: for
    each constant that is asked of a whole match the index of the value, and that of a factor's or an offset's register,
    -1 for none. `asked`: the operand that a run has reached when it has met the constant. `measures`: the measure of a
    run that it bounds, None where it only asks the last event; None for all where runs are not rows of numbers.
    """

    automaton: Automaton
    outputs: int
    compared: tuple[tuple[int, int], ...]
    asked: tuple[int, ...]
    measures: tuple[Measure | None, ...] | None


@dataclass(frozen=True, slots=True)
class WideRow:
    """Where events of several streams, as rows of one stream, have what: first the parts of the key, then a mark for
    each stream, then the attributes of each, in their order. `keys`: of each stream where its own rows have the parts;
    `widths`: the numbers of its values."""

    streams: tuple[str, ...]
    keys: tuple[tuple[int, ...], ...]
    widths: tuple[int, ...]

    def mark(self, stream: int) -> int:
        return len(self.keys[0]) + stream

    def begin(self, stream: int) -> int:
        """Where its attributes begin."""
        return len(self.keys[0]) + len(self.streams) + sum(self.widths[:stream])

    def column(self, stream: int, position: int) -> int:
        """Where an attribute of a stream is."""
        own = self.keys[stream]
        return own.index(position) if position in own else self.begin(stream) + position

    def position(self, stream: int, column: int) -> int:
        """Where a stream's own rows have that; -1 if they do not."""
        if column < len(self.keys[0]):
            return self.keys[stream][column]
        at = column - self.begin(stream)
        return at if 0 <= at < self.widths[stream] else -1


@dataclass(frozen=True, slots=True)
class GroupTemplate:
    """`constants`: the attributes that have the key's values, by position; `found`: without these, the texts of the
    steps by which events are found, which attributes equal or begin with; `texts`: of each step, and then of each
    kill, the attribute that equals a text of its own, or None, and the key has these; `parts`: the attributes by which
    runs are kept apart beyond the key; `partition`: those that part the stream. `late`: time completes a match.
    `window`: how far the last event may be from the first one is an unknown constant, too; where time completes it, all
    have the same, `within`.
    `slots`: of each the step whose event it has, -1 for none; a selection reads registers by slot. `updates`: what
    each step leaves in the registers, over epochs for the output to read, and in a selection, where that of a further
    event comes last. `common`: the runs, where an operand repeats and members share them; the two steps are then what
    a first event and a whole match are asked. `counted`: all matches that an event completes are one result.
    `orders`: the sequences of steps, by index, of which a match takes one; () if that is all of them in their order.
    `operands`: of each step then the operand. `wakes`: only first events have the texts by which they are found; runs
    that wait look at every event. `wide`: of several streams the rows that all else is about."""

    time: TimeModel
    streams: tuple[str, ...]
    constants: tuple[Attribute, ...]
    parts: tuple[int, ...]
    partition: tuple[int, ...]
    steps: tuple[TemplateStep, ...]
    output: tuple[Term, ...]
    names: tuple[str, ...]
    kills: tuple[TemplateKill, ...] = ()
    late: bool = False
    window: bool = False
    within: int | None = None
    slots: tuple[int, ...] = ()
    updates: tuple[tuple[SlotSource, ...], ...] = ()
    common: CommonLine | None = None
    found: Form = ()
    counted: bool = False
    texts: tuple[Attribute | None, ...] = ()
    orders: tuple[tuple[int, ...], ...] = ()
    operands: tuple[int, ...] = ()
    wakes: bool = False
    wide: WideRow | None = None

    @property
    def beginning(self) -> tuple[Attribute, str] | None:
        """The attribute of which all events have this beginning, if that is how they are found."""
        return beginning(self.found[0][0]) if len(self.found) == 1 and len(self.found[0]) == 1 else None

    def clauses(self) -> Iterable[TemplateClause]:
        """All of them, in the order of their constants."""
        for step in self.steps:
            yield from step.clauses
            yield from step.again or ()
        for kill in self.kills:
            yield from kill.clauses


class Grouping(NamedTuple):
    """An automaton as its template, the constants of its key, and its constants in the order of the template's clauses,
    at the end the window's."""

    template: GroupTemplate
    key: tuple[Constant, ...]
    values: tuple[float, ...]


Valued: TypeAlias = tuple[TemplateClause, tuple[float, ...]]


class NoTemplate(Exception):
    """Raised with the reason."""


def uniform_key(automaton: Automaton, parts: tuple[KeyPart, ...], asking: list[Arc]) -> tuple[int, ...]:
    """Where every event has the parts of the key."""
    found = {tuple(places(automaton, parts, arc).values()) for arc in asking}
    if len(found) != 1:
        raise NoTemplate("its events have the key in different attributes")
    return found.pop()


class KeyedLine(NamedTuple):
    """A line of operands of one stream. `inner`: what it asks beyond the key; `taking`: the arcs that take events;
    `kills`: those that forbid some; `together`: where the key is."""

    automaton: Automaton
    inner: Automaton
    line: tuple[LineOperand, ...]
    taking: list[Arc]
    kills: list[Arc]
    together: tuple[int, ...]

    def template(self, known: dict[Attribute, Constant], steps: tuple[TemplateStep, ...]) -> GroupTemplate:
        """Its template. `known`: the constants of the key."""
        (source,) = self.automaton.sources
        return GroupTemplate(
            self.automaton.time, (source.stream,), tuple(known), beyond(known, self.together), source.key, steps,
            self.automaton.output, self.automaton.schema.names,
        )  # fmt: skip


def keyed_line(automaton: Automaton) -> KeyedLine:
    """Raises NoTemplate. O(its size squared)."""
    parts = key_parts(automaton)
    inner = within_key(automaton, parts)
    line = line_of(inner)
    taking = [arc for link in line for arc in (link.begin, link.take) if arc is not None]
    kills = [arc for arc in inner.arcs if arc.kind is Kind.KILL]
    return KeyedLine(automaton, inner, line, taking, kills, uniform_key(inner, parts, [*taking, *kills]))


def key_of(known: dict[Attribute, Constant], own: Iterable[OwnText | None]) -> tuple[Constant, ...]:
    """The constants of a key: texts of the steps, or else those that all have in common."""
    return tuple([each[1] for each in own if each is not None]) or tuple(known.values())


def beyond(known: dict[Attribute, Constant], together: tuple[int, ...]) -> tuple[int, ...]:
    """The parts of a key that have no constants."""
    return tuple(position for position in together if position not in {one.position for one in known})


class Alternative(NamedTuple):
    """A conjunction, and what one attribute equals one of beyond it, as in `sector IN ('a', 'b')`; () for nothing."""

    clause: Clause
    among: Form = ()


def alternatives(guard: Form, rest: Form, steps: int) -> list[Alternative]:
    """Both conditions as alternatives. Those that differ in what one attribute equals are one: where there are too
    many, and of texts, which are the template's anyway, where the pattern has several steps."""
    found = [(*one, *other) for one in guard for other in rest]
    if not found:
        raise NoTemplate("a condition never holds")
    few = len(found) <= CLAUSES_MAX
    if few and (steps == 1 or len(found) == 1):
        return [Alternative(clause) for clause in found]
    for attribute in dict.fromkeys(own[0] for own in map(equality, found[0]) if own is not None):
        if few and attribute.type != "string":
            continue
        gathered: dict[Clause, list[Clause]] = {}
        for clause in found:
            equal = [atom for atom in clause if (own := equality(atom)) is not None and own[0] == attribute]
            if len(equal) == 1:
                gathered.setdefault(tuple(atom for atom in clause if atom is not equal[0]), []).append((equal[0],))
        whole = sum(map(len, gathered.values())) == len(found)
        if whole and len(gathered) <= (len(found) - 1 if few else CLAUSES_MAX):
            return [Alternative(clause, tuple(among)) for clause, among in gathered.items()]
    if not few:
        raise NoTemplate(f"a condition has more than {CLAUSES_MAX} alternatives")
    return [Alternative(clause) for clause in found]


class TemplateConditions:
    """Conditions of a template, each made once, in order, and their constants, `values`. `begun`: the beginning by
    which events are found. `texts`: the template keeps texts that events are compared with."""

    def __init__(self, begun: Clause, texts: bool) -> None:
        self.values: list[float] = []
        self._begun = begun
        self._texts = texts

    def of(
        self, asked: list[Alternative], known: dict[Attribute, Constant], computes: Callable[[Term], bool]
    ) -> tuple[TemplateClause, ...]:
        """What an event is asked beyond the key's constants, `known`."""
        left = [(tuple(atom for atom in one if atom not in self._begun), among) for one, among in asked]
        found = sorted((clause_of(one, known, computes, self._texts, among) for one, among in left), key=by_form)
        self.values.extend(value for _, valued in found for value in valued)
        return tuple(clause for clause, _ in found)


def by_form(valued: Valued) -> tuple[str, tuple[float, ...]]:
    return repr(valued[0]), valued[1]


def clause_of(
    clause: Clause,
    known: dict[Attribute, Constant],
    computes: Callable[[Term], bool] | None = None,
    texts: bool = False,
    among: Form = (),
) -> Valued:
    """A conjunction without what the key says; of comparisons of one kind only the closest counts, but for factors:
    which is closer there depends on the register. `computes`: which values may be compared with an unknown constant.
    `texts`: the template keeps texts that events are compared with, because it need not look at all events."""
    closest: dict[Asked, float] = {}
    factors: list[tuple[Asked, float]] = []
    rest: list[Comparison] = []
    if not texts and any(_compares_text(atom) for one in among for atom in one):
        raise NoTemplate("it compares a text with a constant that is not its key")
    for atom in clause:
        equal = equality(atom)
        if equal is not None and known.get(equal[0]) == equal[1]:
            continue
        if not texts and _compares_text(atom):
            raise NoTemplate("it compares a text with a constant that is not its key")
        found = _asked(atom, computes)
        if not found:
            rest.append(atom)
        for each, value in found:
            if each.source is Compared.FACTOR:
                factors.append((each, value))
            else:
                closest[each] = max(value, closest[each]) if each in closest else value
    order = sorted([*closest.items(), *factors], key=_by_asked)
    asked = tuple(one for one, _ in order)
    return TemplateClause(asked, tuple(rest), among), tuple(value for _, value in order)


def _by_asked(entry: tuple[Asked, float]) -> tuple[str, float]:
    return repr(entry[0]), entry[1]


def _asked(atom: Comparison, computes: Callable[[Term], bool] | None) -> list[tuple[Asked, float]]:
    """A comparison as bounds on unknown constants; [] where it has none."""
    operator = atom.operator
    sign = -1 if operator in ("<", "<=") else 1
    strict = operator in ("<", ">")
    match atom:
        case Comparison(_, Attribute(Side.EVENT, at, "int" | "float" as kind), Constant(int() | float() as value)):
            return _bounds(Asked(Compared.ATTRIBUTE, at, 1), operator, value, kind == "int")
        case Comparison(
            _,
            Attribute(Side.EVENT, position, "int" | "float"),
            Arithmetic("*", Constant(int() | float() as value), Register(type="int" | "float") as register),
        ) if operator in TURNING and (isinstance(value, float) or register.type == "float"):
            return [(Asked(Compared.FACTOR, position, sign, strict, register), _number(exact(value)))]
        case Comparison(
            _,
            Attribute(Side.EVENT, position, "float"),
            Arithmetic("+", Constant(int() | float() as value), Register(type="float") as register),
        ) if operator in TURNING:
            asked = Asked(Compared.OFFSET, position, sign, strict, register)
            return [(asked, _number(turned_offset(operator, value)))]
        case Comparison(_, Duration(True), Constant(int() | float() as value)) if operator in TURNING:
            return _bounds(Asked(Compared.DURATION, -1, 1), operator, value, True)
        case Comparison(_, left, Constant(int() | float() as value)) if computes is not None and computes(left):
            if not isinstance(value, bool) and left.type in ("int", "float"):
                return _bounds(Asked(Compared.COMPUTED, -1, 1, term=left), operator, value, left.type == "int")
        case _:
            pass
    return []


def _bounds(asked: Asked, operator: str, constant: float, whole: bool) -> list[tuple[Asked, float]]:
    """The bounds on a value that is compared with a constant. `whole`: the values are integers."""
    turns = {"=": (">=", "<="), "!=": ()}.get(operator, (operator,))
    signs = [-1 if turn in ("<", "<=") else 1 for turn in turns]
    return [(replace(asked, sign=s), _number(turned(turn, constant, whole))) for s, turn in zip(signs, turns)]


def _compares_text(atom: Comparison) -> bool:
    match atom:
        case Comparison(_, Attribute(Side.EVENT, _), Constant(str())):
            return True
        case _:
            return False


def _number(value: float | None) -> float:
    if value is None:
        raise NoTemplate("a constant is too large to be compared exactly")
    return value


def reads_registers(term: Term) -> bool:
    """Whether a term reads an earlier event."""
    return any(isinstance(part, Register) for part in leaves(term))


def reads_durations(term: Term) -> bool:
    """Whether a term reads how long the event or the composition takes."""
    return any(isinstance(part, Duration) for part in leaves(term))


def of_rows(term: Term) -> bool:
    """Whether a term computes with attributes of events, and nothing else."""
    read = [part for part in leaves(term) if isinstance(part, Attribute | Register | Duration | Instant)]
    return all(isinstance(part, Attribute) or (isinstance(part, Register) and part.position >= 0) for part in read)


def any_value(term: Term) -> bool:
    """Any term will do."""
    return True
