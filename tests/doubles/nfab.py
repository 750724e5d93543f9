"""SASE+ by runs of the automaton, breadth first (SASE+ 4; semantics 2.2-2.5): another way to say what a match is.

Written from the edges and forks, not from the denotation, with which it must agree: every run is an object, sees every
event, and is copied where two edges are satisfied. Registers are kept up to date as a run takes events; guards are used
in their canonical form, ready to run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

from broker.algebra import predicate
from broker.algebra.functions import bounded
from broker.algebra.guard import Guard
from broker.algebra.kleene import Aggregate, Component, Pattern
from broker.algebra.sase.semantics import Assignment, Event
from broker.events.schema import Row


@final
@dataclass(frozen=True, slots=True)
class Run:
    """`state` is the component that is awaited or, with `taking`, the Kleene component that may take more."""

    state: int
    taking: bool
    bound: Assignment
    start: int
    key: Row
    slots: tuple[Any, ...]  # as guards read them
    sums: tuple[tuple[Any, int], ...]  # of each slot the sum before it is bounded, and of how many values


@final
@dataclass(slots=True)
class Automaton:
    """A pattern that is fed event by event; `found` are its matches in the order in which they are known."""

    pattern: Pattern
    events: list[Event] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    waiting: list[Run] = field(default_factory=list)  # complete but for a trailing negation
    found: list[Assignment] = field(default_factory=list)
    peak: int = 0

    def take(self, event: Event) -> None:
        stream, time, _ = event
        index = len(self.events)
        self.events.append(event)
        if all(source.stream != stream for source in self.pattern.sources):
            return
        self.release(time)
        self.waiting = [run for run in self.waiting if not self.ended_by(run, event)]
        size = len(self.pattern.slots)
        within = self.pattern.within
        fresh = Run(0, False, (), time, (), (None,) * size, ((None, 0),) * size)
        following: list[Run] = []
        for run in [*self.runs, fresh]:
            if within is None or time - run.start <= within:
                following += self.step(run, event, index, run is fresh)
        self.runs = following
        self.peak = max(self.peak, len(following))

    def release(self, time: int | None) -> None:
        """What is known when time has come to `time`; None: to its end."""
        still = []
        for run in sorted(self.waiting, key=lambda run: run.bound[0][0]):
            if time is None or time > run.start + (self.pattern.within or 0):
                self.found.append(run.bound)
            else:
                still.append(run)
        self.waiting = still

    def step(self, run: Run, event: Event, index: int, fresh: bool) -> Iterator[Run]:
        components = self.pattern.components
        component = components[run.state]
        if run.taking:
            fit = self.fits(run, component, component.take, event)
            ignored = self.ignores(run, component, event, fit)
            if fit:
                yield from self.entered(run, index, event, True)
            if ignored:
                yield run
            if run.state + 1 == len(components) or not self.holds(component.proceed, run, ()):
                return
            run = replace(run, state=run.state + 1, taking=False)
            component = components[run.state]
            begun = self.fits(run, component, component.begin, event)
            if begun:
                yield from self.entered(run, index, event, False)
            if not fit and not ignored and self.ignores(run, component, event, begun):
                yield run
        else:
            begun = self.fits(run, component, component.begin, event)
            if begun:
                yield from self.entered(run, index, event, False)
            if not fresh and self.ignores(run, component, event, begun):
                yield run

    def entered(self, run: Run, index: int, event: Event, further: bool) -> Iterator[Run]:
        """The run with one more event, reported if that may be its last."""
        bound = (*run.bound[:-1], (*run.bound[-1], index)) if further else (*run.bound, (index,))
        component = self.pattern.components[run.state]
        key = run.key if run.bound else self.key(event) or ()
        slots, sums = list(run.slots), list(run.sums)
        for number, slot in enumerate(self.pattern.slots):
            if slot.component == run.state:
                if isinstance(slot, Aggregate):
                    slots[number], sums[number] = accumulated(slot, event[2], slots[number], sums[number])
                elif slot.last or not further:
                    slots[number] = event[2]
        taking = component.kleene
        after = Run(run.state if taking else run.state + 1, taking, bound, run.start, key, tuple(slots), tuple(sums))
        complete = run.state + 1 == len(self.pattern.components)
        if complete and self.holds(component.proceed, after, ()) and not self.refused(after):
            if self.pattern.trailing:
                self.waiting.append(after)
            else:
                self.found.append(bound)
        if taking or not complete:
            yield after

    def fits(self, run: Run, component: Component, guard: Guard | None, event: Event) -> bool:
        key = self.key(event)
        right = event[0] == self.pattern.sources[component.source].stream and key is not None
        return right and (not run.bound or key == run.key) and self.holds(guard, run, event[2])

    def ignores(self, run: Run, component: Component, event: Event, fit: bool) -> bool:
        return {
            "strict_contiguity": False,
            "partition_contiguity": self.key(event) != run.key,
            "skip_till_next_match": not fit,
            "skip_till_any_match": True,
        }[component.strategy]

    def holds(self, guard: Guard | None, run: Run, row: Row) -> bool:
        if guard is None:
            return True
        for form in (guard.static, guard.residual):
            if not form or not predicate.holds(predicate.condition(form), row, (), run.slots, 0, 0):
                return False
        for join in guard.joins:
            other = run.slots[join.register.slot][join.register.position]
            if other is None or row[join.position] != other:
                return False
        return True

    def key(self, event: Event) -> Row | None:
        source = next(source for source in self.pattern.sources if source.stream == event[0])
        key = tuple(event[2][position] for position in source.key)
        return None if None in key else key

    def refused(self, run: Run) -> bool:
        """Whether an event that has come already is one of a negated component."""
        first, last = run.bound[0][0], run.bound[-1][-1]
        for negated in self.pattern.negated:
            if negated.place == 0:
                since = self.events[last][1] - (self.pattern.within or 0)
                before = self.events[:first]
                range_ = [e for e in before if since < e[1] < self.events[first][1]]
            elif negated.place == len(run.bound):
                continue
            else:
                range_ = self.events[run.bound[negated.place - 1][-1] + 1 : run.bound[negated.place][0]]
            stream = self.pattern.sources[negated.source].stream
            if any(e[0] == stream and self.key(e) == run.key and self.holds(negated.guard, run, e[2]) for e in range_):
                return True
        return False

    def ended_by(self, run: Run, event: Event) -> bool:
        """Whether a trailing negation has its event; whoever waits has not been passed by its window."""
        for negated in self.pattern.negated:
            if negated.place == len(run.bound) and event[1] > self.events[run.bound[-1][-1]][1]:
                stream = self.pattern.sources[negated.source].stream
                if event[0] == stream and self.key(event) == run.key and self.holds(negated.guard, run, event[2]):
                    return True
        return False


def accumulated(slot: Aggregate, row: Row, old: Any, state: tuple[Any, int]) -> tuple[Any, tuple[Any, int]]:
    """The value of a register after one more event, and what it is made of."""
    total, count = state
    if slot.function == "len":
        return count + 1, (None, count + 1)
    value: Any = row[slot.position]
    if value is None:
        return (count if slot.function == "count" else old), state
    match slot.function:
        case "count":
            return count + 1, (None, count + 1)
        case "min" | "max":
            pick = min if slot.function == "min" else max
            return (value if old is None else pick(old, value)), (None, count + 1)
        case _:
            total, count = (value if total is None else total + value), count + 1
            return bounded(total if slot.function == "sum" else total / count), (total, count)


def matches(pattern: Pattern, events: Sequence[Event]) -> list[Assignment]:
    """All matches, each as often as a run has found it, whatever the output mode, in no special order."""
    automaton = Automaton(pattern)
    for event in events:
        automaton.take(event)
    automaton.release(None)
    return automaton.found
