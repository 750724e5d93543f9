"""Subscriptions in force, small: what many have in common stands in their form, what is their own are literals.

A hundred thousand subscriptions that differ in their numbers only have one form, and each has a name and its numbers.
Their texts, as written and canonical, are put together when somebody asks.

Here: forms and subscribers. Not here: how a form comes about (forms, languages), names to subscriptions (catalog).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

from mypy_extensions import i64

from ..automaton.automaton import Automaton
from ..automaton.compilation import Compiled
from ..events.schema import Schema
from ..language.subscription import SubscriptionDefinition
from .literals import Literals
from .recipes import Recipe
from .wording import Wording

if TYPE_CHECKING:
    from ..forecast.plan import ForecastPlan
    from .executors.machine_plan import MachinePlan
    from .templates import MachineTemplate, Template


@final
class Form:
    """What subscriptions of one shape have in common: language, the streams that they read with the schemas that these
    had (`sources`), the one that they publish, the schema of their results, and how many states they have.

    `written` is the text around the literals as the user wrote it, `canonical` the one that ids are made of. `fixed`:
    the numbers of literals that all of them have. `recipes`, one a branch, say how a branch is entered without states
    of its own, None where it needs them. `template` has the automata; where a machine finds the matches, `machine` has
    its automaton instead, and there are names of `operands` and no recipes. `foretells` makes the plan of forecasts
    from the automata, where there is a `forecast`; then neither has it recipes.
    """

    def __init__(
        self,
        language: str,
        written: Wording,
        canonical: Wording,
        sources: tuple[tuple[str, Schema | None], ...],
        publish: str | None,
        schema: Schema,
        states: int,
        template: Template | None,
        recipes: list[Recipe | None],
        machine: MachineTemplate | None = None,
        operands: tuple[str, ...] = (),
        report: str | None = None,
        forecast: dict[str, Any] | None = None,
        foretells: Callable[[tuple[Automaton, ...]], ForecastPlan] | None = None,
    ) -> None:
        self.language = language
        self.written = written
        self.canonical = canonical
        self.fixed: tuple[int, ...] = ()
        self.sources = sources
        self.publish = publish
        self.schema = schema
        self.states = states
        self.template = template
        self.recipes = recipes
        self.machine = machine
        self.operands = operands
        self.report = report
        self.forecast = forecast
        self.foretells = foretells

    def automata(self) -> tuple[Automaton, ...]:
        """The automata with marked literals."""
        if self.template is not None:
            return self.template.automata
        return () if self.machine is None else self.machine.automata

    def compiled(self, literals: Literals) -> Compiled:
        """The automata with these literals; none for a subscription with a machine."""
        return Compiled(()) if self.template is None else self.template.bound(literals)


@final
class Subscriber:
    """A subscription, or, with another `branch` than 0, a further automaton of one. It gets the matches of runs that
    began after `since`. `own`: its text where that is not the form's with the literals put in. `machine` and `plan`, of
    its forecasts: the form's with the literals put in, where it has them."""

    __slots__ = ("branch", "form", "lineage", "literals", "machine", "name", "own", "plan", "since")

    def __init__(
        self, name: str, form: Form, literals: Literals, own: str | None, lineage: bool | None, since: i64, branch: i64
    ) -> None:
        self.name = name
        self.form = form
        self.literals = literals
        self.own = own
        self.lineage = lineage
        self.since: i64 = since
        self.branch: i64 = branch
        self.machine: MachinePlan | None = None
        self.plan: ForecastPlan | None = None

    def at_branch(self, branch: int) -> Subscriber:
        """The same subscription for another of its automata."""
        return Subscriber(self.name, self.form, self.literals, self.own, self.lineage, self.since, branch)

    def automata(self) -> tuple[Automaton, ...]:
        """What the query became, whoever runs it: automata whose results together are its own."""
        return self.form.compiled(self.literals).automata if self.machine is None else (self.machine.automaton,)

    def text(self) -> str:
        """The canonical text."""
        return self.form.canonical.text(self.literals)

    def definition(self) -> SubscriptionDefinition:
        """What the user asked for."""
        form = self.form
        query = form.written.text(self.literals) if self.own is None else self.own
        return SubscriptionDefinition(self.name, form.language, query, self.lineage, form.report, form.forecast)

    def said(self) -> str:
        """What an id says beside the match; with that, it is the same wherever and whenever the match is found."""
        return f"{self.name}\0{self.text()}\0{self.branch}\0"


def digest(said: str, trace: object, ordinal: int) -> str:
    """The id of a match: 96 bits. `trace` is an integer: mypyc 2.4 loses one beyond 62 bits that it writes as text, and
    leaves an object's text to Python.
    """
    return hashlib.blake2b(f"{said}{trace},{ordinal}".encode(), digest_size=12).hexdigest()
