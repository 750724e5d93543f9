"""Matches of patterns with a negation at the end: they are results once time has passed their window (design 2.7).

Here: what waits, and when it is due. Not here: who tells that time passes (lanes).
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
    """The waiting matches of one machine. `next`: when time has to be past for the first of them; FOREVER if none."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.next: i64 = FOREVER
        self.due: list[tuple[int, int]] = []  # a heap of deadlines and numbers
        self.waiting: dict[int, tuple[KleeneRun, int, RunCell]] = {}  # by number: match, time of its last event, cell
        self.number = 0

    def add(self, run: KleeneRun, last: i64, cell: RunCell) -> None:
        """A match that was completed at the time `last`."""
        deadline = int(run.start + self.tables.window)
        self.number += 1
        self.waiting[self.number] = (run, int(last), cell)
        heappush(self.due, (deadline, self.number))
        cell.owed += 1
        if deadline < self.next:
            self.next = deadline

    def take(self, time: i64) -> list[KleeneRun]:
        """Those whose window has passed before that time, without those that a negated event took back, in the order
        of their first events. O(log n) each."""
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
            shadow = cell.shadows[denial.number]
            if not denial.logged:
                if shadow.time > last:
                    return True
            elif shadow.denies(shadow.during(last, run.start + self.tables.window), run.slots, self.tables.account):
                return True
        return False

    def dump(self, archive: RunsArchive, cells: dict[int, int]) -> list[Any]:
        """`cells`: their numbers by identity."""
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
    """The places in the stream of a match's first and last event."""
    assert trail is not None
    last = trail[4]
    node: Any = trail
    while node[0] is not None:
        node = node[0]
    return node[4], last


def order(trail: Trail, whole: bool) -> Any:
    """What orders the results of one moment: the earlier events, then the longer parts. `whole`: by the first and the
    last event before all, as results that time completes are ordered."""
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
