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

from collections.abc import Callable
from typing import Any, Final, final

from mypy_extensions import i64

from ...algebra.computation import Slots
from ...algebra.predicate import holds
from ...events.schema import Row
from ..cells import FOREVER, UNTOUCHED, Cell, Expiry, Lineage, Run, check_cells, close_gap, flattened, sweep
from ..directory import Static
from ..index.arcs import ArcIndex
from ..index.spaces import Key, Space, waiting_key
from ..program import Program
from ..results import Derived, Results
from ..target import Target
from ..trace import FINAL_DEPTH, mixed
from ..transition import Fault, Place, Transition, Update
from .derived import tell
from .route import Entry

BEFORE: Final = -(1 << 62)  # earlier than any event
PURGE_MIN: Final = 64  # dead places before their runs are looked for


@final
class OrderedRuntime:
    """The runs of a program. `now` is the newest epoch, None before the first event."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.cells: list[dict[Key, Cell]] = []
        self.expiry = Expiry()
        self.now: int | None = None
        self.promised: int | None = None  # nothing earlier comes, says a punctuation
        self.results = Results([], [], [], [], {})
        self.begun = 0  # runs and cohorts ever started
        # The current event: `item` is what it adds to a trace, `link` to a lineage, `index` where results refer to;
        # `alone`: no other event of its epoch will be seen by a run that this one affects.
        self.row: Row = ()
        self.time: i64 = 0
        self.start: i64 = 0
        self.length = 1
        self.item: i64 = 0
        self.link: Any = None
        self.index = 0
        self.alone = False
        self.later = False  # what machines complete becomes results when somebody reads them: nobody else has any
        self.symbols: list[int] = []  # of machines' inputs that it satisfies
        self.faults: list[Fault] = []  # what it has raised, which is for `suspend`
        self.suspend: Callable[[Results, int], None] | None = None

    def refresh(self) -> None:
        """Bring the cells in line with a changed program. O(what changed), but for a purge now and then."""
        directory = self.program.directory
        while len(self.cells) < len(directory.statics):
            self.cells.append({})
        for space, key in directory.changed:
            static = directory.statics[space.number].get(key)
            cells = self.cells[space.number]
            cell = cells.get(key)
            if cell is not None:
                cell.static = static
                self._drop_if_empty(cell)
            elif static is not None:
                cells[key] = Cell(space, key, static)
        directory.changed.clear()
        if directory.dead > PURGE_MIN + len(self.program.places):
            self.purge()

    def clear(self, spaces: list[int]) -> None:
        """Drop the cells of spaces that the program has given up; their runs wait in dead places."""
        for number in spaces:
            self.cells[number] = {}

    def purge(self) -> None:
        """Remove the runs of places that no subscription needs any more. O(runs)."""
        for cell in [cell for cells in self.cells for cell in cells.values()]:
            cell.runs = [run for run in cell.runs if not run.place.dead]
            self._drop_if_empty(cell)
        self.program.directory.dead = 0

    def process(self, stream: str, times: list[int], rows: list[Row], ids: list[int], starts: list[int]) -> Results:
        """Take a batch of checked events of one stream. O(runs affected) an event, beside a probe a key space."""
        results = Results(times, rows, ids, starts, self.results.tally_after(times[0] if times else None))
        self.results = results
        directory = self.program.directory
        number = directory.stream(stream)
        spaces = directory.spaces[number]
        machines = self.program.machines
        entries = machines.entries.get(number)
        forecasts = self.program.forecasts
        foretold = len(forecasts.scopes) > 0
        scopes = forecasts.scopes.get(number)
        self.later = machines.feeding == 0 and not foretold and directory.others[number] == 0
        n: i64 = len(times)
        now: i64 = BEFORE if self.now is None else self.now
        done: i64 = 0
        first: i64 = 0
        if entries is not None and self.later:
            first = machines.route(stream).travel(results.completions, times, rows, ids, now)
            if first > 0:
                now = times[first - 1]
                self.now = now
                if self.expiry.next < now:
                    self._expire(now)
        i: i64
        for i in range(first, n):
            time: i64 = times[i]
            self.alone = False
            self.index = i
            self.time = time
            if time > now:
                now = time
                self.now = time
                if machines.clock.next < time:
                    results.completions.event = i
                    machines.clock.advance(time, results.completions)
                    if not self.later:
                        tell(results, time)
                if self.expiry.next < time:
                    self._expire(time)
                # The last event of a batch never is: the next batch may go on in its epoch.
                self.alone = i + 1 < n and times[i + 1] > time
            self.row = rows[i]
            self.start = starts[i]
            self.length = time - self.start + 1
            self.item = ids[i]
            self.link = ids[i]
            if scopes is not None:
                forecasts.begin(scopes, number, self.row, time)
            self._visit(spaces)
            if entries is not None:
                self._compose(entries)
            if done < len(results.derived):
                done = self.derive(results, n, done)
            if foretold:
                for target, notice in forecasts.finish(time):
                    results.tell(i, target, notice)
            if len(self.faults) > 0 and self.suspend is not None:
                tell(results, time)
                self.suspend(results, i)
                spaces, entries = directory.spaces[number], machines.entries.get(number)
                scopes = forecasts.scopes.get(number)
                foretold = len(forecasts.scopes) > 0
        return results

    def derive(self, results: Results, events: i64, done: i64) -> i64:
        """The derived events from that number on, and what comes of them: how many there are."""
        directory, forecasts = self.program.directory, self.program.forecasts
        all_entries = self.program.machines.entries
        while done < len(results.derived):
            event = results.derived[done]
            self.alone = False  # others may follow within its epoch
            self.row, self.start, self.length = event.row, event.start, self.time - event.start + 1
            self.item, self.link = event.trace, event.lineage
            self.index = events + done
            done += 1
            number = event.stream
            scopes = forecasts.scopes.get(number)
            if scopes is not None:
                forecasts.begin(scopes, number, self.row, self.time)
            self._visit(directory.spaces[number])
            entries = all_entries.get(number)
            if entries is not None:
                self._compose(entries)
        return done

    def _visit(self, spaces: list[Space]) -> None:
        """The current event through the cells that it concerns."""
        row = self.row
        for space in spaces:
            cells = self.cells[space.number]
            if not cells:
                continue
            key: Key = row[space.single] if space.single >= 0 else space.key_of(row)
            if key is None:
                continue
            cell = cells.get(key)
            if cell is None:
                continue
            if cell.static is not None:
                self._begin(cell.static)
            if cell.runs:
                self._affect(cell)
                if not cell.runs:
                    self._drop_if_empty(cell)

    def _begin(self, static: Static) -> None:
        """Start arcs and families: new runs, and matches of single events."""
        row = self.row
        self._lead_on(static.arcs, None, (), (), self.length)
        for place in static.places:
            family = place.family
            if family is not None and family.starts_any(row):
                self._enter(place, None, None)
        results = self.results
        for box in static.boxes:
            box.find(row, results.targets)
            results.close(self.index, None)

    def _affect(self, cell: Cell) -> None:
        """Waiting runs: each one that the event affects takes its step and ends."""
        time, start, row, length = self.time, self.start, self.row, self.length
        alone = self.alone
        runs = cell.runs
        n: i64 = len(runs)  # what is started meanwhile comes behind
        kept: i64 = 0
        j: i64
        for j in range(n):
            run = runs[j]
            place = run.place
            if run.limit < time or place.dead or (run.touched < time and run.touched != UNTOUCHED):
                continue
            if run.t1 < start:
                theta = place.theta
                try:
                    if theta is None or holds(theta, row, run.row, run.slots, length, time - run.t0 + 1):
                        self._step(run, place)
                        if place.watches is not None and run.touched == UNTOUCHED:
                            for watch in place.watches:
                                watch.watcher.left(watch.state, run.born, run.t0, run)
                        if alone:
                            continue
                        run.touched = time
                except Exception as error:  # whatever it is: it is this place's, and stays its own
                    self.faults.append(Fault(None, place, error))
                    continue
            runs[kept] = run
            kept += 1
        if kept < n:
            close_gap(runs, kept, n)

    def _step(self, run: Run, place: Place) -> None:
        """What comes of an affected run."""
        row = self.row
        family = place.family
        if family is not None:
            results = self.results
            family.completed(run.row, row, results.targets)
            results.close(self.index, run)
            return
        span = self.time - run.t0 + 1
        rebind = place.rebind
        if rebind is not None:
            if not holds(rebind.guard, row, run.row, run.slots, self.length, span):
                return
            self._enter(place, rebind.update, run)
        self._lead_on(place.arcs, run, run.row, run.slots, span)

    def _lead_on(self, index: ArcIndex[Transition], run: Run | None, bound: Row, slots: Slots, span: int) -> None:
        """The arcs that hold."""
        row, length = self.row, self.length
        arcs = index.arcs
        found = len(arcs) > index.few  # else they are tried one by one
        if found:
            try:
                arcs = index.satisfied(row, bound, slots, length, span)
            except Exception:
                found = False  # which of them has raised it is found out one by one
        for arc in arcs:
            try:
                if found or arc.guard is None or holds(arc.guard, row, bound, slots, length, span):
                    if arc.target is not None:
                        self._emit(arc.target, run)
                    elif arc.place is not None:
                        self._enter(arc.place, arc.update, run)
                    else:
                        self.symbols.append(arc.symbol)
            except Exception as error:  # whatever it is: it is this arc's, and stays its own
                self.faults.append(Fault(arc, None, error))

    def _enter(self, place: Place, update: Update | None, before: Run | None) -> None:
        """A new run in `place`, which goes on from `before` or begins here, unless nothing can ever affect it."""
        row, time = self.row, self.time
        bound: Row = ()
        slots: Slots = ()
        t0: i64 = self.start
        born: i64 = time
        trace: i64 = 0
        links: Lineage = None
        if before is not None:
            bound, slots = before.row, before.slots
            t0, born, trace = before.t0, before.born, before.trace
            links = before.lineage
        limit: i64 = FOREVER
        if place.window >= 0:
            limit = t0 + place.window - 1
            if limit <= time:
                return
        filled: Slots = ()
        if update is not None:
            filled = update.fill(row, bound, slots, self.length, time - t0 + 1)
        key: Key = row[place.own] if place.own >= 0 else waiting_key(place.key, row, filled)
        if key is None:
            return
        lineage: Lineage = (links, self.link) if place.lineage else None
        run = Run(place, row, filled, t0, time, born, limit, mixed(trace, self.item, place.depth), lineage)
        self.insert(run, key)
        self.begun += 1
        if place.watches is not None:
            for watch in place.watches:
                watch.watcher.entered(watch.state, born, t0, run)

    def insert(self, run: Run, key: Key) -> None:
        """Put a run where the events that concern it will look."""
        space = run.place.space
        cells = self.cells[space.number]
        cell = cells.get(key)
        if cell is None:
            cell = cells[key] = Cell(space, key, None)
        cell.runs.append(run)
        if run.limit != FOREVER and not cell.due:
            self.expiry.expect(cell, run, run.t1 if self.now is None else self.now)

    def _emit(self, target: Target, run: Run | None) -> None:
        """A match: a column entry for the subscribers, a derived event for each stream that is made of it."""
        results = self.results
        if target.first is not None:
            results.targets.append(target)
            results.close(self.index, run)
        if target.watchers is not None:
            for watcher in target.watchers:
                watcher.matched(self.time if run is None else run.born)
        feeds = target.feeds
        if feeds is None:
            return
        born: i64 = self.time
        t0: i64 = self.start
        trace: i64 = 0
        bound: Row = ()
        slots: Slots = ()
        links: Lineage = None
        if run is not None:
            born, t0, trace = run.born, run.t0, run.trace
            bound, slots, links = run.row, run.slots, run.lineage
        trace = mixed(trace, self.item, FINAL_DEPTH)
        values = target.outcome.values(self.row, bound, slots, self.length, self.time - t0 + 1)
        for feed in feeds:
            if born > feed.since:
                results.derived.append(Derived(feed.stream, values, t0, self.time, trace, (links, self.link)))

    def _compose(self, entries: list[Entry]) -> None:
        """The current event through the lanes of its stream."""
        symbols = self.symbols
        if len(symbols) > 0:
            self.symbols = []
        item: Any = self.link if isinstance(self.link, int) else (int(self.item), tuple(flattened(self.link)))
        found = self.results.completions
        found.event = self.index
        for entry in entries:
            entry.lane.take(entry.stream, symbols, self.row, self.time, item, found)
        if not self.later and found.told < found.upto:
            tell(self.results, self.time)

    def _expire(self, now: int) -> None:
        for cell in self.expiry.take(now):
            delay = sweep(cell, now)
            if delay > 0:
                self.expiry.schedule(cell, now, delay)
            self._drop_if_empty(cell)

    def _drop_if_empty(self, cell: Cell) -> None:
        # A cell that is still to be swept stays: a ring refers to it.
        if not cell.runs and cell.static is None and not cell.due:
            cells = self.cells[cell.space.number]
            if cells.get(cell.key) is cell:
                del cells[cell.key]

    def check_invariants(self) -> None:
        """Raise AssertionError where runs, cells and program contradict each other. O(runs)."""
        assert not self.program.directory.changed, "refresh is due"
        check_cells(self.cells, self.program.directory.statics, self.now, self.expiry)
