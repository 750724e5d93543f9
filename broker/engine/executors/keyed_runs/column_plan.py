"""What the static part of a cell does to a batch in columns: which arcs can be asked of numbers.

A static part fits if all that begins in it does: single events; two steps of which the second is the next event of the
same key; runs of FOLD over such events. The others of its key go event by event, and so do all automata of the stream
if what begins anywhere does not fit, or if runs wait in its cells that another stream begins and its next event does
not end.

Here: that decision, and its result. Not here: the events (column_runs).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.comparisons import GE, GT
from ....algebra.computation import ConstantValue, EventValue, Increment, RegisterValue
from ....events.batch import Batch
from ...index.spaces import Space
from ...matches.placed_runs import PairRuns
from ...program.directory import Directory, StaticPart
from ...program.target import Target
from ...program.transition import Place, SlotUpdate, Transition
from ..event_ids import EventIds
from .ended_folds import EndedFolds
from .number_matrix import EXACT, NumberMatrix
from .number_tests import COUNT, REGISTER, SCALED, SPAN, NumberTest, Tests

NOTHING: Final = -1  # the slot of no counter
FEW: Final = 2**20  # the most by which a counter grows: no stream is so long that it leaves 64 bits


@final
class ColumnArc:
    """An arc to a target, with its condition on numbers."""

    __slots__ = ("target", "test")

    def __init__(self, test: NumberTest | None, target: Target) -> None:
        self.test = test
        self.target = target

    def spans(self) -> bool:
        """Whether it asks for the DUR of a run."""
        test = self.test
        while test is not None:
            if test.kind == SPAN:
                return True
            test = test.rest
        return False


@final
class ColumnPair:
    """A place whose runs wait for the next event of their key: begun where `begins` holds, and then for `arcs`.

    `found`: its matches in the current batch, if there are any.
    """

    def __init__(self, place: Place, begins: NumberTest | None, update: SlotUpdate | None) -> None:
        self.place = place
        self.begins = begins
        self.update = update
        self.window = place.window
        self.spans = place.window >= 0  # how long a run has waited matters
        self.arcs: list[ColumnArc] = []
        self.found: PairRuns | None = None

    def matches(self, batch: Batch, times: list[int], ids: EventIds) -> PairRuns:
        """Its matches in a batch, which begin to be found. O(arcs)."""
        place, targets = self.place, [arc.target for arc in self.arcs]
        self.found = PairRuns(targets, self.update, place.depth, place.lineage > 0, batch, times, ids)
        return self.found

    def simple(self) -> bool:
        """Whether every event begins it, and one comparison with the last event ends it."""
        if self.begins is not None or self.spans or len(self.arcs) != 1:
            return False
        return _lone(self.arcs[0].test)


@final
class ColumnFold:
    """A place whose runs take the next event of their key where `goes_on` holds, and then ask `arcs`; else they end.

    Their slots are those of the first event, but for a `counter`, -1 for none: it begins with `first` and grows by
    `step`. `lone`: what decides whether they go on, if it is one comparison with the last event; `counted`: what the
    only arc asks first, if that is their count; `ripens`: it asks for at least so much, and the count grows, so that
    the oldest run is the first one for which it holds. `found`: its matches in the current batch, if there are any.
    """

    def __init__(self, place: Place, begins: NumberTest | None, update: SlotUpdate | None) -> None:
        self.place = place
        self.begins = begins
        self.update = update
        self.goes_on: NumberTest | None = None
        self.arcs: list[ColumnArc] = []
        self.counter = NOTHING
        self.first: i64 = 0
        self.step: i64 = 0
        self.lone: NumberTest | None = None
        self.counted: NumberTest | None = None
        self.ripens = False
        self.found: EndedFolds | None = None

    def matches(self, batch: Batch) -> EndedFolds:
        """Its matches in a batch, which begin to be found. O(arcs)."""
        self.found = EndedFolds([arc.target for arc in self.arcs], self.update, self.counter, batch)
        return self.found

    def counts(self, begun: SlotUpdate | None, going: SlotUpdate | None) -> bool:
        """Find the counter; whether all other slots stay as they are."""
        if begun is None or going is None:
            return begun is None and going is None
        starts = begun.fills
        for slot, fill in enumerate(going.fills):
            if fill.carries(slot):
                continue
            by, start = fill.computation, starts[slot].computation
            if not fill.computed() or not starts[slot].computed() or self.counter != NOTHING:
                return False
            if not isinstance(by, Increment) or by.register.slot != slot or by.register.position >= 0:
                return False
            if not isinstance(start, ConstantValue) or not -FEW <= by.constant <= FEW:
                return False
            first: object = start.constant
            if type(first) is not int or not -EXACT <= first <= EXACT:
                return False
            self.counter, self.first, self.step = slot, first, by.constant
        return True


_NO_ARCS: Final[list[ColumnArc]] = []
_NO_PAIRS: Final[list[ColumnPair]] = []


@final
class ColumnPlan:
    """What begins in a static part. `fits`: it can be asked of numbers, and `slots` are those.

    Runs of a FOLD are in the order in which they began, so that a key has either one FOLD or pairs. `lone`: the only
    pair, if every event begins it and one comparison with the last event ends it, which is the usual case. `lasting`:
    runs have no window, so that they are nothing but the event that has begun them. `watched`: somebody watches its
    pairs. `version`: that of the program.
    """

    def __init__(self, static: StaticPart | None, keyed: Space | None, matrix: NumberMatrix, few: int) -> None:
        self.filters: list[ColumnArc] = []
        self.pairs: list[ColumnPair] = []
        self.fold: ColumnFold | None = None
        self.lone: ColumnPair | None = None
        self.slots: list[int] = []
        self.version: i64 = 0
        self._matrix = matrix
        self._few = few
        self.fits = (static is None or self._take(static, keyed)) and not (self._folds() and self.pairs)
        if len(self.pairs) == 1 and self.pairs[0].simple():
            self.lone = self.pairs[0]
        self.lasting = all(pair.window < 0 for pair in self.pairs)  # and a FOLD has none
        self.watched = any(pair.place.watches is not None for pair in self.pairs)
        # There may be a plan for each of many keys, and most lists are empty.
        self.filters = self.filters or _NO_ARCS
        self.pairs = self.pairs or _NO_PAIRS

    def _folds(self) -> bool:
        return self.fold is not None

    def waits(self) -> bool:
        """Whether runs begin in it."""
        return len(self.pairs) > 0 or self._folds()

    def _take(self, static: StaticPart, keyed: Space | None) -> bool:
        arcs = [arc for arc in static.arcs if arc.symbol < 0]  # machines have had the events of such a batch
        if len(arcs) > self._few:
            return False
        return all(self._arc(arc, keyed) for arc in arcs)

    def _arc(self, arc: Transition, keyed: Space | None) -> bool:
        begins = Tests(arc.guard, self._matrix, False)
        if not begins.possible:
            return False
        self._read(begins.slots)
        if arc.target is not None:
            self.filters.append(ColumnArc(begins.first, arc.target))
            return _plain(arc.target)
        place = arc.place
        if place is None or not _waits_for_next(place, keyed) or not _harmless(arc.update):
            return False
        if len(place.arcs.arcs) > self._few:
            return False
        if place.rebind is not None:
            return self._fold(ColumnFold(place, begins.first, arc.update), place.rebind)
        pair = ColumnPair(place, begins.first, arc.update)
        self.pairs.append(pair)
        fits = self._ends(place, pair.arcs, NOTHING)
        pair.spans = pair.spans or any(arc.spans() for arc in pair.arcs)
        return fits

    def _fold(self, fold: ColumnFold, rebind: Transition) -> bool:
        place = fold.place
        tests = Tests(rebind.guard, self._matrix, True)
        if not tests.possible or tests.spans or tests.counter >= 0 or rebind.place is not place:
            return False
        if self.fold is not None or place.window >= 0 or place.lineage or not fold.counts(fold.update, rebind.update):
            return False
        self._read(tests.slots)
        fold.goes_on = tests.first
        if _lone(tests.first):
            fold.lone = tests.first
        self.fold = fold
        fits = self._ends(place, fold.arcs, fold.counter)
        if len(fold.arcs) == 1:
            test = fold.arcs[0].test
            if test is not None and test.kind == COUNT:
                fold.counted, fold.ripens = test, fold.step > 0 and test.operator in (GE, GT)
        return fits

    def _ends(self, place: Place, ends: list[ColumnArc], counter: int) -> bool:
        """Collect the arcs out of a place; whether all lead to targets and can be asked of numbers."""
        for arc in place.arcs.arcs:
            tests = Tests(arc.guard, self._matrix, True)
            target = arc.target
            if target is None or not _plain(target) or not tests.possible or tests.counter not in (NOTHING, counter):
                return False
            self._read(tests.slots)
            ends.append(ColumnArc(tests.first, target))
        return True

    def _read(self, slots: list[int]) -> None:
        self.slots += [slot for slot in slots if slot >= 0 and slot not in self.slots]


@final
class StreamColumns:
    """How a stream goes by columns. `keyed`: the space of its keys, if any; `open`: what begins without a key."""

    def __init__(self, keyed: Space | None, opened: ColumnPlan) -> None:
        self.keyed = keyed
        self.open = opened


def columns_of(directory: Directory, stream: int, matrix: NumberMatrix) -> StreamColumns | None:
    """How a stream goes by columns; None if it does not. O(what begins without a key)."""
    keyed: Space | None = None
    free: Space | None = None
    for space in directory.spaces[stream]:
        if space.positions == ():
            free = space
        elif space.single >= 0 and keyed is None:
            keyed = space
        else:
            return None
    if (keyed is not None and keyed.strangers > 0) or (free is not None and free.strangers > 0):
        return None
    static = None if free is None else directory.statics[free.number].get(())
    opened = ColumnPlan(static, keyed, matrix, directory.options.few)
    return StreamColumns(keyed, opened) if opened.fits else None


def _lone(test: NumberTest | None) -> bool:
    """Whether a condition is one comparison with the last event."""
    return test is not None and test.rest is None and (test.kind == REGISTER or test.kind == SCALED)


def _plain(target: Target) -> bool:
    """Whether a target only serves subscribers, and tells watchers."""
    return target.feeds is None


def _waits_for_next(place: Place, keyed: Space | None) -> bool:
    """Whether the next event of its key ends a run's wait, whatever it is."""
    if keyed is None or place.space is not keyed or place.own != keyed.single:
        return False
    if place.watches is not None and place.lineage > 0:  # who watches runs may ask for their events
        return False
    return place.theta is None and not place.dead and place.window not in (0, 1)


def _harmless(update: SlotUpdate | None) -> bool:
    """Whether no register is computed in a way that could raise."""
    if update is None:
        return True
    known = (ConstantValue, EventValue, Increment, RegisterValue)
    return all(not fill.computed() or isinstance(fill.computation, known) for fill in update.fills)
