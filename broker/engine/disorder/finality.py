"""Until when the results of a subscription that revises are final, if promises say which events may still come.

What is promised of some events only (promised) leaves others that may come: an event *may come* in a region from the
time on that is promised for the region. Two times follow for a subscription (AFA, F.2):

- `closed`: no event that concerns it comes earlier. An event is of no concern if every state ignores it and none begins
  or goes on with it.
- `final`: no result that ends earlier comes or goes. An event that is only taken by arcs, while each state ignores it
  as well, adds runs and breaks none; so what it changes ends where a way from there to a final state can end: no
  earlier than the events that the way needs, those that are there and those that may come. That is the *path
  punctuation* of the way, the least of which is found as a shortest way is.

Both hold for insertions and withdrawals alike, since a promise is of both. Here: these times. Not here: what becomes of
them (readers).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Final, NamedTuple, final

from ...algebra.regions import ValueAxis, axes, estimate, joined, regions, rows, within_axes
from ...algebra.timed_stream import is_timed, timed_row, untimed
from ...automaton.automaton import Arc, Automaton, Carry, Kind
from ...events.instant import FOREVER
from ...events.schema import Row
from .held_columns import HeldEvent
from .promised import PromisedRows

REGIONS_MAX: Final = 100_000
"""Beyond so many regions, with the constants of the automaton, all of them concern it."""


class Coming(NamedTuple):
    """Events of a stream that may come from a time on, with a representative of their region along some axes."""

    stream: str
    time: int
    row: Row
    axes: Sequence[ValueAxis]


class SettledTimes(NamedTuple):
    closed: int
    final: int


@final
class AutomatonFinality:
    """The questions of one automaton, for events from the time `since` on: arcs that ended before are gone."""

    def __init__(self, automaton: Automaton, since: int) -> None:
        self.automaton = automaton
        self.end = len(automaton.states)
        arcs = [arc for arc in automaton.arcs if arc.end > since and len(arc.guard) > 0]
        self.taking = [arc for arc in arcs if arc.kind is not Kind.EPSILON]
        self.moving = [arc for arc in arcs if arc.kind is Kind.EPSILON]
        # After an ignored event a run follows the arcs without one again, so that states with such arcs ignore nothing.
        told = {arc.source for arc in self.moving}
        lasting = [arc for arc in self.taking if arc.begin <= since and arc.end == FOREVER]
        self.loops = [arc for arc in lasting if _ignores(arc, self.end) and arc.source not in told]
        self.entered = sorted({arc.target for arc in arcs if arc.target < self.end})
        self.begins = self._without_event(0)

    def _without_event(self, state: int) -> set[int]:
        """The states to which a run in a state may come without an event."""
        found, waiting = {state}, [state]
        while waiting:
            source = waiting.pop()
            for arc in self.moving:
                if arc.source == source and arc.target not in found and arc.target < self.end:
                    found.add(arc.target)
                    waiting.append(arc.target)
        return found

    # --- regions ------------------------------------------------------------------------------------------------

    def coming(self, stream: str, promised: PromisedRows | None, floor: int, most: int) -> Iterator[Coming]:
        """The regions of a stream that the automaton tells apart, and from when on events may come in each. O(regions).

        `floor`: the time that is promised for all events of the stream; `most`: events from there on count as coming.
        """
        if promised is None or not promised.axes:
            yield Coming(stream, min(floor, most), (), ())
            return
        cuts = joined({}, {axis.position: frozenset(axis.cuts) for axis in promised.axes})
        for arc in self.taking:
            if arc.stream == stream:
                cuts = joined(cuts, within_axes(arc.guard, promised.axes))
        along = axes(promised.schema, cuts)
        if regions(along) > REGIONS_MAX:
            yield Coming(stream, min(most, max(floor, promised.least())), (), ())
            return
        for row in rows(along, [None] * len(promised.schema)):
            yield Coming(stream, min(most, max(floor, promised.floor(row))), row, along)

    def _passes(self, state: int, coming: Coming) -> bool:
        """Whether each run in a state ignores such an event, whatever else it does."""
        return any(
            arc.source == state and arc.stream == coming.stream and estimate(arc.guard, coming.row, coming.axes, False)
            for arc in self.loops
        )

    def breaks(self, coming: Coming) -> bool:
        """Whether such an event may end a run that is under way; each event is one of all windows around it."""
        return self.automaton.windows is not None or not all(self._passes(state, coming) for state in self.entered)

    def steps(self, coming: Coming) -> list[Arc]:
        """The arcs by which such an event may begin a run, or lead one on."""
        return [
            arc
            for arc in self.taking
            if (arc.source in self.begins or (arc.source in self.entered and not _ignores(arc, self.end)))
            and arc.stream == coming.stream
            and estimate(arc.guard, coming.row, coming.axes, True)
        ]

    def concerns(self, coming: Coming) -> bool:
        """Whether such an event may change anything."""
        return self.breaks(coming) or len(self.steps(coming)) > 0

    # --- times --------------------------------------------------------------------------------------------------

    def bounds(self, coming: Sequence[Coming], held: Callable[[int], Iterator[HeldEvent]]) -> SettledTimes:
        """Both times. `held`: the events from a time on that are there and not final, in order.

        O(regions x arcs), and O(arcs x events that are not final) where events can come that break nothing.
        """
        closed = broken = max([each.time for each in coming])  # where nothing concerns it, until all promises
        first: dict[int, int] = {}  # by arc, from when on an event may take it
        for each in coming:
            taken = self.steps(each)
            breaks = self.breaks(each)
            if breaks:
                broken = min(broken, each.time)
            if breaks or taken:
                closed = min(closed, each.time)
            for arc in taken:
                first[id(arc)] = min(first.get(id(arc), FOREVER), each.time)
        if closed >= broken:
            return SettledTimes(closed, closed)
        return SettledTimes(closed, max(closed, min(broken, self._earliest_end(first, broken, held))))

    def _earliest_end(
        self, first: dict[int, int], upto: int, held: Callable[[int], Iterator[HeldEvent]]
    ) -> int:
        """The earliest end of a result that an event to come takes part in; `upto` if there is none before."""
        best: dict[int, int] = {}
        waiting: list[tuple[int, int]] = []
        for arc in self.taking:
            if id(arc) in first:
                heappush(waiting, (first[id(arc)], arc.target))
        while waiting:
            time, state = heappop(waiting)
            if time >= upto or state >= self.end:
                return min(time, upto)
            if best.get(state, FOREVER) <= time:
                continue
            best[state] = time
            for arc in self.moving:
                if arc.source == state:
                    heappush(waiting, (time, arc.target))
            for arc in self.taking:
                if arc.source == state and not _ignores(arc, self.end):
                    there = self._next(arc, time, min(upto, first.get(id(arc), FOREVER)), held)
                    heappush(waiting, (max(time, there), arc.target))
        return upto

    def _next(self, arc: Arc, time: int, upto: int, held: Callable[[int], Iterator[HeldEvent]]) -> int:
        """The time of the first event there from a time on that may take an arc; `upto` if there is none before."""
        stream = untimed(arc.stream)
        for event in held(time):
            if event.time >= upto:
                break
            if event.stream == stream:
                row = timed_row(event.row, event.time, event.start) if is_timed(arc.stream) else event.row
                if estimate(arc.guard, row, None, True):
                    return event.time
        return upto


def _ignores(arc: Arc, end: int) -> bool:
    """Whether an arc leaves a run that is under way as it is."""
    same = all(isinstance(slot, Carry) and slot.slot == at for at, slot in enumerate(arc.update))
    return arc.kind is Kind.LOOP and arc.target < end and same


def belongs(coming: Coming, positions: Sequence[int], key: Sequence[object]) -> bool:
    """Whether events of a region may have a key, the values at those positions."""
    for axis in coming.axes:
        if axis.position in positions:
            wanted = axis.number(key[positions.index(axis.position)])
            if axis.number(coming.row[axis.position]) != wanted:
                return False
    return True
