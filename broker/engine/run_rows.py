"""The results of runs in rows of numbers, of which columns are gathered: no object is made for a result.

A row is an event, what it ends, and who is served: the event alone, a pair of events of the batch, or a run. Values
that an event brings come straight from the columns of its batch.

Here: that. Hot. Not here: results of machines, and names and types of columns (result_table).
"""

from __future__ import annotations

from array import array
from typing import Any, Final, final

from mypy_extensions import i64

from ..algebra.computation import Computation, ConstantValue, DurationValue, EventValue, RegisterValue
from ..events.batch import Column, ObjectColumn, packed_integers
from ..events.coded_texts import CodedTexts
from ..events.schema import Row, Schema, Value
from .executors.epoch_matches import EpochMatches
from .executors.matches import PartialMatch, flattened
from .executors.member_matches import FIELDS, RUN, EventPath, MemberMatches
from .executors.pair_matches import PairMatches
from .executors.trace import FINAL_DEPTH, mixed
from .ordinals import Ordinals, Tally
from .program.target import Outcome, Target
from .result_table import TableRows, column_form, column_of
from .subscribing.subscriber import ResultIds, Subscriber

NO_EVENT: Final = -1
OTHER: Final = 1 << 40  # a value that is computed
_PATH: Final = EventPath()


@final
class RunRows(TableRows):
    """The results of a batch's runs for these subscriptions, in their order; none named: for all.

    `before`: equal results of earlier batches. `last` is the first event of a pair, -1 if there is none.
    """

    def __init__(
        self, epochs: EpochMatches, wanted: frozenset[str], before: Tally, result_ids: ResultIds
    ) -> None:  # fmt: skip
        super().__init__()
        self.epochs = epochs
        self.wanted = wanted
        self.before = before
        self.result_ids = result_ids
        self.events: list[int] = []
        self.lasts: list[int] = []
        self.runs: list[PartialMatch | None] = []
        self.pairs: list[PairMatches | None] = []
        self.targets: list[Target] = []
        self.subscribers: list[Subscriber] = []
        self._made: list[Row] | None = None  # the values, if some are computed

    def collect(self, merged: int) -> bool:
        """Find the rows. `merged`: so many blocks are in their order; those behind follow packed ones by their events.

        Whether all values can be made; a defect of this program concerns single results, which must be made one by one.
        O(results).
        """
        epochs = self.epochs
        packed = epochs.packed
        if not epochs.later:
            merged = len(epochs.block_upto)
        block, match = 0, 0
        at: i64 = 0
        while block < len(epochs.block_upto) or at < packed.upto:
            own = at >= packed.upto or block < merged
            if own or (block < len(epochs.block_upto) and epochs.block_event[block] <= packed.blocks[at]):
                event, run, upto = epochs.block_event[block], epochs.block_run[block], epochs.block_upto[block]
                born = epochs.end(event) if run is None else int(run.born)
                while match < upto:
                    self._serve(epochs.targets[match], event, run, NO_EVENT, None, born)
                    match += 1
                block += 1
            else:
                self._packed(packed, at)
                at += FIELDS
        self.count = len(self.events)
        if not self._all_plain():
            try:
                self._made = [self._values_of(row) for row in range(self.count)]
            except Exception:  # any error
                return False
        return True

    def _all_plain(self) -> bool:
        """Whether no value is computed in a way that could raise. O(results)."""
        outcome: Outcome | None = None
        for target in self.targets:
            if target.outcome is not outcome:
                outcome = target.outcome
                for each in outcome.outputs:
                    if not isinstance(each, (ConstantValue, DurationValue, EventValue, RegisterValue)):
                        return False
        return True

    def _packed(self, packed: MemberMatches, block: i64) -> None:
        blocks = packed.blocks
        event, roster = int(blocks[block]), packed.rosters[blocks[block + 1]]
        run: PartialMatch | None = None
        pairs: PairMatches | None = None
        last: i64 = NO_EVENT
        born = self.epochs.end(event)
        if isinstance(roster, PairMatches) and blocks[block + 5] != RUN:
            pairs, last = roster, blocks[block + 4]
            born = roster.times[last]
        else:
            run = packed.run(block)
            if run is not None:
                born = int(run.born)
        for target in packed.targets(block):
            self._serve(target, event, run, int(last), pairs, born)

    def _serve(
        self, target: Target, event: int, run: PartialMatch | None, last: int, pairs: PairMatches | None, born: int
    ) -> None:
        for subscriber in target.subscribers():
            if born > subscriber.since and (not self.wanted or subscriber.name in self.wanted):
                self.events.append(event)
                self.runs.append(run)
                self.lasts.append(last)
                self.pairs.append(pairs)
                self.targets.append(target)
                self.subscribers.append(subscriber)

    def each(self) -> list[ResultLine]:
        """The results one by one, for those who send them. O(results)."""
        ordinals, subscribers = self._ordinals(), self.subscribers
        return [ResultLine(self, row, subscribers[row].name, ordinals[row]) for row in range(self.count)]

    def line(self, row: int, ordinal: int) -> dict[str, Any]:
        """What `Match.line` makes of a result."""
        subscriber = self.subscribers[row]
        line: dict[str, Any] = {
            "kind": "match",
            "subscription": subscriber.name,
            "id": self.result_ids.of(subscriber).id("", self._trace(row), ordinal),
            "start": self._start(row),
            "end": self.epochs.end(self.events[row]),
        }
        if subscriber.lineage:
            line["lineage"] = self._lineage(row)
        values = self._values_of(row) if self._made is None else self._made[row]
        line["data"] = self.targets[row].outcome.named(values)
        return line

    # --- columns ----------------------------------------------------------------------------------------------------

    def schemas(self) -> dict[str, Schema]:
        found: dict[str, Schema] = {}
        before: Subscriber | None = None
        for subscriber in self.subscribers:
            if subscriber is not before:
                before = subscriber
                found[subscriber.name] = subscriber.form.schema
        return found

    def kinds(self) -> Any:
        return CodedTexts(array("b", bytes(self.count)), ["match"])

    def names(self) -> Any:
        numbers: dict[str, int] = {}
        return CodedTexts(array("i", [numbers.setdefault(s.name, len(numbers)) for s in self.subscribers]), [*numbers])

    def starts(self) -> Any:
        return array("q", [self._start(row) for row in range(self.count)])

    def _start(self, row: int) -> int:
        last, run = self.lasts[row], self.runs[row]
        if last >= 0:
            return self.epochs.times[last]
        return self.epochs.start(self.events[row]) if run is None else int(run.t0)

    def ends(self) -> Any:
        return array("q", self._ends())

    def _ends(self) -> list[int]:
        epochs = self.epochs
        times = epochs.times
        if not epochs.derived:
            return [times[event] for event in self.events]
        return [epochs.end(event) for event in self.events]

    def ids(self) -> Any:
        found: list[str] = []
        for row, ordinal in enumerate(self._ordinals()):
            found.append(self.result_ids.of(self.subscribers[row]).id("", self._trace(row), ordinal))
        return found

    def _ordinals(self) -> list[int]:
        """The number of each among equal results of its moment."""
        ends, times = self._ends(), self.epochs.times
        ordinals = Ordinals(self.before, times[0] if times else 0)
        found: list[int] = []
        for row, subscriber in enumerate(self.subscribers):
            found.append(ordinals.next(ends[row], subscriber.name, subscriber.branch, self._trace(row)))
        return found

    def _trace(self, row: int) -> i64:
        epochs, event = self.epochs, self.events[row]
        item: i64
        item = epochs.ids.at(event) if event < len(epochs.times) else epochs.derived[event - len(epochs.times)].trace
        run, pairs = self.runs[row], self.pairs[row]
        trace: i64 = 0
        if pairs is not None:
            trace = pairs.trace(self.lasts[row])
        elif run is not None:
            trace = run.trace
        return mixed(trace, item, FINAL_DEPTH)

    def lineages(self) -> list[Any]:
        return [self._lineage(row) if self.subscribers[row].lineage else None for row in range(self.count)]

    def _lineage(self, row: int) -> list[int]:
        run = self._run(row)
        return flattened((None if run is None else run.lineage, self.epochs.event(self.events[row])[4]))

    def details(self) -> list[Any]:
        return [None] * self.count

    def attribute(self, name: str, kind: str) -> Any:
        return column_form(kind, self._column(name, kind))

    def _column(self, name: str, kind: str) -> Column:
        places: list[int] = []
        outcome: Outcome | None = None
        place = NO_EVENT
        for target in self.targets:
            if target.outcome is not outcome:
                outcome = target.outcome
                place = outcome.names.index(name) if name in outcome.names else NO_EVENT
            places.append(place)
        if self._made is not None:
            made = self._made
            return ObjectColumn([None if place < 0 else made[row][place] for row, place in enumerate(places)])
        gathered = self._gathered(places)
        if gathered is not None:
            return gathered
        return ObjectColumn([None if place < 0 else self._value(row, place) for row, place in enumerate(places)])

    def _gathered(self, places: list[int]) -> Column | None:
        """The column, if it has one attribute of the last events, or of the first ones of pairs. O(results)."""
        if not places or self.epochs.derived:
            return None
        computation: Computation | None = None
        which: i64 = OTHER
        for row, place in enumerate(places):
            if place < 0:
                return None
            other = self.targets[row].outcome.outputs[place]
            if other is not computation:
                computation = other
                found = _position(other)
                if found == OTHER or (which not in (OTHER, found)):
                    return None
                which = found
            if which < 0 and self.lasts[row] < 0:
                return None
        events = self.events if which >= 0 else self.lasts
        return column_of(self.epochs.batch, int(which if which >= 0 else -which - 1), packed_integers(events))

    def _value(self, row: int, place: int) -> Value:
        computation = self.targets[row].outcome.outputs[place]
        values, start, end, _, _ = self.epochs.event(self.events[row])
        run, length = self._run(row), end - start + 1
        if run is None:
            return computation.value(values, (), (), length, length)
        return computation.value(values, run.row, run.slots, length, int(end - run.t0 + 1))

    def _values_of(self, row: int) -> Row:
        values, start, end, _, _ = self.epochs.event(self.events[row])
        run, outcome, length = self._run(row), self.targets[row].outcome, end - start + 1
        if run is None:
            return outcome.values(values, (), (), length, length)
        return outcome.values(values, run.row, run.slots, length, int(end - run.t0 + 1))

    def _run(self, row: int) -> PartialMatch | None:
        """The run of a row, made of a pair at the first call."""
        run, pairs = self.runs[row], self.pairs[row]
        if run is None and pairs is not None:
            run = self.runs[row] = pairs.run(_PATH, self.lasts[row], 1)
        return run


@final
class ResultLine:
    """A result of which nobody reads more than its line."""

    __slots__ = ("_ordinal", "_row", "_rows", "subscription", "withdrawn")

    def __init__(self, rows: RunRows, row: int, subscription: str, ordinal: int) -> None:
        self._rows = rows
        self._row = row
        self._ordinal = ordinal
        self.subscription = subscription
        self.withdrawn = False

    def line(self) -> dict[str, Any]:
        return self._rows.line(self._row, self._ordinal)


def _position(computation: Computation) -> i64:
    """The attribute of the last event, or below 0 that of the row that the run took last; else OTHER."""
    if isinstance(computation, EventValue):
        return computation.position
    if isinstance(computation, RegisterValue) and computation.slot < 0 and computation.position >= 0:
        return -1 - computation.position
    return OTHER
