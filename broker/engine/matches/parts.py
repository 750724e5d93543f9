"""What each target has of a batch, in order: a run, or the event alone; matches of a machine; or a report.

A run whose place in a batch says what it is, is made only where its values or lineage are asked for. Here: reading the
rows of a batch, and the fields of matches of runs. Hot. Not here: the rows (completions), who gets what
(results, result_rows).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ...algebra.computation import Computation, ConstantValue, DurationValue, EventValue, RegisterValue, Slots
from ...events.batch import Batch, Column, Integers, ObjectColumn, packed_integers
from ...events.schema import Row, Value
from ...events.text_codes import text_column
from ..executors.trace import FINAL_DEPTH, mixed
from ..program.account import NOT_SUSPENDED
from ..program.target import Outcome, Target
from .completions import ALONE, END, EPOCHS, HEADER, LIMIT, NOTICE, RUN_END, Completions
from .composed import Composed
from .placed_runs import PairRuns, PlacedRuns
from .sources import MatchColumns, PartialMatch, flattened

NO_EVENT: Final = -1
OTHER: Final = 1 << 40  # a value that is computed


@final
class ResultParts(MatchColumns):
    """By part its event and target, and what it is: `composed`, the matches of a machine or a report; else a match of
    the `runs`, None for the event alone or a run that is not made, which is at its place among the `placed`."""

    def __init__(self, found: Completions) -> None:
        super().__init__()
        self.found = found
        self.events: list[int] = []
        self.targets: list[Target] = []
        self.composed: list[Composed | None] = []
        self.runs: list[PartialMatch | None] = []
        self.placed: list[PlacedRuns | None] = []
        self.places: list[int] = []
        self.machines = 0  # parts with matches of machines, or reports
        self._read: i64 = 0  # so many numbers of rows

    def read(self) -> list[tuple[int, Target, Composed | PartialMatch | None]]:
        """Read the rows since the last call. Returns what machines found for published streams: the event, the target,
        and matches or a run. O(served targets)."""
        found = self.found
        found.settle()
        fed: list[tuple[int, Target, Composed | PartialMatch | None]] = []
        while self._read < found.upto:
            at = self._read
            numbers = found.numbers
            event, kind = int(numbers[at]), numbers[at + 2]
            self._read = at + HEADER + numbers[at + 4]
            if kind < LIMIT:
                self._add_row(at, event, kind)
                continue
            audience = found.audiences[numbers[at + 1]]
            if audience.rank == EPOCHS and kind != LIMIT:
                for target, run in audience.ended(found, at):
                    if target.first is not None:
                        self._add(event, target, None, run, None, NO_EVENT)
                    if target.feeds is not None:
                        fed.append((event, target, run))
                continue
            suspended = int(numbers[at + 3]) if kind == LIMIT else NOT_SUSPENDED
            for target, part in found.parts_at(at, found.happened):
                composed = Composed(part, not audience.compressed, None, suspended)
                if target.first is not None:
                    self.put(event, target, composed)
                if target.feeds is not None and part is not None:
                    fed.append((event, target, composed))
        return fed

    def put(self, event: int, target: Target, composed: Composed) -> None:
        """Add matches of a machine, or a report."""
        self._add(event, target, composed, None, None, NO_EVENT)

    def _add_row(self, at: i64, event: int, kind: i64) -> None:
        """Add the parts of a row of runs, or of a notice."""
        found = self.found
        numbers, known = found.numbers, found.numbers[at + 3]
        first = at + HEADER
        if kind in (END, RUN_END):
            placed = found.rosters[numbers[at + 1]]
            run = found.runs[known] if kind == RUN_END else None
            self._add(event, placed.targets[numbers[first]], None, run, placed if run is None else None, int(known))
            return
        j: i64
        composed = Composed(None, False, found.notices[known]) if kind == NOTICE else None
        run = None if kind == NOTICE or known == ALONE else found.runs[known]
        for j in range(numbers[first], numbers[first + 1]):
            self._add(event, found.targets[j], composed, run, None, NO_EVENT)

    def _add(
        self, event: int, target: Target, composed: Composed | None, run: PartialMatch | None,
        placed: PlacedRuns | None, place: int,
    ) -> None:  # fmt: skip
        self.events.append(event)
        self.targets.append(target)
        self.composed.append(composed)
        self.runs.append(run)
        self.placed.append(placed)
        self.places.append(place)
        if composed is not None:
            self.machines += 1

    # --- matches of runs --------------------------------------------------------------------------------------------

    def born(self, at: i64) -> i64:
        """The time at which a run was born; that of its event for the event alone."""
        run, placed = self.runs[at], self.placed[at]
        if run is not None:
            return run.born
        return self.end(at) if placed is None else placed.born(self.places[at])

    def start(self, at: i64) -> i64:
        placed = self.placed[at]
        if isinstance(placed, PairRuns):
            return placed.born(self.places[at])
        run = self._run(at)
        return self.found.start_of(self.events[at]) if run is None else run.t0

    def end(self, at: i64) -> i64:
        return self.found.end_of(self.events[at])

    def number(self, at: i64) -> int:
        return int(self.trace(at))

    def trace(self, at: i64) -> i64:
        """The digest of the events of a match."""
        item, placed = self.found.item_of(self.events[at]), self.placed[at]
        if isinstance(placed, PairRuns):
            return mixed(placed.trace(self.places[at]), item, FINAL_DEPTH)
        run = self._run(at)
        return mixed(0 if run is None else run.trace, item, FINAL_DEPTH)

    def contributed(self, at: i64) -> list[int]:
        run = self._run(at)
        return flattened((None if run is None else run.lineage, self.found.event_at(self.events[at])[4]))

    def value(self, at: i64, position: int) -> Value:
        row, bound, slots, length, span = self._operands(at)
        return self.targets[at].outcome.outputs[position].value(row, bound, slots, length, span)

    def values(self, at: i64) -> Row:
        """All values of a match."""
        row, bound, slots, length, span = self._operands(at)
        return self.targets[at].outcome.values(row, bound, slots, length, span)

    def _operands(self, at: i64) -> tuple[Row, Row, Slots, int, int]:
        """What values are computed from."""
        row, start, end, _, _ = self.found.event_at(self.events[at])
        run, length = self._run(at), end - start + 1
        if run is None:
            return row, (), (), length, length
        return row, run.row, run.slots, length, int(end - run.t0 + 1)

    def _run(self, at: i64) -> PartialMatch | None:
        """The run of a part, made at the first call."""
        run, placed = self.runs[at], self.placed[at]
        if run is None and placed is not None:
            run = self.runs[at] = placed.run(self.places[at])
        return run

    def column(self, parts: list[int], positions: list[int]) -> Column | None:
        """The values of these parts at these positions, if they are one attribute of the last events, or of the first
        ones of pairs. O(parts)."""
        if not parts or self.found.derived:
            return None
        computation: Computation | None = None
        which: i64 = OTHER
        for at, position in zip(parts, positions):
            if position < 0:
                return None
            other = self.targets[at].outcome.outputs[position]
            if other is not computation:
                computation = other
                known = _position(other)
                if known == OTHER or (which not in (OTHER, known)):
                    return None
                which = known
            if which < 0 and not isinstance(self.placed[at], PairRuns):
                return None
        events = [self.events[at] if which >= 0 else self.places[at] for at in parts]
        return column_of(self.found.batch, int(which if which >= 0 else -which - 1), packed_integers(events))


def plain(outcome: Outcome) -> bool:
    """Whether no value of an outcome is computed in a way that could raise."""
    return all(isinstance(each, (ConstantValue, DurationValue, EventValue, RegisterValue)) for each in outcome.outputs)


def _position(computation: Computation) -> i64:
    """The attribute of the last event, or below 0 that of the row that the run took last; else OTHER."""
    if isinstance(computation, EventValue):
        return computation.position
    if isinstance(computation, RegisterValue) and computation.slot < 0 and computation.position >= 0:
        return -1 - computation.position
    return OTHER


def column_of(batch: Batch, position: int, events: Integers) -> Column:
    """The values of an attribute in these events. O(events)."""
    made = batch.made
    if made is None:
        column = text_column(batch, position) or batch.columns[position]
        return column.take(events)
    return ObjectColumn([made[event][position] for event in events])
