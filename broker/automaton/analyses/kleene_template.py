"""The template of a line in which an operand repeats: runs that do not depend on the constants that differ.

A constant is taken out of the automaton where it can only decide whose matches a run has: where a run begins; where a
repeating operand ends, unless runs beyond it end, as with LEN = 3; and where the operand behind it begins, unless a run
could wait for that. All other constants stay, and patterns that differ in them have different templates. So is the text
that all events of a run equal, for runs are kept apart by it, and the text of a last single event behind a repetition.

Here: that. Not here: lines of single events (arrival_template), what a template is (template).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from ...algebra.normal_form import Clause, Form
from ...algebra.terms import Attribute, Comparison, Constant, Register, Side, Term
from ...algebra.terms import replace as replace_leaves
from ..automaton import Arc, Automaton, Carry, EventRow, Kind, Stay
from .event_constants import OwnText, equality, own_constants, own_text, shared_constants, texts_in
from .hopeless import bounds_number
from .line import LineOperand, line_of
from .measures import Measure, Measures, measure_of, measures_of
from .template import (
    Asked,
    CommonLine,
    Compared,
    Grouping,
    KeyedLine,
    NoTemplate,
    TemplateClause,
    TemplateStep,
    any_value,
    clause_of,
    key_of,
)

ADJACENT: Final = (Stay.NONE, Stay.FOREIGN)
WAITING: Final = (*ADJACENT, Stay.UNTAKEN)
Texts: TypeAlias = dict[Attribute, Constant]


def repeating_grouping(keyed: KeyedLine) -> Grouping:
    """Raises NoTemplate. The automaton reports each match, and nothing is forbidden. O(its size)."""
    inner, taking = keyed.inner, keyed.taking
    asking = [arc.guard for arc in taking]
    known = shared_constants(asking)
    waiting = all(inner.states[arc.source].stay is Stay.UNTAKEN for arc in taking[1:])
    own = _own_texts(keyed.line) if waiting and not known else ()
    found_by = own_constants(asking) if waiting and not (known or own) else ()
    if any(inner.states[arc.source].stay not in WAITING for arc in taking[1:]):
        raise NoTemplate("an operand repeats, and runs stay where they move")
    first, last = ({} if each is None else dict([each]) for each in own or (None, None))
    line = CommonConstants(_without(inner, known | first, known | last))
    texts = tuple([None if each is None else each[0] for each in own])
    template = replace(keyed.template(known, line.steps()), common=line.common(), found=found_by, texts=texts)
    return Grouping(template, key_of(known, own), tuple(line.values))


def _own_texts(line: tuple[LineOperand, ...]) -> tuple[OwnText | None, ...]:
    """The text that all events of a run equal, and that of a last single event behind a repetition, None for none; ()
    if neither has one, or they are something else.

    A run goes on when it has been completed, so that the last event's text decides only whose match it is. Where this
    event must have the text of an earlier one, that is its text.
    """
    if len(line) < 2 or line[-1].take is not None or line[-2].take is None:
        return ()
    *before, last = line
    taking = [arc for link in before for arc in (link.begin, link.take) if arc is not None]
    first = {texts_in(clause) for arc in taking for clause in arc.guard}
    behind = {texts_in(clause) for clause in last.begin.guard}
    if len(first) != 1 or len(behind) != 1:
        return ()
    (known,), (others,) = first, behind
    run, end = own_text(known), own_text(others)
    if len(known) != (0 if run is None else 1) or len(others) != (0 if end is None else 1):
        return ()
    if run is not None and end is None:
        at = run[0].position
        if all(any(_repeats_text(atom, at) for atom in clause) for clause in last.begin.rest):
            end = run
    return () if run is None and end is None else (run, end)


def _repeats_text(atom: Comparison, position: int) -> bool:
    """Whether an event must have there what an earlier one has there."""
    match atom:
        case (
            Comparison("=", Attribute(Side.EVENT, own), Register(_, other))
            | Comparison("=", Register(_, other), Attribute(Side.EVENT, own))
        ):
            return own == position == other
        case _:
            return False


def _without(automaton: Automaton, known: Texts, behind: Texts) -> Automaton:
    """The automaton without the constants that every event of a run has, and those that the last operand's has. It
    names no operands."""
    last = len(automaton.operands) - 1
    same = [attribute.position for attribute, value in known.items() if behind.get(attribute) == value]

    def left(arc: Arc) -> Form:
        own = behind if arc.operand == last else known
        return tuple(
            tuple(atom for atom in clause if (found := equality(atom)) is None or own.get(found[0]) != found[1])
            for clause in arc.guard
        )

    def rest(arc: Arc) -> Form:
        return tuple(
            tuple(atom for atom in clause if not any(_repeats_text(atom, position) for position in same))
            for clause in arc.rest
        )

    arcs = tuple(replace(arc, guard=left(arc), rest=rest(arc), conjuncts=()) for arc in automaton.arcs)
    return replace(automaton, arcs=arcs, operands=tuple(map(str, range(len(automaton.operands)))))


class CommonConstants:
    """Takes the constants out of an automaton, one place after another. `first`: what a first event is asked; `whole`:
    what a match is asked; `values`: both's constants in this order."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        self._arcs = list(automaton.arcs)
        self._line = line_of(automaton)
        self._compared: list[tuple[Term, Term | None]] = []
        self._asked: list[int] = []
        self._measures: list[Measure | None] | None = []
        self.first: list[Asked] = []
        self.whole: list[Asked] = []
        self.values: list[float] = []
        self._begins()
        for number, link in enumerate(self._line):
            if number > 0 and self._may_begin(number):
                self._take_out(number, link.begin, last=number == len(self._line) - 1 and link.take is None)
            if link.proceed is not None:
                self._take_out(number, link.proceed, last=False)

    def steps(self) -> tuple[TemplateStep, TemplateStep]:
        """What a first event and a whole match are asked."""
        adjacent = any(state.stay is Stay.FOREIGN for state in self._automaton.states)
        return (
            TemplateStep(Stay.UNTAKEN, (TemplateClause(tuple(self.first), ()),)),
            TemplateStep(Stay.FOREIGN if adjacent else Stay.UNTAKEN, (TemplateClause(tuple(self.whole), ()),)),
        )

    def common(self) -> CommonLine:
        """The line without the constants that were taken out."""
        terms: list[Term] = []
        compared: list[tuple[int, int]] = []
        outputs = len(self._automaton.output)
        for left, right in self._compared:
            compared.append((outputs + len(terms), -1 if right is None else outputs + len(terms) + 1))
            terms += [left] if right is None else [left, right]
        arcs = [
            replace(arc, output=(*arc.output, *terms)) if arc.target == self._automaton.final else arc
            for arc in self._arcs
        ]
        automaton = replace(self._automaton, arcs=tuple(arcs))
        measures = self._measures
        if measures is not None and measures_with(automaton, measures) is None:
            measures = None
        own = None if measures is None else tuple(measures)
        return CommonLine(automaton, outputs, tuple(compared), tuple(self._asked), own)

    def _begins(self) -> None:
        arc = self._line[0].begin
        if len(arc.guard) != 1:
            return
        found, left = _split(arc.guard[0], False)
        self.first += [asked for asked, _ in found]
        self.values += [value for _, value in found]
        self._put(arc, guard=(left,))

    def _may_begin(self, number: int) -> bool:
        """Whether no run that waits for an operand lets events pass for what it asks."""
        states = self._automaton.states
        before, here = self._line[number - 1], self._line[number].begin
        if states[here.source].stay in ADJACENT:
            return True
        return before.take is not None and states[before.take.source].stay is Stay.UNTAKEN

    def _take_out(self, number: int, arc: Arc, last: bool) -> None:
        """Take the constants out of an arc behind the first; `last`: it takes the last event."""
        for name, form in (("guard", arc.guard), ("rest", arc.rest)):
            if len(form) != 1:
                continue
            kept = tuple(atom for atom in form[0] if bounds_number(self._line[number], atom))
            asked_of = tuple(atom for atom in form[0] if atom not in kept)
            found, left = _split(asked_of, name == "rest" or arc.kind is Kind.EPSILON)
            for asked, value in found:
                self._ask(number, asked, last)
                self._asked.append(number + 1 if arc.kind is Kind.EPSILON else number)
                self.whole.append(asked)
                self.values.append(value)
            self._put(arc, **{name: ((*kept, *left),)})

    def _ask(self, number: int, asked: Asked, last: bool) -> None:
        """Add what a constant is compared with."""
        link = self._line[number]
        begin = link.begin

        def of_event(leaf: Term) -> Term:
            if isinstance(leaf, Attribute) and leaf.side is Side.EVENT:
                return Register(self._row_of(begin), leaf.position, leaf.type, leaf.name, leaf.nullable)
            return leaf

        attribute = self._automaton.sources[0].schema.attributes[asked.attribute] if asked.attribute >= 0 else None
        event = Attribute(Side.EVENT, asked.attribute, attribute.type) if attribute is not None else None
        register = asked.term if asked.source in (Compared.FACTOR, Compared.OFFSET) else None
        compared = asked.term if event is None else event
        assert compared is not None
        self._compared.append((replace_leaves(compared, of_event), register))
        if self._measures is None:
            return
        first, operator = self._line[0], ">=" if asked.sign > 0 else "<="
        measure: Measure | None = None
        if asked.source is Compared.FACTOR and last and event is not None and asked.term is not None:
            strict = operator[0] if asked.strict else operator
            measure = measure_of(self._automaton, first, Comparison(strict, event, asked.term))
        elif asked.source is Compared.COMPUTED and not last and number == 0:
            measure = measure_of(self._automaton, first, Comparison(operator, compared, Constant(0, "int")))
        if measure is None and not (asked.source is Compared.ATTRIBUTE and last):
            self._measures = None
            return
        self._measures.append(measure)

    def _row_of(self, begin: Arc) -> int:
        """The slot that has an operand's first event to the end; a new one if none has."""
        slots = len(self._arcs[0].update)
        for slot in range(slots):
            others = [arc.update[slot] for arc in self._arcs if arc.operand != begin.operand and arc.update]
            own = [arc.update[slot] for arc in self._arcs if arc.operand == begin.operand]
            if own[0] == EventRow() and all(source == Carry(slot) for source in (*own[1:], *others)):
                return slot
        for at, arc in enumerate(self._arcs):
            if arc.target != self._automaton.final:
                starts = arc.operand == begin.operand and arc.kind is Kind.FORWARD
                self._arcs[at] = replace(arc, update=(*arc.update, EventRow() if starts else Carry(slots)))
        return slots

    def _put(self, arc: Arc, **parts: Form) -> None:
        at = next(
            at
            for at, other in enumerate(self._arcs)
            if (other.kind, other.source, other.operand) == (arc.kind, arc.source, arc.operand)
        )
        self._arcs[at] = replace(self._arcs[at], **parts)  # type: ignore[arg-type]  # names of conditions


def measures_with(automaton: Automaton, own: Sequence[Measure | None]) -> Measures | None:
    """The measures of a line without constants, and those that constants bound; None if runs are no rows of numbers."""
    found = measures_of(automaton)
    if found is None:
        return None
    begin = [measure for measure in own if measure is not None and not measure.ends]
    end = [measure for measure in own if measure is not None and measure.ends]
    return Measures(found.take, (*found.begin, *begin), (*found.end, *end))


def _split(clause: Clause, computes: bool) -> tuple[list[tuple[Asked, float]], Clause]:
    """The constants of a conjunction that may differ, and what is left of it."""
    found: list[tuple[Asked, float]] = []
    left: list[Comparison] = []
    for atom in clause:
        try:
            asked, values = clause_of((atom,), {}, any_value if computes else None, texts=True)
        except NoTemplate:  # a number that floats do not hold: it stays
            left.append(atom)
            continue
        found += zip(asked.asked, values)
        left += asked.rest
    return found, tuple(left)
