"""The newest events of the keys of a space, packed between batches: each stands for all runs that it has begun.

Of a key that only waits for its next event nothing but that event is needed: its values are in columns here, and the
next batch compares with them as with its own. Runs of a FOLD, which have all taken it, stay numbers beside it
(fold_numbers). Whoever wants runs, makes them: an event that goes the usual way, a snapshot, a change of the program.
It must be possible to make them of the event and these numbers alone: runs without a window.

Here: these columns, and runs of them. Hot. Not here: when an event is kept (column_runs).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....events.batch import NULL_NUMBER, Batch, FloatColumn, IntegerColumn
from ....events.schema import Row
from ...matches.completions import Completions
from ...matches.sources import Lineage
from ..packed import Floats, Integers, floats, integers, lengthened, lengthened_floats, put_integer
from ..trace import mixed
from .cells import Cell, Run
from .column_plan import ColumnPair
from .fold_numbers import BEGUN, BORN, COUNT, FIELDS, T0, TRACE, FoldNumbers

ROOM: Final = 16  # events for which there is room at first
NOBODY: Final[list[ColumnPair]] = []  # what an event that was forgotten stands for

FLOATS: Final = 0
INTEGERS: Final = 1
OBJECTS: Final = 2
KEY: Final = 3  # nothing is kept: the cell has it


@final
class WaitingColumn:
    """The values of an attribute. Those that do not fit its kind make it a column of objects."""

    __slots__ = ("kind", "numbers", "objects", "whole")

    def __init__(self, kind: i64) -> None:
        self.kind = kind
        self.numbers: Floats = floats()
        self.whole: Integers = integers()
        self.objects: list[Any] = []

    def lengthen(self, size: i64) -> None:
        if self.kind == FLOATS:
            self.numbers = lengthened_floats(self.numbers, size)
        elif self.kind == INTEGERS:
            self.whole = lengthened(self.whole, size)
        elif self.kind == OBJECTS:
            self.objects.extend([None] * int(size - len(self.objects)))

    def put(self, at: i64, value: Any) -> None:
        if self.kind == OBJECTS:
            self.objects[at] = value
        elif self.kind == FLOATS and (value is None or type(value) is float):
            self.numbers[at] = NULL_NUMBER if value is None else value
        elif self.kind == INTEGERS and type(value) is int:
            self.whole[at] = value
        elif self.kind != KEY:
            size = len(self.numbers) if self.kind == FLOATS else len(self.whole)
            objects = [self.value(known) for known in range(size)]
            self.kind, self.objects = OBJECTS, objects
            self.numbers, self.whole = floats(), integers()
            objects[at] = value

    def value(self, at: i64) -> Any:
        if self.kind == FLOATS:
            number = self.numbers[at]
            return number if number == number else None
        if self.kind == INTEGERS:
            return int(self.whole[at])
        return self.objects[at]

    def number(self, at: i64) -> float:
        """The value for a comparison; it is a number, which a float holds, or null."""
        if self.kind == FLOATS:
            return self.numbers[at]
        if self.kind == INTEGERS:
            return float(self.whole[at])
        value = self.objects[at]
        return NULL_NUMBER if value is None else float(value)


@final
class WaitingEvents:
    """Those of a space. A place is a number that a cell has in `waiting`.

    By place: the event's time and item, the version of the program at which it came, and the pairs that it has begun.
    """

    def __init__(self) -> None:
        self.times: Integers = integers()
        self.items: Integers = integers()
        self.versions: Integers = integers()
        self.began: list[list[ColumnPair]] = []
        self._columns: list[WaitingColumn] = []
        self._free: Integers = integers()
        self._spare: i64 = 0

    def __len__(self) -> int:
        """The number of events."""
        return int(len(self.began) - self._spare)

    def keep(self, place: i64, found: Completions, at: i64, single: i64, version: i64, began: list[ColumnPair]) -> i64:
        """Keep an event of a batch, instead of the one that has this place; -1 takes a free one. Returns its place.

        `single`: the attribute that is its key. O(attributes).
        """
        batch = found.batch
        if place < 0:
            if self._spare == 0:
                self._lengthen(batch, at, single)
            self._spare -= 1
            place = self._free[self._spare]
        self.times[place] = found.times[at]
        self.items[place] = found.ids.at(at)
        self.versions[place] = version
        self.began[place] = began
        made, columns = batch.made, batch.columns
        for position, column in enumerate(self._columns):
            if column.kind != KEY:
                given = columns[position] if columns else None
                if column.kind == FLOATS and isinstance(given, FloatColumn):
                    column.numbers[place] = given.numbers[at]
                elif column.kind == INTEGERS and isinstance(given, IntegerColumn):
                    column.whole[place] = given.numbers[at]
                elif made is not None:
                    column.put(place, made[at][position])
                elif given is not None:
                    column.put(place, given.value(at))
        return place

    def _lengthen(self, batch: Batch, at: i64, single: i64) -> None:
        """Make room for a quarter more. Columns have the kinds of the first event's values."""
        before: i64 = len(self.began)
        if before == 0:
            kinds = {float: FLOATS, int: INTEGERS}
            row = batch.row(int(at))
            self._columns = [WaitingColumn(kinds.get(type(value), OBJECTS)) for value in row]
            if type(row[single]) is str:  # other values may equal their key and differ from it, as 1 and 1.0
                self._columns[single].kind = KEY
        size: i64 = before + before // 4 + ROOM
        self.times, self.items = lengthened(self.times, size), lengthened(self.items, size)
        self.versions = lengthened(self.versions, size)
        self.began.extend([NOBODY] * int(size - before))
        for column in self._columns:
            column.lengthen(size)
        place: i64
        for place in range(size - 1, before - 1, -1):
            self._free = put_integer(self._free, self._spare, place)
            self._spare += 1

    def forget(self, cell: Cell) -> None:
        """Forget the event of a cell. O(1)."""
        place = cell.waiting
        cell.waiting = -1
        if cell.fold is not None:
            cell.fold.clear()
        self.began[place] = NOBODY
        self._free = put_integer(self._free, self._spare, place)
        self._spare += 1

    def number(self, position: i64, cell: Cell) -> float:
        """The number of an attribute, for a comparison."""
        return self._columns[position].number(cell.waiting)

    def row(self, cell: Cell) -> Row:
        """The values of an event. O(attributes)."""
        place = cell.waiting
        return tuple([cell.key if column.kind == KEY else column.value(place) for column in self._columns])

    def runs(self, cell: Cell) -> list[Run]:
        """The runs of a cell for which its event stands, those that are needed. O(runs)."""
        row = self.row(cell)
        time, item = self.times[cell.waiting], self.items[cell.waiting]
        fold = cell.fold
        if fold is None or fold.upto == 0:
            return [begun_by(pair, row, time, item) for pair in self.began[cell.waiting] if not pair.place.dead]
        made: list[Run] = []
        at = 0 if fold.place.dead else fold.upto
        while at > 0:  # the youngest first
            at -= FIELDS
            made.append(folded(fold, at, fold.earlier[-fold.numbers[at + BEGUN] - 1], row, time))
        return made

    def unpack(self, cell: Cell) -> None:
        """Let a cell have its runs instead of an event. O(runs)."""
        runs = self.runs(cell)
        self.forget(cell)
        if runs:
            cell.runs = runs

    def clean(self, cell: Cell) -> None:
        """Forget the event of a cell if none of its runs is needed. O(pairs)."""
        fold = cell.fold
        if fold is not None and fold.upto > 0:
            useless = fold.place.dead
        else:
            useless = all(pair.place.dead for pair in self.began[cell.waiting])
        if useless:
            self.forget(cell)


def folded(fold: FoldNumbers, at: i64, slots: Slots, row: Row, time: i64) -> Run:
    """A run of a FOLD, which has taken that event at that time."""
    numbers = fold.numbers
    if fold.counter >= 0:
        filled = list(slots)
        filled[fold.counter] = int(numbers[at + COUNT])
        slots = tuple(filled)
    return Run(fold.place, row, slots, numbers[at + T0], time, numbers[at + BORN], numbers[at + TRACE], None)


def begun_by(pair: ColumnPair, row: Row, time: i64, item: i64) -> Run:
    """The run that an event has begun in a place, as `_enter` makes it (runs)."""
    place = pair.place
    slots = pair.update.fill(row, (), (), 1, 1) if pair.update is not None else ()
    lineage: Lineage = (None, int(item)) if place.lineage else None
    run = Run(place, row, slots, time, time, time, mixed(0, item, place.depth), lineage)
    if place.window >= 0:
        run.limit = time + place.window - 1
    return run
