"""Runs in cells, by columns: stretches of a batch in which no run is made for the next event of its key alone.

Between two events nothing differs from going event by event (runs), so that a batch can change from one way to the
other at any event, and snapshots know nothing of it. Within a stretch the newest event of a key stands for the runs
that it has begun, and the next one is compared with it, on packed numbers; runs of FOLD are numbers, too (folding).
The last event of each key is kept for the next batch (waiting_events), or runs are made of it. The first event of a key
that has runs, and every event of a key whose static part does not fit (column_plan), goes the usual way.

Here: the order of events, hot and written for compilation. Not here: what an event matches (column_matches), conditions
on numbers (number_tests).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.batch import TextColumn
from ....events.schema import Row
from ....events.text_codes import text_column
from ...index.spaces import Key, Space
from ...program.directory import Directory
from ...program.transition import Place
from ...program.watcher import Watch
from .cells import NO_RUNS, Cell
from .column_matches import ColumnMatches
from .column_plan import ColumnFold, ColumnPair, ColumnPlan, StreamColumns, columns_of
from .folding import hold
from .number_tests import compared, passes
from .waiting_events import NOBODY

SHORTEST: Final = 16  # events for which a stretch is worth beginning
NO_EVENT: Final = -1
TAKEN: Final = -2  # an event has been taken by runs


@final
class ColumnRuns(ColumnMatches):
    """The runs of a program, also by columns. `version` of the program: plans of cells are of one."""

    def __init__(self, directory: Directory, places: dict[int, Place]) -> None:
        super().__init__(directory, places)
        self.version = 1
        self._streams: dict[int, StreamColumns | None] = {}
        self._nothing = ColumnPlan(None, None, self.matrix, 0)
        self._before: list[ColumnPair] = []  # what the last event has begun that was kept
        self._touched: list[Cell] = []
        # How the batch has its keys: as codes of texts, whose cells are here once found, in a column, or in rows.
        self._codes: TextColumn | None = None
        self._code: i64 = NO_EVENT
        self._coded: list[Cell | None] = []
        self._keys: list[Any] | None = None
        self._rows: list[Row] = []

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
        if batch is not self.batch:
            self.begin(batch)
        if not self.matrix.need(columns.open.slots):
            return first
        keyed = columns.keyed
        if keyed is None:
            done = self.singles(columns.open, first, upto)
            self.now = int(found.times[done - 1])
            return done
        upto = self._before_tie(keyed, first, upto)
        if upto - first < SHORTEST:
            return first
        self._find_keys(keyed)
        self.kept = self.waiting[keyed.number]
        self.folding.turn(found, self.kept)
        done = self._pass(stream, keyed, columns.open, first, upto)
        self.now = int(found.times[done - 1])
        self._settle(columns.open, keyed.single)
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
        if plan is None or plan.version != self.version:
            plan = cell.plan = ColumnPlan(cell.static, cell.space, self.matrix, self.directory.options.few)
            if (opened.fold is not None and plan.waits()) or (plan.fold is not None and opened.waits()):
                plan.fits = False
            plan.version = self.version
        return plan

    def _recalled_event(self, cell: Cell, opened: ColumnPlan, plan: ColumnPlan, fits: bool) -> i64:
        """Have the numbers of a cell's waiting event behind those of the batch; returns its number there. O(slots).

        An event that the current plans do not fit becomes runs, and there is none.
        """
        matrix, kept = self.matrix, self.kept
        if not fits or kept.versions[cell.waiting] != self.version:
            kept.unpack(cell)
            return NO_EVENT
        at: i64 = self.batch.count + len(self.recalled)
        self.recalled.append(cell)
        positions = matrix.positions()
        for slots in (opened.slots, plan.slots):
            for slot in slots:
                matrix.numbers[slot * matrix.stride + at] = kept.number(positions[slot], cell)
        return at

    def _before_tie(self, keyed: Space, first: i64, upto: i64) -> i64:
        """The first event of the first time at which a key has several events; `upto` if none has."""
        times, batch = self.found.times, self.batch
        if batch.distinct:
            return upto
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
        batch = self.batch
        self._codes, self._keys = None, None
        self._code = NO_EVENT
        if batch.made is not None:
            self._rows = batch.made
        if batch.columns:
            column = text_column(batch, keyed.single)
            if column is not None and len(column.texts) <= 2 * batch.count:
                self._codes = column
                self._coded = [None] * len(column.texts)
            elif batch.made is None:
                self._keys = batch.columns[keyed.single].values()

    # --- events -------------------------------------------------------------------------------------------------

    def _pass(self, stream: int, keyed: Space, opened: ColumnPlan, first: i64, upto: i64) -> i64:
        """Process events; returns behind the last one that was: before `upto` if one had an effect beyond runs."""
        found, matrix = self.found, self.matrix
        foretold, folding, none = self.foretold, self.folding, self._nothing
        waits, fold, lone = opened.waits(), opened.fold, opened.lone
        test = lone.arcs[0].test if lone is not None else None
        numbers, stride = matrix.numbers, matrix.stride
        version = self.version
        followed: i64 = 0
        i: i64
        for i in range(first, upto):
            if foretold is not None:
                foretold.begins(i)
            cell = self._cell_of(i, keyed, waits)
            plan = none
            last: i64 = NO_EVENT
            if cell is not None:
                last = cell.last
                if last < 0:
                    last = self._return(stream, cell, opened, i)
                    numbers = matrix.numbers  # it may have moved
                    if last == TAKEN:
                        if len(found.faults) > 0 or len(found.derived) > 0:
                            self.begun += int(followed)
                            return i + 1
                        if foretold is not None:
                            foretold.ends(i)
                        continue
                cell.last = i
                if cell.static is not None and cell.plan is not None:
                    plan = cell.plan
            if opened.filters:
                self.single(opened, numbers, stride, i)
            if plan.filters:
                self.single(plan, numbers, stride, i)
            if cell is not None:
                if foretold is not None:
                    self._tell_of_new(opened, plan, i, last)
                if last >= 0:
                    fresh = last != cell.begun
                    if test is not None and lone is not None:
                        if fresh:
                            followed += 1
                        if compared(test, numbers[test.slot * stride + i], numbers[test.other * stride + last]):
                            self.complete(lone, 0, i, last)
                    elif waits and fold is None:
                        self.follow(opened, numbers, stride, i, last, fresh)
                    if plan is not none and len(plan.pairs) > 0:
                        self.follow(plan, numbers, stride, i, last, fresh)
                if fold is not None:
                    self.begun += folding.step(fold, cell, i, last)
                elif plan is not none and plan.fold is not None:
                    self.begun += folding.step(plan.fold, cell, i, last)
            if foretold is not None:
                foretold.ends(i)
        assert version == self.version
        self.begun += int(followed)
        return upto

    def _cell_of(self, i: i64, keyed: Space, waits: bool) -> Cell | None:
        """The cell of an event; made if something waits. None if there is none, and where the key is null."""
        codes = self._codes
        if codes is not None:
            code = codes.codes[i]
            if code < 0:
                return None
            cell = self._coded[code]
            if cell is not None:
                return cell
            self._code = code
            key: Key = codes.texts[code]
        elif self._keys is not None:
            key = self._keys[i]
        else:
            key = self._rows[i][keyed.single]
        if key is None:
            return None
        cells = self.cells[keyed.number]
        cell = cells.get(key)
        if cell is None and waits:
            cell = cells[key] = Cell(keyed, key, None)
        return cell

    def _return(self, stream: int, cell: Cell, opened: ColumnPlan, i: i64) -> i64:
        """Turn to a key by its first event of the stretch. Returns the number of the event that waits; NO_EVENT.

        Where there are runs, or the static part does not fit, the event goes the usual way, and it is TAKEN.
        """
        plan = self._planned(cell, opened)
        fits = plan.fits and self.matrix.need(plan.slots)
        last = self._recalled_event(cell, opened, plan, fits) if cell.waiting >= 0 else NO_EVENT
        if fits:
            self._touched.append(cell)
            if self._code >= 0:
                self._coded[self._code] = cell
            if last >= 0 or not cell.runs:
                cell.begun = last
                return last
            if opened.fold is None and plan.fold is None:
                for each in (opened, plan):
                    self.single(each, self.matrix.numbers, self.matrix.stride, i)
                for each in (opened, plan):
                    if each.watched and self.foretold is not None:
                        self.tell_of_begun(each, i)
                self._end(cell, i)
                cell.begun = NO_EVENT
                cell.last = i
                return TAKEN
        self._visit(stream, i)
        if fits:
            cell.last = cell.begun = i
            if cell.empty():  # it is not among the cells any more
                self.cells[cell.space.number][cell.key] = cell
        return TAKEN

    def _tell_of_new(self, opened: ColumnPlan, plan: ColumnPlan, i: i64, last: i64) -> None:
        """Tell watchers of the pairs that an event begins."""
        if opened.watched:
            if opened.lone is None or opened.lone.place.watches is None:
                self.tell_of_begun(opened, i)
            else:
                self._tell_of_lone(opened.lone.place.watches, i, last)
        if plan.watched:
            self.tell_of_begun(plan, i)

    def _tell_of_lone(self, watches: list[Watch], i: i64, last: i64) -> None:
        """Tell watchers of the pair that an event begins, which every event does, and of the one that it ends."""
        time: i64 = self.found.times[i]
        if last < 0:
            for watch in watches:
                watch.watcher.entered(watch.state, time, time, None)
        else:
            before = self._time(last)
            for watch in watches:
                watch.watcher.renewed(watch.state, before, time)

    def _turn_to(self, i: i64) -> None:
        """Make an event the current one."""
        found = self.found
        self.index = int(i)
        self.row = found.batch.row(int(i))
        self.time = found.times[i]
        self.start = self.time
        self.length = 1
        self.item = found.ids.at(i)
        self.link = int(self.item)

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

    def _settle(self, opened: ColumnPlan, single: i64) -> None:
        """Keep the last event of each key, or make the runs that it has begun. O(keys of the stretch)."""
        found, kept, nothing = self.found, self.kept, self._nothing
        lone = opened.lone is not None
        for cell in self._touched:
            i = cell.last
            cell.last = NO_EVENT
            if i == cell.begun:
                self._drop_if_empty(cell)
                continue
            plan = cell.plan if cell.static is not None and cell.plan is not None else nothing
            if cell.runs:
                cell.runs = NO_RUNS
            fold = opened.fold if opened.fold is not None else plan.fold
            began = NOBODY
            if plan.pairs or (opened.pairs and not lone):
                began = self._began(opened, plan, i)
            elif lone:
                began = opened.pairs
            if not opened.lasting or not plan.lasting:
                self._turn_to(i)
                for pair in began:
                    self._enter(pair.place, pair.update, None, False)
            elif began or (fold is not None and self._held(fold, cell)):
                self.begun += len(began)
                cell.waiting = kept.keep(cell.waiting, found, i, single, self.version, began)
                continue
            elif cell.waiting >= 0:
                kept.forget(cell)
            self._drop_if_empty(cell)
        self._touched.clear()
        self.recalled.clear()
        self._codes, self._keys = None, None
        self._coded, self._rows = [], []

    def _began(self, opened: ColumnPlan, plan: ColumnPlan, i: i64) -> list[ColumnPair]:
        """The pairs that an event has begun, in one list for events that have begun the same. O(pairs)."""
        matrix = self.matrix
        began: list[ColumnPair] = []
        for pairs in (opened.pairs, plan.pairs):
            for pair in pairs:
                if passes(pair.begins, matrix.numbers, matrix.stride, i, i, 0, 0):
                    began.append(pair)
        before = self._before
        at: i64 = 0
        while at < len(began) and at < len(before) and before[at] is began[at]:
            at += 1
        if at < len(began) or at < len(before):
            self._before = began
        return self._before

    def _held(self, fold: ColumnFold, cell: Cell) -> bool:
        """Whether runs of a FOLD wait; they are prepared for another batch. O(runs of the key)."""
        runs = cell.fold
        if runs is None or runs.upto == 0:
            return False
        hold(fold, runs, self.found)
        return True
