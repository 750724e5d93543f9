"""Why a match was not reported: the partial matches that came nearest, how far each came, and what stopped it.

A partial match is asked about where it ends: an event ended it, its window passed, an event forbids it, or it still
waits. Partial matches that went on with another event are not; their successors are.

Not here: matches that were reported (matched).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, final

from ...automaton.automaton import TAKING, Arc, Automaton, Kind
from ...events.event import Event
from ...events.instant import FOREVER, format_duration
from ..executors.matches import ids
from ..executors.reference.interpreter import Interpreter
from ..executors.reference.run import Path, ReferenceRun, SeenEvent
from .conditions import JudgedCondition, conditions_of, name_of, wanted_by
from .rerun import Rerun, ids_of
from .steps import Step, standing, steps_of

if TYPE_CHECKING:
    from ..engine import Engine

NEAREST_MAX: Final = 3
"""Partial matches that are told, and events that each of them did not take."""


@final
@dataclass(frozen=True, slots=True)
class UntakenEvent:
    """An event that a partial match did not take as `name`, and the conditions that failed, at least one."""

    events: tuple[int, ...]
    name: str
    failed: tuple[JudgedCondition, ...]

    def line(self) -> dict[str, Any]:
        return {"as": self.name, "events": list(self.events), "failed": [each.line() for each in self.failed]}


@final
@dataclass(frozen=True, slots=True)
class Nearest:
    """A partial match: its steps, how many events it still needs at least, how it ended, and what it waits for."""

    steps: tuple[Step, ...]
    missing: int
    ended: str
    ended_by: tuple[int, ...]
    waits_for: tuple[tuple[str, tuple[str, ...]], ...]
    refused: tuple[UntakenEvent, ...]

    def line(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "steps": [step.line() for step in self.steps],
            "missing": self.missing,
            "ended": self.ended,
        }
        if self.ended_by:
            found["ended by"] = list(self.ended_by)
        if self.waits_for:
            found["waits for"] = [{"as": name, "conditions": list(texts)} for name, texts in self.waits_for]
        found["refused"] = [each.line() for each in self.refused]
        return found


@final
@dataclass(frozen=True, slots=True)
class WhyNot:
    """The partial matches that came nearest; without any, the events that came nearest to beginning one."""

    subscription: str
    nearest: tuple[Nearest, ...]
    beginnings: tuple[UntakenEvent, ...]

    def line(self) -> dict[str, Any]:
        """As one JSON object."""
        found: dict[str, Any] = {"subscription": self.subscription, "nearest": [each.line() for each in self.nearest]}
        if self.beginnings:
            found["beginnings"] = [each.line() for each in self.beginnings]
        return found


@final
@dataclass(slots=True)
class _Life:
    """A run and how it ended; `went_on`: as another run, or as a match."""

    run: ReferenceRun
    ended_by: SeenEvent | None = None
    ended: str = ""
    went_on: bool = False


@final
@dataclass(slots=True)
class _Watch:
    """The lives of an interpreter's runs; `alive` by identity, which the run itself keeps from being used again.
    `parents`: the events of runs that went on with one more; `told`: so many completed and forbidden runs are among
    them."""

    interpreter: Interpreter
    alive: dict[int, _Life] = field(default_factory=dict)
    over: list[_Life] = field(default_factory=list)
    parents: set[tuple[int, ...]] = field(default_factory=set)
    told: int = 0

    def look(self) -> None:
        """Note what has become of runs since the last call. O(runs)."""
        notes = self.interpreter.notes
        assert notes is not None
        now = {id(run): run for run in self.interpreter.runs}
        new = [_numbers(run.taken) for key, run in now.items() if key not in self.alive]
        done = [_numbers(match.taken) for match in notes.completed[self.told :]]
        self.told = len(notes.completed)
        self.parents.update(path[:-1] for path in [*new, *done])
        for key in [key for key in self.alive if key not in now]:
            life = self.alive.pop(key)
            path = _numbers(life.run.taken)
            life.went_on = path in self.parents or path in new or path in done
            if not life.went_on:
                self._end(life)
            self.over.append(life)
        for key, run in now.items():
            if key not in self.alive:
                self.alive[key] = _Life(run)

    def _end(self, life: _Life) -> None:
        run, within, notes = life.run, self.interpreter.automaton.within, self.interpreter.notes
        assert notes is not None
        newest = notes.seen[-1]
        for forbidden in notes.forbidden:
            if _numbers(forbidden.run.taken)[: len(run.taken)] == _numbers(run.taken):
                life.ended, life.ended_by = "an event that must not occur has occurred", forbidden.event
                return
        if run.ended != FOREVER:
            life.ended_by = next(each for each in reversed(notes.seen) if each.end == run.ended)
            life.ended = "an event that concerns it does not fit"
        elif within is not None and newest.end - run.first().end > within:
            life.ended = f"WITHIN {format_duration(within)} has passed"
        else:
            life.ended, life.ended_by = "the next event does not fit", newest

    def lives(self) -> list[_Life]:
        """Those that ended or wait. A run that an event has ended stays until its epoch is over."""
        for life in self.alive.values():
            if life.run.ended != FOREVER:
                life.went_on = _numbers(life.run.taken) in self.parents
                self._end(life)
        return [life for life in [*self.over, *self.alive.values()] if not life.went_on]


def why_not(
    engine: Engine,
    name: str,
    events: Sequence[Event],
    key: object = None,
    wanted: Sequence[int] = (),
    time: int | None = None,
) -> WhyNot:
    """The partial matches of a subscription on these events that came nearest to a match.

    `key`: only those whose first event has this value of the partition, or of its stream's declared key; `wanted`: the
    ids of events that should have been a match; `time`: as things stood then. O(what the reference needs for the
    events, times the runs at each).
    """
    rerun = Rerun(engine, name)
    watches = [_Watch(interpreter) for interpreter in rerun.interpreters]
    for _ in rerun.play([event for event in events if time is None or event.time <= time]):
        for watch in watches:
            watch.look()
    lives = [(watch, life) for watch in watches for life in watch.lives() if _concerns(life.run, key, rerun)]

    def near(each: tuple[_Watch, _Life]) -> tuple[int, int, int]:
        watch, life = each
        shared, begun = len(set(ids_of(life.run.taken)) & set(wanted)), life.run.first().number
        return -shared, _missing(watch.interpreter.automaton, life.run), begun if wanted else -begun

    found = [_told(watch, life, wanted) for watch, life in sorted(lives, key=near)[:NEAREST_MAX]]
    return WhyNot(name, tuple(found), () if found else _beginnings(watches, wanted, key, rerun))


def _numbers(path: Path) -> tuple[int, ...]:
    return tuple([event.number for _, event in path])


def _concerns(run: ReferenceRun, key: object, rerun: Rerun) -> bool:
    return key is None or _has_key(run.first(), key, rerun)


def _has_key(event: SeenEvent, key: object, rerun: Rerun) -> bool:
    asked = tuple(key) if isinstance(key, list | tuple) else (key,)
    position = rerun.positions.get(event.stream, -1)
    declared = (event.row[position],) if position >= 0 else None
    return asked in (event.partition, declared)


def _missing(automaton: Automaton, run: ReferenceRun) -> int:
    """The least number of events that lead from the run's state to a match."""
    reached, here = 0, {run.state}
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
    return reached


def _told(watch: _Watch, life: _Life, wanted: Sequence[int]) -> Nearest:
    automaton, run = watch.interpreter.automaton, life.run
    notes = watch.interpreter.notes
    assert notes is not None
    waiting = life.ended == ""
    until = FOREVER if life.ended_by is None else life.ended_by.number
    later = [each for each in notes.seen if run.last().number < each.number <= until]
    asked = [each for each in later if not wanted or each is life.ended_by or set(ids(each.item)) & set(wanted)]
    refused = sorted((each for event in asked for each in _refused(automaton, run, event)), key=_order)[:NEAREST_MAX]
    waits: list[tuple[str, tuple[str, ...]]] = []
    for number, (at, arc) in enumerate(_outgoing(automaton, run)):
        if waiting and number < NEAREST_MAX:
            waits.append((name_of(automaton, arc, len(run.taken) + 1), tuple(wanted_by(automaton, arc, at))))
    return Nearest(
        tuple(steps_of(automaton, run.taken, notes.seen)),
        _missing(automaton, run),
        life.ended or "it still waits",
        () if life.ended_by is None else tuple(ids(life.ended_by.item)),
        tuple(waits),
        tuple(refused),
    )


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


def _order(refusal: UntakenEvent) -> int:
    return len(refusal.failed)


def _beginnings(
    watches: Sequence[_Watch], wanted: Sequence[int], key: object, rerun: Rerun
) -> tuple[UntakenEvent, ...]:
    start = ReferenceRun(0, (), ())
    found: list[UntakenEvent] = []
    for watch in watches:
        notes = watch.interpreter.notes
        for event in [] if notes is None else notes.seen:
            if (not wanted or set(ids(event.item)) & set(wanted)) and (key is None or _has_key(event, key, rerun)):
                found += _refused(watch.interpreter.automaton, start, event)
    return tuple(sorted(found, key=_order)[:NEAREST_MAX])
