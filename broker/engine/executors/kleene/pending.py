"""Matches of patterns with a negation at the end: they become results after time has passed their window (design 2.7).

Here: the waiting matches, and when they are due. Not here: advancing time (lanes).
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, final

from mypy_extensions import i64

from .cell import RunCell
from .run import KleeneRun, Restored, RunsArchive, TakenEvents, Trail, Whole, links
from .tables import FOREVER, Tables


@final
class Pending:
    """The waiting matches of one machine. `next`: the time after which the first is due; FOREVER if there are none."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.next: i64 = FOREVER
        self.due: list[tuple[int, int]] = []  # a heap of deadlines and numbers
        self.waiting: dict[int, tuple[Whole, int, RunCell]] = {}  # by number: match, time of its last event, cell
        self.number = 0

    def add(self, whole: Whole, last: i64, cell: RunCell) -> None:
        """Add a match that was completed at the time `last`."""
        deadline = int(whole[1].start + self.tables.window)
        self.number += 1
        self.waiting[self.number] = (whole, int(last), cell)
        heappush(self.due, (deadline, self.number))
        cell.owed += 1
        if deadline < self.next:
            self.next = deadline

    def take(self, time: i64) -> list[Whole]:
        """The matches whose window ended before that time, unless a negated event took them back. O(log n) each.

        They are in the order of their first events.
        """
        found: list[tuple[Any, Whole, RunCell]] = []
        while len(self.due) > 0 and self.due[0][0] < time:
            _, number = heappop(self.due)
            whole, last, cell = self.waiting.pop(number)
            cell.owed -= 1
            if not self._denied(whole[1], last, cell):
                found.append((order(whole[0], whole[1].trail, True), whole, cell))
        self.next = self.due[0][0] if len(self.due) > 0 else FOREVER
        found.sort(key=_first)
        if not self.tables.alone:
            return [whole for _, whole, _ in found]
        kept: list[Whole] = []
        for _, whole, cell in found:
            begun, ended = ends(whole[0], whole[1].trail)
            if begun > cell.upto:
                cell.upto = ended
                kept.append(whole)
        return kept

    def _denied(self, run: KleeneRun, last: i64, cell: RunCell) -> bool:
        for denial in self.tables.trailing:
            index = cell.negated[denial.number]
            if not denial.logged:
                if index.time > last:
                    return True
            elif index.denies(index.during(last, run.start + self.tables.window), run.slots, self.tables.account):
                return True
        return False

    def dump(self, archive: RunsArchive, cells: dict[int, int]) -> list[Any]:
        """The waiting matches as plain values. `cells`: the numbers of cells by identity."""
        return [
            [archive.run(run), last, cells[id(cell)], archive.page(events)]
            for (events, run), last, cell in [self.waiting[number] for _, number in sorted(self.due)]
        ]

    def load(self, data: Any, cells: list[RunCell], restored: Restored) -> None:
        for run, last, cell, page in data:
            self.add((restored.pages[page], restored.run(run)), last, cells[cell])


def _first(entry: tuple[Any, Whole, RunCell]) -> Any:
    return entry[0]


def ends(events: TakenEvents, trail: Trail) -> tuple[int, int]:
    """The positions in the stream of a match's first and last event."""
    assert trail is not None
    last = trail[3]
    node: Any = trail
    while node[0] is not None:
        node = node[0]
    return int(events.position(node[2])), int(events.position(last))


def order(events: TakenEvents, trail: Trail, whole: bool) -> Any:
    """The sort key of the results of one moment: earlier events first, then longer parts.

    `whole`: by the first and the last event before all, as results that time completes are ordered.
    """
    places: list[int] = []
    parts: list[int] = []
    at = -1
    for _, component, first, last in links(trail):
        places += [int(events.position(number)) for number in range(first, last + 1)]
        if component != at:
            at = component
            parts.append(0)
        parts[-1] -= last + 1 - first
    return (places[0], places[-1], places, parts) if whole else (places, parts)
