"""Matches of patterns with a negation at the end: they become results after time has passed their window (design 2.7).

Here: the waiting matches, and when they are due. Not here: advancing time (lanes).
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any, final

from mypy_extensions import i64

from .cell import RunCell
from .run import KleeneRun, Restored, RunsArchive, Trail
from .tables import FOREVER, Tables


@final
class Pending:
    """The waiting matches of one machine. `next`: the time after which the first is due; FOREVER if there are none."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.next: i64 = FOREVER
        self.due: list[tuple[int, int]] = []  # a heap of deadlines and numbers
        self.waiting: dict[int, tuple[KleeneRun, int, RunCell]] = {}  # by number: match, time of its last event, cell
        self.number = 0

    def add(self, run: KleeneRun, last: i64, cell: RunCell) -> None:
        """Add a match that was completed at the time `last`."""
        deadline = int(run.start + self.tables.window)
        self.number += 1
        self.waiting[self.number] = (run, int(last), cell)
        heappush(self.due, (deadline, self.number))
        cell.owed += 1
        if deadline < self.next:
            self.next = deadline

    def take(self, time: i64) -> list[KleeneRun]:
        """The matches whose window ended before that time, unless a negated event took them back. O(log n) each.

        They are in the order of their first events.
        """
        found: list[tuple[Any, KleeneRun, RunCell]] = []
        while len(self.due) > 0 and self.due[0][0] < time:
            _, number = heappop(self.due)
            run, last, cell = self.waiting.pop(number)
            cell.owed -= 1
            if not self._denied(run, last, cell):
                found.append((order(run.trail, True), run, cell))
        self.next = self.due[0][0] if len(self.due) > 0 else FOREVER
        found.sort(key=_first)
        if not self.tables.alone:
            return [run for _, run, _ in found]
        kept: list[KleeneRun] = []
        for _, run, cell in found:
            begun, ended = ends(run.trail)
            if begun > cell.upto:
                cell.upto = ended
                kept.append(run)
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
            [archive.run(run), last, cells[id(cell)]]
            for run, last, cell in [self.waiting[number] for _, number in sorted(self.due)]
        ]

    def load(self, data: Any, cells: list[RunCell], restored: Restored) -> None:
        for run, last, cell in data:
            self.add(restored.run(run), last, cells[cell])


def _first(entry: tuple[Any, KleeneRun, RunCell]) -> Any:
    return entry[0]


def ends(trail: Trail) -> tuple[int, int]:
    """The positions in the stream of a match's first and last event."""
    assert trail is not None
    last = trail[4]
    node: Any = trail
    while node[0] is not None:
        node = node[0]
    return node[4], last


def order(trail: Trail, whole: bool) -> Any:
    """The sort key of the results of one moment: earlier events first, then longer parts.

    `whole`: by the first and the last event before all, as results that time completes are ordered.
    """
    places: list[int] = []
    parts: list[int] = []
    at = -1
    node: Any = trail
    while node is not None:
        places.append(node[4])
        if node[1] != at:
            at = node[1]
            parts.append(0)
        parts[-1] -= 1
        node = node[0]
    places.reverse()
    parts.reverse()
    return (places[0], places[-1], places, parts) if whole else (places, parts)
