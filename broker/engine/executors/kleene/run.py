"""Single runs as objects, matches made of them, and both as plain values and back.

Here: the data of a run. Not here: the effect of events on it (runs), matches that wait (pending).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Slots
from ....events.schema import Row
from ..match_graph import Found
from ..matches import Item, Matched, tuple_item
from .tables import Tables

Trail: TypeAlias = "tuple[Any, int, Item, int, int] | None"
"""The events of a run: the earlier trail; component, item, time and position in the stream of the last event.

Tuples are freed without recursion, however long a trail gets.
"""


@final
@mypyc_attr(acyclic=True)
class KleeneRun:
    """`start`: the time of its first event; `position`, `place`: the last one's number in the stream and partition.

    `lead`: the time of the newest event, before the first, of negations that lead.
    """

    __slots__ = ("lead", "place", "position", "slots", "start", "trail")

    def __init__(self, start: i64, lead: i64, slots: Slots, trail: Trail, position: i64, place: i64) -> None:
        self.start = start
        self.lead = lead
        self.slots = slots
        self.trail = trail
        self.position = position
        self.place = place

    def copy(self) -> KleeneRun:
        return KleeneRun(self.start, self.lead, self.slots, self.trail, self.position, self.place)


def unrolled(trail: Trail) -> list[tuple[int, Item, int]]:
    """A run's events in the order of the stream."""
    found: list[tuple[int, Item, int]] = []
    while trail is not None:
        before, component, item, time, _ = trail
        found.append((component, item, time))
        trail = before
    found.reverse()
    return found


@final
@mypyc_attr(acyclic=True)
class CompleteRuns(Found):
    """Single matches: their events, and their values."""

    def __init__(self, trails: list[Trail], values: list[Row]) -> None:
        self.trails = trails
        self.values = values

    def amount(self) -> int:
        return len(self.trails)

    def all(self) -> Iterator[Matched]:
        for trail, values in zip(self.trails, self.values):
            assigned = unrolled(trail)
            yield Matched(assigned, assigned[0][2], assigned[-1][2], values)


def complete(runs: list[KleeneRun], tables: Tables) -> CompleteRuns:
    """The matches that these runs are."""
    count: i64 = len(tables.outputs)
    return CompleteRuns([run.trail for run in runs], [tables.values(run.slots, count) for run in runs])


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
    """Numbers for trails; `data` has all events that can be reached from them. Linear, does not recurse."""

    def __init__(self) -> None:
        self.data: list[list[Any]] = []
        self._kept: list[Any] = []  # numbers are by identity, so no trail may be released meanwhile
        self._numbers: dict[int, int] = {}

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
            self.data.append([number, *node[1:]])
            number = len(self.data) - 1
            self._numbers[id(node)] = number
            self._kept.append(node)
        return number

    def run(self, run: KleeneRun) -> list[Any]:
        numbers = [int(run.start), int(run.lead), int(run.position), int(run.place)]
        return [numbers, self.trail(run.trail), plain_slots(run.slots)]


@final
class Restored:
    """The trails of an archive, by number."""

    def __init__(self, data: Sequence[Any]) -> None:
        self.trails: list[Trail] = []
        for before, component, item, time, position in data:
            trail = None if before < 0 else self.trails[before]
            self.trails.append((trail, component, tuple_item(item), time, position))

    def run(self, data: Any) -> KleeneRun:
        (start, lead, position, place), number, slots = data
        return KleeneRun(start, lead, slots_of(slots), None if number < 0 else self.trails[number], position, place)
