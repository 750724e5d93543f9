"""Cells: one for each key value with runs, beside the static part that the program starts there.

Here: runs, cells, and their expiry. Not here: the effect of an event on them (runs).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Slots
from ....events import instant
from ....events.schema import Row
from ...index.bounds import Bounded
from ...index.spaces import Key, Space, waiting_key
from ...matches.sources import Lineage, PartialMatch
from ...program.directory import StaticPart
from ...program.transition import Place
from .column_plan import ColumnPlan
from .fold_numbers import FoldNumbers

UNTOUCHED: Final = -(1 << 62)  # earlier than any epoch
ENDED: Final = UNTOUCHED + 1  # so is this: a run that has ended and is still in a list
ENDED_MOST: Final = 64  # such runs in a list, or as many as others
FOREVER: Final = instant.FOREVER


@final
@mypyc_attr(acyclic=True)  # no reference of a run leads back to it, so the collector need not visit runs
class Run(PartialMatch):
    """A partial match that waits in a place.

    It bound its last event at `t1` and is useless after `limit`. `touched` is the epoch in which an event affected it:
    it still sees the other events of that epoch, and the first later visit drops it. Immutable except for this stamp.
    """

    __slots__ = ("limit", "place", "t1", "touched")

    def __init__(
        self,
        place: Place,
        row: Row,
        slots: Slots,
        t0: i64,
        t1: i64,
        born: i64,
        trace: i64,
        lineage: Lineage,
    ) -> None:
        self.place = place
        self.row = row
        self.slots = slots
        self.t0 = t0
        self.t1 = t1
        self.born = born
        self.limit: i64 = FOREVER  # its maker may set it
        self.touched: i64 = UNTOUCHED
        self.trace = trace
        self.lineage = lineage


NO_RUNS: Final[list[Run]] = []  # what cells without runs share, so that it is never appended to


@final
class RunIndex:
    """An index of a cell's runs, while these are many: an event finds those that it may affect.

    `runs` is the list that it is of; those that have ended stay in it for a while. A run has a number there, in the
    order of arrival. `others`: runs that every event may affect. `stamped`: those that this epoch has touched.
    """

    def __init__(self, runs: list[Run]) -> None:
        self.runs = runs
        self.others: dict[int, Run] = {}
        self.stamped: dict[int, Run] = {}
        self._places: dict[Place, Bounded[Run]] = {}
        self._serial = 0
        self._ended = 0
        for run in runs:
            self.add(run)

    def add(self, run: Run) -> None:
        """Add the newest run. O(log runs)."""
        serial = self._serial
        self._serial += 1
        place = run.place
        if run.touched != UNTOUCHED:
            self.stamped[serial] = run
        if place.clauses is None:
            self.others[serial] = run
            return
        bounded = self._places.get(place)
        if bounded is None:
            bounded = self._places[place] = Bounded(place.clauses)
        bounded.add(serial, run, run.row, run.slots, int(run.t0))

    def find(self, row: Row, length: int, time: int) -> list[tuple[int, Run]]:
        """The runs that an event may affect, or that have ended, with their numbers. O(places log runs + found)."""
        found = dict(self.others)
        found.update(self.stamped)
        for bounded in self._places.values():
            bounded.find(row, length, time, found)
        return sorted(found.items(), key=_number_of) if len(found) > 1 else list(found.items())

    def end(self, serial: int, run: Run) -> None:
        """A run is needed no more. O(log runs)."""
        run.touched = ENDED
        self._ended += 1
        self.stamped.pop(serial, None)
        if self.others.pop(serial, None) is None:
            bounded = self._places[run.place]
            bounded.remove(serial, run.row, run.slots, int(run.t0))
            if not bounded.members:
                del self._places[run.place]

    def useful(self, few: int) -> bool:
        """Whether it pays, for more than so many runs; it drops those that have ended, once they are many.

        O(1) amortised.
        """
        if self._ended > ENDED_MOST and 2 * self._ended > len(self.runs):
            self.clean()
        return len(self.runs) - self._ended > few

    def clean(self) -> None:
        """Drop the runs that have ended from the list. O(runs)."""
        self.runs[:] = [run for run in self.runs if run.touched != ENDED]
        self._ended = 0


def _number_of(found: tuple[int, Run]) -> int:
    return found[0]


@final
class Cell:
    """The content of one key value. `runs` are in order of arrival; `due`: a sweep is scheduled; `index`: that of many
    runs, if it is of this list.

    While a batch goes by columns, `last` is the key's newest event in it, and `begun` that which `runs` are of, -1 for
    none; `fold` has runs of a FOLD meanwhile. `plan`: what its static part does to columns. `waiting`: between batches,
    where the space's waiting events have the one that stands for its runs (waiting_events), -1 for none; `runs` is
    empty then.
    """

    __slots__ = ("begun", "due", "fold", "index", "key", "last", "plan", "runs", "space", "static", "waiting")

    def __init__(self, space: Space, key: Key, static: StaticPart | None) -> None:
        self.space = space
        self.key = key
        self.static = static
        self.runs = NO_RUNS
        self.due = False
        self.last: i64 = -1
        self.begun: i64 = -1
        self.waiting: i64 = -1
        self.plan: ColumnPlan | None = None
        self.index: RunIndex | None = None
        self.fold: FoldNumbers | None = None

    def add(self, run: Run) -> None:
        """Append a run. O(1), with an index O(log runs)."""
        if self.runs:
            self.runs.append(run)
            if self.index is not None:
                if self.index.runs is self.runs:
                    self.index.add(run)
                else:
                    self.index = None
        else:
            self.runs = [run]

    def empty(self) -> bool:
        """Whether nothing depends on the cell. One that waits for a sweep stays, because a ring refers to it."""
        return not self.runs and self.static is None and not self.due and self.waiting < 0


def sweep_delay(run: Run, now: int) -> int:
    """The delay after which a run with a limit is surely useless. It has few different values, one ring each."""
    if run.place.window > 0:
        return int(run.place.window)
    rest = int(run.limit) - now  # its place lost its window to a later subscription
    return min(1 << max(0, rest).bit_length(), FOREVER)


def sweep(cell: Cell, now: int) -> int:
    """Drop the runs that no event affects any more. Returns the delay of the next sweep; 0 for none. O(runs)."""
    delay = 0
    kept: list[Run] = []
    for run in cell.runs:
        if run.limit < now or run.place.dead or run.touched != UNTOUCHED:
            continue
        kept.append(run)
        if run.limit != FOREVER:
            delay = max(delay, sweep_delay(run, now))
    cell.runs = kept
    return delay


def close_gap(runs: list[Run], kept: i64, upto: i64) -> None:
    """Remove the runs from `kept` to `upto`. A loop is cheaper than a slice, since usually one run follows."""
    j: i64
    for j in range(upto, len(runs)):
        runs[kept] = runs[j]
        kept += 1
    while len(runs) > kept:
        runs.pop()


@final
class Expiry:
    """The cells to sweep, one ring for each window length. In each ring, cells are in the order of their due times.

    A cell is in at most one ring at a time, so the rings are no larger than the number of cells with a window. Runs in
    cells that no event visits live at most twice their window. O(1) a run.
    """

    def __init__(self) -> None:
        self.next: i64 = FOREVER
        self._rings: dict[int, tuple[list[int], list[Cell]]] = {}
        self._heads: dict[int, int] = {}

    def schedule(self, cell: Cell, now: int, window: int) -> None:
        cell.due = True
        ring = self._rings.get(window)
        if ring is None:
            ring = self._rings[window] = ([], [])
            self._heads[window] = 0
        ring[0].append(now + window)
        ring[1].append(cell)
        self.next = min(self.next, now + window)

    def expect(self, cell: Cell, run: Run, now: int) -> None:
        """Schedule a cell that has got a run with a limit and was not scheduled."""
        self.schedule(cell, now, sweep_delay(run, now))

    def take(self, now: int) -> list[Cell]:
        """Remove and return the cells that are due before `now`."""
        found: list[Cell] = []
        nearest: i64 = FOREVER
        for window, (dues, cells) in list(self._rings.items()):
            head = self._heads[window]
            while head < len(dues) and dues[head] < now:
                cells[head].due = False
                found.append(cells[head])
                head += 1
            if head == len(dues):
                del self._rings[window], self._heads[window]
                continue
            if head > 64 and head > len(dues) // 2:
                del dues[:head], cells[:head]
                head = 0
            self._heads[window] = head
            nearest = min(nearest, dues[head])
        self.next = nearest
        return found

    def scheduled(self) -> int:
        """The number of cells in the rings, for invariants and statistics."""
        return sum(len(dues) - self._heads[window] for window, (dues, _) in self._rings.items())


def rescheduled(spaces: list[dict[Key, Cell]]) -> Expiry:
    """A new schedule for all cells; drops empty cells. O(runs)."""
    expiry = Expiry()
    waiting: list[tuple[int, int, Cell]] = []
    for cells in spaces:
        for cell in list(cells.values()):
            cell.due = False
            limited = [run for run in cell.runs if run.limit != FOREVER]
            if limited:
                since = max(int(run.t1) for run in limited)
                waiting.append((since, max(sweep_delay(run, int(run.t1)) for run in limited), cell))
            elif cell.empty():
                del cells[cell.key]
    for since, delay, cell in sorted(waiting, key=_since):  # a ring is in the order of its times
        expiry.schedule(cell, since, delay)
    return expiry


def _since(each: tuple[int, int, Cell]) -> int:
    return each[0]


def live(run: Run, now: int | None) -> bool:
    """Whether a later event can still affect the run. `now` is earlier than an epoch that has touched it where its
    stream has come to share the order of another one that has not come as far."""
    newest = now if now is not None else UNTOUCHED
    touched = run.touched
    if touched != UNTOUCHED and (touched == ENDED or touched < newest):
        return False
    return not run.place.dead and run.limit >= newest


def check_cells(
    spaces: list[dict[Key, Cell]], statics: list[dict[Key, StaticPart]], now: int | None, expiry: Expiry | None
) -> None:
    """Raise AssertionError if runs, cells and the program's static parts contradict each other. O(runs). `expiry`: None
    if there are several."""
    scheduled = 0
    for number, cells in enumerate(spaces):
        for key, cell in cells.items():
            assert cell.space.number == number
            assert cell.static is statics[number].get(key)
            assert not cell.empty(), "an empty cell"
            assert cell.waiting < 0 or not cell.runs, "runs in two forms"
            scheduled += cell.due
            for run in cell.runs:
                assert run.place.space is cell.space
                assert waiting_key(run.place.key, run.row, run.slots) == key
                assert run.t0 <= run.t1 <= (now if now is not None else run.t1)
                assert run.limit == FOREVER or cell.due, "no sweep is scheduled"
    assert expiry is None or scheduled <= expiry.scheduled()
