"""A plan ready to run: compiled conditions, inputs as bits, updates of registers. One for each machine.

Here: the part that all representations of runs share; immutable. Not here: runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Computation, Slots
from ....algebra.normal_form import Form
from ....algebra.predicate import All, computation, condition, holds
from ....automaton.analyses.hopeless import hopeless
from ....automaton.analyses.line import LineOperand, line_of
from ....automaton.automaton import Report
from ....events import instant
from ....events.schema import Row
from ...program.account import MATCH_UNITS, UNLIMITED, Account
from ..registers import Registers
from .kleene_plan import KleenePlan

VALUE_BYTES: Final = 40
LINK_BYTES: Final = 128

FOREVER: Final = instant.FOREVER
BEFORE: Final = -instant.FOREVER


@dataclass(frozen=True, slots=True)
class RunBounds:
    """The limits of one key value of one subscription. Beyond them the subscriber gets a report.

    `runs`: runs or their compressed form; beyond it no run begins. `matches`: of one event; further ones are not made.
    `logged`: negated events; the oldest are forgotten. `work` and `earned` are those of its account, for all key
    values, and `room` the bytes of all its runs; beyond it those of the key in work are forgotten.
    """

    runs: int = 100_000
    matches: int = 100_000
    logged: int = 100_000
    work: int = UNLIMITED
    earned: int = UNLIMITED
    room: int = UNLIMITED


@final
class Edges:
    """A component. Inputs are bits; `take` is 0 if it is single. None: a condition that always holds.

    Of a Kleene component, `spent`: when its end never holds any more; `closed`: when it takes no event any more; None
    if nothing shows that.
    """

    def __init__(self, plan: KleenePlan, number: int, link: LineOperand) -> None:
        step = plan.steps[number]
        self.component = number
        self.strategy: i64 = step.strategy
        self.begin: i64 = 1 << step.begin
        self.begin_rest: All | None = condition(step.begin_rest)
        self.kleene = step.take >= 0
        self.take: i64 = 1 << step.take if step.take >= 0 else 0
        self.take_rest: All | None = condition(step.take_rest)
        self.end: All | None = condition(step.end)
        self.spent = _known(hopeless(link, step.end))
        self.closed = _known(hopeless(link, step.take_rest))
        # Negations between the previous component and this one: those that the newest event decides, and those with a
        # look back.
        self.marks: list[int] = [
            at for at, n in enumerate(plan.negations) if n.place == number and number > 0 and n.rest == ((),)
        ]

    def ended(self, slots: Slots) -> bool:
        """Whether a run with these registers may leave the component."""
        return self.end is None or holds(self.end, (), (), slots, 0, 0)

    def hopeless(self, slots: Slots, last: bool) -> bool:
        """Whether no event can lead a run with these registers to a match any more: its component takes none, or its
        end fails however many it takes. `last`: the match ends with the component, so it needs another event."""
        if self.spent is not None and holds(self.spent, (), (), slots, 0, 0):
            return True
        closed = self.closed is not None and holds(self.closed, (), (), slots, 0, 0)
        return closed and (last or not self.ended(slots))


def _known(form: Form | None) -> All | None:
    return None if form is None else condition(form)


@final
class Denial:
    """A negation: its input as a bit, the parts of a key that its events share, and the remaining conditions."""

    def __init__(self, plan: KleenePlan, number: int) -> None:
        negation = plan.negations[number]
        self.number = number
        self.place = negation.place
        self.input: i64 = 1 << negation.input
        self.bit = negation.input
        self.parts: list[int] = list(negation.parts)
        self.whole = len(negation.parts) == len(plan.key)
        self.logged = negation.rest != ((),)
        self.rest: All | None = condition(negation.rest)


@final
class Tables:
    """The tables of one plan, and the machine's account; `account`: that of tables of the same machine."""

    def __init__(self, plan: KleenePlan, bounds: RunBounds, account: Account | None = None) -> None:
        report, within = plan.automaton.report, plan.automaton.within
        self.account = Account(bounds.work, bounds.earned, bounds.room) if account is None else account
        self.compressed = report == Report.COMPRESSED
        self.match_units: i64 = 1 if self.compressed else MATCH_UNITS
        self.plan = plan
        self.bounds = bounds
        self.runs_max: i64 = bounds.runs
        self.matches_max: i64 = bounds.matches
        self.logged_max: i64 = bounds.logged
        self.registers = Registers([(step.begun, step.taken) for step in plan.steps])
        line = line_of(plan.automaton)
        self.edges = [Edges(plan, number, line[number]) for number in range(len(plan.steps))]
        self.last: i64 = len(self.edges) - 1
        # Copies of the values that every event reads for patterns of one or two components.
        self.begins: i64 = self.edges[0].begin
        self.takes: i64 = self.edges[0].take
        self.ends: i64 = self.edges[1].begin if self.last > 0 else 0
        self.window: i64 = FOREVER if within is None else within
        self.keys: list[list[int]] = [list(given.key) for given in plan.inputs]
        self.single: list[int] = [given.key[0] if len(given.key) == 1 else -1 for given in plan.inputs]
        self.denials = [Denial(plan, number) for number in range(len(plan.negations))]
        self.leading = [denial for denial in self.denials if denial.place == 0 and not denial.logged]
        self.trailing = [denial for denial in self.denials if denial.place > self.last]
        self.looked = [denial for denial in self.denials if denial.logged and denial.place <= self.last]
        self.denying: i64 = 0  # inputs of negations
        for denial in self.denials:
            self.denying |= denial.input
        self.moving: i64 = 0  # inputs of components
        for edges in self.edges:
            self.moving |= edges.begin | edges.take
        moving = [at for at in range(len(self.keys)) if self.moving >> at & 1]
        alike = all(self.keys[at] == self.keys[moving[0]] for at in moving)
        self.uniform: i64 = moving[0] if alike else -1  # the input whose key an event has, whichever input takes it
        self.inputs: i64 = len(plan.inputs)
        self.outputs: list[Computation] = [computation(term) for term in plan.automaton.output]
        self.shown: i64 = len(self.outputs)  # the values of a match; behind them what a group compares
        self.alone = report == Report.NONOVERLAP
        # Bytes, as CPython takes them at most: of an event with its values, and of a run with its registers.
        widest: i64 = max(len(source.schema.attributes) for source in plan.automaton.sources)
        self.event_bytes: i64 = 160 + VALUE_BYTES * widest
        self.run_bytes: i64 = 240 + VALUE_BYTES * self.registers.size

    def values(self, slots: Slots, count: i64) -> Row:
        """The first values of a whole match: those of RETURN, and behind the `shown` ones what a group compares."""
        if count == 0:
            return ()
        return tuple([self.outputs[at].value((), (), slots, 0, 0) for at in range(count)])
