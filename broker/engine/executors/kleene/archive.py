"""Runs as plain values and back: trails that share their beginnings share them again.

Here: lists, numbers and strings for a snapshot. Not here: what holds runs (cells, pending).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

from ....algebra.computation import Slots
from .found import Trail
from .replay import tuple_item
from .run import KleeneRun

PLAIN: Final = 1 << 63


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
    """Numbers for trails; `data` is all that can be reached from them. Linear, does not recurse."""

    def __init__(self) -> None:
        self.data: list[list[Any]] = []
        self._kept: list[Any] = []  # numbers are by identity: nothing may be released meanwhile
        self._numbers: dict[int, int] = {}

    def trail(self, trail: Trail) -> int:
        """The number of a trail, -1 of none."""
        way: list[Any] = []
        node: Any = trail
        while node is not None and id(node) not in self._numbers:
            way.append(node)
            node = node[0]
        number = -1 if node is None else self._numbers[id(node)]
        for node in reversed(way):
            _, component, item, time, position = node
            self.data.append([number, component, item, time, position])
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
