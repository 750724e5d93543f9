"""Where a subscription is after each event, by runs and tuples kept one by one: what chains must count.

The chain's state after an event is the final one if a match was completed at it, else the most advanced elementary
state that is live, or the set of all that are (semantics 3.7). Runs step as automata are documented, tuples along
the arcs of path automata; nothing is shared, indexed or forgotten early.

Here: states and counts. Not here: whose events a chain counts: `positions`, by stream the attributes that make a key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from broker.algebra import predicate
from broker.algebra.composite import Composite
from broker.algebra.normal_form import Form, duration_bound
from broker.algebra.semantics import Environment, Occurrence, holds
from broker.algebra.terms import Attribute, Comparison, Register, Side
from broker.automaton.automaton import Arc, Automaton, BoundRow, Carry, Computed, EventRow
from broker.automaton.compilation import Compiled
from broker.automaton.paths import PathAutomaton
from broker.automaton.paths.conditions import Distances
from broker.automaton.paths.path_automaton import PathArc
from broker.events.schema import Row

Positions: TypeAlias = Mapping[str, tuple[int, ...]]
Counted: TypeAlias = Counter[tuple[Any, ...]]
"""(context, state, next state), and ("marks", cells before, state entered, code of the cells after)"""
LONG = 1 << 60


@final
@dataclass(frozen=True, slots=True)
class Beat:
    """One event of a key, and the chain's state after it."""

    key: tuple[Any, ...]
    row: Row
    time: int
    state: int


@final
@dataclass(frozen=True, slots=True)
class Numbering:
    """`left`: the steps that each elementary state is from a match, 0 being the one of having none."""

    left: list[int]
    sets: bool

    @property
    def final(self) -> int:
        elementary = len(self.left) - 1
        return 1 << elementary if self.sets else elementary + 1

    def state(self, matched: bool, live: set[int]) -> int:
        if matched:
            return self.final
        if self.sets:
            return sum(1 << (state - 1) for state in live)
        return min(live, key=lambda state: (self.left[state], state), default=0)


# --- register automata -----------------------------------------------------------------------------------------------


@final
class Run:
    """`branch`: the number of the automaton among those of the subscription, or None for an internal stream's."""

    def __init__(
        self, automaton: Automaton, branch: int | None, depth: int, row: Row, slots: Row, t0: int, t1: int, key: Any
    ) -> None:
        self.automaton = automaton
        self.branch = branch
        self.depth = depth
        self.row = row
        self.slots = slots
        self.t0 = t0
        self.t1 = t1
        self.key = key
        self.touched: int | None = None

    def live(self, now: int) -> bool:
        """Whether an event of this epoch or a later one may still bring it to something, or let it wait."""
        soonest = max(now, self.t1 + 1)
        return self.touched is None and soonest - self.t0 + 1 <= bound(self.automaton, self.depth) and not self.lame()

    def lame(self) -> bool:
        """Whether it waits for an event that has a value equal to null."""
        theta = self.automaton.states[self.depth].theta
        for atom in theta[0] if theta else ():
            match atom:
                case Comparison("=", Attribute(Side.EVENT, _), Register(slot, position)):
                    held: Any = self.row if slot < 0 else self.slots[slot]
                    value = held[position] if position >= 0 else held
                    if value is None and all(atom in clause for clause in theta):
                        return True
                case _:
                    pass
        return False


def bound(automaton: Automaton, depth: int) -> int:
    """The longest duration with which a run that waits at this depth can come to a match."""
    forms: list[Form] = []
    for state in range(depth, len(automaton.states)):
        loop = automaton.loop(state)
        forms += [automaton.states[state].theta, automaton.forward(state).guard]
        forms += [] if loop is None else [loop.guard]
    return min((found for form in forms if (found := duration_bound(form)) is not None), default=LONG)


@final
class Runs:
    """All runs of a subscription, in no order."""

    def __init__(self, compiled: Compiled) -> None:
        self.automata: list[tuple[Automaton, int | None, str | None]] = []
        for stream, feeding in compiled.internal:
            self.automata += [(automaton, None, stream) for automaton in feeding]
        self.automata += [(automaton, branch, None) for branch, automaton in enumerate(compiled.automata)]
        self.runs: list[Run] = []
        self.matched = False
        self.derived: list[tuple[str, int, Row]] = []

    def take(self, stream: str, time: int, start: int, row: Row, key: Any) -> bool:
        """An event; whether it has completed a match."""
        self.matched = False
        self.runs = [run for run in self.runs if run.touched in (None, time)]
        self.derived = [(stream, start, row)]
        while self.derived:
            name, begin, values = self.derived.pop(0)
            for run in list(self.runs):
                if run.automaton.states[run.depth].stream == name and run.t1 < begin:
                    self._wait(run, time, begin, values, key)
            for automaton, branch, fed in self.automata:
                if automaton.states[0].stream == name:
                    before = Run(automaton, branch, 0, (), (), begin, begin, key)
                    self._follow(before, automaton.forward(0), time, begin, values, fed)
        return self.matched

    def _wait(self, run: Run, time: int, start: int, row: Row, key: Any) -> None:
        if not met(run.automaton.states[run.depth].theta, run, row, start, time):
            return
        run.touched = time
        loop = run.automaton.loop(run.depth)
        if loop is not None and not met(loop.guard, run, row, start, time):
            return
        if run.branch is not None:
            assert run.key == key, "a run has bound events of two keys"
        fed = next(fed for automaton, branch, fed in self.automata if automaton is run.automaton)
        if loop is not None:
            self._follow(run, loop, time, start, row, fed)
        self._follow(run, run.automaton.forward(run.depth), time, start, row, fed)

    def _follow(self, run: Run, arc: Arc, time: int, start: int, row: Row, fed: str | None) -> None:
        if not met(arc.guard, run, row, start, time):
            return
        length, span = time - start + 1, time - run.t0 + 1
        if arc.target == run.automaton.final:
            if fed is None:
                self.matched = True
            else:
                values = [predicate.computation(t).value(row, run.row, run.slots, length, span) for t in arc.output]
                self.derived.append((fed, run.t0, tuple(values)))
            return
        slots: list[Any] = []
        for source in arc.update:
            match source:
                case Carry(slot):
                    slots.append(run.slots[slot])
                case BoundRow():
                    slots.append(run.row)
                case EventRow():
                    slots.append(row)
                case Computed(term):
                    slots.append(predicate.computation(term).value(row, run.row, run.slots, length, span))
        self.runs.append(Run(run.automaton, run.branch, arc.target, row, tuple(slots), run.t0, time, run.key))


def met(form: Form, run: Run, row: Row, start: int, time: int) -> bool:
    length, span = time - start + 1, time - run.t0 + 1
    return any(
        all(predicate.predicate(atom).holds(row, run.row, run.slots, length, span) for atom in clause)
        for clause in form
    )


def cayuga_beats(compiled: Compiled, positions: Positions, sets: bool, history: Sequence[Any]) -> list[Beat]:
    """`history`: events with stream, time, start and row."""
    first = [1]
    for automaton in compiled.automata[:-1]:
        first.append(first[-1] + len(automaton.states) - 1)
    left = [min(len(automaton.states) for automaton in compiled.automata)]
    left += [steps for automaton in compiled.automata for steps in range(len(automaton.states) - 1, 0, -1)]
    numbering = Numbering(left, sets)
    runs = Runs(compiled)
    beats: list[Beat] = []
    for event in history:
        own = positions.get(event.stream)
        key = None if own is None else tuple(event.row[position] for position in own)
        matched = runs.take(event.stream, event.time, event.start, event.row, key)
        if key is None or None in key:
            continue
        live = {
            first[run.branch] + run.depth - 1
            for run in runs.runs
            if run.branch is not None and run.key == key and run.live(event.time)
        }
        beats.append(Beat(key, event.row, event.time, numbering.state(matched, live)))
    return beats


# --- path automata ---------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class Partial:
    """A tuple begun: its state, the time of each slot, the variables bound, the values of the automaton's key, and the
    number of its last event in its partition."""

    state: int
    times: tuple[int, ...]
    values: Row
    key: Row
    last: int


@final
class Tuples:
    """The tuples begun in one partition; `times` are those of its events."""

    def __init__(self, automaton: PathAutomaton, composite: Composite) -> None:
        self.automaton = automaton
        self.composite = composite
        self.begun: list[Partial] = []
        self.times: list[int] = []

    def take(self, time: int, row: Row) -> bool:
        """An event of the partition; whether it has completed a match."""
        self.times.append(time)
        environment = Environment(Occurrence(row, 0, 0, ()))
        matched = False
        for partial in [Partial(0, (), (), (), -1), *self.begun]:
            for arc in self.automaton.arcs:
                guard = self.composite.operands[arc.operand].guard
                if arc.source == partial.state and any(all(holds(a, environment) for a in c) for c in guard):
                    after = self._along(arc, partial, time, row)
                    if after is not None and self.automaton.states[after.state].final:
                        matched = True
                    elif after is not None:
                        self.begun.append(after)
        return matched

    def _along(self, arc: PathArc, partial: Partial, time: int, row: Row) -> Partial | None:
        automaton, here = self.automaton, len(self.times) - 1
        key = tuple(row[attribute] for attribute in automaton.keys[arc.operand]) if automaton.key else ()
        if None in key or (partial.state and key != partial.key):
            return None
        if partial.state and not automaton.states[partial.state].skips and partial.last != here - 1:
            return None
        fits = (
            all(within(automaton.limits[limit].allowed, time - partial.times[slot]) for slot, limit in arc.checks)
            and all(here >= n and within(allowed, time - self.times[here - n]) for n, allowed in arc.recents)
            and all(row[attribute] == partial.values[variable] for attribute, variable in arc.tests)
            and all(row[one] == row[other] for one, other in arc.equals)
            and all(row[attribute] is not None for attribute in arc.present)
        )
        if not fits:
            return None
        times = tuple(time if source < 0 else partial.times[source] for source in arc.times)
        values = tuple(partial.values[source] if source >= 0 else row[-1 - source] for source in arc.values)
        return Partial(arc.target, times, values, key, here)

    def live(self, now: int) -> set[int]:
        """The states with a tuple that a next event, at this time or later, may go on with."""
        return {partial.state for partial in self.begun if self._useful(partial, now)}

    def _useful(self, partial: Partial, now: int) -> bool:
        state = self.automaton.states[partial.state]
        if not state.skips and partial.last != len(self.times) - 1:
            return False
        return all(
            any(now <= time + high for _, high in self.automaton.limits[limit].allowed)
            for slot, time in zip(state.slots, partial.times)
            for limit in slot.must
        )


def within(allowed: Distances, distance: int) -> bool:
    return any(low <= distance <= high for low, high in allowed)


def ptopss_beats(
    composite: Composite, automaton: PathAutomaton, positions: tuple[int, ...], sets: bool, history: Sequence[Any]
) -> list[Beat]:
    """`history`: events of the one stream, with time and row. The attributes of BY come first in `positions`."""
    waiting = [number for number, state in enumerate(automaton.states) if number and not state.final]
    number_of = {state: number for number, state in enumerate(waiting, 1)}
    numbering = Numbering([distance(automaton, 0), *(distance(automaton, state) for state in waiting)], sets)
    partitions: dict[Row, Tuples] = {}
    beats: list[Beat] = []
    for event in history:
        part = tuple(event.row[position] for position in composite.partition)
        if None in part:
            continue
        tuples = partitions.setdefault(part, Tuples(automaton, composite))
        matched = tuples.take(event.time, event.row)
        key = tuple(event.row[position] for position in positions)
        if None in key:
            continue
        if len(positions) > len(part):
            tuples_of_key = Tuples(automaton, composite)
            binding = tuple(event.row[attribute] for attribute in automaton.keys[0])
            tuples_of_key.begun = [partial for partial in tuples.begun if partial.key == binding]
            tuples_of_key.times = tuples.times
            live = tuples_of_key.live(event.time)
        else:
            live = tuples.live(event.time)
        state = numbering.state(matched, {number_of[state] for state in live})
        beats.append(Beat(key, event.row, event.time, state))
    return beats


def distance(automaton: PathAutomaton, state: int) -> int:
    """The least number of arcs from a state to a final one."""
    if automaton.states[state].final:
        return 0
    return 1 + min(distance(automaton, arc.target) for arc in automaton.arcs if arc.source == state)
