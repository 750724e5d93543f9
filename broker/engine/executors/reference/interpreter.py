"""Runs any automaton as its definition says (broker.automaton.automaton): short, obvious, slow.

Every run sees every event of the automaton's streams. Here: the effect of an event, or of time, on each run, and the
choice of reported matches. Not here: the conditions of one arc (arcs), the contract of executors (machine).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, final

from ....algebra.predicate import condition, holds
from ....automaton.automaton import Arc, Automaton, Elapsed, Kind, Report, Stay, TimeModel
from ....events.schema import Row
from ...matches.sources import Item
from .arcs import RunnableArc, surrounding
from .run import CompletedRun, Consumed, ForbiddenRun, Notes, ReferenceRun, SeenEvent

TAKING: Final = (Kind.FORWARD, Kind.LOOP)


@final
class Interpreter:
    """The runs of one automaton. Times of events do not decrease.

    Unless `valued`, matches have no values: their reader computes these from the run.
    """

    def __init__(self, automaton: Automaton, valued: bool = True) -> None:
        self.automaton = automaton
        self.valued = valued
        self.runs: list[ReferenceRun] = []
        self.log: list[SeenEvent] = []  # events that may still forbid a match, in order of arrival
        self.ends: dict[Row, int] = {}  # NONOVERLAP: the number of the last event of each partition's last match
        self.number = 0  # count of events so far
        self._keys = {source.stream: source.key for source in automaton.sources}
        self._theta = [condition(state.theta) for state in automaton.states]
        arcs = [RunnableArc(arc) for arc in automaton.arcs]
        self._leaving = [[arc for arc in arcs if arc.arc.source == state] for state in range(automaton.final)]
        self._kills = [arc for arc in arcs if arc.arc.kind is Kind.KILL]
        self._completed: list[CompletedRun] = []
        self.notes: Notes | None = None  # the notes for reasons; None if no reasons are wanted

    def feed(self, stream: str, start: int, end: int, row: Row, item: Item) -> list[CompletedRun]:
        """Process an event of one of the automaton's streams; returns the matches that it makes known."""
        known = self.advance(end)
        event = SeenEvent(self.number, stream, start, end, row, item, self.partition(stream, row))
        self.number += 1
        if self.notes is not None:
            self.notes.seen.append(event)
        beginning = ReferenceRun(0, (), ())
        before, self.runs = self.runs, []
        for run in [*before, beginning]:
            self.runs += [after for after in self._step(run, event) if after is not beginning]
        if self._kills:
            self.log.append(event)
        known += self._reported()
        self.forget(end)
        return known

    def advance(self, time: int) -> list[CompletedRun]:
        """All events before `time` have come; returns the matches that waited for it."""
        before, self.runs = self.runs, []
        for run in before:
            if not self.inside(run, time):
                for arc in self._arcs(run, Kind.TIMEOUT):
                    if arc.holds(run, None):
                        self.runs += self._along(arc, run, None)
            elif time <= run.ended:
                self.runs.append(run)
        return self._reported()

    # --- one run -----------------------------------------------------------------------------------------------

    def _step(self, run: ReferenceRun, event: SeenEvent) -> Iterator[ReferenceRun]:
        """The successors of a run: the run itself if it stays, and a run for each arc that it follows."""
        if not self._sees(run, event):
            yield run
            return
        stay = self.automaton.states[run.state].stay
        loops = self._arcs(run, Kind.LOOP)
        taking = [arc for arc in [*loops, *self._arcs(run, Kind.FORWARD)] if self._takes(arc, run, event)]
        stays = False
        if stay is Stay.FAILING:
            stays = True
            if not holds(self._theta[run.state], *surrounding(run, event)):
                taking = []
            elif run.taken:
                run.ended = event.end
            if any(loop not in taking for loop in loops):
                taking = []
        elif stay is Stay.UNTAKEN:
            stays = not taking
        elif stay is Stay.FOREIGN:
            stays = event.partition != run.first().partition if run.taken else False
        else:
            stays = stay is Stay.ALL
        for arc in taking:
            yield from self._along(arc, run, event)
        if stays:
            yield run
        for arc in self._arcs(run, Kind.EPSILON):
            if arc.arc.peeks and arc.holds(run, None):
                moved = ReferenceRun(arc.arc.target, arc.update(run, None), run.taken)
                for after in self._step(moved, event):
                    if after is not moved or not (taking or stays):
                        yield after

    def _along(self, arc: RunnableArc, run: ReferenceRun, event: SeenEvent | None) -> Iterator[ReferenceRun]:
        """The runs behind an arc, which has taken the event if there is one, and behind arcs followed at once."""
        taken = run.taken if event is None else (*run.taken, Consumed(arc.arc, event))
        if arc.arc.target == self.automaton.final:
            if not self._forbidden(ReferenceRun(run.state, run.slots, taken)):
                self._completed.append(CompletedRun(taken, arc.output(run, event) if self.valued else (), run.slots))
            return
        after = ReferenceRun(arc.arc.target, arc.update(run, event), taken)
        if any(each.arc.kind is not Kind.KILL and not at_once(each) for each in self._leaving[after.state]):
            yield after
        for onward in self._arcs(after, Kind.EPSILON):
            if not onward.arc.peeks and onward.holds(after, None):
                yield from self._along(onward, after, None)

    def _arcs(self, run: ReferenceRun, kind: Kind) -> list[RunnableArc]:
        return [arc for arc in self._leaving[run.state] if arc.arc.kind is kind]

    def _sees(self, run: ReferenceRun, event: SeenEvent) -> bool:
        """Whether the run sees the event: it is of its state's stream, and over epochs does not overlap the run."""
        stream = self.automaton.states[run.state].stream
        overlaps = self.automaton.time is TimeModel.EPOCHS and run.taken and event.start <= run.last().end
        return stream in ("", event.stream) and not overlaps

    def _takes(self, arc: RunnableArc, run: ReferenceRun, event: SeenEvent) -> bool:
        """Check stream, partition, window, conditions and distances."""
        partition = run.first().partition if run.taken else event.partition
        return (
            arc.arc.stream in ("", event.stream)
            and event.partition is not None
            and event.partition == partition
            and self.inside(run, event.end)
            and arc.holds(run, event)
            and all(self._elapsed(elapsed, run, event) for elapsed in arc.arc.elapsed)
        )

    def inside(self, run: ReferenceRun, time: int) -> bool:
        """Whether a match of the run may have an event at that time."""
        within = self.automaton.within
        return within is None or not run.taken or time - run.first().end <= within

    def _elapsed(self, asked: Elapsed, run: ReferenceRun, event: SeenEvent) -> bool:
        """Whether the event has an allowed distance from the one in a slot, or from one taken earlier."""
        since = run.slots[asked.slot] if asked.slot >= 0 else run.taken[asked.slot].event.end
        return any(low <= event.end - since <= high for low, high in asked.allowed)

    # --- matches -----------------------------------------------------------------------------------------------

    def _forbidden(self, run: ReferenceRun) -> bool:
        """Whether an event occurs where a KILL arc allows none. The run has all its events."""
        for kill in self._kills:
            for event in self.log:
                if (
                    event.partition == run.first().partition
                    and kill.arc.stream in ("", event.stream)
                    and self._stands(kill.arc, run, event)
                    and kill.holds(run, event)
                ):
                    if self.notes is not None:
                        self.notes.forbidden.append(ForbiddenRun(run, kill.arc, event))
                    return True
        return False

    def _stands(self, kill: Arc, run: ReferenceRun, event: SeenEvent) -> bool:
        """Whether the event comes between the events with which a run entered and left the state of the arc."""
        first, last = run.first(), run.last()
        within = self.automaton.within or 0
        if kill.source == 0:
            concerned = kill.target in (0, run.taken[0].arc.target)
            return concerned and last.end - within < event.end < first.end
        for before, (arc, leaving) in zip(run.taken, run.taken[1:]):
            if arc.source == kill.source and arc.target != kill.source:
                return before.event.number < event.number < leaving.number
        return kill.source == run.state and last.end < event.end <= first.end + within

    def _reported(self) -> list[CompletedRun]:
        """The matches found since the last call, in order."""
        found, self._completed = self._completed, []
        if self.automaton.time is TimeModel.EPOCHS:
            if self.notes is not None:
                self.notes.completed += found
            return sorted(found, key=CompletedRun.order_of_epochs)
        found.sort(key=CompletedRun.order)
        if self.automaton.distinct:
            found = list({match.order(): match for match in found}.values())
        if self.automaton.report is Report.NONOVERLAP:
            found = [match for match in found if self._apart(match)]
        if self.notes is not None:
            self.notes.completed += found
        return found

    def _apart(self, match: CompletedRun) -> bool:
        """Whether the match begins after the previous match in its partition; if so, it becomes the previous one."""
        partition = match.taken[0].event.partition
        assert partition is not None, "an arc has taken an event without a partition"
        if match.taken[0].event.number <= self.ends.get(partition, -1):
            return False
        self.ends[partition] = match.taken[-1].event.number
        return True

    # --- what is kept ------------------------------------------------------------------------------------------

    def partition(self, stream: str, row: Row) -> Row | None:
        """The values of the source's key; None if one of them is null."""
        values = tuple([row[position] for position in self._keys.get(stream, ())])
        return None if None in values else values

    def forget(self, time: int) -> None:
        """Drop the events that cannot forbid any match, and the ends of matches before which no run has begun.

        Those events come before all runs, and are older than any window.
        """
        oldest = min([run.first().number for run in self.runs], default=self.number)
        since = min([time, *[run.first().end for run in self.runs]]) - (self.automaton.within or 0)
        self.log = [event for event in self.log if event.number >= oldest or event.end > since]
        self.ends = {partition: number for partition, number in self.ends.items() if number >= oldest}


def at_once(arc: RunnableArc) -> bool:
    """Whether a run follows the arc without an event."""
    return arc.arc.kind is Kind.EPSILON and not arc.arc.peeks
