"""The runs that the reference executor keeps: their steps, and where each of them ended.

A partial match is asked about where it ends: an event ended it, its window passed, an event forbids it, or it still
waits. Partial matches that went on with another event are not; their successors are.

Not here: other time models (register_runs, window_runs), which partial matches are told (unmatched).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

from ...automaton.automaton import TAKING, Arc, Automaton, Kind
from ...events.instant import FOREVER, format_duration
from ..executors.reference.interpreter import Interpreter
from ..executors.reference.run import Notes, Path, ReferenceRun, SeenEvent
from ..match import Match
from ..matches.sources import ids
from .budget import ReasonsBudget
from .conditions import conditions_of, name_of, wanted_by
from .explaining import Candidate, Explainer, Question
from .steps import Step, standing, steps_of
from .told import NEAREST_MAX, Nearest, UntakenEvent, WindowPlace

OVER_MAX: Final = 1_000
"""Lives that are over and did not go on, beyond which only those that will be told are kept."""


@final
@dataclass(slots=True)
class _Life:
    """A run, the numbers of its events, and how it ended; `went_on`: as another run, or as a match."""

    run: ReferenceRun
    path: tuple[int, ...]
    ended_by: SeenEvent | None = None
    ended: str = ""
    went_on: bool = False


@final
class ReferenceRuns(Explainer):
    """The lives of an interpreter's runs; `alive` by identity, which the run itself keeps from being used again.
    `parents`: the events of runs that went on with one more; `counted`: so many completed runs are among them.

    `declared`: all events are of declared streams, so that an event of the match that is asked about is in its run from
    then on. What is not asked about, and what the budget has no room for, is not followed.
    """

    def __init__(self, interpreter: Interpreter, budget: ReasonsBudget, question: Question, declared: bool) -> None:
        self.interpreter = interpreter
        self.budget = budget
        self.question = question
        self.declared = declared
        self.notes = interpreter.notes = Notes()
        self.alive: dict[int, _Life] = {}
        self.over: list[_Life] = []
        self.parents: set[tuple[int, ...]] = set()
        self.counted = 0
        self._stepped = 0  # runs that the next event is compared with
        self._looked = self._due = 0  # events so far, and how many of them the match has
        states = {arc.source for arc in interpreter.automaton.arcs} | {interpreter.automaton.final}
        self._missing = {state: missing_from(interpreter.automaton, state) for state in states}

    def watch(self, results: Any) -> None:
        """Note what has become of runs since the last call. O(runs)."""
        completed, interpreter = self.notes.completed, self.interpreter
        made = len(completed) - self.counted
        self.budget.spend(self._stepped + len(interpreter.runs) + made * (1 + len(interpreter.log)))
        if self.question.lineage is None:
            self._live()
        else:
            interpreter.runs = self._becoming(interpreter.runs, self.question.lineage)
        self.counted = len(completed)
        self._stepped = len(interpreter.runs) + 1

    def _becoming(self, runs: list[ReferenceRun], lineage: frozenset[int]) -> list[ReferenceRun]:
        """The runs that may become the match of these events."""
        seen = self.notes.seen
        if self.declared:
            self._due += sum(1 for event in seen[self._looked :] if event.item in lineage)
        self._looked = len(seen)
        return [run for run in runs if len(run.taken) >= self._due and lineage.issuperset(_ids_of(run.taken))]

    def _live(self) -> None:
        interpreter = self.interpreter
        if self.question.key is not None:
            interpreter.runs = [run for run in interpreter.runs if self.question.has_key(run.first())]
        now = {id(run): run for run in interpreter.runs}
        new = {key: _numbers(run.taken) for key, run in now.items() if key not in self.alive}
        done = {_numbers(match.taken) for match in self.notes.completed[self.counted :]}
        paths = {*new.values(), *done}
        self.parents.update(path[:-1] for path in paths)
        for key in [key for key in self.alive if key not in now]:
            life = self.alive.pop(key)
            if life.path not in self.parents and life.path not in paths:
                self._end(life)
                self.over.append(life)
        for key, path in new.items():
            self.alive[key] = _Life(now[key], path)
        room = self.budget.room()
        if len(now) > room:
            self._follow(room)
        if len(self.over) > OVER_MAX:
            self.over = sorted(self.over, key=self._nearness)[:NEAREST_MAX]
        if len(self.parents) > 2 * len(self.alive) + OVER_MAX:
            self.parents.intersection_update([life.path for life in self.alive.values()])

    def _follow(self, room: int) -> None:
        """Follow only so many runs, the nearest ones."""
        near = sorted(self.alive.items(), key=lambda each: self._nearness(each[1]))
        chosen = {key for key, _ in near[:room]}
        self.budget.left_out += len(near) - room
        self.interpreter.runs = [run for run in self.interpreter.runs if id(run) in chosen]
        self.alive = {key: life for key, life in self.alive.items() if key in chosen}

    def _nearness(self, life: _Life) -> tuple[int, int, int]:
        run = life.run
        return self.question.near(_ids_of(run.taken), self._missing[run.state], run.first().number)

    def _end(self, life: _Life) -> None:
        run, within, notes = life.run, self.interpreter.automaton.within, self.notes
        newest = notes.seen[-1]
        for forbidden in notes.forbidden:
            if _numbers(forbidden.run.taken)[: len(run.taken)] == life.path:
                life.ended, life.ended_by = "an event that must not occur has occurred", forbidden.event
                return
        if run.ended != FOREVER:
            life.ended_by = next(each for each in reversed(notes.seen) if each.end == run.ended)
            life.ended = "an event that concerns it does not fit"
        elif within is not None and newest.end - run.first().end > within:
            life.ended = f"WITHIN {format_duration(within)} has passed"
        else:
            life.ended, life.ended_by = "the next event does not fit", newest

    def steps(self, match: Match) -> tuple[tuple[Step, ...], WindowPlace | None] | None:
        lineage = sorted(match.lineage or ())
        for run in reversed(self.notes.completed):
            if sorted(_ids_of(run.taken)) == lineage:
                return tuple(steps_of(self.interpreter.automaton, run.taken, self.notes.seen)), None
        return None

    def candidates(self, question: Question) -> list[Candidate]:
        """Those that ended or wait. A run that an event has ended stays until its epoch is over."""
        for life in self.alive.values():
            if life.run.ended != FOREVER:
                life.went_on = life.path in self.parents
                self._end(life)
        found: list[Candidate] = []
        for life in [*self.over, *self.alive.values()]:
            if not life.went_on and question.has_key(life.run.first()):
                found.append(self._candidate(life, question))
        return found

    def _candidate(self, life: _Life, question: Question) -> Candidate:
        missing = self._missing[life.run.state]
        return Candidate(self._nearness(life), lambda: self._told(life, missing, question))

    def _told(self, life: _Life, missing: int, question: Question) -> Nearest:
        automaton, run, notes = self.interpreter.automaton, life.run, self.notes
        until = FOREVER if life.ended_by is None else life.ended_by.number
        later = [each for each in notes.seen if run.last().number < each.number <= until]
        asked = [each for each in later if each is life.ended_by or question.wants(each)]
        refused = sorted((each for event in asked for each in _refused(automaton, run, event)), key=by_failures)
        waits: list[tuple[str, tuple[str, ...]]] = []
        for number, (at, arc) in enumerate(_outgoing(automaton, run)):
            if life.ended == "" and number < NEAREST_MAX:
                waits.append((name_of(automaton, arc, len(run.taken) + 1), tuple(wanted_by(automaton, arc, at))))
        return Nearest(
            tuple(steps_of(automaton, run.taken, notes.seen)),
            missing,
            life.ended or "it still waits",
            () if life.ended_by is None else tuple(ids(life.ended_by.item)),
            tuple(waits),
            tuple(refused[:NEAREST_MAX]),
        )

    def beginnings(self, question: Question) -> list[UntakenEvent]:
        start = ReferenceRun(0, (), ())
        found: list[UntakenEvent] = []
        for event in self.notes.seen:
            if question.wants(event) and question.has_key(event):
                found += _refused(self.interpreter.automaton, start, event)
        return found


def missing_from(automaton: Automaton, state: int) -> int:
    """The least number of events that lead from a state to a match; FOREVER if none do."""
    reached, here = 0, {state}
    known = set(here)
    while here:
        onward = set(here)
        growing = True
        while growing:
            free = [arc for arc in automaton.arcs if arc.kind not in (*TAKING, Kind.KILL)]
            more = {arc.target for arc in free if arc.source in onward}
            growing = not more <= onward
            onward |= more
        if automaton.final in onward:
            return reached
        here = {arc.target for arc in automaton.arcs if arc.source in onward and arc.kind in TAKING} - known
        known |= here
        reached += 1
    return FOREVER


def by_failures(refusal: UntakenEvent) -> int:
    """The order in which refusals are told: those with the fewest failures first."""
    return len(refusal.failed)


def _numbers(path: Path) -> tuple[int, ...]:
    return tuple([event.number for _, event in path])


def _ids_of(path: Path) -> list[int]:
    """The ids of the events of a run, in the order in which it took them; of a derived event those behind it."""
    return [number for _, event in path for number in ids(event.item)]


def _outgoing(automaton: Automaton, run: ReferenceRun) -> list[tuple[ReferenceRun, Arc]]:
    """The arcs by which the run may take an event, also behind arcs without events, each with the run before it."""
    onward = [arc.target for arc in automaton.arcs if arc.source == run.state and arc.kind is Kind.EPSILON]
    states = [run.state, *onward]
    found: list[tuple[ReferenceRun, Arc]] = []
    for state in states:
        at = standing(automaton, run, state)
        if at.state == state:
            found += [(at, arc) for arc in automaton.arcs if arc.source == state and arc.kind in TAKING]
    return found


def _refused(automaton: Automaton, run: ReferenceRun, event: SeenEvent) -> list[UntakenEvent]:
    found: list[UntakenEvent] = []
    for at, arc in _outgoing(automaton, run):
        stream = arc.stream or automaton.states[arc.source].stream
        if stream in ("", event.stream):
            failed = [each for each in conditions_of(automaton, arc, at, event) if not each.holds]
            if failed:
                name = name_of(automaton, arc, len(run.taken) + 1)
                found.append(UntakenEvent(tuple(ids(event.item)), name, tuple(failed)))
    return found
