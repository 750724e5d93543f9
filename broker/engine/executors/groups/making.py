"""Makes the cells of groups from a template and its layout: each mechanism has its own form of the steps.

Here: that translation. Not here: templates and layouts (broker.automaton.analyses), cells (each mechanism).
"""

from __future__ import annotations

from typing import Any, Final, final

from ....algebra.computation import Computation
from ....algebra.normal_form import Form
from ....algebra.predicate import computation, condition
from ....algebra.terms import Arithmetic, Attribute, Constant, Duration, Register, Side, Term, walk
from ....automaton.analyses.mechanism import Layout, Mechanism
from ....automaton.analyses.template import (
    Asked,
    CommonLine,
    Compared,
    GroupTemplate,
    TemplateClause,
    TemplateStep,
    reads_registers,
)
from ....automaton.automaton import Stay, TimeModel
from ..common_runs import CommonPattern
from ..registers import Registers
from .any_match import AnyMatchCell, AnyMatchTemplate
from .any_template import AnyTemplate
from .blocks import MatchBlocks
from .cell import GroupCell
from .chain import ChainCell
from .coordinates import ATTRIBUTE, DIFFERENCE, DURATION, FACTOR, OFFSET, REGISTER, SPAN, TERM, CoordinateBound
from .epoch_runs import EpochRuns, plain
from .filters import FilterCell
from .fold import FoldCell
from .fold_template import FoldClause, FoldStep, FoldTemplate
from .kept_events import KeptEvents
from .late_pairs import LatePairsCell
from .members import Members
from .next_match import NextMatchCell
from .next_match_template import NextMatchTemplate
from .repeating import RepeatingCell
from .repeating_template import RepeatingTemplate
from .selection import SelectionCell
from .selection_template import RunNumber, SelectionTemplate
from .skip_till import SkipTillCell
from .stamps import Stamps
from .starts import NONE
from .steps import NEXT, PARTITION, SKIP, STRICT, ChainTemplate, EarlierRows, Remembered, StepClause
from .text_chain import TextChainCell, TextChainTemplate
from .text_members import TextMembers

SOURCES: Final = {
    Compared.ATTRIBUTE: ATTRIBUTE,
    Compared.DURATION: DURATION,
    Compared.SPAN: SPAN,
    Compared.FACTOR: FACTOR,
    Compared.OFFSET: OFFSET,
    Compared.COMPUTED: REGISTER,
}
TEXTS: Final = NextMatchTemplate | TextChainTemplate | AnyMatchTemplate
"""Forms that know the members of one group by their texts."""
STAYS: Final = {Stay.NONE: STRICT, Stay.FOREIGN: PARTITION, Stay.UNTAKEN: SKIP, Stay.FAILING: NEXT}


@final
class CellRecipe:
    """How the cells of a template are made: all groups of a template share its steps, which change only as scratch.

    The recipe of a repetition, of single events, or of steps with texts of their own belongs to one group, since it
    knows the members.
    """

    def __init__(self, template: GroupTemplate, layout: Layout, common: CommonPattern | None = None) -> None:
        self.template = template
        self.mechanism = layout.mechanism
        self.arrival = template.time is TimeModel.ARRIVAL
        self.dimensions = layout.dimensions
        self.epochs = None if self.arrival else EpochRuns(template.updates)
        self.outputs = [computation(term) for term in template.output]
        self.found = MatchBlocks()
        self.selection: SelectionTemplate | None = None
        self.computes = False  # whether members compare computed values with constants of their own, but in a fold
        self._coordinates = iter(layout.coordinates)
        self._registers: list[Register] = []
        if template.common is not None and common is not None:
            self.form: object = self._repeating(template, template.common, common, layout)
            return
        self._line: list[FoldStep] = []  # behind the first step of a fold
        self._takes: list[StepClause] = []  # what further events of a step are asked, but for a fold
        self.steps = [self._step(step) for step in template.steps]
        self.kills = [[self._clause(clause) for clause in kill.clauses] for kill in template.kills]
        self.window = next(self._coordinates) if template.window else NONE
        self.within = NONE if template.within is None else template.within
        self.form = self._formed(layout.dimensions)

    def joined(
        self, members: Members, handle: int, point: list[float], since: int, texts: tuple[Any, ...]
    ) -> None:  # fmt: skip
        """A member has joined the group, and its `members`. `texts`: of each step, if steps have texts of their own."""
        if isinstance(self.form, RepeatingTemplate):
            self.form.joined(members, handle, point, since, texts)
        elif isinstance(self.form, TEXTS):
            self.form.joined(handle, point, since, texts)
        elif isinstance(self.form, ChainTemplate) and self.form.texts is not None:
            self.form.texts.joined(handle, point, since, texts)

    def left(self, members: Members, handle: int, point: list[float]) -> None:
        """A member has left the group, and its `members`."""
        if isinstance(self.form, RepeatingTemplate):
            self.form.left(members, handle, point)
        elif isinstance(self.form, TEXTS):
            self.form.left(handle, point)
        elif isinstance(self.form, ChainTemplate) and self.form.texts is not None:
            self.form.texts.left(handle, point)

    def make(self, members: Members, events: KeptEvents, runs: EpochRuns | None, stamps: Stamps) -> GroupCell:
        """A cell without waiting runs, of the group with these members, events and stamps."""
        form = self.form
        match form:
            case FoldTemplate():
                assert runs is not None, "a fold is over epochs"
                return FoldCell(form, runs, stamps, members)
            case ChainTemplate() if self.mechanism is Mechanism.SKIP_TILL:
                return SkipTillCell(form, self.arrival, members, events)
            case ChainTemplate():
                return ChainCell(form, self.arrival, None, members, events)
            case TextChainTemplate():
                return TextChainCell(form, members)
            case NextMatchTemplate() if self.template.late:
                return LatePairsCell(form, members)
            case NextMatchTemplate():
                return NextMatchCell(form, members)
            case AnyMatchTemplate():
                return AnyMatchCell(form, members, events)
            case RepeatingTemplate():
                return RepeatingCell(form, members)
            case SelectionTemplate():
                return SelectionCell(form, members, events)
            case _:
                return FilterCell(self.steps[0], self.dimensions, members)

    def _repeating(
        self, template: GroupTemplate, line: CommonLine, pattern: CommonPattern, layout: Layout
    ) -> RepeatingTemplate:
        """The form of a line in which an operand repeats."""
        first, whole = (step.clauses[0] for step in template.steps)
        begin = self._clause(first)
        last: list[CoordinateBound] = []
        measured: list[CoordinateBound] = []
        compared: list[CoordinateBound] = []
        final = len(line.automaton.operands) - 1 if pattern.ends else NONE  # a last single event's
        for asked, (left, right), register, operand in zip(whole.asked, line.compared, pattern.registers, line.asked):
            at, sign = next(self._coordinates), float(asked.sign)
            if asked.source in (Compared.FACTOR, Compared.OFFSET):
                source = SOURCES[asked.source]
                compared.append(CoordinateBound(at, source, left, sign, right, asked.strict))
                measured.append(CoordinateBound(at, source, asked.attribute, sign, register, asked.strict))
                continue
            compared.append(CoordinateBound(at, REGISTER, -1, sign, left))
            if register >= 0:
                measured.append(CoordinateBound(at, REGISTER, -1, sign, register))
            elif asked.source is Compared.ATTRIBUTE and operand == final:
                last.append(CoordinateBound(at, ATTRIBUTE, asked.attribute, sign))
        texts = self._positions() if template.texts else []
        return RepeatingTemplate(
            layout.dimensions, begin, last, measured, compared, list(line.asked), pattern, texts
        )

    def _positions(self) -> list[int]:
        """Of each step, and then of each kill, the attribute of its text, -1 for none."""
        known = self.template.texts or (None,) * (len(self.template.steps) + len(self.template.kills))
        return [-1 if attribute is None else attribute.position for attribute in known]

    def _step(self, step: TemplateStep) -> list[StepClause]:
        if self.mechanism is not Mechanism.FOLD or step is self.template.steps[0]:
            clauses = [self._clause(clause) for clause in step.clauses]
            self._takes += [self._clause(clause) for clause in step.again or ()]
            return clauses
        ends = [self._fold_clause((clause,)) for clause in step.clauses]
        take = None if step.again is None else self._fold_clause(step.again)
        sees = self._fold_clause((TemplateClause((), step.sees),)) if step.sees else None
        moved = self._line[-1].moving if self._line else 0  # the arcs are in the order of their states
        taking = int(moved) + (take is not None)
        self._line.append(FoldStep(take, ends, sees, taking, taking + 1))
        return []

    def _fold_clause(self, clauses: tuple[TemplateClause, ...]) -> FoldClause:
        """One of the clauses holds; only a single one has constants."""
        bounds: list[CoordinateBound] = []
        values: list[Computation] = []
        for asked in clauses[0].asked:
            register = -1
            if asked.term is not None:
                register = len(values)
                values.append(computation(asked.term))
            at, source = next(self._coordinates), SOURCES[asked.source]
            bounds.append(CoordinateBound(at, source, asked.attribute, float(asked.sign), register, asked.strict))
        remaining = tuple(one for clause in clauses for one in clause.remaining())
        terms: list[Term] = [atom for one in remaining for atom in one]
        terms += [asked.term for asked in clauses[0].asked if asked.term is not None]
        read = [part for term in terms for part in walk(term)]
        late = any(isinstance(part, Duration) or (isinstance(part, Register) and part.slot >= 0) for part in read)
        pairwise = not late and not any(bound.source in (DURATION, SPAN) for bound in bounds)
        slot, added = _counter(next((asked.term for asked in clauses[0].asked if asked.term is not None), None))
        alone = not any(isinstance(part, Register | Duration) for part in read)
        return FoldClause(bounds, values, condition(remaining), pairwise, slot, added, alone)

    def _clause(self, clause: TemplateClause) -> StepClause:
        bounds = [self._bound(asked) for asked in clause.asked]
        alone: Form = tuple(
            tuple(atom for atom in one if not reads_registers(atom)) for one in clause.remaining()
        )  # fmt: skip
        compares = condition((tuple(atom for atom in clause.rest if reads_registers(atom)),))
        earlier = None if compares is None else EarlierRows(compares, self._read(*clause.rest))
        return StepClause(bounds, condition(alone), earlier)

    def _bound(self, asked: Asked) -> CoordinateBound:
        at, source, attribute, term = next(self._coordinates), SOURCES[asked.source], asked.attribute, asked.term
        sign = float(asked.sign)
        if asked.source is not Compared.COMPUTED:
            register = self._remembered(term) if isinstance(term, Register) else -1
            return CoordinateBound(at, source, attribute, sign, register, asked.strict)
        self.computes = True
        match term:
            case Register():
                return CoordinateBound(at, REGISTER, -1, sign, self._remembered(term))
            case Arithmetic("-", Attribute(Side.EVENT, attribute), Register() as other, "float"):
                return CoordinateBound(at, DIFFERENCE, attribute, sign, self._remembered(other))
            case Arithmetic("-", Register() as other, Attribute(Side.EVENT, attribute), "float"):
                return CoordinateBound(at, DIFFERENCE, attribute, -sign, self._remembered(other))
        assert term is not None, "something is computed"
        slots = self._read(term)
        read = slots if any(step >= 0 for step in slots) else []
        return CoordinateBound(at, TERM, -1, sign, term=computation(term), slots=read)

    def _remembered(self, register: Register) -> int:
        """Its number among those that a run remembers."""
        if register not in self._registers:
            self._registers.append(register)
        return self._registers.index(register)

    def _read(self, *terms: Term) -> list[int]:
        """By slot the step whose event the terms read, -1 for none."""
        read = {part.slot for term in terms for part in walk(term) if isinstance(part, Register)}
        return [step if slot in read else -1 for slot, step in enumerate(self.template.slots)]

    def _formed(self, d: int) -> object:
        """The template in the mechanism's form; None for filters, which have only clauses."""
        steps, mechanism = self.steps, self.mechanism
        if mechanism is Mechanism.FILTER:
            return None
        if mechanism is Mechanism.FOLD:
            return FoldTemplate(d, steps[0], self._line)
        if mechanism in (Mechanism.CHAIN, Mechanism.SKIP_TILL):
            if self.window != NONE:
                for clause in steps[-1]:
                    clause.ask(CoordinateBound(self.window, SPAN, sign=-1.0))
            stays = [STAYS.get(step.stay, SKIP) for step in self.template.steps]
            sees = [self._clause(TemplateClause((), step.sees)) if step.sees else None for step in self.template.steps]
            registers = [Remembered(register.position, register.slot) for register in self._registers]
            known = TextMembers(d, self._positions()) if self.template.texts else None
            if known is not None:  # all events are of one partition
                stays = [STRICT] * len(steps)
            return ChainTemplate(d, steps, registers, stays, self.window, sees, known)
        if mechanism is Mechanism.SELECTION:
            *firsts, last = [clauses[0] for clauses in steps]
            numbers = [RunNumber(register.slot, register.position) for register in self._registers]
            *begun, taken = self.template.updates
            kept = Registers([(each, taken if at == len(firsts) - 1 else ()) for at, each in enumerate(begun)])
            self.selection = SelectionTemplate(d, firsts, self._takes[0], last, numbers, kept, self.window)
            return self.selection
        texts, parted = self._positions(), len(self.template.parts) > 0
        clauses, kills = [each[0] for each in steps], [each[0] for each in self.kills]
        if mechanism is Mechanism.TEXT_CHAIN:
            return TextChainTemplate(d, clauses, texts)
        if mechanism is Mechanism.ANY_MATCH:
            orders = [list(order) for order in self.template.orders]
            each = AnyTemplate(d, steps, orders, list(self.template.operands), self.window)
            return AnyMatchTemplate(each, texts, kills, parted)
        forbidden = [(kill.place, clause) for kill, clause in zip(self.template.kills, kills)]
        return NextMatchTemplate(
            d, clauses, texts, self.window, forbidden, within=self.within, epochs=not self.arrival, parted=parted
        )


def _counter(term: Term | None) -> tuple[int, int]:
    """The slot that a term is, and what it adds to it; NONE if it is something else."""
    match term:
        case Register(slot, -1):
            return slot, 0
        case Arithmetic("+", Constant(int() as added), Register(slot, -1)) if plain(added):
            return slot, added
        case _:
            return NONE, 0
