"""Runs in cells, by columns: stretches of a batch in which no run is made for the next event of its key alone.

Between two events nothing differs from going event by event (runs), so that a batch can change from one way to the
other at any event, and snapshots know nothing of it. Within a stretch the newest event of a key stands for the runs
that it has begun, and the next one is compared with it, on packed numbers; runs of FOLD are numbers, too (folding).
Runs are made of the last event of each key, and for matches. The first event of a key that has runs, and every event of
a key whose static part does not fit (column_plan), goes the usual way.

Here: that, hot and written for compilation. Not here: conditions on numbers (number_tests).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import Batch, TextColumn
from ...index.spaces import Key, Space
from ...program.directory import Directory
from ...program.transition import Place
from ..matches import Lineage
from ..packed import Floats, integers, put_integer
from ..trace import mixed
from .bulk import Bulk
from .cells import FOREVER, Cell, Run
from .column_plan import ColumnBox, ColumnPair, ColumnPlan, StreamColumns, columns_of
from .folding import step, waiting
from .number_matrix import NumberMatrix
from .number_tests import compared, passes
from .runs import KeyedRuns

SHORTEST: Final = 16  # events for which a stretch is worth beginning
NO_EVENT: Final = -1


@final
class ColumnRuns(KeyedRuns):
    """The runs of a program, also by columns. `version` of the program: plans of cells are of one."""

    def __init__(self, directory: Directory, places: dict[int, Place], bulk: Bulk) -> None:
        super().__init__(directory, places, bulk)
        self.version = 1
        self.matrix = NumberMatrix()
        self._streams: dict[int, StreamColumns | None] = {}
        self._nothing = ColumnPlan(None, None, self.matrix, 0)
        self._touched: list[Cell] = []
        self._coded: list[Cell | None] = []
        self._mode: i64 = 0
        self._keys: list[Any] = []
        self._batch: Batch = self.found.batch
        self._paired: list[ColumnPair] = []  # those with matches in the batch
        self._handles = integers()  # 0, 1, 2, ...

    def refresh(self) -> None:
        self.version += 1
        self._streams.clear()
        super().refresh()

    def stretch(self, stream: int, first: i64, upto: i64) -> i64:
        if upto - first < SHORTEST:
            return first
        columns = self._streams.get(stream)
        if stream not in self._streams:
            columns = self._streams[stream] = columns_of(self.directory, stream, self.matrix)
        if columns is None:
            return first
        found = self.found
        batch = found.batch
        if batch is not self._batch:
            self._batch = batch
            self.matrix.begin(batch)
            for pair in self._paired:
                pair.found = None
            self._paired.clear()
        if not self.matrix.need(columns.open.slots):
            return first
        keyed = columns.keyed
        if keyed is None:
            done = self._singles(columns.open, first, upto)
            self.now = int(found.times[done - 1])
            return done
        upto = self._before_tie(keyed, first, upto)
        if upto - first < SHORTEST:
            return first
        self._find_keys(keyed)
        done = self._pass(stream, keyed, columns.open, first, upto)
        self.now = int(found.times[done - 1])
        self._settle(columns.open)
        if len(found.faults) > 0 or len(found.derived) > 0:
            self._turn_to(done - 1)
        self.time = found.times[done - 1]
        return done

    # --- deciding -----------------------------------------------------------------------------------------------

    def _planned(self, cell: Cell, opened: ColumnPlan) -> ColumnPlan:
        """The plan of a cell's static part. O(1), and O(static part) after a change of the program."""
        if cell.static is None:
            return self._nothing
        plan = cell.plan
        if plan is None or cell.version != self.version:
            plan = cell.plan = ColumnPlan(cell.static, cell.space, self.matrix, self.directory.options.static_few)
            if (opened.fold is not None and plan.waits()) or (plan.fold is not None and opened.waits()):
                plan.fits = False
            cell.version = self.version
        return plan

    def _before_tie(self, keyed: Space, first: i64, upto: i64) -> i64:
        """The first event of the first time at which a key has several events; `upto` if none has."""
        times, batch = self.found.times, self._batch
        at = first
        before: i64 = times[at]
        while at + 1 < upto:
            at += 1
            time: i64 = times[at]
            if time == before:
                begin = at - 1
                seen: set[Any] = {batch.row(int(begin))[keyed.single]}
                while at < upto and times[at] == time:
                    seen.add(batch.row(int(at))[keyed.single])
                    at += 1
                if len(seen) < at - begin:
                    return begin
                at -= 1
            before = time
        return upto

    def _find_keys(self, keyed: Space) -> None:
        """Prepare finding the cell of an event, by the form in which the batch has its keys."""
        batch = self._batch
        self._mode = 0
        if batch.made is None:
            column = batch.columns[keyed.single]
            if isinstance(column, TextColumn) and len(column.texts) <= 2 * batch.count:
                self._mode = 1
                self._coded = [None] * len(column.texts)
            else:
                self._mode = 2
                self._keys = column.values()

    # --- events -------------------------------------------------------------------------------------------------

    def _pass(self, stream: int, keyed: Space, opened: ColumnPlan, first: i64, upto: i64) -> i64:
        """Process events; returns behind the last one that was: before `upto` if one had an effect beyond runs."""
        found, matrix, batch = self.found, self.matrix, self._batch
        numbers, stride = matrix.numbers, matrix.stride
        cells = self.cells[keyed.number]
        single, mode, version = keyed.single, self._mode, self.version
        rows = batch.made
        coded, keys = self._coded, self._keys
        column = batch.columns[single] if mode == 1 else None
        codes = column.codes if isinstance(column, TextColumn) else None
        texts = column.texts if isinstance(column, TextColumn) else []
        touched = self._touched
        waits = opened.waits()
        folds = opened.fold is not None
        alone = not opened.filters and not opened.boxes
        derived, faults = found.derived, found.faults
        lone = opened.lone
        test = lone.arcs[0].test if lone is not None else None
        followed: i64 = 0
        none = self._nothing
        key: Key = None
        code: i64 = NO_EVENT
        i: i64
        for i in range(first, upto):
            cell: Cell | None = None
            if codes is not None:
                code = codes[i]
                if code >= 0:
                    cell = coded[code]
                    if cell is None:
                        key = texts[code]
                        cell = cells.get(key)
                else:
                    key = None
            else:
                key = rows[i][single] if rows is not None else keys[i]
                cell = cells.get(key) if key is not None else None
            plan = none
            last: i64 = NO_EVENT
            if cell is None:
                if waits and key is not None:
                    cell = cells[key] = Cell(keyed, key, None)
            if cell is not None:
                last = cell.last
                if last < 0:
                    plan = self._planned(cell, opened)
                    fits = plan.fits and matrix.need(plan.slots)
                    numbers = matrix.numbers  # it may have moved
                    if fits and cell.runs and not folds and plan.fold is None:
                        self._single(opened, numbers, stride, i)
                        self._single(plan, numbers, stride, i)
                        self._end(cell, i)
                        cell.begun = NO_EVENT
                        cell.last = i
                        touched.append(cell)
                        if codes is not None:
                            coded[code] = cell
                        if len(faults) > 0 or len(derived) > 0:
                            self.begun += int(followed)
                            return i + 1
                        continue
                    if not fits or cell.runs:
                        self._visit(stream, i)
                        if fits:
                            cell.last = cell.begun = i
                            touched.append(cell)
                            if codes is not None:
                                coded[code] = cell
                        if len(faults) > 0 or len(derived) > 0:
                            self.begun += int(followed)
                            return i + 1
                        continue
                    cell.begun = NO_EVENT
                    touched.append(cell)
                    if codes is not None:
                        coded[code] = cell
                elif cell.static is not None and cell.plan is not None:
                    plan = cell.plan
                cell.last = i
            if not alone:
                self._single(opened, numbers, stride, i)
            if plan is not none:
                self._single(plan, numbers, stride, i)
            if last >= 0 and cell is not None:
                fresh = last != cell.begun
                if test is not None and lone is not None:
                    if fresh:
                        followed += 1
                    if compared(test, numbers[test.slot * stride + i], numbers[test.other * stride + last]):
                        self._complete(lone, 0, i, last, plan.families)
                elif waits and not folds:
                    self._follow(opened, numbers, stride, i, last, fresh, opened.families or plan.families)
                if plan is not none and len(plan.pairs) > 0:
                    self._follow(plan, numbers, stride, i, last, fresh, opened.families or plan.families)
            if cell is not None:
                if opened.fold is not None:
                    self.begun += step(opened.fold, cell, found, numbers, stride, i, last)
                elif plan.fold is not None:
                    self.begun += step(plan.fold, cell, found, numbers, stride, i, last)
        assert version == self.version
        self.begun += int(followed)
        return upto

    def _singles(self, opened: ColumnPlan, first: i64, upto: i64) -> i64:
        """Process events of a stream without keys."""
        numbers, stride = self.matrix.numbers, self.matrix.stride
        i: i64
        for i in range(first, upto):
            self._single(opened, numbers, stride, i)
        return upto

    def _single(self, plan: ColumnPlan, numbers: Floats, stride: i64, i: i64) -> None:
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

    def _follow(
        self, plan: ColumnPlan, numbers: Floats, stride: i64, i: i64, last: i64, fresh: bool, families: bool
    ) -> None:
        """Compare an event with the last one of its key, and so end the runs which that would have begun.

        `fresh`: they were not begun as objects. `families`: what the event completes may be members of these.
        """
        found = self.found
        for pair in plan.pairs:
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
                span = found.times[i] - found.times[last] + 1
                if pair.window >= 0 and span > pair.window:
                    continue
            if family is not None:
                before = len(found.targets)
                y = 0.0 if pair.forward < 0 else numbers[pair.forward * stride + i] * pair.forward_sign
                family.members.find(x, y, 0.0, found.targets)
                if len(found.targets) > before:
                    found.close(int(i), self._run(pair, last))
                continue
            number: i64
            for number in range(len(pair.arcs)):
                if passes(pair.arcs[number].test, numbers, stride, i, last, span, 0):
                    self._complete(pair, number, i, last, families)

    def _complete(self, pair: ColumnPair, number: i64, i: i64, last: i64, families: bool) -> None:
        """Report the match of an event that ends a pair by the arc of this number.

        The matches of one event are all numbers or all runs, so that they keep their order.
        """
        found, target = self.found, pair.arcs[number].target
        if target.first is None:
            return
        if families:
            found.targets.append(target)
            found.close(int(i), self._run(pair, last))
            return
        roster = pair.found
        if roster is None:
            roster = pair.matches(found.batch, found.times, found.ids)
            self._paired.append(pair)
        while len(self._handles) <= number:
            self._handles = put_integer(self._handles, len(self._handles), len(self._handles))
        found.packed.add(i, roster, found.times[last], self._handles, number, 1, last, 1)

    def _run(self, pair: ColumnPair, at: i64) -> Run:
        """The run that an event has begun in a place, as `_enter` makes it."""
        found, place = self.found, pair.place
        row = found.batch.row(int(at))
        time: i64 = found.times[at]
        item: i64 = found.ids[at]
        slots = pair.update.fill(row, (), (), 1, 1) if pair.update is not None else ()
        limit: i64 = time + place.window - 1 if place.window >= 0 else FOREVER
        lineage: Lineage = (None, found.ids[at]) if place.lineage else None
        return Run(place, row, slots, time, time, time, limit, mixed(0, item, place.depth), lineage)

    def _turn_to(self, i: i64) -> None:
        """Make an event the current one."""
        found = self.found
        self.index = int(i)
        self.row = found.batch.row(int(i))
        self.time = found.times[i]
        self.start = self.time
        self.length = 1
        self.item = found.ids[i]
        self.link = found.ids[i]

    def _end(self, cell: Cell, i: i64) -> None:
        """Let an event end the runs of a cell that wait for it, which are pairs. What it begins is left to the next."""
        self._turn_to(i)
        self.now = int(self.time)
        self.alone = True  # the next event of the key is later
        self._affect(cell)

    def _visit(self, stream: int, i: i64) -> None:
        """Apply an event in the usual way."""
        self._turn_to(i)
        self.now = int(self.time)
        self.alone = self.found.times[i + 1] > self.time  # the last event of a batch is never in a stretch
        self.visit(self.directory.spaces[stream])

    def _settle(self, opened: ColumnPlan) -> None:
        """Make the runs that the last event of each key has begun. O(keys of the stretch)."""
        for cell in self._touched:
            i = cell.last
            cell.last = NO_EVENT
            if i == cell.begun:
                continue
            cell.runs = []
            plan = cell.plan if cell.static is not None and cell.plan is not None else self._nothing
            fold = opened.fold if opened.fold is not None else plan.fold
            runs = cell.fold
            if fold is not None and runs is not None:
                for run in waiting(fold, runs, self.found, i):
                    self.insert(run, cell.key)
            if opened.pairs or plan.pairs:
                self._turn_to(i)
                self._begin_pairs(opened, i)
                self._begin_pairs(plan, i)
            if not cell.runs:
                self._drop_if_empty(cell)
        self._touched.clear()
        self._coded = []
        self._keys = []

    def _begin_pairs(self, plan: ColumnPlan, i: i64) -> None:
        matrix = self.matrix
        for pair in plan.pairs:
            family = pair.family
            if family is not None:
                if family.starts_any(self.row):
                    self._enter(pair.place, None, None)
            elif passes(pair.begins, matrix.numbers, matrix.stride, i, i, 0, 0):
                self._enter(pair.place, pair.update, None)
