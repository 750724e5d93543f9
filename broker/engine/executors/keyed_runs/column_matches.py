"""What an event of a batch in columns matches: alone, or with the last event of its key, on packed numbers.

That event may be of an earlier batch: then its numbers stand behind those of the batch. Here: comparing, and reporting
matches. Hot. Not here: which events are compared (column_runs), conditions on numbers (number_tests).
"""

from __future__ import annotations

from mypy_extensions import i64

from ....events.batch import Batch
from ...program.directory import Directory
from ...program.transition import Place
from ..packed import Floats
from .bulk import Bulk
from .cells import Cell, Run
from .column_plan import ColumnBox, ColumnPair, ColumnPlan
from .number_matrix import NumberMatrix
from .number_tests import passes
from .runs import KeyedRuns
from .waiting_events import WaitingEvents, begun_by


class ColumnMatches(KeyedRuns):
    """The runs of a program, and a batch.

    `kept` are the waiting events of the key space, `recalled` the cells of those that are compared with: the first one
    has the number behind the batch's last event.
    """

    def __init__(self, directory: Directory, places: dict[int, Place], bulk: Bulk) -> None:
        super().__init__(directory, places, bulk)
        self.matrix = NumberMatrix()
        self.batch: Batch = self.found.batch
        self.kept = WaitingEvents()
        self.recalled: list[Cell] = []

    # --- single events ------------------------------------------------------------------------------------------

    def singles(self, opened: ColumnPlan, first: i64, upto: i64) -> i64:
        """Process events of a stream without keys."""
        numbers, stride = self.matrix.numbers, self.matrix.stride
        i: i64
        for i in range(first, upto):
            self.single(opened, numbers, stride, i)
        return upto

    def single(self, plan: ColumnPlan, numbers: Floats, stride: i64, i: i64) -> None:
        """Report the matches of a single event."""
        found = self.found
        for arc in plan.filters:
            if arc.target.first is not None and passes(arc.test, numbers, stride, i, i, 0, 0):
                found.targets.append(arc.target)
                found.close(int(i), None)
        for box in plan.boxes:
            self._box(box, numbers, stride, i)

    def _box(self, box: ColumnBox, numbers: Floats, stride: i64, i: i64) -> None:
        x = 0.0 if box.first < 0 else numbers[box.first * stride + i] * box.first_sign
        z = 0.0 if box.second < 0 else numbers[box.second * stride + i] * box.second_sign
        found = self.found
        before = len(found.targets)
        box.members.find(x, x, z, found.targets)
        if len(found.targets) > before:
            found.close(int(i), None)

    def follow(self, plan: ColumnPlan, numbers: Floats, stride: i64, i: i64, last: i64, fresh: bool) -> None:
        """Compare an event with the last one of its key, and so end the runs which that would have begun.

        `fresh`: they were not begun as objects.
        """
        found = self.found
        for pair in plan.pairs:
            run: Run | None = None
            family = pair.family
            if family is not None:
                x = 0.0 if pair.start < 0 else numbers[pair.start * stride + last] * pair.start_sign
                if not family.members.any_below(x):
                    continue
            elif not passes(pair.begins, numbers, stride, last, last, 0, 0):
                continue
            if fresh:
                self.begun += 1
            span: i64 = 0
            if pair.spans:
                span = found.times[i] - self._time(last) + 1
                if pair.window >= 0 and span > pair.window:
                    continue
            if family is not None:
                before = len(found.targets)
                y = 0.0 if pair.forward < 0 else numbers[pair.forward * stride + i] * pair.forward_sign
                family.members.find(x, y, 0.0, found.targets)
                if len(found.targets) > before:
                    found.close(int(i), self._run(pair, last))
                continue
            for arc in pair.arcs:
                if passes(arc.test, numbers, stride, i, last, span, 0) and arc.target.first is not None:
                    if run is None:
                        run = self._run(pair, last)
                    found.targets.append(arc.target)
                    found.close(int(i), run)

    def complete(self, pair: ColumnPair, i: i64, last: i64) -> None:
        """Report the only match of an event that ends a lone pair."""
        found, target = self.found, pair.arcs[0].target
        if target.first is not None:
            found.targets.append(target)
            found.close(int(i), self._run(pair, last))

    def _run(self, pair: ColumnPair, last: i64) -> Run:
        """The run that an event of the batch, or one that was recalled, has begun in a place."""
        found, kept = self.found, self.kept
        count: i64 = self.batch.count
        if last >= count:
            cell = self.recalled[last - count]
            return begun_by(pair, kept.row(cell), kept.times[cell.waiting], kept.items[cell.waiting])
        return begun_by(pair, found.batch.row(int(last)), found.times[last], found.ids[last])

    def _time(self, last: i64) -> i64:
        count: i64 = self.batch.count
        return self.found.times[last] if last < count else self.kept.times[self.recalled[last - count].waiting]
