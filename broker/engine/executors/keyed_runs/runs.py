"""Runs in cells by key, and the effect of an event on them (semantics 1.7).

For each key space of the event's stream: one lookup; then in the cell that it finds 1. start arcs whose guard holds
begin new runs; 2. each waiting run is *affected* if it does not overlap the event and theta holds. If its place has a
loop and the loop's guard fails, nothing follows; otherwise every arc whose guard holds makes a new run or a match. The
affected run ends in both cases.

Simultaneous events need no pending lists. A new run's `t1` is now, and an event affects only runs that ended before it
began, so no event of the same epoch affects the new run. An affected run gets a stamp and stays, so that it still sees
the other events of the epoch; the first later visit drops it.

Where many runs of a cell wait for an event that satisfies a condition beyond the key, an index finds those of which a
part of the condition holds (cells.RunIndex); the others are not visited.

Here: that effect, hot and written for compilation. Not here: the loop over a batch (dispatch.dispatcher), the program.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from typing import Any, Final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....algebra.predicate import holds
from ....automaton.sharing import End
from ....events.schema import Row
from ...index.arcs import ArcIndex
from ...index.spaces import Key, Space, waiting_key
from ...matches.batch_events import Fault
from ...matches.sources import Lineage, PartialMatch, WaitingRun
from ...program.directory import Directory
from ...program.target import Target
from ...program.transition import Place, SlotUpdate, Transition
from ..merged import MergedRuns
from ..trace import mixed
from .cells import (
    ENDED,
    FOREVER,
    NO_RUNS,
    UNTOUCHED,
    Cell,
    Expiry,
    Run,
    RunIndex,
    check_cells,
    close_gap,
    live,
    rescheduled,
    sweep,
)
from .dump import dumped, loaded
from .waiting import WaitingState, waiting_runs
from .waiting_events import WaitingEvents

PURGE_MIN: Final = 64  # dead places up to which their runs are not searched
FEW_RUNS: Final = 8  # times the arcs that are tried one by one: so many runs of a cell are visited one by one


class KeyedRuns(MergedRuns):
    """The runs of a program. `places` are those of its states, by number."""

    def __init__(self, directory: Directory, places: dict[int, Place]) -> None:
        super().__init__()
        self.directory = directory
        self.places = places
        self.cells: list[dict[Key, Cell]] = []
        self.waiting: list[WaitingEvents] = []  # by space, as the cells
        self.few_runs: i64 = FEW_RUNS * directory.options.arcs_few
        self.expiry = Expiry()

    def refresh(self) -> None:
        directory = self.directory
        while len(self.cells) < len(directory.statics):
            self.cells.append({})
            self.waiting.append(WaitingEvents())
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
        if directory.dead > PURGE_MIN + len(self.places):
            self.purge()

    def clear(self, spaces: list[int]) -> None:  # remaining runs wait in dead places
        for number in spaces:
            self.cells[number] = {}
            self.waiting[number] = WaitingEvents()

    def purge(self) -> None:
        for cell in [cell for cells in self.cells for cell in cells.values()]:
            if cell.waiting >= 0:
                self.waiting[cell.space.number].clean(cell)
            elif cell.runs:
                cell.runs = [run for run in cell.runs if not run.place.dead and run.touched != ENDED]
            self._drop_if_empty(cell)
        self.directory.dead = 0

    def schedule(self) -> Any:
        return self.expiry

    def schedules(self, order_of: Callable[[str], Hashable]) -> dict[Any, Any]:
        found: dict[Hashable, list[dict[Key, Cell]]] = {}
        for cells in self.cells:
            for cell in islice(cells.values(), 1):  # those of a space are of one stream
                found.setdefault(order_of(cell.space.stream), []).append(cells)
        return {order: rescheduled(spaces) for order, spaces in found.items()}

    def resume(self, now: int | None, schedule: Any) -> None:
        self.now = now
        self.expiry = Expiry() if schedule is None else schedule
        self.due = self.expiry.next

    def visit(self, spaces: list[Space]) -> None:
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
            if cell.waiting >= 0:
                self.waiting[space.number].unpack(cell)
                self._drop_if_empty(cell)  # nobody needs its runs any more
            if cell.static is not None:
                self._lead_on(cell.static, None, (), (), self.length)
            if cell.runs:
                self._affect(cell)
                if not cell.runs:
                    self._drop_if_empty(cell)

    def _affect(self, cell: Cell) -> None:
        """Step each waiting run that the event affects, and end it."""
        runs = cell.runs
        index = cell.index
        if index is not None:
            if index.runs is runs:
                self._affect_found(cell, index)
                return
            cell.index = None
        n: i64 = len(runs)  # new runs come behind these
        kept: i64 = 0
        bounded: i64 = 0
        j: i64
        for j in range(n):
            run = runs[j]
            if self._ends(run):
                continue
            if run.place.clauses is not None:
                bounded += 1
            runs[kept] = run
            kept += 1
        if kept < n:
            close_gap(runs, kept, n)
        if bounded > self.few_runs:
            cell.index = RunIndex(runs)

    def _affect_found(self, cell: Cell, index: RunIndex) -> None:
        """The same for the runs that the index finds. O(log runs + found)."""
        for serial, run in index.find(self.row, self.length, int(self.time)):
            if self._ends(run):
                index.end(serial, run)
            elif run.touched != UNTOUCHED:
                index.stamped[serial] = run
        if not index.useful(int(self.few_runs) // 2):
            index.clean()
            cell.index = None
            if not cell.runs:
                cell.runs = NO_RUNS

    def _ends(self, run: Run) -> bool:
        """Step a run if the event affects it; whether it is needed no more."""
        place, time = run.place, self.time
        if run.limit < time or place.dead or (run.touched < time and run.touched != UNTOUCHED):
            return True
        if run.t1 < self.start:
            row, theta = self.row, place.theta
            try:
                if theta is None or holds(theta, row, run.row, run.slots, self.length, time - run.t0 + 1):
                    self._step(run, place)
                    if place.watches is not None and run.touched == UNTOUCHED:
                        for watch in place.watches:
                            watch.watcher.left(watch.state, run.born, run.t0, run)
                    if self.alone:
                        return True
                    run.touched = time
            except Exception as error:  # any error concerns this place only
                self.found.faults.append(Fault(place, error))
                return True
        return False

    def _step(self, run: Run, place: Place) -> None:
        """Make the successors of an affected run."""
        row = self.row
        span = self.time - run.t0 + 1
        rebind = place.rebind
        if rebind is not None:
            if not holds(rebind.guard, row, run.row, run.slots, self.length, span):
                return
            self._enter(place, rebind.update, run)
        self._lead_on(place.arcs, run, run.row, run.slots, span)

    def _lead_on(self, index: ArcIndex[Transition], run: Run | None, bound: Row, slots: Slots, span: int) -> None:
        """Follow the arcs whose guards hold."""
        row, length = self.row, self.length
        arcs = index.arcs
        found = len(arcs) > index.few  # otherwise they are tried one by one
        if found:
            try:
                arcs = index.satisfied(row, bound, slots, length, span)
            except Exception:
                found = False  # trying the arcs one by one finds the one that raised it
        for arc in arcs:
            try:
                if found or arc.guard is None or holds(arc.guard, row, bound, slots, length, span):
                    if arc.target is not None:
                        self._emit(arc.target, run)
                    elif arc.place is not None:
                        self._enter(arc.place, arc.update, run)
                    else:
                        self.symbols.append(arc.symbol)
            except Exception as error:  # any error concerns this arc only
                self.found.faults.append(Fault(arc, error))

    def _enter(self, place: Place, update: SlotUpdate | None, before: Run | None, told: bool = True) -> None:
        """Put a new run into `place`, which continues `before` or begins here, unless no event can ever affect it.

        `told`: watchers are, who may know of it already.
        """
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
        run = Run(place, row, filled, t0, time, born, mixed(trace, self.item, place.depth), lineage)
        run.limit = limit
        self.insert(run, key)
        self.begun += 1
        if told and place.watches is not None:
            for watch in place.watches:
                watch.watcher.entered(watch.state, born, t0, run)

    def insert(self, run: Run, key: Key) -> None:
        """Put a run where the events that concern it find it."""
        space = run.place.space
        cells = self.cells[space.number]
        cell = cells.get(key)
        if cell is None:
            cell = cells[key] = Cell(space, key, None)
        elif cell.waiting >= 0:
            self.waiting[space.number].unpack(cell)
        cell.add(run)
        if run.limit != FOREVER and not cell.due:
            self.expiry.expect(cell, run, run.t1 if self.now is None else self.now)
            self.due = self.expiry.next

    def _emit(self, target: Target, run: Run | None) -> None:
        """Report a match: a column entry for the subscribers, a derived event for each stream of the target."""
        found = self.found
        if target.first is not None:
            found.targets.append(target)
            found.complete(self.index, run)
        if target.watchers is not None:
            for watcher in target.watchers:
                watcher.matched(self.time if run is None else run.born)
        if target.feeds is not None:
            found.publish(run, target, self.row, self.start, self.time, self.item, self.link)

    def expire(self, now: int) -> None:
        for cell in self.expiry.take(now):
            delay = sweep(cell, now)
            if delay > 0:
                self.expiry.schedule(cell, now, delay)
            self._drop_if_empty(cell)
        self.due = self.expiry.next

    def _drop_if_empty(self, cell: Cell) -> None:
        if cell.empty():
            cells = self.cells[cell.space.number]
            if cells.get(cell.key) is cell:
                del cells[cell.key]

    def go_back(self, time: int | None) -> None:
        for cell in [cell for cells in self.cells for cell in cells.values()]:
            # A run that ended in the epoch of that time does not belong to that epoch when it begins again.
            if cell.runs:
                cell.runs = [run for run in cell.runs if live(run, self.now)]
        self.purge()
        self.now = time
        self.expiry = rescheduled(self.cells)
        self.due = self.expiry.next

    # --- inspection and snapshots -------------------------------------------------------------------------------

    def live(self) -> list[PartialMatch]:
        """The live runs. Runs that this epoch has touched are among them: they still see its other events."""
        found: list[PartialMatch] = []
        for cells, waiting in zip(self.cells, self.waiting, strict=True):
            for cell in cells.values():
                runs = cell.runs if cell.waiting < 0 else waiting.runs(cell)
                found += [run for run in runs if live(run, self._now(cell))]
        return found

    def _now(self, cell: Cell) -> int | None:
        """The newest epoch of the cell's events."""
        return self.now if self.now_at is None else self.now_at(cell.space.stream)

    def waiting_runs(self, states: list[object], since: int) -> Iterator[WaitingRun | None]:
        now = self.now
        for state in islice(states, 1):
            assert isinstance(state, WaitingState)
            now = now if self.now_at is None else self.now_at(state.place.space.stream)
        return waiting_runs(self.cells, self.waiting, states, since, now)

    def dump(self, runs: Sequence[PartialMatch], ends: Sequence[object]) -> Any:
        return dumped([run for run in runs if isinstance(run, Run)], self._addressed(ends))

    def load(self, data: Any, ends: Sequence[object]) -> list[PartialMatch]:
        runs = loaded(data, self._addressed(ends))
        for run in runs:
            self.insert(run, waiting_key(run.place.key, run.row, run.slots))
        return list(runs)

    def _addressed(self, ends: Sequence[object]) -> list[Place]:
        """Every place of the program, in an order that depends only on the order of the subscriptions."""
        found: dict[int, Place] = {}
        for end in ends:
            assert isinstance(end, End)
            for node in end.path():
                place = self.places[node.number]
                found.setdefault(id(place), place)
        return list(found.values())

    def statistics(self) -> dict[str, int]:
        return {
            "cells": sum(len(cells) for cells in self.cells),
            "runs": len(self.live()),
            "runs_begun": self.begun,
        }

    def check_invariants(self) -> None:
        assert not self.directory.changed, "refresh is due"
        one = self.now_at is None
        check_cells(self.cells, self.directory.statics, self.now if one else None, self.expiry if one else None)
        for cells, waiting in zip(self.cells, self.waiting, strict=True):
            assert len(waiting) == sum(cell.waiting >= 0 for cell in cells.values())
        assert self.due == self.expiry.next
