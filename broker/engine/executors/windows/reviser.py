"""Windows over events in any order: told as soon as an event ends them, and withdrawn when a late one changes them.

Each partition keeps its events that are not final, with the windows that each has ended, and marks: states of the
partition before some of these events, the oldest before all. What comes in order moves the partition on. A late event,
or a withdrawn one, sets it back to the last mark before; all events behind are played again, once for all that is late
in a batch, and only windows that have become others are withdrawn and told anew. So a repair costs the events behind
the late one, which a promise bounds, and the distance between two marks.

Here: that, for windows that an event ends: one of the clock, or a session, is over when time has passed, and waits
until its events are final. Not here: the effect of an event (machine), who gets which event (disorder).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.predicate import All, condition, holds
from ....automaton.automaton import Automaton
from ....events.schema import Row
from ...matches.completions import Completions
from ...matches.sources import Item, Matched, MatchSource, trace_of, tuple_item
from ...program.account import MATCH_UNITS, Exhausted
from ..revising import Reviser, Revision
from .cell import WindowCell
from .machine import WindowMachine
from .revised_partition import NO_WINDOWS, UNTOUCHED, RevisedEvent, RevisedPartition, place
from .window_matches import WindowAudience

MARKED_MIN: Final = 32  # events between two marks of a partition; as many as its log is long, if that is longer


@final
@mypyc_attr(acyclic=True)
class RevisedWindow(MatchSource):
    """One window."""

    def __init__(self, match: Matched) -> None:
        self.match = match

    def amount(self) -> int:
        return 1

    def all(self) -> Iterator[Matched]:
        yield self.match

    def one(self) -> Matched:
        return self.match


@final
class WindowReviser(Reviser):
    """The partitions of equal subscriptions, in which `machine` plays their events."""

    def __init__(self, machine: WindowMachine) -> None:
        self.machine = machine
        self.tables = machine.tables
        self.account = machine.account
        self.guards: list[All | None] = [condition(each.guard) for each in machine.inputs[machine.shift :]]
        self.audience = WindowAudience([], self.tables)
        self.completed = self._fresh()  # of the events since results were told
        self.parts: dict[Any, RevisedPartition] = {}
        self.touched: dict[Any, RevisedPartition] = {}
        self.members: dict[int, bool] = {}
        self.made = 0
        self.taken = False
        self.repairs = 0

    @property
    def method(self) -> str:
        return "starts in groups of equal future; windows told as they end, and anew after late events"

    def _fresh(self) -> Completions:
        found = Completions()
        found.serve(self.audience)
        return found

    # --- members ------------------------------------------------------------------------------------------------

    def join(self, automaton: Automaton, number: int) -> int:
        number = self.made if number < 0 else number
        self.members[number] = True
        self.made = max(self.made, number + 1)
        return number

    def leave(self, number: int) -> None:
        del self.members[number]

    def begun(self) -> bool:
        return self.taken

    # --- events -------------------------------------------------------------------------------------------------

    def take(self, stream: i64, time: i64, number: i64, item: Item, row: Row) -> None:
        self.taken = True
        self.account.earn()
        key: Any = self.tables.partition(row)
        if key is None:
            return
        part = self.parts.get(key)
        if part is None:
            part = self.parts[key] = RevisedPartition(key)
        self.touched[key] = part
        event, count = RevisedEvent(int(time), int(number), item, row), len(part.events)
        at = count if count == 0 or part.events[-1].time < event.time else part.place(event.time, event.number)
        part.events.insert(at, event)
        if at < count or part.late != UNTOUCHED:
            part.spoil(at)
            part.fresh = min(part.fresh, at)
        else:
            self._play(event)
            self._mark(part, at + 1)

    def retract(self, stream: i64, time: i64, number: i64, row: Row) -> None:
        self.account.earn()
        key: Any = self.tables.partition(row)
        if key is None:
            return
        part = self.parts.get(key)
        if part is None:
            return
        at = part.place(int(time), int(number))
        if at == len(part.events) or part.events[at].number != number:
            return  # it came when nothing of its key could change any more
        self.touched[key] = part
        part.gone += part.events.pop(at).told
        part.spoil(at)
        part.fresh = min(part.fresh, at)

    def _play(self, event: RevisedEvent) -> None:
        """Have its partition take an event, and note the windows that it ends."""
        row, time, item = event.row, event.time, event.item
        mask: i64 = 0 if self.machine.shift == 0 else 1
        bit: i64 = 1 << self.machine.shift
        for guard in self.guards:
            if holds(guard, row, (), (), 1, 1):
                mask |= bit
            bit <<= 1
        found = self.completed
        begin = found.upto
        self.machine.take(mask, row, time, 0, 0, 0, item, found)
        if self.machine.lost > 0:
            raise Exhausted
        if found.upto == begin:
            event.found = NO_WINDOWS
            return
        windows: list[Matched] = []
        for source in found.since(begin, row, time, item):
            for match in source.all():
                match.trace = trace_of(match)
                windows.append(match)
        event.found = windows

    def _mark(self, part: RevisedPartition, at: int) -> None:
        """Note how the partition is before an event, where it is now, if that is worth while. O(1) amortised."""
        since = at - part.marks[-1]
        if since < MARKED_MIN:
            return
        cell = self.machine.cells.get(part.key)
        if cell is None or since >= len(cell.columns.items):
            part.marks.append(at)
            part.cells.append(self._copy(cell))

    def _copy(self, cell: WindowCell | None) -> WindowCell | None:
        return None if cell is None else cell.copied(self.tables)

    def _set_back(self, part: RevisedPartition) -> int:
        """Bring the partition to its last mark; returns before which event that is."""
        cell = self._copy(part.cells[-1])
        self.machine.keep(part.key, cell)
        return part.marks[-1]

    def _repair(self, part: RevisedPartition) -> None:
        """Play all events behind the last mark before what is late. O(these events)."""
        if part.late == UNTOUCHED:
            return
        self.repairs += 1
        at = self._set_back(part)
        part.fresh = min(part.fresh, at)
        part.late = UNTOUCHED
        for event in part.events[at:]:
            self._play(event)
            at += 1
            self._mark(part, at)

    # --- results ------------------------------------------------------------------------------------------------

    def settle(self) -> list[tuple[int, Revision]]:
        found: list[tuple[int, Revision]] = []
        for part in self.touched.values():
            self._repair(part)
            self._withdraw(part.gone, found)
            part.gone = []
            ended = [event for event in part.events[part.fresh :] if event.told is not event.found]
            for event in ended:
                self._withdraw(_without(event.told, event.found), found)
            for event in ended:
                for match in _without(event.found, event.told):
                    for number in self.members:
                        found.append((number, (True, RevisedWindow(match))))
                event.told = event.found
            part.fresh = len(part.events)
        self.touched = {}
        if self.completed.upto > 0:
            self.completed = self._fresh()
        self.account.spend(MATCH_UNITS * len(found))
        return found

    def settled(self, number: int, time: int) -> Any:
        self.punctuate(time)
        cells = [part.cells[0] for part in self.parts.values()]
        return [[cell.dump() for cell in cells if cell is not None], []] if self.taken else None

    def _withdraw(self, matches: list[Matched], found: list[tuple[int, Revision]]) -> None:
        for match in matches:
            for number in self.members:
                found.append((number, (False, RevisedWindow(match))))

    # --- time ---------------------------------------------------------------------------------------------------

    def punctuate(self, time: int) -> None:
        for part in list(self.parts.values()):
            self._finish(part, time)

    def punctuate_key(self, key: Row, time: int) -> None:
        part = self.parts.get(self.tables.key_of(key))
        if part is not None:
            self._finish(part, time)

    def _finish(self, part: RevisedPartition, time: int) -> None:
        """Forget the events before a time, which are final and have been told. O(these, and a mark's distance)."""
        assert part.fresh == len(part.events), "told before time passes"
        final = part.place(time, -1)
        if final > 0:
            self._advance(part, final)
        first = part.cells[0]
        if len(part.events) == 0 and (first is None or first.idle(self.tables, time)):
            del self.parts[part.key]
            self.machine.keep(part.key, None)

    def _advance(self, part: RevisedPartition, final: int) -> None:
        """Make a mark before the event `final` the first one."""
        at = len(part.marks) - 1
        while part.marks[at] > final:
            at -= 1
        live = self.machine.cells.get(part.key)
        begin, cell = part.marks[at], part.cells[at]
        if final == len(part.events):
            cell = self._copy(live)
        elif begin < final:
            self.machine.keep(part.key, cell)
            for event in part.events[begin:final]:  # which go, so that their windows need not be kept
                self._play(event)
            cell = self.machine.cells.get(part.key)
            self.machine.keep(part.key, live)
        later = [each for each in range(len(part.marks)) if part.marks[each] > final]
        part.cells = [cell, *[part.cells[each] for each in later]]
        part.marks = [0, *[part.marks[each] - final for each in later]]
        del part.events[:final]
        part.fresh -= final

    # --- inspection ---------------------------------------------------------------------------------------------

    def keys(self) -> int:
        return len(self.parts)

    def statistics(self) -> dict[str, int]:
        return {**self.machine.statistics(), "window_keys": len(self.parts)}

    def check_invariants(self) -> None:
        assert not self.touched
        assert len(NO_WINDOWS) == 0
        self.machine.check_invariants()
        for key, part in self.parts.items():
            assert part.key == key
            places = [place(event) for event in part.events]
            assert places == sorted(set(places))
            assert (part.late, part.fresh, part.gone) == (UNTOUCHED, len(places), [])
            assert part.marks == sorted({0, *part.marks})
            assert part.marks[-1] <= len(places)

    def dump(self) -> Any:
        parts = []
        for part in self.parts.values():
            first = part.cells[0]
            key = list(part.key) if isinstance(part.key, tuple) else [part.key]
            events = [[event.time, event.number, event.item, list(event.row)] for event in part.events]
            columns = [list(column) for column in zip(*events)] if events else [[], [], [], []]
            parts.append([key, columns, None if first is None else first.dump()])
        return [parts, int(self.account.left), self.taken]

    def load(self, data: Any) -> None:
        parts, _, self.taken = data
        for values, (times, numbers, items, rows), first in parts:
            key = self.tables.key_of(values)
            part = self.parts[key] = RevisedPartition(key)
            if first is not None:
                cell = part.cells[0] = WindowCell(key, self.tables)
                cell.load(first)
            for time, number, item, row in zip(times, numbers, items, rows):
                part.events.append(RevisedEvent(time, number, tuple_item(item), tuple(row)))
            part.late = 0
            self._repair(part)
            self.repairs -= 1
            for event in part.events:
                event.told = event.found
            part.fresh = len(part.events)
        self.account.left = data[1]


def _without(some: list[Matched], others: list[Matched]) -> list[Matched]:
    """The windows that are not among the others, with the same events and values. O(their events)."""
    if len(some) == 0 or len(others) == 0 or some is others:
        return [] if some is others else some
    known = {other.trace: other for other in others}
    found: list[Matched] = []
    for one in some:
        other = known.get(one.trace)
        if other is None or other.values != one.values or _events(other) != _events(one):
            found.append(one)
    return found


def _events(match: Matched) -> list[Item]:
    assert match.stretch is not None
    items, first, upto = match.stretch
    return items[first:upto]
