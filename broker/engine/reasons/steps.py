"""A run told step by step: which event each arc took, under which conditions, and what was passed over in between.

Here: replaying a path of the reference executor. Not here: which run is told (matched, unmatched).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

from ...algebra.timed_stream import untimed
from ...automaton.automaton import Automaton, Kind, Stay
from ...events.schema import Value
from ..executors.reference.arcs import RunnableArc
from ..executors.reference.run import Path, ReferenceRun, SeenEvent
from ..matches.sources import ids
from .conditions import JudgedCondition, conditions_of, name_of

PASSED_MAX: Final = 20
"""The most events in one gap of a match that are told one by one."""

RULES: Final[dict[Stay, str]] = {
    Stay.FAILING: "events that do not fulfil the condition of waiting are skipped",
    Stay.UNTAKEN: "events that nothing takes are skipped",
    Stay.FOREIGN: "events of other partitions do not count",
    Stay.NONE: "the next event must fit",
    Stay.ALL: "any events may come in between",
}


@final
@dataclass(frozen=True, slots=True)
class Step:
    """An event of a run. `passed`: the ids of the events between it and the one before, at most PASSED_MAX, of `many`,
    which the run saw and left alone under `rule`. `arc` and `registers`, before and after it: if the text names them.
    An arc without an event has no events, and the stream ""."""

    events: tuple[int, ...]
    stream: str
    time: int
    name: str
    conditions: tuple[JudgedCondition, ...]
    passed: tuple[int, ...]
    many: int
    rule: str
    arc: str = ""
    registers: tuple[dict[str, Value], dict[str, Value]] | None = None

    def line(self) -> dict[str, Any]:
        found: dict[str, Any] = {"as": self.name}
        if self.arc:
            found["arc"] = self.arc
        found |= {
            "events": list(self.events),
            "stream": self.stream,
            "time": self.time,
            "conditions": [condition.line() for condition in self.conditions],
        }
        if self.registers is not None:
            found["registers"] = {"before": self.registers[0], "after": self.registers[1]}
        if self.many:
            found["passed over"] = {"events": list(self.passed), "number": self.many, "rule": self.rule}
        return found


def steps_of(automaton: Automaton, path: Path, seen: Sequence[SeenEvent]) -> list[Step]:
    """The steps of a run; `seen` are the events of its automaton in order. O(events x size of the automaton)."""
    run = ReferenceRun(0, (), ())
    found: list[Step] = []
    for number, (arc, event) in enumerate(path, 1):
        waited = run.state
        run = standing(automaton, run, arc.source)
        between: list[SeenEvent] = []
        if path and number > 1:
            before = path[number - 2].event.number
            between = [each for each in seen if before < each.number < event.number]
        passed = tuple([one for each in between[:PASSED_MAX] for one in ids(each.item)])
        rule = RULES[automaton.states[waited].stay]
        made = tuple(conditions_of(automaton, arc, run, event))
        took = tuple(ids(event.item))
        name = name_of(automaton, arc, number)
        found.append(Step(took, untimed(event.stream), event.end, name, made, passed, len(between), rule))
        if arc.target != automaton.final:
            slots = RunnableArc(arc).update(run, event)
            run = ReferenceRun(arc.target, slots, path[:number])
    return found


def standing(automaton: Automaton, run: ReferenceRun, state: int) -> ReferenceRun:
    """The run in the state that it has come to by arcs without events."""
    waiting, known = [run], {run.state}
    while waiting:
        here = waiting.pop(0)
        if here.state == state:
            return here
        for arc in automaton.arcs:
            if arc.source == here.state and arc.kind is Kind.EPSILON and arc.target not in known:
                made = RunnableArc(arc)
                if arc.target != automaton.final and made.holds(here, None):
                    known.add(arc.target)
                    waiting.append(ReferenceRun(arc.target, made.update(here, None), run.taken))
    return run
