"""The runs of a register automaton over the events that stand: the arcs of a match, and where other runs ended.

A run takes each event of its partition in the order of their times, and ends if no arc fits. Runs over one sub-sequence
that come to the same state and registers are one run, that of the first arcs. Not here: which events stand (probe).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from ...algebra.timed_stream import untimed
from ...automaton.automaton import TAKING, Arc, Automaton, Carry, Kind
from ...events.instant import FOREVER, format_duration
from ...events.schema import Row, Value
from ..executors.reference.arcs import RunnableArc
from ..executors.reference.run import Consumed, ReferenceRun, SeenEvent
from ..match import Match
from ..matches.sources import ids
from ..subscribing.subscriber import Subscriber
from .budget import ReasonsBudget
from .conditions import JudgedCondition, conditions_of, same_stream, wanted_by
from .explaining import Candidate, Explainer, Question
from .probe import EventProbe
from .reference_runs import by_failures, missing_from
from .steps import PASSED_MAX, Step
from .told import NEAREST_MAX, Nearest, UntakenEvent, WindowPlace

IGNORING = "the arc {} takes events and changes nothing"


@final
@dataclass(eq=False, slots=True)
class _Configuration:
    """Where a run is: in a state, or with a `result` if it has come to a final one, whose number that is. `before`:
    where it was before the arc, which has taken `event`, if any. `first`: the first event of the run."""

    state: int
    result: int
    registers: Row
    before: _Configuration | None
    arc: Arc | None
    event: SeenEvent | None
    first: SeenEvent | None

    def moves(self) -> list[_Configuration]:
        """The configurations behind each arc of the run, in their order."""
        found: list[_Configuration] = []
        here: _Configuration | None = self
        while here is not None and here.arc is not None:
            found.append(here)
            here = here.before
        return found[::-1]

    def lineage(self, last: SeenEvent) -> list[int]:
        """The ids of the events that it took and did not ignore, and of the last one."""
        found: list[int] = []
        for move in self.moves():
            if move.event is not None and (not move.ignores() or move.event is last):
                found += ids(move.event.item)
        return found

    def ignores(self) -> bool:
        """Whether its last arc has left the run as it was."""
        arc = self.arc
        if arc is None or self.event is None or self.event is self.first:
            return False
        return arc.source == arc.target and all(isinstance(each, Carry) for each in arc.update)

    def run(self) -> ReferenceRun:
        """As conditions read it: the first event, and that taken last."""
        first = self.first
        return ReferenceRun(self.state, self.registers, () if first is None else (Consumed(_NO_ARC, first),))


_NO_ARC: Any = None


@final
class RegisterRuns(Explainer):
    """`automaton`: with all arcs that there have been so far, where the subscription has left out what is settled."""

    def __init__(self, subscriber: Subscriber, probe: EventProbe, budget: ReasonsBudget) -> None:
        self.probe = probe
        self.budget = budget
        self._subscriber = subscriber
        self._arcs = subscriber.first_arcs()
        self._updates = 0
        self._use(self._now())

    def _now(self) -> Automaton:
        arcs = self._arcs
        updates = self._subscriber.updates
        if len(updates) > self._updates:
            arcs = self._arcs = arcs.after(updates[self._updates :])
            self._updates = len(updates)
        return arcs.automaton

    def _use(self, automaton: Automaton) -> None:
        self.automaton = automaton
        arcs = [RunnableArc(arc) for arc in automaton.arcs]
        self._taking = [_out(arcs, state, TAKING) for state in range(automaton.final)]
        self._free = [_out(arcs, state, (Kind.EPSILON,)) for state in range(automaton.final)]
        self._floats = [attribute.type == "float" for attribute in automaton.schema.attributes]

    def watch(self, results: Any) -> None:
        self.probe.take(results)
        now = self._now()
        if now is not self.automaton:
            self._use(now)

    # --- runs -------------------------------------------------------------------------------------------------------

    def _over(self, part: Sequence[SeenEvent], first: int) -> Iterator[tuple[int, list[_Configuration]]]:
        """The last event of each contiguous sub-sequence that begins at `first`, and the runs over it; before the first
        event, where they begin."""
        within = self.automaton.within
        begun = _Configuration(0, -1, self.automaton.initial, None, None, None, None)
        here = list(self._closure(begun, part[first].end))
        yield first - 1, here
        for last in range(first, len(part)):
            event = part[last]
            if within is not None and event.end >= part[first].end + within:
                return
            here = _distinct([after for before in here for after in self._step(before, event, part[first])])
            if not here:
                return
            self.budget.spend(len(here))
            yield last, here

    def _step(self, before: _Configuration, event: SeenEvent, first: SeenEvent) -> Iterator[_Configuration]:
        if before.result >= 0:
            return
        run = before.run()
        for arc in self._taking[before.state]:
            if arc.arc.stream == event.stream and arc.arc.begin <= event.end < arc.arc.end and arc.holds(run, event):
                yield from self._closure(self._along(arc, before, event, first), event.end)

    def _closure(self, reached: _Configuration, time: int) -> Iterator[_Configuration]:
        waiting, known = [reached], set()
        while waiting:
            one = waiting.pop(0)
            if (one.state, one.result, one.registers) in known:
                continue
            known.add((one.state, one.result, one.registers))
            yield one
            if one.result >= 0:
                continue
            for arc in self._free[one.state]:
                if arc.arc.begin <= time < arc.arc.end and arc.holds(one.run(), None):
                    waiting.append(self._along(arc, one, None, one.first))

    def _along(
        self, arc: RunnableArc, before: _Configuration, event: SeenEvent | None, first: SeenEvent | None
    ) -> _Configuration:
        made = arc.update(before.run(), event)
        registers = tuple([
            float(value) if floats and isinstance(value, int) else value for value, floats in zip(made, self._floats)
        ])  # fmt: skip
        final = arc.arc.target == self.automaton.final
        return _Configuration(
            arc.arc.target, arc.arc.operand if final else -1, registers, before, arc.arc, event, first
        )

    # --- a match ----------------------------------------------------------------------------------------------------

    def steps(self, match: Match) -> tuple[tuple[Step, ...], WindowPlace | None] | None:
        lineage, wanted = match.lineage or [], tuple(match.data.values())
        for part in self.probe.partitions_with(lineage):
            for first, event in enumerate(part):
                own = ids(event.item)
                if event.end != match.start or own != lineage[: len(own)]:
                    continue
                for last, here in self._over(part, first):
                    if last < first or part[last].end < match.end:
                        continue
                    if part[last].end > match.end:
                        break
                    for one in here:
                        if one.result >= 0 and one.registers == wanted and one.lineage(part[last]) == lineage:
                            return tuple(self._told(one, part[last])), None
        return None

    def _told(self, one: _Configuration, last: SeenEvent) -> list[Step]:
        found: list[Step] = []
        passed: list[SeenEvent] = []
        rule = ""
        for move in one.moves():
            arc, event = move.arc, move.event
            assert arc is not None
            assert move.before is not None
            if event is not None and move.ignores() and event is not last:
                passed.append(event)
                rule = rule or IGNORING.format(self._arc(arc))
                continue
            found.append(
                Step(
                    () if event is None else tuple(ids(event.item)),
                    "" if event is None else untimed(event.stream),
                    event.end if event is not None else found[-1].time if found else last.end,
                    self._state(arc.target, arc.operand),
                    tuple(conditions_of(self.automaton, arc, move.before.run(), event)),
                    tuple([number for each in passed[:PASSED_MAX] for number in ids(each.item)]),
                    len(passed),
                    rule,
                    self._arc(arc),
                    (self._named(move.before.registers), self._named(move.registers)),
                )
            )
            passed, rule = [], ""
        return found

    def _state(self, state: int, result: int) -> str:
        automaton = self.automaton
        return automaton.operands[result] if state == automaton.final else automaton.states[state].name

    def _arc(self, arc: Arc) -> str:
        name = f"{arc.name}: " if arc.name else ""
        arrow = "~>" if arc.kind is Kind.EPSILON else "->"
        return f"{name}{self._state(arc.source, -1)} {arrow} {self._state(arc.target, arc.operand)}"

    def _named(self, registers: Row) -> dict[str, Value]:
        return dict(zip(self.automaton.schema.names, registers))

    # --- other runs -------------------------------------------------------------------------------------------------

    def candidates(self, question: Question) -> list[Candidate]:
        """O(events squared times runs) if runs wait for ever, else O(runs), as far as the budget goes."""
        found: list[Candidate] = []
        begun = [(part, first) for part in self.probe.partitions() for first in range(len(part))]
        begun = [each for each in begun if question.has_key(each[0][each[1]])]
        begun.sort(key=lambda each: question.first_asked(each[0][each[1]]))
        for part, first in self.budget.paid(begun):
            found += self._ended(part, first, question)
        return found

    def _ended(self, part: Sequence[SeenEvent], first: int, question: Question) -> Iterator[Candidate]:
        """The runs that began at an event and went on neither to another state nor to a match. Those that are followed
        when the budget ends are left out: nobody knows how they go on."""
        before: list[_Configuration] = []
        upto = first - 1
        for last, here in self._over(part, first):
            yield from self._left(part, upto, before, here, question)
            upto, before = last, here
            if self.budget.left < 0:
                self.budget.left_out += len(here)
                return
        yield from self._left(part, upto, before, [], question)

    def _left(
        self,
        part: Sequence[SeenEvent],
        last: int,
        before: list[_Configuration],
        after: list[_Configuration],
        question: Question,
    ) -> Iterator[Candidate]:
        onward = {id(one.before) for one in [*before, *after]}
        for one in before:
            if one.first is None or one.result >= 0 or id(one) in onward:
                continue
            following = part[last + 1] if last + 1 < len(part) else None
            if self._goes_on(one, part[last], following):
                continue  # as another run, which has come to the same state and registers
            missing = missing_from(self.automaton, one.state)
            if missing < FOREVER:
                near = question.near(one.lineage(part[last]), missing, one.first.number)
                yield Candidate(near, partial(self._nearest, one, part[last], following, missing))

    def _goes_on(self, one: _Configuration, last: SeenEvent, following: SeenEvent | None) -> bool:
        assert one.first is not None
        run, time, within = one.run(), last.end, self.automaton.within
        if any(arc.arc.begin <= time < arc.arc.end and arc.holds(run, None) for arc in self._free[one.state]):
            return True
        if following is None or (within is not None and following.end >= one.first.end + within):
            return False
        return any(True for _ in self._step(one, following, one.first))

    def _nearest(self, one: _Configuration, last: SeenEvent, following: SeenEvent | None, missing: int) -> Nearest:
        within = self.automaton.within
        assert one.first is not None
        ended, ended_by = "it still waits", following
        refused: list[UntakenEvent] = []
        if following is not None:
            refused = self._refused(one, following)
            ended = "no arc takes the next event"
            if within is not None and following.end >= one.first.end + within:
                ended, ended_by = f"WITHIN {format_duration(within)} has passed", None
        arcs = self._taking[one.state] if following is None else []
        waits = [
            (self._arc(each.arc), tuple(wanted_by(self.automaton, each.arc, one.run()))) for each in arcs[:NEAREST_MAX]
        ]
        return Nearest(
            tuple(self._told(one, last)),
            missing,
            ended,
            () if ended_by is None else tuple(ids(ended_by.item)),
            tuple(waits),
            tuple(sorted(refused, key=by_failures)[:NEAREST_MAX]),
            self._state(one.state, one.result),
        )

    def _refused(self, one: _Configuration, event: SeenEvent) -> list[UntakenEvent]:
        found: list[UntakenEvent] = []
        run = one.run()
        for each in self._taking[one.state]:
            if each.arc.stream != event.stream:
                failed: list[JudgedCondition] = [same_stream(each.arc.stream, event.stream)]
            else:
                judged = conditions_of(self.automaton, each.arc, run, event)
                failed = [condition for condition in judged if not condition.holds]
            if failed:
                found.append(UntakenEvent(tuple(ids(event.item)), self._arc(each.arc), tuple(failed)))
        return found

    def beginnings(self, question: Question) -> list[UntakenEvent]:
        found: list[UntakenEvent] = []
        begun = _Configuration(0, -1, self.automaton.initial, None, None, None, None)
        for event in self.probe.events():
            if question.wants(event) and question.has_key(event):
                for one in self._closure(begun, event.end):
                    found += self._refused(one, event) if one.result < 0 else []
        return found


def _out(arcs: list[RunnableArc], state: int, kinds: tuple[Kind, ...]) -> list[RunnableArc]:
    return [arc for arc in arcs if arc.arc.source == state and arc.arc.kind in kinds]


def _distinct(configurations: Sequence[_Configuration]) -> list[_Configuration]:
    """The first of those that have one state and equal registers."""
    found: dict[tuple[int, int, Row], _Configuration] = {}
    for one in configurations:
        found.setdefault((one.state, one.result, one.registers), one)
    return list(found.values())
