"""Single runs as objects, matches made of them, and both as plain values and back.

Here: the data of a run. Not here: the effect of events on it (runs), matches that wait (pending).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Slots
from ....events.schema import Row
from ...matches.match_graph import Found
from ...matches.sources import Item, Matched, tuple_item
from ..packed import Integers, integers, put_integer
from .tables import Tables

Trail: TypeAlias = "tuple[Any, int, int, int] | None"
"""The events of a run: the earlier trail; component, and the numbers of the first and the last of its next events,
which follow each other among the events that the runs of its key have taken.

Tuples are freed without recursion, however long a trail gets.
"""

FEW: Final = 64  # events below which turning a page costs more than it saves


@final
class TakenEvents:
    """The events from number `base` on that some run of a key has taken, once each. A page only grows, at its end.

    Results that are not read yet keep the page that their runs were in.
    """

    __slots__ = ("base", "items", "positions", "times")

    def __init__(self, base: i64) -> None:
        self.base: i64 = base
        self.items: list[Item] = []
        self.times: Integers = integers()
        self.positions: Integers = integers()

    def add(self, item: Item, time: i64, position: i64) -> i64:
        """Add an event; returns its number."""
        at: i64 = len(self.items)
        self.items.append(item)
        self.times = put_integer(self.times, at, time)
        self.positions = put_integer(self.positions, at, position)
        return self.base + at

    def end(self) -> i64:
        """The number of the next event."""
        return self.base + len(self.items)

    def turned(self, first: i64) -> TakenEvents:
        """A page without the events before that number; this page, if these are few or under half of it."""
        gone = first - self.base
        if gone < FEW or 2 * gone < len(self.items):
            return self
        page = TakenEvents(first)
        page.items, page.times, page.positions = self.items[gone:], self.times[gone:], self.positions[gone:]
        return page

    def position(self, number: i64) -> i64:
        """The position of an event in the stream."""
        return self.positions[number - self.base]


@final
@mypyc_attr(acyclic=True)
class KleeneRun:
    """`start`: the time of its first event, `first` its number; `position`, `place`: the last one's number in the
    stream and partition.

    `lead`: the time of the newest event, before the first, of negations that lead.
    """

    __slots__ = ("first", "lead", "place", "position", "slots", "start", "trail")

    def __init__(
        self, start: i64, first: i64, lead: i64, slots: Slots, trail: Trail, position: i64, place: i64
    ) -> None:
        self.start = start
        self.first = first
        self.lead = lead
        self.slots = slots
        self.trail = trail
        self.position = position
        self.place = place

    def copy(self) -> KleeneRun:
        return KleeneRun(self.start, self.first, self.lead, self.slots, self.trail, self.position, self.place)


def extended(trail: Trail, component: int, number: int) -> tuple[Any, int, int, int]:
    """The trail of a run that takes that event. One more link only if another event or component lies in between."""
    if trail is not None and trail[1] == component and trail[3] + 1 == number:
        return (trail[0], component, trail[2], number)
    return (trail, component, number, number)


def links(trail: Trail) -> list[tuple[Any, int, int, int]]:
    """The links of a trail, the earliest first."""
    found: list[tuple[Any, int, int, int]] = []
    while trail is not None:
        found.append(trail)
        trail = trail[0]
    found.reverse()
    return found


def unrolled(events: TakenEvents, trail: Trail) -> list[tuple[int, Item, int]]:
    """A run's events in the order of the stream."""
    found: list[tuple[int, Item, int]] = []
    base = int(events.base)
    for _, component, first, last in links(trail):
        for at in range(first - base, last - base + 1):
            found.append((component, events.items[at], int(events.times[at])))
    return found


Whole: TypeAlias = tuple[TakenEvents, KleeneRun]
"""A match, and the page of its events."""


@final
@mypyc_attr(acyclic=True)
class CompleteRuns(Found):
    """Single matches: the pages and trails of their events, and their values."""

    def __init__(self, trails: list[tuple[TakenEvents, Trail]], values: list[Row]) -> None:
        self.trails = trails
        self.values = values

    def amount(self) -> int:
        return len(self.trails)

    def all(self) -> Iterator[Matched]:
        for (events, trail), values in zip(self.trails, self.values):
            assigned = unrolled(events, trail)
            yield Matched(assigned, assigned[0][2], assigned[-1][2], values)


def complete(found: list[Whole], tables: Tables) -> CompleteRuns:
    """The matches that these runs are."""
    count: i64 = len(tables.outputs)
    trails = [(events, run.trail) for events, run in found]
    return CompleteRuns(trails, [tables.values(run.slots, count) for _, run in found])


# --- plain values -----------------------------------------------------------------------------------------------

PLAIN: Final = 1 << 63  # smaller integers are numbers of a snapshot


def plain_slots(slots: Slots) -> list[Any]:
    """Rows as lists, sums beyond 64 bits as hexadecimal digits; no other slot is a list or a string."""
    return [_plain(slot) for slot in slots]


def _plain(slot: Any) -> Any:
    if isinstance(slot, tuple):
        return list(slot)
    if isinstance(slot, int) and not -PLAIN <= slot < PLAIN:
        return f"{slot:x}"
    return slot


def slots_of(data: Sequence[Any]) -> Slots:
    """The inverse."""
    return tuple([_slot(slot) for slot in data])


def _slot(slot: Any) -> Any:
    if isinstance(slot, list):
        return tuple(slot)
    return int(slot, 16) if isinstance(slot, str) else slot


@final
class RunsArchive:
    """Numbers for pages of events and for the links of trails. Linear, does not recurse."""

    def __init__(self) -> None:
        self._pages: list[list[Any]] = []
        self._trails: list[list[int]] = []
        self._kept: list[Any] = []  # numbers are by identity, so nothing may be released meanwhile
        self._numbers: dict[int, int] = {}

    def data(self) -> list[Any]:
        return [self._pages, self._trails]

    def page(self, events: TakenEvents) -> int:
        """The number of a page."""
        if id(events) not in self._numbers:
            self._numbers[id(events)] = len(self._pages)
            self._kept.append(events)
            numbers = [[int(time) for time in events.times], [int(position) for position in events.positions]]
            self._pages.append([int(events.base), events.items, *numbers])
        return self._numbers[id(events)]

    def trail(self, trail: Trail) -> int:
        """The number of a trail, -1 for none."""
        way: list[Any] = []
        node: Any = trail
        while node is not None and id(node) not in self._numbers:
            way.append(node)
            node = node[0]
        number = -1 if node is None else self._numbers[id(node)]
        while way:
            node = way.pop()
            self._trails.append([number, *node[1:]])
            number = len(self._trails) - 1
            self._numbers[id(node)] = number
            self._kept.append(node)
        return number

    def run(self, run: KleeneRun) -> list[Any]:
        numbers = [int(run.start), int(run.lead), int(run.position), int(run.place)]
        return [numbers, self.trail(run.trail), plain_slots(run.slots)]


@final
class Restored:
    """The pages and trails of an archive, by number."""

    def __init__(self, data: Sequence[Any]) -> None:
        self.pages: list[TakenEvents] = []
        self.trails: list[Trail] = []
        self._firsts: list[int] = []
        for base, items, times, positions in data[0]:
            page = TakenEvents(base)
            for item, time, position in zip(items, times, positions):
                page.add(tuple_item(item), time, position)
            self.pages.append(page)
        for before, component, first, last in data[1]:
            self.trails.append((None if before < 0 else self.trails[before], component, first, last))
            self._firsts.append(first if before < 0 else self._firsts[before])

    def run(self, data: Any) -> KleeneRun:
        (start, lead, position, place), number, slots = data
        first = self._firsts[number]
        return KleeneRun(start, first, lead, slots_of(slots), self.trails[number], position, place)
