"""Active subscriptions in little memory: a form holds what many subscriptions share, a subscriber its own literals.

A hundred thousand subscriptions that differ only in numbers share one form; each stores a name and its numbers. Their
texts, as written and canonical, are made on access.

Here: forms and subscribers. Not here: making forms (query_compiler, languages), subscriptions by name (catalog).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, final

from mypy_extensions import i64, mypyc_attr

from ...algebra.timed_stream import is_timed
from ...automaton.automaton import Automaton
from ...automaton.binding import AutomatonMaker, MarkedParts
from ...automaton.compilation import Compiled
from ...events.schema import Schema
from ...language.literal_orders import Decisive
from ...language.marked_literals import Literals
from ...language.subscription import SubscriptionDefinition
from ...language.wording import Wording
from ..program.recipient import Recipient, ResultForm

if TYPE_CHECKING:
    from ...automaton.arc_updates import ArcUpdate, ChangingArcs
    from ...automaton.rewriting.table import Rewriting
    from ...forecast.plan import ForecastPlan
    from ..compiler.foretold import ForecastPlans
    from ..compiler.templates import MachineTemplate, Template
    from ..executors.machine_plan import MachinePlan

ArcsOf: TypeAlias = "Callable[[str, Automaton], ChangingArcs]"
"""From a text and its automaton to the arcs that it begins with."""

IDENTITIES_MAX: Final = 1_024


NEVER_UPDATED: Final[list[Any]] = []  # those of all subscriptions whose arcs do not change


def branch_name(name: str, branch: int) -> str:
    """The name of one of a subscription's automata."""
    return name if branch == 0 else f"{name} {branch}"


class QueryWording(NamedTuple):
    """What users wrote: the language, the text around the literals as `written`, the `canonical` text from which ids
    are made, the streams that it reads with their schemas at that time, and how the subscription is to be reported and
    forecast."""

    language: str
    written: Wording
    canonical: Wording
    sources: tuple[tuple[str, Schema | None], ...]
    report: str | None = None
    forecast: dict[str, Any] | None = None


class QueryResults(NamedTuple):
    """The stream where results are published, their schema, the names of a machine's `operands`, and whether results
    have their `lineage` where a subscription does not say."""

    publish: str | None
    schema: Schema
    operands: tuple[str, ...] = ()
    lineage: bool = True


class QueryAutomata(NamedTuple):
    """The number of states, the automata as they were `constructed`, with marked literals, and what the rules have made
    of each, without those of `rules_off`."""

    states: int
    constructed: tuple[Automaton, ...] = ()
    rewritings: Sequence[Rewriting] = ()
    rules_off: tuple[str, ...] = ()


class QueryPlans(NamedTuple):
    """How matches are found. `template` has the automata, `branches` their plans. If a machine finds the matches,
    `machine` has its automaton instead. With forecasts, `foretells` has their plans. `changing`: makes the arcs, if
    they may change while the subscription runs."""

    template: Template | None
    branches: Sequence[MachineTemplate] = ()
    machine: MachineTemplate | None = None
    foretells: ForecastPlans | None = None
    changing: ArcsOf | None = None


@final
class CompiledQuery(ResultForm):
    """The form of subscriptions of one shape: all that they have in common. `decisive`: what their literals have."""

    def __init__(self, said: QueryWording, results: QueryResults, made: QueryAutomata, runs: QueryPlans) -> None:
        super().__init__(results.publish, results.schema, results.operands, results.lineage)
        self.language, self.written, self.canonical, self.sources, self.report, self.forecast = said
        self.decisive = Decisive()
        self.states, self.constructed, self.rewritings, self.rules_off = made
        self.template, self.branches, self.machine, self.foretells, self.changing = runs
        self._written: tuple[MarkedParts, list[AutomatonMaker]] | None = None
        self._timed: tuple[str, ...] | None = None

    def timed_streams(self) -> tuple[str, ...]:
        """The names of the timed streams that the automata read. O(1) but for the first call."""
        if self._timed is None:
            internal = () if self.template is None else self.template.compiled.internal
            automata = [*self.automata(), *(automaton for _, made in internal for automaton in made)]
            names = dict.fromkeys(stream for automaton in automata for stream in automaton.streams())
            self._timed = tuple([stream for stream in names if is_timed(stream)])
        return self._timed

    def automata(self) -> tuple[Automaton, ...]:
        """The automata with marked literals."""
        if self.template is not None:
            return self.template.automata
        return () if self.machine is None else self.machine.automata

    def as_written(self, literals: Literals) -> tuple[Automaton, ...]:
        """The automata before they were rewritten, with these literals. O(size of the parts with marks)."""
        if not literals:
            return self.constructed
        if self._written is None:
            parts = MarkedParts()
            self._written = parts, [parts.automaton(automaton) for automaton in self.constructed]
        parts, makers = self._written
        bound = parts.bind(literals)
        return tuple([maker(bound) for maker in makers])

    def compiled(self, literals: Literals) -> Compiled:
        """The automata with these literals; none for a subscription with a machine."""
        return Compiled(()) if self.template is None else self.template.bound(literals)


@final
@mypyc_attr(acyclic=True)  # nothing that it refers to knows subscribers
class Subscriber(Recipient):
    """A subscription with the way in which it is run.

    `results`: the definition's option. `updates`: those of its arcs so far, if they may change, and `changed` the arcs
    after them, if there were any. `own`: its text, if that is not the form's text with the literals. `machine`, and
    `plan` of its forecasts: those of the form with the literals, if the form has them.
    """

    __slots__ = ("changed", "form", "machine", "own", "plan", "results", "updates")

    def __init__(
        self,
        name: str,
        form: CompiledQuery,
        literals: Literals,
        own: str | None,
        lineage: bool | None,
        since: i64,
        branch: i64,
    ) -> None:
        super().__init__(name, form, literals, lineage, since, branch)
        self.form = form
        self.own = own
        self.machine: MachinePlan | None = None
        self.plan: ForecastPlan | None = None
        self.results: str | None = None
        self.changed: ChangingArcs | None = None
        self.updates: list[ArcUpdate] = [] if form.changing is not None else NEVER_UPDATED

    def at_branch(self, branch: int) -> Subscriber:
        """The same subscription for another of its automata."""
        return Subscriber(self.name, self.form, self.literals, self.own, self.lineage, self.since, branch)

    def automata(self) -> tuple[Automaton, ...]:
        """The automata of the query, whichever executor runs them; their results are the subscription's."""
        return self.form.compiled(self.literals).automata if self.machine is None else (self.machine.automaton,)

    def as_written(self) -> tuple[Automaton, ...]:
        """The automata of the query before they were rewritten: what people and forecasts are told of."""
        rewritten = any(rewriting.counts for rewriting in self.form.rewritings)
        return self.form.as_written(self.literals) if rewritten else self.automata()

    def revised(self) -> Automaton:
        """The automaton of the machine that revises its results, with the arcs that it has now."""
        if self.changed is not None:
            return self.changed.automaton
        assert self.machine is not None
        return self.machine.automaton

    def first_arcs(self) -> ChangingArcs:
        """The arcs of its text, which may change. It is parsed again."""
        assert self.form.changing is not None
        assert self.machine is not None
        return self.form.changing(self.definition().query, self.machine.automaton)

    def text(self) -> str:
        """The canonical text."""
        return self.form.canonical.text(self.literals)

    def definition(self) -> SubscriptionDefinition:
        """The definition that the user gave."""
        form = self.form
        query = form.written.text(self.literals) if self.own is None else self.own
        return SubscriptionDefinition(
            self.name, form.language, query, self.lineage, form.report, form.forecast, self.results
        )

    def identity(self) -> str:
        return f"{self.name}\0{self.text()}\0{self.branch}\0"


@final
class Identity:
    """The ids of results of which this text is a part; it is digested once. An id has 96 bits.

    `trace` is an object, because mypyc 2.4 loses integers beyond 62 bits when it formats them, and leaves formatting
    an object to Python.
    """

    __slots__ = ("_begun",)

    def __init__(self, text: str) -> None:
        self._begun = hashlib.blake2b(text.encode(), digest_size=12)

    def id(self, more: str, trace: object, ordinal: int) -> str:
        """The id of a result, with more text. O(that text)."""
        found = self._begun.copy()
        found.update(f"{more}{trace},{ordinal}".encode())
        return found.hexdigest()


@final
class ResultIds:
    """The identities of the subscribers whose results are made, of at most so many at a time."""

    def __init__(self, most: int = IDENTITIES_MAX) -> None:
        self.most = most
        self._known: dict[Recipient, Identity] = {}

    def of(self, subscriber: Recipient) -> Identity:
        """O(1), but for the first time O(its text)."""
        found = self._known.get(subscriber)
        if found is None:
            if len(self._known) >= self.most:
                self._known.clear()
            found = self._known[subscriber] = Identity(subscriber.identity())
        return found

    def forget(self, subscriber: Recipient) -> None:
        """It is gone. O(1)."""
        self._known.pop(subscriber, None)


def digest(identity: str, trace: object, ordinal: int) -> str:
    """The id of one result."""
    return Identity(identity).id("", trace, ordinal)
