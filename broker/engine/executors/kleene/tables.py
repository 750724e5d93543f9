"""A plan ready to run: conditions that can be evaluated, inputs as bits, what to do with registers. One a machine.

Here: what all representations of runs share; immutable. Not here: runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, final

from mypy_extensions import i64

from ....algebra.computation import Computation, Slots
from ....algebra.predicate import All, computation, condition
from ....automaton.automaton import Report
from ....events import instant
from ....events.schema import Row
from ...account import MATCH_UNITS, UNLIMITED, Account
from .plan import KleenePlan
from .registers import Registers

FOREVER: Final = instant.FOREVER
BEFORE: Final = -instant.FOREVER


@dataclass(frozen=True, slots=True)
class RunBounds:
    """Limits of one key value of one subscription: `runs`, or what stands for runs, `matches` that one event completes,
    `logged` negated events. Beyond them runs are not begun, matches not made, and the oldest events forgotten; the
    subscriber is told. `work` and `earned` are those of its account, of all key values."""

    runs: int = 100_000
    matches: int = 100_000
    logged: int = 100_000
    work: int = UNLIMITED
    earned: int = UNLIMITED


@dataclass(frozen=True, slots=True)
class Switches:
    """Representations of runs, each for the patterns that it can do; without any of them runs exist one by one.
    `columns`: rows of numbers. `merging`: runs that are equal from then on are one. `buffer`: pasts are shared.
    `families`: subscriptions that differ in one factor only have one set of runs, in columns."""

    columns: bool = True
    merging: bool = True
    buffer: bool = True
    families: bool = True


@final
class Edges:
    """A component. Inputs are bits; `take` 0 where it is single. None: a condition that always holds."""

    def __init__(self, plan: KleenePlan, number: int) -> None:
        step = plan.steps[number]
        self.component = number
        self.strategy: i64 = step.strategy
        self.begin: i64 = 1 << step.begin
        self.begin_rest: All | None = condition(step.begin_rest)
        self.kleene = step.take >= 0
        self.take: i64 = 1 << step.take if step.take >= 0 else 0
        self.take_rest: All | None = condition(step.take_rest)
        self.end: All | None = condition(step.end)
        # Negations between the component before and this one: that the newest event decides, and that need a look back.
        self.marks: list[int] = [
            at for at, n in enumerate(plan.negations) if n.place == number and number > 0 and n.rest == ((),)
        ]


@final
class Denial:
    """A negation: its input as a bit, which parts of a key its events share, and what else they must satisfy."""

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
    """All of one plan, and the account of the machine; others' `account` where these are tables of the same one."""

    def __init__(self, plan: KleenePlan, bounds: RunBounds, account: Account | None = None) -> None:
        report, within = plan.automaton.report, plan.automaton.within
        self.account = Account(bounds.work, bounds.earned) if account is None else account
        self.match_units: i64 = 1 if report == Report.COMPRESSED else MATCH_UNITS
        self.plan = plan
        self.bounds = bounds
        self.runs_max: i64 = bounds.runs
        self.matches_max: i64 = bounds.matches
        self.logged_max: i64 = bounds.logged
        self.registers = Registers(plan.steps)
        self.edges = [Edges(plan, number) for number in range(len(plan.steps))]
        self.last: i64 = len(self.edges) - 1
        # What every event asks of patterns of one or two components.
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
        self.uniform: i64 = moving[0] if alike else -1  # the input whose key an event has, whatever it is taken for
        self.inputs: i64 = len(plan.inputs)
        self.outputs: list[Computation] = [computation(term) for term in plan.automaton.output]
        self.alone = report == Report.NONOVERLAP

    def values(self, slots: Slots) -> Row:
        """What RETURN gives for a whole match."""
        if len(self.outputs) == 0:
            return ()
        return tuple([output.value((), (), slots, 0, 0) for output in self.outputs])
