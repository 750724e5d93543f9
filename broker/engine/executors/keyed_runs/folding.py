"""What an event does to the runs of a FOLD while a batch goes by columns: numbers, which all took the same event.

Whether runs go on depends on this event and the last one alone, so that it is asked once for all of them. Here: one
event, and runs as objects before and after a stretch. Hot. Not here: the numbers themselves (fold_numbers), the order
of events (column_runs).
"""

from __future__ import annotations

from mypy_extensions import i64

from ....algebra.computation import Slots
from ..epoch_matches import EpochMatches
from ..packed import Floats
from ..trace import mixed
from .cells import FOREVER, UNTOUCHED, Cell, Run
from .column_plan import ColumnFold
from .fold_numbers import BEGUN, BORN, COUNT, FIELDS, T0, TRACE, FoldNumbers
from .number_tests import passes


def step(
    fold: ColumnFold, cell: Cell, found: EpochMatches, numbers: Floats, stride: i64, i: i64, last: i64
) -> int:  # fmt: skip
    """Let the runs of a key take an event, or end; and begin one. Returns how many were made. O(runs of the key)."""
    place, runs = fold.place, cell.fold
    if runs is None:
        runs = cell.fold = FoldNumbers()
    time: i64 = found.times[i]
    item: i64 = found.ids[i]
    begun = 0
    if last < 0:
        runs.clear()
    elif last == cell.begun:
        _absorb(fold, cell, runs, found.times[last])
    if runs.upto > 0:
        if passes(fold.goes_on, numbers, stride, i, last, 0, 0):
            state = runs.numbers
            at = runs.upto
            while at > 0:  # the youngest first, as where they are objects
                at -= FIELDS
                count = state[at + COUNT]
                run: Run | None = None
                for arc in fold.arcs:
                    if not passes(arc.test, numbers, stride, i, last, time - state[at + T0] + 1, count):
                        continue
                    if arc.target.first is None:
                        continue
                    if run is None:
                        run = _run(fold, runs, at, found, last)
                    found.targets.append(arc.target)
                    found.close(int(i), run)
                state[at + TRACE] = mixed(state[at + TRACE], item, place.depth)
                state[at + COUNT] = count + fold.step
                begun += 1
        else:
            runs.clear()
    if passes(fold.begins, numbers, stride, i, i, 0, 0):
        runs.push(i, time, time, mixed(0, item, place.depth), fold.first)
        begun += 1
    return begun


def waiting(fold: ColumnFold, runs: FoldNumbers, found: EpochMatches, last: i64) -> list[Run]:
    """The runs of a key after its last event, as objects; none are left as numbers. O(runs)."""
    made: list[Run] = []
    at = runs.upto
    while at > 0:
        at -= FIELDS
        made.append(_run(fold, runs, at, found, last))
    runs.clear()
    return made


def _absorb(fold: ColumnFold, cell: Cell, runs: FoldNumbers, last: i64) -> None:
    """Turn the runs of a cell, which all have just taken its last event, into numbers."""
    runs.clear()
    counter = fold.counter
    for run in reversed(cell.runs):
        if run.place is fold.place and run.t1 == last and run.touched == UNTOUCHED:
            runs.earlier.append(run.slots)
            count: i64 = run.slots[counter] if counter >= 0 else 0
            runs.push(-len(runs.earlier), run.t0, run.born, run.trace, count)


def _run(fold: ColumnFold, runs: FoldNumbers, at: i64, found: EpochMatches, last: i64) -> Run:
    """A run as an object, which has taken the event `last`."""
    batch, state = found.batch, runs.numbers
    begun = state[at + BEGUN]
    slots: Slots = ()
    if begun < 0:
        slots = runs.earlier[-begun - 1]
    elif fold.update is not None:
        slots = fold.update.fill(batch.row(int(begun)), (), (), 1, 1)
    if fold.counter >= 0:
        filled = list(slots)
        filled[fold.counter] = int(state[at + COUNT])
        slots = tuple(filled)
    row, time = batch.row(int(last)), found.times[last]
    return Run(fold.place, row, slots, state[at + T0], time, state[at + BORN], FOREVER, state[at + TRACE], None)
