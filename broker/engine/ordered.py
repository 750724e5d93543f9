"""The ordered runtime: events in order of their end, one epoch a time stamp (semantics 1.7).

For each event and each key space of its stream: one probe; then in the cell that it leads to
1. start arcs whose guard holds begin new runs, and families begin one run for all their members that hold;
2. each waiting run is *affected* if it does not overlap the event and theta holds. If its place rebinds and the rebind
   guard fails, nothing comes of it; else every arc whose guard holds makes a new run or a match. Either way it ends.

Simultaneous events without pending lists: a new run's `t1` is now, and only what ended before an event begins is
affected, so that nobody sees it within its epoch; an affected run is stamped, not removed, so that it still sees the
others of the epoch, and the first later visit drops it.

Here: the loop, hot and written for compilation. Not here: subscriptions (program), reading results, input checks.
"""

from __future__ import annotations

from typing import Any, Final, final

from ..algebra.predicate import Slots, holds
from ..events.schema import Row
from .cells import FOREVER, UNTOUCHED, Cell, Expiry, Lineage, Run, sweep_delay
from .program import Program
from .results import Derived, Results, mixed
from .spaces import Key, waiting_key
from .transition import Ending, Place, Update

PURGE_MIN: Final = 64  # dead places before their runs are looked for


@final
class OrderedRuntime:
    """The runs of a program. `now` is the newest epoch, None before the first event."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.cells: list[dict[Key, Cell]] = []
        self.expiry = Expiry()
        self.now: int | None = None
        self.results = Results([], [], [], [], {})
        self.begun = 0  # runs and cohorts ever started
        self.derived = 0

    def refresh(self) -> None:
        """Bring the cells in line with a changed program. O(what changed), but for a purge now and then."""
        program = self.program
        while len(self.cells) < len(program.statics):
            self.cells.append({})
        for space, key in program.changed:
            static = program.statics[space.number].get(key)
            cells = self.cells[space.number]
            cell = cells.get(key)
            if cell is not None:
                cell.static = static
                self._drop_if_empty(cell)
            elif static is not None:
                cells[key] = Cell(space, key, static)
        program.changed.clear()
        if program.dead > PURGE_MIN + len(program.places):
            self.purge()

    def purge(self) -> None:
        """Remove the runs of places that no subscription needs any more. O(runs)."""
        for cells in self.cells:
            for cell in list(cells.values()):
                cell.runs = [run for run in cell.runs if not run.place.dead]
                self._drop_if_empty(cell)
        self.program.dead = 0

    def process(self, stream: str, times: list[int], rows: list[Row], ids: list[int], starts: list[int]) -> Results:
        """Take a batch of checked events of one stream. O(runs affected) an event, beside a probe a key space."""
        results = Results(times, rows, ids, starts, self.results.tally_after(times[0] if times else None))
        self.results = results
        number = self.program.stream(stream)
        n = len(times)
        for i in range(n):
            time = times[i]
            alone = False
            if self.now is None or time > self.now:
                self.now = time
                if self.expiry.next < time:
                    self._expire(time)
                # The last event of a batch never is: the next batch may go on in its epoch.
                alone = i + 1 < n and times[i + 1] > time
            item = ids[i]
            self._visit(number, rows[i], starts[i], time, item, item, i, alone)
            while self.derived < len(results.derived):
                event = results.derived[self.derived]
                index = n + self.derived
                self.derived += 1
                self._visit(event.stream, event.row, event.start, time, event.trace, event.lineage, index, False)
        self.derived = 0
        return results

    def _visit(
        self, stream: int, row: Row, start: int, time: int, item: int, link: Any, index: int, alone: bool
    ) -> None:
        """One event through the cells that it concerns."""
        length = time - start + 1
        for space in self.program.spaces[stream]:
            key = space.key_of(row)
            if key is None:
                continue
            cell = self.cells[space.number].get(key)
            if cell is None:
                continue
            if cell.static is not None:
                self._begin(cell, row, start, time, length, item, link, index)
            if cell.runs:
                self._affect(cell, row, start, time, length, item, link, index, alone)
                if not cell.runs:
                    self._drop_if_empty(cell)

    def _begin(
        self, cell: Cell, row: Row, start: int, time: int, length: int, item: int, link: Any, index: int
    ) -> None:
        static = cell.static
        if static is None:
            return
        for arc in static.arcs:
            if holds(arc.guard, row, (), (), length, length):
                if arc.ending is not None:
                    self._emit(arc.ending, None, row, start, time, length, item, link, index)
                elif arc.place is not None:
                    trace = mixed(0, item, arc.place.depth)
                    self._enter(
                        arc.place, arc.update, row, (), (), length, length, start, time, time, trace, None, link
                    )
        for i in range(len(static.families)):
            if static.families[i].count(row) > 0:
                place = static.places[i]
                trace = mixed(0, item, place.depth)
                self._enter(place, None, row, (), (), length, length, start, time, time, trace, None, link)

    def _affect(
        self,
        cell: Cell,
        row: Row,
        start: int,
        time: int,
        length: int,
        item: int,
        link: Any,
        index: int,
        alone: bool,
    ) -> None:
        runs = cell.runs
        n = len(runs)  # what is started meanwhile comes behind
        kept = 0
        for j in range(n):
            run = runs[j]
            place = run.place
            if run.limit < time or place.dead or (run.touched < time and run.touched != UNTOUCHED):
                continue
            if run.t1 < start:
                theta = place.theta
                if not theta or holds(theta, row, run.row, run.slots, length, time - run.t0 + 1):
                    self._step(run, place, row, start, time, length, item, link, index)
                    if alone:
                        continue
                    run.touched = time
            runs[kept] = run
            kept += 1
        if kept < n:
            del runs[kept:n]

    def _step(
        self,
        run: Run,
        place: Place,
        row: Row,
        start: int,
        time: int,
        length: int,
        item: int,
        link: Any,
        index: int,
    ) -> None:
        """What comes of an affected run."""
        family = place.family
        if family is not None:
            for ending in family.completed(family.count(run.row), row):
                self._emit(ending, run, row, start, time, length, item, link, index)
            return
        span = time - run.t0 + 1
        bound, slots = run.row, run.slots
        rebind = place.rebind
        if rebind is not None:
            if not holds(rebind.guard, row, bound, slots, length, span):
                return
            trace = mixed(run.trace, item, place.depth)
            self._enter(
                place, rebind.update, row, bound, slots, length, span, run.t0, time, run.born, trace, run.lineage, link
            )
        for arc in place.arcs:
            if holds(arc.guard, row, bound, slots, length, span):
                if arc.ending is not None:
                    self._emit(arc.ending, run, row, start, time, length, item, link, index)
                elif arc.place is not None:
                    trace = mixed(run.trace, item, arc.place.depth)
                    self._enter(
                        arc.place,
                        arc.update,
                        row,
                        bound,
                        slots,
                        length,
                        span,
                        run.t0,
                        time,
                        run.born,
                        trace,
                        run.lineage,
                        link,
                    )

    def _enter(
        self,
        place: Place,
        update: Update | None,
        row: Row,
        bound: Row,
        slots: Slots,
        length: int,
        span: int,
        t0: int,
        t1: int,
        born: int,
        trace: int,
        before: Lineage,
        link: Any,
    ) -> None:
        """A new run in `place`, unless nothing can ever affect it."""
        filled: Slots = () if update is None else update.fill(row, bound, slots, length, span)
        limit = FOREVER
        if place.window >= 0:
            limit = t0 + place.window - 1
            if limit <= t1:
                return
        key = waiting_key(place.key, row, filled)
        if key is None:
            return
        lineage: Lineage = (before, link) if place.lineage else None
        self.insert(Run(place, row, filled, t0, t1, born, limit, trace, lineage), key)
        self.begun += 1

    def insert(self, run: Run, key: Key) -> None:
        """Put a run where the events that concern it will look."""
        space = run.place.space
        cells = self.cells[space.number]
        cell = cells.get(key)
        if cell is None:
            cell = cells[key] = Cell(space, key, None)
        cell.runs.append(run)
        if run.limit != FOREVER and not cell.due:
            now = run.t1 if self.now is None else self.now
            self.expiry.schedule(cell, now, sweep_delay(run, now))

    def _emit(
        self,
        ending: Ending,
        run: Run | None,
        row: Row,
        start: int,
        time: int,
        length: int,
        item: int,
        link: Any,
        index: int,
    ) -> None:
        target = ending.target()
        results = self.results
        if target.subscribers:
            results.add(target, index, run)
        if not target.feeds:
            return
        if run is None:
            born, t0, trace = time, start, mixed(0, item, -1)
            values = target.values(row, (), (), length, length)
            lineage: Lineage = (None, link)
        else:
            born, t0, trace = run.born, run.t0, mixed(run.trace, item, -1)
            values = target.values(row, run.row, run.slots, length, time - t0 + 1)
            lineage = (run.lineage, link)
        for feed in target.feeds:
            if born > feed.since:
                results.derived.append(Derived(feed.stream, values, t0, time, trace, lineage))

    # --- expiry -------------------------------------------------------------------------------------------------

    def _expire(self, now: int) -> None:
        for cell in self.expiry.take(now):
            delay = 0
            kept: list[Run] = []
            for run in cell.runs:
                if run.limit < now or run.place.dead or run.touched != UNTOUCHED:
                    continue
                kept.append(run)
                if run.limit != FOREVER:
                    delay = max(delay, sweep_delay(run, now))
            cell.runs = kept
            if delay > 0:
                self.expiry.schedule(cell, now, delay)
            self._drop_if_empty(cell)

    def _drop_if_empty(self, cell: Cell) -> None:
        # A cell that is still to be swept stays: a ring refers to it.
        if not cell.runs and cell.static is None and not cell.due:
            self.cells[cell.space.number].pop(cell.key, None)

    def live(self) -> list[Run]:
        """The runs that a later event can still affect, in a fixed order. O(runs).

        Those that this epoch has touched are among them: they still see its other events.
        """
        now = self.now if self.now is not None else UNTOUCHED
        return [
            run
            for cells in self.cells
            for cell in cells.values()
            for run in cell.runs
            if not run.place.dead and run.limit >= now and run.touched in (UNTOUCHED, now)
        ]

    def check_invariants(self) -> None:
        """Raise AssertionError where runs, cells and program contradict each other. O(runs)."""
        assert not self.program.changed, "refresh is due"
        scheduled = 0
        for number, cells in enumerate(self.cells):
            for key, cell in cells.items():
                assert cell.space.number == number
                assert cell.static is self.program.statics[number].get(key)
                assert cell.static is not None or cell.runs or cell.due, "an empty cell"
                scheduled += cell.due
                for run in cell.runs:
                    assert run.place.space is cell.space
                    assert waiting_key(run.place.key, run.row, run.slots) == key
                    assert run.t0 <= run.t1 <= (self.now if self.now is not None else run.t1)
                    assert run.limit == FOREVER or cell.due, "no sweep is scheduled"
        assert scheduled == self.expiry.scheduled()
