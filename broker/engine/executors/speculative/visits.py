"""What events do to the runs that wait: results, and the end of an interval where a run does not ignore the event.

A run and an event decide alone whether there is a result and whether the run goes on. So a late event asks the runs
that wait when it happens, a withdrawn one takes its results back, and a run that comes or goes late asks the events in
its interval. Nothing else is touched.

Here: these questions. Hot. Not here: the intervals (waiting), blocks (nodes, timeline).
"""

from __future__ import annotations

from typing import Final, cast, final

from mypy_extensions import i64

from ....algebra.comparisons import related_floats
from ....events.instant import FOREVER
from ...program.account import Exhausted
from ..trace import mixed
from .arcs import UNKNOWN
from .arena import NULLS, START, STATE, Arena
from .changes import Changes
from .entries import TimelineEntry
from .forms import assign_all, holding
from .nodes import BlockStepper
from .operations import EVENT_FLOAT
from .waiting import SPAN, WaitingRuns
from .written import CLAUSES, HEAD, IGNORES, LABEL, LENGTH, TARGET

NOTHING: Final = -1  # the state is left alone
ANY: Final = -2  # each run is asked all


@final
class Visits:
    def __init__(self, stepper: BlockStepper) -> None:
        self.stepper = stepper
        self.table = stepper.table
        self.arena: Arena = stepper.arena

    def event(self, runs: WaitingRuns, entries: list[TimelineEntry], at: i64, changes: Changes, inserted: bool) -> None:
        """Let the event there, which was inserted or is to be removed, meet the runs that wait. O(these)."""
        entry = entries[at]
        first = runs.first(entry.time - self.stepper.within, FOREVER)
        behind = runs.first(entry.time, entry.order)
        if first >= behind or not self._concerns(entry):
            return
        self.stepper.met += behind - first
        words, spans, code = runs.words, runs.spans, self.table.code
        stride, floats = runs.layout.stride, runs.layout.floats
        time, order, alive = entry.time, entry.order, entry.time - self.stepper.within
        state: i64 = NOTHING
        plan: i64 = NOTHING
        asked: i64 = 0
        value = 0.0
        run: i64
        for run in range(first, behind):
            source = run * stride
            if words[source + STATE] != state:
                state = words[source + STATE]
                plan = self._plan(state, entry)
                code = self.table.code
                if plan >= 0:
                    asked = plan + HEAD + 1
                    given = entry.row[code[asked + 4]]
                    if given is None:
                        plan = NOTHING
                    else:
                        value = cast("float", given)
            if plan == NOTHING:
                continue
            until = spans[run * SPAN + 2]
            if until < time or words[source + START] <= alive or (until == time and spans[run * SPAN + 3] < order):
                continue
            if plan == ANY:
                self._ask(runs, run, entries, at, changes, inserted)
            elif related_floats(code[asked + 3], value, runs.numbers[run * floats + code[asked + 1]]):
                if words[source + NULLS] & code[asked + 2] == 0:
                    self._result(runs, run, entry, plan, changes, inserted)

    def _ask(
        self, runs: WaitingRuns, run: i64, entries: list[TimelineEntry], at: i64, changes: Changes, inserted: bool
    ) -> None:
        """Let a run meet the event there, of which all is asked. Its interval ends at it, or no more."""
        entry, spans = entries[at], runs.spans
        kept = self._meet(runs, run, entry, changes, inserted)
        if inserted and not kept:
            self._meet_from(runs, run, entries, at + 1, changes, False)
            spans[run * SPAN + 2], spans[run * SPAN + 3] = entry.time, entry.order
        elif not inserted and spans[run * SPAN + 2] == entry.time and spans[run * SPAN + 3] == entry.order:
            spans[run * SPAN + 2], spans[run * SPAN + 3] = FOREVER, 0
            self._meet_from(runs, run, entries, at + 1, changes, True)

    def begin(self, runs: WaitingRuns, entries: list[TimelineEntry], at: i64, node: i64, changes: Changes) -> None:
        """A run waits since the event there. O(runs that wait since later events, and events in its interval).

        Raises Exhausted if too many do.
        """
        if runs.count >= self.stepper.runs_max:
            raise Exhausted
        entry = entries[at]
        self._meet_from(runs, runs.insert(self.arena, node, entry.time, entry.order), entries, at + 1, changes, True)

    def end(self, runs: WaitingRuns, entries: list[TimelineEntry], at: i64, node: i64, changes: Changes) -> None:
        """A run does not come to wait at the event there any more. Costs as `begin`."""
        entry = entries[at]
        found = runs.find(self.arena, node, entry.time, entry.order)
        self._meet_from(runs, found, entries, at + 1, changes, False)
        runs.remove(found)

    def _meet_from(
        self, runs: WaitingRuns, run: i64, entries: list[TimelineEntry], at: i64, changes: Changes, inserted: bool
    ) -> None:
        """Let a run meet the events from there on, up to the end of its interval, which is set if it is `inserted`."""
        first = run * runs.layout.stride
        ended = runs.words[first + START] + self.stepper.within
        state, spans = runs.words[first + STATE], runs.spans
        until, order = spans[run * SPAN + 2], spans[run * SPAN + 3]
        klass: i64 = -1
        plan: i64 = ANY
        n: i64 = len(entries)
        while at < n:
            entry = entries[at]
            if entry.time >= ended or entry.time > until or (entry.time == until and entry.order > order):
                break
            if entry.klass != klass or len(self.table.epochs) > 1:  # what is asked depends on the class and the arcs
                klass = entry.klass
                plan = self._plan(state, entry)
            if plan == NOTHING:
                self.stepper.met += 1
            elif not self._meet(runs, run, entry, changes, inserted) and inserted:
                spans[run * SPAN + 2], spans[run * SPAN + 3] = entry.time, entry.order
                break
            at += 1

    def _concerns(self, entry: TimelineEntry) -> bool:
        """Whether some waiting state has more for the event than to ignore it."""
        states = self.table.waiting
        i: i64 = 0
        while i < len(states) and self._plan(states[i], entry) == NOTHING:
            i += 1
        return i < len(states)

    def _plan(self, state: i64, entry: TimelineEntry) -> i64:
        """What an event asks of the runs in a state: NOTHING, ANY, or the one comparison of floats of the arc there."""
        table = self.table
        epoch = table.enter(entry.time)
        at = epoch.offsets[state * table.room + entry.klass]
        if at == UNKNOWN:
            at = table.fill(epoch, state, entry.klass)
        code = table.code
        left = code[at]
        at += 1
        ignored = False
        found: i64 = NOTHING
        while left > 0:
            left -= 1
            if code[at + IGNORES] == 1:
                if code[at + CLAUSES] == 0:
                    ignored = True
            elif found == NOTHING and code[at + CLAUSES] == 1 and code[at + HEAD] == 1:
                found = at if code[at + HEAD + 1] == EVENT_FLOAT else ANY
            else:
                found = ANY
            at += code[at + LENGTH]
        return found if ignored else ANY

    def _meet(self, runs: WaitingRuns, run: i64, entry: TimelineEntry, changes: Changes, inserted: bool) -> bool:
        """Tell the results of a run at an event, and return whether the run ignores it. O(arcs of the state)."""
        self.stepper.met += 1
        table = self.table
        epoch = table.enter(entry.time)
        state = runs.words[run * runs.layout.stride + STATE]
        at = epoch.offsets[state * table.room + entry.klass]
        if at == UNKNOWN:
            at = table.fill(epoch, state, entry.klass)
        left = table.code[at]
        at += 1
        ignored = False
        while left > 0:
            left -= 1
            if holding(table, at, runs, run, entry.row):
                if table.code[at + IGNORES] == 1:
                    ignored = True
                else:
                    self._result(runs, run, entry, at, changes, inserted)
            at += table.code[at + LENGTH]
        return ignored

    def _result(
        self, runs: WaitingRuns, run: i64, entry: TimelineEntry, here: i64, changes: Changes, inserted: bool
    ) -> None:
        """The result of an arc that a waiting run takes."""
        table, arena = self.table, self.arena
        at = changes.add(runs, run, entry.time, inserted)
        words, first = changes.words, at * runs.layout.stride
        words[first + STATE] = table.code[here + TARGET]
        assign_all(table, here, runs, run, changes, at, entry.row)
        first += runs.layout.trace
        words[first] = mixed(words[first], entry.id, table.code[here + LABEL])
        words[first + 1] = arena.link(words[first + 1], entry.id)
