"""Where a subscription is after each event, by runs and tuples kept one by one: what chains must count.

The chain's state after an event is the final one if a match was completed at it, else the most advanced elementary
state that is live, or the set of all that are (semantics 3.7). Runs are those of the reference, tuples step along the
arcs of path automata; nothing is shared, indexed or forgotten early.

Here: states and counts. Not here: whose events a chain counts: `positions`, by stream the attributes that make a key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from doubles.interpreted_queries import InterpretedQueries

from broker.algebra.composite import Composite
from broker.algebra.normal_form import Form, duration_bound
from broker.algebra.semantics import Environment, Occurrence, holds
from broker.algebra.terms import Attribute, Comparison, Register, Side
from broker.automaton.automaton import Automaton
from broker.automaton.compilation import Compiled
from broker.automaton.paths import PathAutomaton
from broker.automaton.paths.conditions import Distances
from broker.automaton.paths.path_automaton import PathArc
from broker.engine.executors.reference.run import ReferenceRun
from broker.events.instant import FOREVER
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


def waits(automaton: Automaton, run: ReferenceRun, now: int) -> bool:
    """Whether an event of this epoch or a later one may still bring a run to something, or let it wait."""
    soonest = max(now, run.last().end + 1)
    in_time = soonest - run.first().start + 1 <= bound(automaton, run.state)
    return run.ended == FOREVER and in_time and not lame(automaton, run)


def lame(automaton: Automaton, run: ReferenceRun) -> bool:
    """Whether it waits for an event that has a value equal to null."""
    theta = automaton.states[run.state].theta
    for atom in theta[0] if theta else ():
        match atom:
            case Comparison("=", Attribute(Side.EVENT, _), Register(slot, position)):
                held: Any = run.last().row if slot < 0 else run.slots[slot]
                value = held[position] if position >= 0 else held
                if value is None and all(atom in clause for clause in theta):
                    return True
            case _:
                pass
    return False


def bound(automaton: Automaton, state: int) -> int:
    """The longest duration with which a run that waits there can come to a match."""
    forms: list[Form] = []
    for later in range(state, len(automaton.states)):
        loop = automaton.loop(later)
        forms += [automaton.states[later].theta, automaton.forward(later).guard]
        forms += [] if loop is None else [loop.guard]
    return min((found for form in forms if (found := duration_bound(form)) is not None), default=LONG)


def cayuga_beats(compiled: Compiled, positions: Positions, sets: bool, history: Sequence[Any]) -> list[Beat]:
    """`history`: events with stream, time, start and row."""
    first = [1]
    for automaton in compiled.automata[:-1]:
        first.append(first[-1] + len(automaton.states) - 1)
    left = [min(len(automaton.states) for automaton in compiled.automata)]
    left += [steps for automaton in compiled.automata for steps in range(len(automaton.states) - 1, 0, -1)]
    numbering = Numbering(left, sets)
    queries = InterpretedQueries({"": compiled}, {})
    branches = [interpreter for interpreter, name, _ in queries.automata if name is not None]
    beats: list[Beat] = []
    for event in history:
        own = positions.get(event.stream)
        key = None if own is None else tuple(event.row[position] for position in own)
        matched = queries.feed(event.stream, event.start, event.time, event.row, (key,))
        if key is None or None in key:
            continue
        live: set[int] = set()
        for begin, interpreter in zip(first, branches):
            for run in interpreter.runs:
                keys = {each for _, taken in run.taken for each in taken.item}
                assert len(keys) == 1, "a run has bound events of two keys"
                if key in keys and waits(interpreter.automaton, run, event.time):
                    live.add(begin + run.state - 1)
        beats.append(Beat(key, event.row, event.time, numbering.state(bool(matched), live)))
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
