"""Where register automata have constants by which they may differ from others, and what they are without these.

A constant is one of up to three with which an arc compares attributes of its event: the only arc out of the start, the
only arc into the only final state, or one of those that follow the first, as long as nothing else leads to a state or
out of it. So the events of a run say which one such an arc has taken. In an automaton that is a line, all its arcs may
have some, also its loop. The length of WITHIN is another constant. So are texts to which the arcs of a line compare
attributes, unless one of them is the key of all its events, or runs wait in a loop for any text.

Here: the places, forms that automata share, texts as forms with constants. Not here: lines (lines), automata that run
as one (families), the constants of texts of one shape (machine_plan).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeAlias, final

from ....algebra.terms import Attribute, Comparison, Constant, Side
from ....automaton.analyses.event_constants import first_key
from ....automaton.automaton import Arc, Automaton, Kind
from ....language.marked_literals import number_in
from .lines import ARCS_MAX, NO_LOOP, first_arcs, line_of, living
from .merging import Key, merging_key
from .operations import EXACT_MAX, as_float

# Where the constants are, as bits; those above FINAL are of the second arc, the third one and so on. A unit of one
# automaton that is of no family is ALONE.
ALONE: Final = 0
START: Final = 1
FINAL: Final = 2
SECOND: Final = 4
LIFETIME: Final = SECOND << ARCS_MAX  # of WITHIN
LOOP: Final = LIFETIME << 1
ROLES: Final = 20  # bits of the places above
TEXTS: Final = ROLES  # bits by which the place of an arc's text is above that of its first number
FURTHER: Final = (2 * ROLES, 3 * ROLES)  # and those of its second and third number
Literal: TypeAlias = "float | str"


def bits(places: int) -> list[int]:
    """The single places, those of START and FINAL first."""
    return [1 << at for at in range(places.bit_length()) if places >> at & 1]


@final
class PlacedConstant:
    """A place with a constant: the number of the arc, and that of the comparison in its only clause; -1 for WITHIN.

    A value satisfies a number if times `sign` it is above it, or if not `strict` equal. `role`: the place of the arc's
    first number; `textual`: it is a text. `loops`: it is that of a loop, with which many values of a run may be
    compared.
    """

    def __init__(self, place: int, arc: int, atom: int, operator: str) -> None:
        self.place = place
        shift = (place.bit_length() - 1) // ROLES * ROLES
        self.role = place >> shift
        self.textual = shift == TEXTS
        self.loops = self.role == LOOP
        self.arc = arc
        self.atom = atom
        self.sign = 1.0 if operator in (">", ">=") else -1.0
        self.strict = operator in (">", "<")

    def of_float(self, automaton: Automaton) -> bool:
        """Whether the attribute is a float."""
        return self.place != LIFETIME and automaton.arcs[self.arc].guard[0][self.atom].left.type == "float"

    def in_automaton(self, automaton: Automaton) -> object:
        """The constant, which may be a marked literal."""
        if self.place == LIFETIME:
            return automaton.within
        constant = automaton.arcs[self.arc].guard[0][self.atom].right
        assert isinstance(constant, Constant)
        return constant.value


@final
class CommonStart:
    """What automata that may run together have in common."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._hash = hash(key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, CommonStart) and self._key == other._key)


@final
class RegisterForm:
    """Automata that are equal but for constants, `blank`: with zero for each. `constants`: their places, in the order
    of their bits; `places`: all those bits."""

    def __init__(self, automaton: Automaton) -> None:
        """The form of an automaton. O(arcs x places)."""
        arcs = living(automaton)
        line = line_of(automaton)
        lane = first_arcs(arcs) if line is None else line.arcs
        last = [number for number, arc in arcs if arc.target == automaton.final]
        wanted = [(START, lane[0] if lane else -1), (FINAL, last[0] if len(last) == 1 and last != lane[:1] else -1)]
        wanted += [
            (SECOND << at, number)
            for at, number in enumerate(lane[1:])
            if automaton.arcs[number].target != automaton.final
        ]
        loop = [] if line is None or line.loop == NO_LOOP else [(LOOP, line.loop)]
        wanted = [(place, number) for place, number in wanted if number >= 0]
        found: list[PlacedConstant | None] = []
        if _has_lifetime(automaton):
            found.append(PlacedConstant(LIFETIME, -1, -1, "<"))
        for shift in (0, *FURTHER):
            found += [_placed(automaton, place, shift, number) for place, number in (*wanted, *loop)]
        turns = [_placed(automaton, place, TEXTS, number) for place, number in loop]
        if line is not None and not first_key(automaton) and None not in turns:
            found += [_placed(automaton, place, TEXTS, number) for place, number in wanted] + turns
        self.constants = sorted([each for each in found if each is not None], key=lambda each: each.place)
        self.places = sum([each.place for each in self.constants])
        self.lifetime = next((at for at, each in enumerate(self.constants) if each.place == LIFETIME), -1)
        blank = automaton
        for each in self.constants:
            blank = _without(blank, each)
        self.blank = blank
        self._hash = hash(blank)
        self._beginning: CommonStart | None = None
        # Of the arcs that a beginning is made of only the first may have a constant.
        first = lane[0] if lane else -1
        self._begins = not any(arc.target == 0 for arc in blank.arcs) and not any(
            each.arc >= 0 and each.arc != first and blank.arcs[each.arc].source == 0 for each in self.constants
        )

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, RegisterForm) and self.blank == other.blank)

    def at(self, places: int) -> list[int]:
        """The numbers of the constants at places. O(constants)."""
        return [number for number, each in enumerate(self.constants) if each.place & places]

    def read(self, automaton: Automaton) -> tuple[Literal, ...]:
        """The constants of an automaton of this form."""
        return tuple([as_constant(each.in_automaton(automaton)) for each in self.constants])

    def beginning(self, text: RegisterText) -> CommonStart:
        """Of a text of this form. O(1), or O(arcs) if it reads a constant."""
        if self._begins and self._beginning is not None:
            return self._beginning
        plain = text.automaton
        for each in self.constants:
            if each.role in (START, LIFETIME):
                plain = _without(plain, each)
        starts = tuple([replace(arc, name="") for arc in plain.arcs if arc.source == 0 and len(arc.guard) > 0])
        self._beginning = CommonStart((*merging_key(plain), starts))
        return self._beginning


@final
class RegisterText:
    """The automaton of a text: its `form`, and its constants in the order of the form's. The automaton itself is made
    when somebody asks for it, from the literals of the text; it is kept then, as changes of its arcs name those."""

    def __init__(
        self,
        form: RegisterForm,
        constants: tuple[Literal, ...],
        made: Automaton | None,
        make: Callable[[Any], Automaton] | None = None,
        literals: Any = None,
    ) -> None:
        self.form = form
        self.constants = constants
        self._made = made
        self._make = make
        self._literals = literals

    @property
    def automaton(self) -> Automaton:
        """O(1), and once O(size of the parts with literals)."""
        if self._made is None:
            assert self._make is not None
            self._made = self._make(self._literals)
        return self._made

    def beginning(self) -> CommonStart:
        return self.form.beginning(self)

    @property
    def within(self) -> int | None:
        """The length of its WITHIN."""
        at = self.form.lifetime
        return self.form.blank.within if at < 0 else int(as_float(self.constants[at]))


def text_of(automaton: Automaton) -> RegisterText:
    """An automaton without others of its shape. O(arcs x places)."""
    form = RegisterForm(automaton)
    return RegisterText(form, form.read(automaton), automaton)


def with_constant(arc: Arc, at: int, constant: float) -> Arc:
    """The arc with another number at a place of its only clause."""
    atoms = list(arc.guard[0])
    atoms[at] = Comparison(atoms[at].operator, atoms[at].left, Constant(constant, "float"))
    return arc.with_terms((tuple(atoms),), arc.update, arc.output)


def with_any_text(arc: Arc, at: int) -> Arc:
    """The arc for any text instead of the one there; null is none."""
    atoms = list(arc.guard[0])
    atoms[at] = Comparison(">=", atoms[at].left, Constant("", "string"))
    return arc.with_terms((tuple(atoms),), arc.update, arc.output)


def with_arc(automaton: Automaton, number: int, arc: Arc) -> Automaton:
    return replace(automaton, arcs=(*automaton.arcs[:number], arc, *automaton.arcs[number + 1 :]))


def _without(automaton: Automaton, constant: PlacedConstant) -> Automaton:
    """The automaton with another constant there, which is the same for all."""
    if constant.place == LIFETIME:
        return replace(automaton, within=1)
    arc, at = automaton.arcs[constant.arc], constant.atom
    changed = with_any_text(arc, at) if constant.textual else with_constant(arc, at, 0.0)
    return with_arc(automaton, constant.arc, changed)


def _placed(automaton: Automaton, role: int, shift: int, number: int) -> PlacedConstant | None:
    """The first, second or third number, or the first text, of an arc that runs read once. Numbers of floats come
    before those of integers."""
    arc = automaton.arcs[number]
    if arc.kind is Kind.EPSILON or len(arc.guard) != 1:
        return None
    asked = _has_text if shift == TEXTS else _has_constant
    found = [at for at, atom in enumerate(arc.guard[0]) if asked(atom)]
    found.sort(key=lambda at: arc.guard[0][at].left.type == "int")
    which = FURTHER.index(shift) + 1 if shift in FURTHER else 0
    if which >= len(found):
        return None
    return PlacedConstant(role << shift, number, found[which], arc.guard[0][found[which]].operator)


def _has_constant(atom: Comparison) -> bool:
    match atom:
        case Comparison("<" | "<=" | ">" | ">=", Attribute(Side.EVENT, _, "float" | "int" as kind), Constant(value, _)):
            return is_exact(value, kind == "int")
    return False


def _has_text(atom: Comparison) -> bool:
    match atom:
        case Comparison("=", Attribute(Side.EVENT, _, "string"), Constant(str(), _)):
            return True
    return False


def _has_lifetime(automaton: Automaton) -> bool:
    within: object = automaton.within
    return is_exact(within, True) and (number_in(within) is not None or as_float(within) > 0)


def as_constant(value: object) -> Literal:
    """A constant without what it may be marked with."""
    return str(value) if isinstance(value, str) else as_float(value)


def is_exact(value: object, whole: bool) -> bool:
    """Whether it is a number that a float has, too. A marked literal is taken for one: who replaces it asks again.

    `whole`: it is compared with integers, which must not be rounded to it either.
    """
    if number_in(value) is not None or (isinstance(value, float) and not whole):
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < EXACT_MAX
