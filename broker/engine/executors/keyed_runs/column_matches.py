"""What an event of a batch in columns matches: alone, or with the last event of its key, on packed numbers.

That event may be of an earlier batch: then its numbers stand behind those of the batch. Here: comparing, and reporting
matches, as numbers again (completions). Hot. Not here: which events are compared (column_runs), conditions on numbers
(number_tests).
"""

from __future__ import annotations

from mypy_extensions import i64

from ....events.batch import Batch
from ...program.directory import Directory
from ...program.transition import Place
from ..packed import Floats
from .cells import Cell, Run
from .column_plan import ColumnPair, ColumnPlan
from .folding import ColumnFolding
from .number_matrix import NumberMatrix
from .number_tests import passes
from .runs import KeyedRuns
from .waiting_events import WaitingEvents, begun_by


class ColumnMatches(KeyedRuns):
    """The runs of a program, and a batch.

    `kept` are the waiting events of the key space, `recalled` the cells of those that are compared with: the first one
    has the number behind the batch's last event.
    """

    def __init__(self, directory: Directory, places: dict[int, Place]) -> None:
        super().__init__(directory, places)
        self.matrix = NumberMatrix()
        self.batch: Batch = self.found.batch
        self.kept = WaitingEvents()
        self.recalled: list[Cell] = []
        self._paired: list[ColumnPair] = []  # those with matches in the batch
        self.folding = ColumnFolding(self.found, self.matrix, self.kept)

    def begin(self, batch: Batch) -> None:
        """Turn to another batch."""
        self.batch = batch
        self.matrix.begin(batch)
        for pair in self._paired:
            pair.found = None
        self._paired.clear()
        for fold in self.folding.reported:
            fold.found = None
        self.folding.reported.clear()

    # --- single events ------------------------------------------------------------------------------------------

    def singles(self, opened: ColumnPlan, first: i64, upto: i64) -> i64:
        """Process events of a stream without keys."""
        numbers, stride = self.matrix.numbers, self.matrix.stride
        foretold = self.foretold
        i: i64
        for i in range(first, upto):
            if foretold is not None:
                foretold.begins(i)
            self.single(opened, numbers, stride, i)
            if foretold is not None:
                foretold.ends(i)
        return upto

    def single(self, plan: ColumnPlan, numbers: Floats, stride: i64, i: i64) -> None:
        """Report the matches of a single event."""
        found = self.found
        for arc in plan.filters:
            target = arc.target
            if (target.first is None and target.watchers is None) or not passes(arc.test, numbers, stride, i, i, 0, 0):
                continue
            if target.first is not None:
                found.targets.append(target)
                found.complete(i, None)
            if target.watchers is not None:
                for watcher in target.watchers:
                    watcher.matched(found.times[i])

    def follow(self, plan: ColumnPlan, numbers: Floats, stride: i64, i: i64, last: i64, fresh: bool) -> None:
        """Compare an event with the last one of its key, and so end the runs which that would have begun.

        `fresh`: they were not begun as objects.
        """
        found = self.found
        for pair in plan.pairs:
            if not passes(pair.begins, numbers, stride, last, last, 0, 0):
                continue
            if fresh:
                self.begun += 1
            span: i64 = 0
            if pair.spans:
                span = found.times[i] - self._time(last) + 1
                if pair.window >= 0 and span > pair.window:
                    continue
            number: i64
            for number in range(len(pair.arcs)):
                if passes(pair.arcs[number].test, numbers, stride, i, last, span, 0):
                    self.complete(pair, number, i, last)
            if pair.place.watches is not None:
                self.tell_of_left(pair, last)

    def tell_of_begun(self, plan: ColumnPlan, i: i64) -> None:
        """Tell watchers of the pairs that an event begins. O(pairs)."""
        numbers, stride, time = self.matrix.numbers, self.matrix.stride, self.found.times[i]
        for pair in plan.pairs:
            watches = pair.place.watches
            if watches is not None and passes(pair.begins, numbers, stride, i, i, 0, 0):
                for watch in watches:
                    watch.watcher.entered(watch.state, time, time, None)

    def tell_of_left(self, pair: ColumnPair, last: i64) -> None:
        """Tell them that the pair which that event has begun waits no more."""
        watches = pair.place.watches
        if watches is not None:
            time = self._time(last)
            for watch in watches:
                watch.watcher.left(watch.state, time, time, None)

    def complete(self, pair: ColumnPair, number: i64, i: i64, last: i64) -> None:
        """Report the match of an event that ends a pair by the arc of this number."""
        watchers = pair.arcs[number].target.watchers
        if watchers is not None:
            for watcher in watchers:
                watcher.matched(self._time(last))
        if pair.arcs[number].target.first is None:
            return
        found = self.found
        roster = pair.found
        if roster is None:
            roster = pair.matches(found.batch, found.times, found.ids)
            self._paired.append(pair)
        count: i64 = self.batch.count
        found.end(i, roster, last, number, None if last < count else self._run(pair, last))

    def _run(self, pair: ColumnPair, last: i64) -> Run:
        """The run that an event of the batch, or one that was recalled, has begun in a place."""
        found, kept = self.found, self.kept
        count: i64 = self.batch.count
        if last >= count:
            cell = self.recalled[last - count]
            return begun_by(pair, kept.row(cell), kept.times[cell.waiting], kept.items[cell.waiting])
        return begun_by(pair, found.batch.row(int(last)), found.times[last], found.ids.at(last))

    def _time(self, last: i64) -> i64:
        count: i64 = self.batch.count
        if last < count:
            return self.found.times[last]
        return self.kept.times[self.recalled[last - count].waiting]
