"""Facts: by state, atoms over registers and constants that hold for every run in it.

They are the greatest fixed point of F(start) = {} and F(t) = meet over all arcs a from s to t of the image of what
holds when a is taken: F(s), the atoms common to all clauses of a's guard and rest, its joins, and, where s stays by
FAILING, those of theta and of the loop that has to take the event, too. The image renames: what the event's attribute
was stands in the row taken last and in the slots that keep the row or the value, a register in the slots that carry it.

Two copies of a value are equal only if it is not null. Atoms only weaken where ways meet, loops included, so it ends.
Here: facts. Not here: what follows from atoms (known), what is done with them (a file each).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise, product
from typing import Final, final

from ...algebra.normal_form import Form
from ...algebra.partitioned_stream import PartitionedStream
from ...algebra.terms import Arithmetic, Attribute, Comparison, Constant, Function, Register, Side, Term, nullable, walk
from ..automaton import TAKING, Arc, Automaton, BoundRow, Carry, Computed, EventRow, Kind, Stay, TimeModel
from .known import Atoms, KnownAtoms, compared

FACT_ROUNDS_MAX: Final = 50  # after as many rounds without an end nothing is known
IMAGES_MAX: Final = 8  # of one atom
LAST: Final = -1  # the slot of the row taken last
NO_WIDTHS: Final[Mapping[str, int]] = {}


@final
class Facts:
    """The facts of an automaton over EPOCHS or ARRIVAL. O(rounds x arcs x atoms of an arc). `widths`: of the timed
    streams that are not among its sources, the numbers of their attributes."""

    def __init__(self, automaton: Automaton, widths: Mapping[str, int] = NO_WIDTHS) -> None:
        self.automaton = automaton
        self.widths = widths
        self._common = [common(state.theta) for state in automaton.states]
        self._by_state: list[Atoms] | None = None
        self._known: dict[int, KnownAtoms] = {}

    @property
    def by_state(self) -> list[Atoms]:
        """By state what holds there, found when a rule asks first."""
        if self._by_state is None:
            self._by_state = self._fixed_point()
        return self._by_state

    def stream_of(self, arc: Arc) -> str:
        """The stream of the events that an arc takes."""
        return arc.stream or self.automaton.states[arc.source].stream or self.automaton.sources[0].stream

    def time_of(self, stream: str) -> int | None:
        """Where rows of a stream have the time of their event; None if nobody reads it."""
        for source in self.automaton.sources:
            if source.stream == stream:
                return len(source.schema) - 1 if source.timed else None
        return self.widths.get(stream)

    def at(self, state: int) -> KnownAtoms:
        """What holds for a run in a state."""
        found = self._known.get(state)
        if found is None:
            found = self._known[state] = KnownAtoms(self.by_state[state])
        return found

    def theta(self, state: int) -> Sequence[Comparison]:
        """The atoms of a state's theta, if it decides what affects a run there."""
        affects = state > 0 and self.automaton.states[state].stay is Stay.FAILING
        return self._common[state] if affects else ()

    def before(self, arc: Arc) -> list[Comparison]:
        """What holds where a run tries an arc that can be taken: its state's facts, theta, and the loop's guard."""
        found = list(self.by_state[arc.source])
        found += self._tried(arc)
        return found

    def tested(self, arc: Arc) -> list[Comparison]:
        """What holds where the rest of an arc is tested: its guard and its joins, too."""
        return [*self.before(arc), *self._indexed(arc)]

    def _tried(self, arc: Arc) -> Iterator[Comparison]:
        if arc.kind in TAKING:
            yield from self.theta(arc.source)
            if arc.kind is Kind.FORWARD and self.automaton.states[arc.source].stay is Stay.FAILING:
                loop = self.automaton.loop(arc.source)
                yield from () if loop is None else common(loop.guard)

    def _indexed(self, arc: Arc) -> Iterator[Comparison]:
        yield from common(arc.guard)
        for join in arc.joins:
            atom = compared("=", attribute_of(self.automaton.source_of(arc), join.position), join.register)
            if atom is not None:
                yield atom

    def taken(self, arc: Arc) -> list[Comparison]:
        """What holds where a run takes an arc."""
        return [*self.tested(arc), *common(arc.rest)]

    def _fixed_point(self) -> list[Atoms]:
        automaton = self.automaton
        known: list[Atoms | None] = [None] * len(automaton.states)
        known[0] = {}
        copied = _copied(automaton) if automaton.final > 1 else []
        inner = [a for a in automaton.arcs if a.kind is not Kind.KILL and a.target < automaton.final and a.guard]
        waiting = {0}
        for _ in range(FACT_ROUNDS_MAX):
            changed: set[int] = set()
            for arc in inner:
                here, before = known[arc.source], known[arc.target]
                if here is None or arc.target == 0 or arc.source not in waiting | changed:
                    continue
                asked = [*self._tried(arc), *self._indexed(arc), *common(arc.rest)]
                found = self._image(arc, KnownAtoms([*here, *asked]), copied)
                met = found.atoms if before is None else _meet(before, found)
                if before is None or len(met) < len(before):
                    known[arc.target] = met
                    changed.add(arc.target)
            if not changed:
                return [{} if atoms is None else atoms for atoms in known]
            waiting = changed
        return [{} for _ in known]

    def _image(self, arc: Arc, known: KnownAtoms, copied: list[Attribute]) -> KnownAtoms:
        image = Image(arc, self.automaton.time is TimeModel.EPOCHS)
        found: Atoms = {}
        for atom in known.atoms:
            pairs = product(image.of(atom.left), image.of(atom.right))
            for left, right in islice(pairs, IMAGES_MAX):
                renamed = compared(atom.operator, left, right)
                if renamed is not None and (left != right or atom.left == atom.right):
                    found[renamed] = None
        copies = dict.fromkeys(part for atom in known.atoms for part in walk(atom) if isinstance(part, Attribute))
        for attribute in (*copies, *copied):
            if known.present(attribute):
                places = image.of(attribute)
                for one, other in pairwise(places):
                    renamed = compared("=", one, other)
                    if renamed is not None:
                        found[renamed] = None
        return KnownAtoms(found)


def _meet(before: Atoms, found: KnownAtoms) -> Atoms:
    """What holds on both ways. Whether two literals are equal decides the form, their order does not."""
    return {atom: None for atom in before if found.implies(atom, ordered=False)}


@final
class Image:
    """Where an arc puts values: the registers of its target that have what a term of its source had. `last`: the row
    taken last is among them, which patterns over ARRIVAL do not read."""

    def __init__(self, arc: Arc, last: bool) -> None:
        self.takes = arc.kind in TAKING
        self.last = [LAST] if last else []
        self._rows = [slot for slot, source in enumerate(arc.update) if isinstance(source, EventRow)]
        self._bound = [slot for slot, source in enumerate(arc.update) if isinstance(source, BoundRow)]
        self._carried: dict[int, list[int]] = {}
        self._computed: dict[Term, list[int]] = {}
        for slot, source in enumerate(arc.update):
            if isinstance(source, Carry):
                self._carried.setdefault(source.slot, []).append(slot)
            elif isinstance(source, Computed):
                self._computed.setdefault(source.term, []).append(slot)

    def of(self, term: Term) -> list[Term]:
        """The terms over the target's registers with the value of a term over the event and the source's registers."""
        if isinstance(term, Constant):
            return [term]
        name = term.name if isinstance(term, Attribute | Register) else ""
        found: list[Term] = [
            Register(slot, -1, term.type, name, nullable(term)) for slot in self._computed.get(term, ())
        ]
        match term:
            case Attribute(Side.EVENT, position, type_, _, maybe):
                rows = [*self.last, *self._rows] if self.takes else self._rows
                found = [*[Register(row, position, type_, name, maybe) for row in rows], *found]
            case Register(slot, position, type_, _, maybe):
                slots = self._carried.get(slot, [])
                if slot == LAST:
                    slots = self._bound if self.takes else [*self.last, *self._bound]
                found = [*[Register(each, position, type_, name, maybe) for each in slots], *found]
            case Arithmetic(operator, left, right, type_):
                pairs = islice(product(self.of(left), self.of(right)), IMAGES_MAX)
                found += [Arithmetic(operator, one, other, type_) for one, other in pairs]
            case Function(function, arguments, type_):
                lists = islice(product(*map(self.of, arguments)), IMAGES_MAX)
                found += [Function(function, each, type_) for each in lists]
            case _:
                pass
        return found


def attribute_of(source: PartitionedStream, position: int) -> Attribute:
    """An attribute of an event of a source; behind the schema stand its times."""
    if position >= len(source.schema):
        return Attribute(Side.EVENT, position, "int")
    own = source.schema.attributes[position]
    return Attribute(Side.EVENT, position, own.type, own.name, own.nullable)


def common(form: Form) -> list[Comparison]:
    """The atoms of all clauses."""
    return [atom for atom in form[0] if all(atom in clause for clause in form[1:])] if form else []


def _copied(automaton: Automaton) -> list[Attribute]:
    """The attributes of which registers are read, if they have one type wherever they are read: their copies may be
    equal although no atom reads them."""
    found: dict[int, Register] = {}
    for term in terms_of(automaton):
        for part in walk(term):
            if isinstance(part, Register) and part.position >= 0:
                known = found.setdefault(part.position, part)
                if known.type != part.type or (part.nullable and not known.nullable):
                    found[part.position] = Register(LAST, part.position, part.type, part.name, True)
    return [Attribute(Side.EVENT, at, each.type, each.name, each.nullable) for at, each in found.items()]


def terms_of(automaton: Automaton) -> Iterator[Term]:
    """All terms of states and arcs, joins included."""
    for form in [state.theta for state in automaton.states]:
        yield from (atom for clause in form for atom in clause)
    for arc in automaton.arcs:
        for form in (arc.guard, arc.rest):
            yield from (atom for clause in form for atom in clause)
        yield from arc.output
        yield from (join.register for join in arc.joins)
        yield from (source.term for source in arc.update if isinstance(source, Computed))
