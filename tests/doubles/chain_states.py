"""Where a subscription is after each event, by runs and tuples kept one by one: what chains must count.

The chain's state after an event is the final one if a match was completed at it, else the most advanced elementary
state that is live, or the set of all that are (semantics 3.7). Runs are those of the reference, tuples step along the
arcs; nothing is shared, indexed or forgotten early.

Here: states and counts. Not here: whose events a chain counts: `positions`, by stream the attributes that make a key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from doubles.interpreted_queries import InterpretedQueries
from doubles.timed_events import as_read

from broker.algebra.normal_form import Form, duration_bound
from broker.algebra.semantics import Environment, Occurrence, holds
from broker.algebra.terms import Attribute, Comparison, Register, Side
from broker.algebra.timed_stream import untimed
from broker.automaton.analyses.kept_times import kept_times
from broker.automaton.automaton import Arc, Automaton, Carry, Computed, EventTime, SlotSource, Stay
from broker.automaton.compilation import Compiled
from broker.engine.executors.reference.run import ReferenceRun
from broker.events.instant import FOREVER
from broker.events.schema import Row

Positions: TypeAlias = Mapping[str, tuple[int, ...]]
Counted: TypeAlias = Counter[tuple[tuple[str | int, ...], int, int]]
"""(context, state, next state)"""
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


# --- automata of points in order of arrival --------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class Partial:
    """A tuple begun: its state and slots, the row of its first event, and the number of its last one in its
    partition."""

    state: int
    slots: Row
    first: Row
    last: int


@final
class Tuples:
    """The tuples begun in one partition; `times` are those of its events."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.kept = kept_times(automaton)
        self.begun: list[Partial] = []
        self.times: list[int] = []

    def take(self, stream: str, time: int, row: Row) -> bool:
        """An event of the partition; whether it has completed a match."""
        self.times.append(time)
        matched = False
        for partial in [Partial(0, (), row, -1), *self.begun]:
            for arc in self.automaton.arcs:
                of_it = arc.source == partial.state and arc.stream in ("", stream)
                if of_it and self._fits(arc, partial, time, row):
                    if arc.target == self.automaton.final:
                        matched = True
                    else:
                        slots = tuple(self._filled(source, partial, time, row) for source in arc.update)
                        self.begun.append(Partial(arc.target, slots, partial.first, len(self.times) - 1))
        return matched

    def _fits(self, arc: Arc, partial: Partial, time: int, row: Row) -> bool:
        here, slots = len(self.times) - 1, partial.slots
        if partial.state and self.automaton.states[partial.state].stay is Stay.FOREIGN and partial.last != here - 1:
            return False
        if not satisfied(arc.guard, row) or not satisfied(arc.rest, row):
            return False
        if any(row[join.position] is None or row[join.position] != slots[join.register.slot] for join in arc.joins):
            return False
        for elapsed in arc.elapsed:
            since: Any = slots[elapsed.slot] if elapsed.slot >= 0 else self.times[here + elapsed.slot]
            if not any(low <= time - since <= high for low, high in elapsed.allowed):
                return False
        return True

    def _filled(self, source: SlotSource, partial: Partial, time: int, row: Row) -> Any:
        match source:
            case Carry(slot):
                return partial.slots[slot]
            case EventTime():
                return time
            case Computed(Attribute(_, position)):
                return row[position]
        raise AssertionError(source)

    def live(self, now: int) -> set[int]:
        """The states with a tuple that a next event, at this time or later, may go on with."""
        return {partial.state for partial in self.begun if self._useful(partial, now)}

    def _useful(self, partial: Partial, now: int) -> bool:
        if self.automaton.states[partial.state].stay is Stay.FOREIGN and partial.last != len(self.times) - 1:
            return False
        highest = {e.number: e.allowed[-1][1] for arc in self.automaton.arcs for e in arc.elapsed}
        kept: Any = [(partial.slots[slot], one.must) for slot, one in self.kept[partial.state].items()]
        return all(now <= time + highest[number] for time, must in kept for number in must)


def satisfied(form: Form, row: Row) -> bool:
    environment = Environment(Occurrence(row, 0, 0, ()))
    return any(all(holds(atom, environment) for atom in clause) for clause in form)


def ptopss_beats(
    automaton: Automaton, places: dict[str, tuple[int, ...]], sets: bool, history: Sequence[Any]
) -> list[Beat]:
    """`history`: events with stream, time and row. The attributes of BY come first in the key's `places`; of several
    streams they are all of it."""
    numbering = Numbering([distance(automaton, state) for state in range(automaton.final)], sets)
    by = {untimed(source.stream): source.key for source in automaton.sources}
    partitions: dict[Row, Tuples] = {}
    beats: list[Beat] = []
    for event in history:
        if event.stream not in by:
            continue
        part = tuple(event.row[position] for position in by[event.stream])
        if None in part:
            continue
        tuples = partitions.setdefault(part, Tuples(automaton))
        stream, row = as_read(automaton.streams(), event.stream, event.time, event.row)
        matched = tuples.take(stream, event.time, row)
        positions = places[event.stream]
        key = tuple(event.row[position] for position in positions)
        if None in key:
            continue
        tuples_of_key = Tuples(automaton)
        tuples_of_key.times = tuples.times
        tuples_of_key.begun = [
            p for p in tuples.begun if len(by) > 1 or tuple(p.first[position] for position in positions) == key
        ]
        beats.append(Beat(key, event.row, event.time, numbering.state(matched, tuples_of_key.live(event.time))))
    return beats


def distance(automaton: Automaton, state: int) -> int:
    """The least number of arcs from a state to the final one."""
    if state == automaton.final:
        return 0
    return 1 + min(distance(automaton, arc.target) for arc in automaton.arcs if arc.source == state)
