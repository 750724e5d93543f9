"""What an event does to the runs of a FOLD while a batch goes by columns: numbers, which all took the same event.

Whether runs go on depends on this event and the last one alone, so that it is asked once for all of them. Here: one
event, and runs that are objects before a stretch. Hot. Not here: the numbers themselves (fold_numbers), matches as
numbers (ended_folds), the order of events (column_runs), between batches (waiting_events).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....algebra.comparisons import related_integers
from ....algebra.computation import Slots
from ...matches.completions import Completions
from ...program.watcher import Watch
from ..trace import mixed
from .cells import UNTOUCHED, Cell, Run
from .column_plan import ColumnFold
from .fold_numbers import BEGUN, BORN, COUNT, FIELDS, T0, TRACE, FoldNumbers
from .number_matrix import NumberMatrix
from .number_tests import compared, passes
from .waiting_events import WaitingEvents, folded


@final
class ColumnFolding:
    """`kept`: the events that wait for the current stream; `reported`: FOLDs with matches in the batch."""

    def __init__(self, found: Completions, matrix: NumberMatrix, kept: WaitingEvents) -> None:
        self.found = found
        self.matrix = matrix
        self.kept = kept
        self.reported: list[ColumnFold] = []

    def turn(self, found: Completions, kept: WaitingEvents) -> None:
        """Turn to a stretch of a batch."""
        self.found = found
        self.kept = kept

    def step(self, fold: ColumnFold, cell: Cell, i: i64, last: i64) -> int:
        """Let the runs of a key take an event, or end; begin one. Returns how many were made. O(runs of the key)."""
        found, numbers, stride = self.found, self.matrix.numbers, self.matrix.stride
        place, runs = fold.place, cell.fold
        if runs is None or runs.place is not fold.place:
            runs = cell.fold = FoldNumbers(fold.place, fold.counter)
        time: i64 = found.times[i]
        item = found.ids.at(i)
        begun = 0
        if last < 0:
            runs.clear()
        elif last == cell.begun and cell.waiting < 0:
            _absorb(fold, cell, runs, found.times[last])
        if runs.upto > 0:
            lone = fold.lone
            if lone is not None:
                going = compared(lone, numbers[lone.slot * stride + i], numbers[lone.other * stride + last])
            else:
                going = passes(fold.goes_on, numbers, stride, i, last, 0, 0)
            if going:
                begun = self._go_on(fold, cell, runs, i, last)
            else:
                if place.watches is not None:
                    _tell_of_end(place.watches, runs)
                runs.clear()
        if fold.begins is None or passes(fold.begins, numbers, stride, i, i, 0, 0):
            runs.push(i, time, time, mixed(0, item, place.depth), fold.first)
            if place.watches is not None:
                for watch in place.watches:
                    watch.watcher.entered(watch.state, time, time, None)
            begun += 1
        return begun

    def _go_on(self, fold: ColumnFold, cell: Cell, runs: FoldNumbers, i: i64, last: i64) -> int:
        """Let all runs take an event, and report what it completes. Returns their number."""
        state, counted, depth = runs.numbers, fold.counted, fold.place.depth
        watches, item = fold.place.watches, self.found.ids.at(i)
        ripe = counted is None or not fold.ripens or related_integers(counted.operator, state[COUNT], counted.whole)
        begun = 0
        at = runs.upto
        while at > 0:  # the youngest first, as where they are objects
            at -= FIELDS
            count = state[at + COUNT]
            if ripe and (counted is None or related_integers(counted.operator, count, counted.whole)):
                self._report(fold, cell, runs, at, i, last)
            if watches is not None:
                for watch in watches:
                    watch.watcher.entered(watch.state, state[at + BORN], state[at + T0], None)
                    watch.watcher.left(watch.state, state[at + BORN], state[at + T0], None)
            state[at + TRACE] = mixed(state[at + TRACE], item, depth)
            state[at + COUNT] = count + fold.step
            begun += 1
        return begun

    def _report(self, fold: ColumnFold, cell: Cell, runs: FoldNumbers, at: i64, i: i64, last: i64) -> None:
        """Report the matches of an event that a run takes. O(arcs)."""
        found, numbers, stride = self.found, self.matrix.numbers, self.matrix.stride
        span = found.times[i] - runs.numbers[at + T0] + 1
        count = runs.numbers[at + COUNT]
        place: i64 = -1
        run: Run | None = None
        number: i64
        for number in range(len(fold.arcs)):
            arc = fold.arcs[number]
            watchers = arc.target.watchers
            if arc.target.first is None and watchers is None:
                continue
            if not passes(arc.test, numbers, stride, i, last, span, count):
                continue
            if watchers is not None:
                for watcher in watchers:
                    watcher.matched(runs.numbers[at + BORN])
            if arc.target.first is None:
                continue
            roster = fold.found
            if roster is None:
                roster = fold.matches(found.batch)
                self.reported.append(fold)
            if last >= found.batch.count:
                if run is None:
                    run = _recalled(fold, cell, runs, at, self.kept, found)
            elif place < 0:
                place = roster.add(runs, at, last)
            found.end(i, roster, place, number, run)


def _tell_of_end(watches: list[Watch], runs: FoldNumbers) -> None:
    """Tell watchers that all runs wait no more. O(runs)."""
    at: i64
    for at in range(0, runs.upto, FIELDS):
        for watch in watches:
            watch.watcher.left(watch.state, runs.numbers[at + BORN], runs.numbers[at + T0], None)


def hold(fold: ColumnFold, runs: FoldNumbers, found: Completions) -> None:
    """Have the slots of all runs, before the batch with the events that they come of goes. O(runs)."""
    numbers = runs.numbers
    at: i64
    for at in range(0, runs.upto, FIELDS):
        begun = numbers[at + BEGUN]
        if begun >= 0:
            runs.earlier.append(_slots(fold, begun, found))
            numbers[at + BEGUN] = -len(runs.earlier)


def _absorb(fold: ColumnFold, cell: Cell, runs: FoldNumbers, last: i64) -> None:
    """Turn the runs of a cell, which all have just taken its last event, into numbers."""
    runs.clear()
    counter = fold.counter
    for run in reversed(cell.runs):
        if run.place is fold.place and run.t1 == last and run.touched == UNTOUCHED:
            runs.earlier.append(run.slots)
            count: i64 = run.slots[counter] if counter >= 0 else 0
            runs.push(-len(runs.earlier), run.t0, run.born, run.trace, count)


def _slots(fold: ColumnFold, begun: i64, found: Completions) -> Slots:
    """The slots of a run that an event of the batch has begun."""
    return fold.update.fill(found.batch.row(int(begun)), (), (), 1, 1) if fold.update is not None else ()


def _recalled(
    fold: ColumnFold, cell: Cell, runs: FoldNumbers, at: i64, kept: WaitingEvents, found: Completions
) -> Run:
    """A run as an object, which has taken the event that was recalled."""
    begun = runs.numbers[at + BEGUN]
    slots: Slots = runs.earlier[-begun - 1] if begun < 0 else _slots(fold, begun, found)
    return folded(runs, at, slots, kept.row(cell), kept.times[cell.waiting])
