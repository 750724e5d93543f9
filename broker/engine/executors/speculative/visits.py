"""What events do to the runs that wait: results, and the end of an interval where a run does not ignore the event.

A run and an event decide alone whether there is a result and whether the run goes on. So a late event asks the runs
that wait when it happens, a withdrawn one takes its results back, and a run that comes or goes late asks the events in
its interval. Nothing else is touched.

Here: these questions. Hot. Not here: the intervals (waiting), blocks (nodes, timeline).
"""

from __future__ import annotations

from typing import Final, cast, final

from mypy_extensions import i64

from ....algebra.comparisons import GE, GT, LE, LT, related_floats
from ....algebra.computation import Computation
from ....algebra.predicate import All, holds
from ....events.instant import FOREVER
from ...program.account import Exhausted
from .arcs import UNKNOWN
from .arena import NULLS, START, STATE, Arena, read_registers
from .changes import Changes
from .entries import TimelineEntry
from .forms import Record, assign, related
from .nodes import BlockStepper
from .operations import COMPUTATION, EVENT_FLOAT, EVENT_INTEGER, WORDS
from .waiting import SPAN, WaitingRuns
from .written import CLAUSES, HEAD, IGNORES, LABEL, LENGTH, TARGET, UPDATES

NOTHING: Final = -1  # the state is left alone
ANY: Final = -2  # each run is asked all


@final
class Visits:
    def __init__(self, stepper: BlockStepper) -> None:
        self.stepper = stepper
        self.table = stepper.table
        self.arena: Arena = stepper.arena
        self.source = Record()
        self.target = Record()

    def event(self, runs: WaitingRuns, entries: list[TimelineEntry], at: i64, changes: Changes, inserted: bool) -> None:
        """Let the event there, which was inserted or is to be removed, meet the runs that wait. O(these)."""
        entry = entries[at]
        first = runs.first(entry.time - self.stepper.within, FOREVER)
        behind = runs.first(entry.time, entry.order)
        if first >= behind or not self._concerns(entry):
            return
        self.stepper.met += behind - first
        while first < behind:
            plan = self._plan(runs.words[first * runs.layout.stride + STATE], entry)
            if plan >= 0:
                first = self._compare(runs, first, behind, entry, plan, changes, inserted)
            elif plan == ANY:
                first = self._ask(runs, first, behind, entries, at, changes, inserted)
            else:
                first = self._behind(runs, first, behind)

    def _behind(self, runs: WaitingRuns, first: i64, behind: i64) -> i64:
        """Behind the runs that are in the state of the first one. So are those that the next two meet."""
        words, stride = runs.words, runs.layout.stride
        state = words[first * stride + STATE]
        while first < behind and words[first * stride + STATE] == state:
            first += 1
        return first

    def _compare(
        self, runs: WaitingRuns, first: i64, behind: i64, entry: TimelineEntry, plan: i64, changes: Changes,
        inserted: bool,
    ) -> i64:  # fmt: skip
        """Let runs of which one comparison of floats is asked meet an event; returns behind them."""
        code = self.table.code
        asked = plan + HEAD + 1
        place, bit, operator = code[asked + 1], code[asked + 2], code[asked + 3]
        given = entry.row[code[asked + 4]]
        if given is None:
            return self._behind(runs, first, behind)
        value = cast("float", given)
        target, updated = code[plan + TARGET], code[plan + UPDATES] > 0
        stride, floats = runs.layout.stride, runs.layout.floats
        words, numbers, spans = runs.words, runs.numbers, runs.spans
        state = words[first * stride + STATE]
        time, order, alive = entry.time, entry.order, entry.time - self.stepper.within
        count, upto = changes.count, behind
        changes.reserve(count + behind - first)
        copies, copied, heads = changes.words, changes.numbers, changes.places
        head = changes.head(time, inserted, True, entry.id, code[plan + LABEL])
        i: i64
        j: i64
        for i in range(first, behind):
            source = i * stride
            if words[source + STATE] != state:
                upto = i
                break
            until = spans[i * SPAN + 2]
            if until < time or words[source + START] <= alive or (until == time and spans[i * SPAN + 3] < order):
                continue
            other = numbers[i * floats + place]
            # The operators one after the other, and no call, as this is the loop that counts.
            if operator == GE:
                met = value >= other
            elif operator == GT:
                met = value > other
            elif operator == LE:
                met = value <= other
            elif operator == LT:
                met = value < other
            else:
                met = related_floats(operator, value, other)
            if not met or words[source + NULLS] & bit != 0:
                continue
            to = count * stride
            for j in range(stride):
                copies[to + j] = words[source + j]
            copies[to + STATE] = target
            for j in range(floats):
                copied[count * floats + j] = numbers[i * floats + j]
            heads[count] = head
            if updated:
                self._update(runs, i, entry, plan, changes, count)
            count += 1
        if not inserted:
            changes.withdrawn += count - changes.count
        changes.count = count
        return upto

    def _ask(
        self, runs: WaitingRuns, first: i64, behind: i64, entries: list[TimelineEntry], at: i64, changes: Changes,
        inserted: bool,
    ) -> i64:  # fmt: skip
        """Let runs of which all is asked meet an event; returns behind them. Their intervals end at it, or no more."""
        entry = entries[at]
        time, order = entry.time, entry.order
        stride, spans = runs.layout.stride, runs.spans
        upto = self._behind(runs, first, behind)
        i: i64
        for i in range(first, upto):
            until = spans[i * SPAN + 2]
            if until < time or runs.words[i * stride + START] <= time - self.stepper.within:
                continue
            if until == time and spans[i * SPAN + 3] < order:
                continue
            kept = self._meet(runs, i, entry, changes, inserted)
            if inserted and not kept:
                self._meet_from(runs, i, entries, at + 1, changes, False)
                spans[i * SPAN + 2], spans[i * SPAN + 3] = time, order
            elif not inserted and until == time and spans[i * SPAN + 3] == order:
                spans[i * SPAN + 2], spans[i * SPAN + 3] = FOREVER, 0
                self._meet_from(runs, i, entries, at + 1, changes, True)
        return upto

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
        state, nulls = runs.words[first + STATE], runs.words[first + NULLS]
        spans = runs.spans
        until, order = spans[run * SPAN + 2], spans[run * SPAN + 3]
        table, own = self.table, run * runs.layout.floats
        code = table.code
        klass: i64 = -1
        plan: i64 = ANY
        met: i64 = 0
        n: i64 = len(entries)
        while at < n:
            entry = entries[at]
            if entry.time >= ended or entry.time > until or (entry.time == until and entry.order > order):
                break
            if entry.klass != klass or len(table.epochs) > 1:  # what is asked depends on the class and the arcs then
                klass = entry.klass
                plan = self._plan(state, entry)
                code = table.code
            if plan == ANY:
                if not self._meet(runs, run, entry, changes, inserted) and inserted:
                    spans[run * SPAN + 2], spans[run * SPAN + 3] = entry.time, entry.order
                    break
            else:
                met += 1
                if plan >= 0:
                    position = plan + HEAD + 1
                    given = entry.row[code[position + 4]]
                    if given is not None and nulls & code[position + 2] == 0:
                        other = runs.numbers[own + code[position + 1]]
                        if related_floats(code[position + 3], cast("float", given), other):
                            self._result(runs, run, entry, plan, changes, inserted)
            at += 1
        self.stepper.met += met

    def _concerns(self, entry: TimelineEntry) -> bool:
        """Whether some waiting state has more for the event than to ignore it."""
        states = self.stepper.waiting
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
            if self._holding(runs, run, entry, at):
                if table.code[at + IGNORES] == 1:
                    ignored = True
                else:
                    self._result(runs, run, entry, at, changes, inserted)
            at += table.code[at + LENGTH]
        return ignored

    def _holding(self, runs: WaitingRuns, run: i64, entry: TimelineEntry, here: i64) -> bool:
        code, constants = self.table.code, self.table.numbers
        stride, floats = runs.layout.stride, runs.layout.floats
        words, numbers = runs.words, runs.numbers
        clauses = code[here + CLAUSES]
        position = here + HEAD
        if clauses == 0:
            return True
        while clauses > 0:
            clauses -= 1
            atoms = code[position]
            position += 1
            behind = position + WORDS * atoms
            while atoms > 0:
                if code[position] <= EVENT_INTEGER:
                    if not related(code, constants, position, words, numbers, run * stride, run * floats, entry.row):
                        break
                else:
                    condition = cast("All", self.table.objects[code[position + 5]])
                    registers = read_registers(runs.layout, words, numbers, [], run)
                    if not holds(condition, entry.row, (), registers, 1, 1):
                        break
                atoms -= 1
                position += WORDS
            if atoms == 0:
                return True
            position = behind
        return False

    def _result(
        self, runs: WaitingRuns, run: i64, entry: TimelineEntry, here: i64, changes: Changes, inserted: bool
    ) -> None:
        """The result of an arc that a waiting run takes."""
        code = self.table.code
        head = changes.head(entry.time, inserted, True, entry.id, code[here + LABEL])
        at = changes.add(runs.words, runs.numbers, [], run, head)
        changes.words[at * runs.layout.stride + STATE] = code[here + TARGET]
        self._update(runs, run, entry, here, changes, at)

    def _update(self, runs: WaitingRuns, run: i64, entry: TimelineEntry, here: i64, changes: Changes, at: i64) -> None:
        """Assign the registers of a result there that the arc changes."""
        code, constants = self.table.code, self.table.numbers
        layout = runs.layout
        stride, floats = layout.stride, layout.floats
        self.source.move(runs.words, runs.numbers, run * stride, run * floats)
        self.target.move(changes.words, changes.numbers, at * stride, at * floats)
        end = here + code[here + LENGTH]
        position = end - WORDS * code[here + UPDATES]
        while position < end:
            if code[position] < COMPUTATION:
                assign(code, constants, position, self.source, self.target, entry.row)
            else:
                term = cast("Computation", self.table.objects[code[position + 5]])
                registers = read_registers(layout, runs.words, runs.numbers, [], run)
                changes.store(at, code[position + 1], term.value(entry.row, (), registers, 1, 1))
            position += WORDS
