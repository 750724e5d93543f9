"""Runs events again for one subscription, so that its partial matches can be looked at.

Here: the engine that does it, with the subscription and those that publish what it reads, and which class knows its
reasons. Not here: these reasons (reference_runs, register_runs, window_runs).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias, final

from ...algebra.timed_stream import untimed
from ...automaton.automaton import TimeModel
from ...automaton.rewriting.table import RULES
from ...events.event import Event, GapLine, Punctuation, Retraction, UpdateLine
from ...events.validation import row_from_mapping
from ..executors.reference.machine import Reference
from ..match import Match
from ..options import Options
from ..parts import EngineParts
from ..planner import EXECUTORS, IN_ORDER, MERGED
from ..program.account import UNLIMITED
from ..results import expanded
from ..subscribing.subscriber import Subscriber
from ..subscribing.suspensions import suspended
from ..subscribing.updating import update_again
from .budget import ReasonsBudget
from .explaining import AskedInput, Explainer, Question
from .fresh_engine import MakeEngine
from .probe import EventProbe
from .reference_runs import ReferenceRuns
from .register_runs import RegisterRuns
from .steps import Step
from .told import WindowPlace
from .window_runs import WindowRuns

REFERENCE: Final = "reference"
OTHERS: Final = tuple([plan.executor for plan in (*EXECUTORS, MERGED) if plan.executor != REFERENCE])
Cause: TypeAlias = tuple[str, tuple[int, ...]]
"""What brought results: a word, and the ids of the events that are concerned."""
RUNS: Final[dict[TimeModel, Callable[[Subscriber, EventProbe, ReasonsBudget], Explainer]]] = {
    TimeModel.LIFETIMES: RegisterRuns,
    TimeModel.WINDOWS: WindowRuns,
}
AT_THE_END: Final[Cause] = ("end of the events", ())


@final
class Rerun:
    """`explainers`: a class that knows the reasons for each of the subscription's automata, not for those of streams
    that it reads. `revises`: results may be withdrawn.

    Without a `question` only matches are wanted, and the subscription runs as it does elsewhere.
    """

    def __init__(
        self,
        engine: EngineParts,
        make: MakeEngine,
        name: str,
        events: Sequence[AskedInput],
        budget: ReasonsBudget,
        question: Question | None = None,
    ) -> None:
        self.name = name
        self.budget = budget
        by_reference = question is not None and in_order(engine, name)
        rules_off = tuple([rule.name for rule in RULES])  # reasons speak of the text as it is written
        options = Options(rules_off=rules_off)
        if by_reference:
            options = replace(options, executors_off=OTHERS, work_max=budget.left)
        self.engine = make(options)
        self._matches = not by_reference
        for stream in engine.catalog.streams.values():
            self.engine.declare(stream)
        updated = Counter([each.subscription for each in events if isinstance(each, UpdateLine)])
        for needed in needed_by(engine, name):
            asked = engine.catalog.subscriptions[needed]
            definition = asked.definition()
            self.engine.subscribe(
                needed, definition.language, definition.query, True, definition.report, results=definition.results
            )
            earlier = asked.updates
            if len(earlier) > updated[needed]:  # the newest ones are among the events
                again = self.engine.catalog.subscriptions[needed]
                before = earlier[: len(earlier) - updated[needed]]
                update_again(self.engine.program, self.engine.runtime, self.engine.disorder, again, before)
        self.disorder = self.engine.disorder
        self.revises = self.disorder is not None and name in self.disorder.readers.by_name
        self.explainers: list[Explainer] = []
        self._others: list[Reference] = []  # of publishers
        if question is None:
            return
        known: set[int] = set()  # parts of a subscription that are alike share a machine
        for registration in self.engine.program.machines.registrations.values():
            machine = registration.matcher.machine
            if id(machine) in known:
                continue
            serves = [each.name for each in registration.member.target.subscribers()]
            if isinstance(machine, Reference) and name in serves:
                known.add(id(machine))
                machine.account.widen(UNLIMITED >> 1, UNLIMITED >> 1)  # the budget limits it
                self.explainers.append(ReferenceRuns(machine.interpreter, budget, question, self._declared(machine)))
            elif isinstance(machine, Reference):
                self._others.append(machine)
        own = self.engine.catalog.subscriptions[name]
        for automaton in own.automata():
            if automaton.time in RUNS:
                probe = EventProbe(self.engine, automaton, self.revises)
                self.explainers.append(RUNS[automaton.time](own, probe, budget))

    def _declared(self, machine: Reference) -> bool:
        """Whether it reads declared streams only, whose events have one id each."""
        return all(untimed(source.stream) in self.engine.streams for source in machine.automaton.sources)

    def play(self, events: Sequence[AskedInput]) -> Iterator[tuple[Cause, list[Match]]]:
        """What each input has brought the subscription, and at the end of the events what waited for it."""
        newest: int | None = None
        for event in events:
            late = isinstance(event, Event) and newest is not None and event.time < newest
            if isinstance(event, Event):
                newest = event.time if newest is None else max(newest, event.time)
            yield self._found(*self._given(event, late))
        yield self._found(AT_THE_END, self.engine.finish())
        stopped = suspended(self.engine.catalog, self.engine.program)
        self.budget.suspended = [name for name in stopped if name != self.name and name in self.engine.subscriptions]

    def _found(self, cause: Cause, results: Any) -> tuple[Cause, list[Match]]:
        self.budget.events -= 1
        for other in self._others:
            self.budget.spend(len(other.interpreter.runs))
        for explainer in self.explainers:
            explainer.watch(results)
        if not self._matches:
            return cause, []
        kinds = ("match", "retraction")
        return cause, [each for each in expanded(results) if each.subscription == self.name and each.kind in kinds]

    def _given(self, event: AskedInput, late: bool) -> tuple[Cause, Any]:
        engine = self.engine
        match event:
            case Event(stream, time, start, number, data):
                row = row_from_mapping(engine.streams[stream], data) if isinstance(data, dict) else data
                numbers = None if number is None else [number]
                found: Any = engine.publish(stream, [time], [row], numbers, [start])
                return ("late event" if late else "event", (engine.events if number is None else number,)), found
            case Retraction(number):
                return ("withdrawn event", (number,)), engine.retract(number)
            case UpdateLine(subscription, insert, delete, since, until):
                known = subscription in engine.subscriptions
                return ("update", ()), engine.update(subscription, insert, delete, since, until) if known else ()
            case GapLine(stream, first, last):
                return ("gap", ()), engine.declare_gap(stream, first, last)
            case Punctuation(time, stream, where):
                return ("punctuation", ()), engine.punctuate(time, stream, where)

    def steps(self, match: Match) -> tuple[tuple[Step, ...], WindowPlace | None] | None:
        """The steps of a match that the last input made known; None if they cannot be found."""
        return next((found for each in self.explainers if (found := each.steps(match)) is not None), None)


def in_order(engine: EngineParts, name: str) -> bool:
    """Whether the reference can run the subscription, so that its runs are seen."""
    return {automaton.time for automaton in engine.catalog.subscriptions[name].automata()} <= set(IN_ORDER)


def keys_of(engine: EngineParts) -> dict[str, int]:
    """The positions of the declared keys of streams."""
    declared = engine.catalog.streams.values()
    return {stream.name: stream.schema.position(stream.key) for stream in declared if stream.key is not None}


def needed_by(engine: EngineParts, name: str) -> list[str]:
    """The subscription and those that publish what it reads, directly or through others, publishers first."""
    wanted, waiting = {name}, [name]
    by_name = engine.catalog.subscriptions
    while waiting:
        reads = {stream for stream, _ in by_name[waiting.pop()].form.sources}
        more = [other for other, each in by_name.items() if each.form.publish in reads and other not in wanted]
        wanted.update(more)
        waiting += more
    ordered: list[str] = []
    rest = [other for other in by_name if other in wanted]
    while rest:
        for other in rest:
            reads = {stream for stream, _ in by_name[other].form.sources}
            if not any(by_name[publisher].form.publish in reads for publisher in rest if publisher != other):
                ordered.append(other)
                rest.remove(other)
                break
    return ordered
