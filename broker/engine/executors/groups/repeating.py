"""Repetitions: patterns of SASE+ in which an operand takes one event after another, with runs that members share.

No constant of a member changes what a run does: it only decides whose matches the run has. So the runs are those of one
pattern without these constants (common_runs), and a match asks once whose it is. Its values are those of its first
event, and those that the end of an operand and the last event show.

Where members differ in one constant only, a match belongs to a stretch of their ranking: two machine words, however
many they are.

Here: whose matches they are. Not here: runs (kleene, through common_runs), the constants of a line
(broker.automaton.analyses.kleene_template).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from ..common_runs import CommonPattern
from ..matches import Assigned
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, filled, floats, floats_from, put
from .coordinates import CoordinateBound, narrowed, number_of
from .members import Members
from .ranking import Ranking
from .starts import Starts
from .steps import StepClause

SWEEP_MIN: Final = 128


@final
class RepeatingTemplate:
    """`begin`: what a first event is asked; `last`: the bounds on a last single event; `whole`: those on registers of
    runs that are rows of numbers; `compared`: all of these as bounds on the compared values of a match, `asked`: the
    operand that a run has then reached."""

    def __init__(
        self,
        d: int,
        begin: StepClause,
        last: list[CoordinateBound],
        whole: list[CoordinateBound],
        compared: list[CoordinateBound],
        asked: list[int],
        pattern: CommonPattern,
    ) -> None:
        self.d: i64 = d
        self.begin = begin
        self.last = last
        self.whole = whole
        self.compared = compared
        self.asked = asked
        self.pattern = pattern
        self.ranking = Ranking([*begin.bounds, *compared])
        self.least: Floats = filled(d, INFINITY)
        self.single: i64 = -1  # the handle of the only member, and since when it counts
        self.since: i64 = 0
        self.plain = len(compared) == 0  # a match has the values of its first event
        self.version: i64 = 0  # of the members
        self._changed = True

    def joined(self, handle: int, point: list[float]) -> None:
        """A member has joined."""
        self._changed = True
        self.ranking.put(handle, point)

    def left(self, handle: int, point: list[float]) -> None:
        """A member has left."""
        self._changed = True
        self.ranking.remove(handle, point)

    def refresh(self, members: Members) -> None:
        """Tell the runs of the least coordinates if members have changed. O(1), or O(d)."""
        if not self._changed:
            return
        self._changed = False
        self.version += 1
        if self.ranking.stale():
            self.ranking.rank(members.each())
        least = self.least
        self.single = -1
        j: i64
        for j in range(self.d):
            least[j] = members.root[j]
        if members.count == 1:
            for handle, point, since in members.each():
                self.single, self.since = handle, since
                for j in range(self.d):
                    least[j] = point[j]
        self.pattern.bound(least, members.count == 1)


@final
class RepeatingCell(GroupCell):
    """The runs of a key; `starts` has the values of each first event. `_first`: the number of the first one there.

    `_trusted`: the number of the first start since the members last changed.
    """

    def __init__(self, template: RepeatingTemplate, members: Members) -> None:
        super().__init__(members)
        self.template = template
        template.refresh(members)
        self.runs = template.pattern.runs()
        self.starts = Starts(template.d)
        self._first: i64 = 0
        self._trusted: i64 = 0
        self._version = template.version
        self._kept: i64 = 0
        self._registers: Floats = floats()
        self._x: Floats = filled(template.d, INFINITY)
        self._y: Floats = filled(template.d, INFINITY)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. As the runs do, and for each match O(log members) or one lookup."""
        template, starts, runs = self.template, self.starts, self.runs
        template.refresh(self.members)
        if self._version != template.version:
            self._version, self._trusted = template.version, self._first + starts.count
        begin = template.begin
        j: i64
        at = starts.open()
        values = starts.values
        begins = len(begin.bounds) == 0 or narrowed(begin.bounds, row, time, time, values, at, values, at)
        for j in range(template.d):
            begins = begins and template.least[j] <= values[at + j]
        ends = True
        if len(template.last) > 0:
            y = self._y
            for j in range(template.d):
                y[j] = INFINITY
            ends = narrowed(template.last, row, time, time, y, 0, y, 0)
            for j in range(template.d):
                ends = ends and template.least[j] <= y[j]
        runs.take(row, time, self.position, self.place, self.item, begins, ends)
        if runs.begun:
            starts.keep(time, event)
        if runs.count > 0:
            self._complete(row, time, out)
        if runs.lost > 0:
            self.lost += runs.lost
            runs.lost = 0
        if starts.count > 2 * self._kept + SWEEP_MIN:
            self._sweep()

    def _complete(self, row: Row, time: i64, out: MatchBlocks) -> None:
        """Find the members that have the matches which the event completes."""
        template, members, starts, runs = self.template, self.members, self.starts, self.runs
        d, x, ranking = template.d, self._x, template.ranking
        ranked = False
        out.source, out.source_upto = runs.matches, runs.upto
        if template.single >= 0 and not runs.rows:
            self._complete_alone(out)
            return
        i: i64
        j: i64
        for i in range(runs.count):
            start = runs.starts[i] - self._first
            for j in range(d):
                x[j] = starts.values[start * d + j]
            if not template.plain and not self._narrowed(i, row, time):
                continue
            path = out.paths_upto
            first = starts.events[start]
            if ranking.apart == 0 and members.newest <= first:
                if ranking.find(x):
                    ranked = True
                    out.add_number(runs.ended[i])
                    out.close_ranked(ranking.low, ranking.high - ranking.low, path)
                continue
            begun = out.members_upto
            if members.find(x, 0, first, out) > 0:
                out.add_number(runs.ended[i])
                out.close(begun, path, 1)
        if ranked:
            ranking.held = True
            out.ranking = ranking.column

    def _complete_alone(self, out: MatchBlocks) -> None:
        """The same for an only member: the runs have reported what its constants allow, but for where they began."""
        template, starts, runs = self.template, self.starts, self.runs
        d, least, since = template.d, template.least, template.since
        path = out.paths_upto
        count = runs.count
        paths = out.room_for_paths(count)
        place = path
        ended = runs.ended
        i: i64 = 0
        if runs.starts[0] >= self._trusted:
            while i < count:
                paths[place] = ended[i]
                place += 1
                i += 1
        while i < count:
            start = runs.starts[i] - self._first
            j: i64 = 0
            while j < d and least[j] <= starts.values[start * d + j]:
                j += 1
            if j == d and starts.events[start] >= since:
                paths[place] = ended[i]
                place += 1
            i += 1
        if place > path:
            out.paths_upto = place
            begun = out.members_upto
            out.add_member(template.single)
            out.close_one(begun, path, place - path, 1)

    def _narrowed(self, i: i64, row: Row, time: i64) -> bool:
        """Lower the values to those of a whole match."""
        template, runs, x = self.template, self.runs, self._x
        if not runs.rows:
            if not narrowed(template.last, row, time, time, x, 0, x, 0):
                return False
            width: i64 = len(template.whole)
            return narrowed(template.whole, row, time, time, runs.registers, i * width, x, 0)
        compared = runs.values[i]
        at: i64
        for at in range(len(compared)):
            self._registers = put(self._registers, at, number_of(compared[at]))
        return narrowed(template.compared, compared, time, time, self._registers, 0, x, 0)

    def _sweep(self) -> None:
        """Drop the starts whose runs are over, when they have doubled."""
        starts = self.starts
        first = self.runs.oldest()
        head = first - self._first
        starts.retain([at >= head for at in range(starts.count)])
        self._first, self._kept = first, starts.count

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        return self.runs.settle(time, self.position) == 0

    def assigned(self, handle: int, point: list[float], since: int, time: i64) -> list[Assigned] | None:
        starts, d = self.starts, self.template.d
        found: list[Assigned] = []
        for number, events, compared in self.runs.live(time):
            at = number - int(self._first)
            x = floats_from([starts.values[at * d + j] for j in range(d)])
            registers = floats_from([number_of(value) for value in compared])
            for bound, operand in zip(self.template.compared, self.template.asked):
                if operand <= events[-1][0] and not narrowed([bound], compared, time, time, registers, 0, x, 0):
                    break
            else:
                if starts.events[at] >= since and all(point[j] <= x[j] for j in range(d)):
                    found.append(events)
        return found

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {"first": int(self._first), "starts": self.starts.dump(), "runs": self.runs.dump()}

    def load(self, dumped: dict[str, Any]) -> None:
        self.template.refresh(self.members)
        self._first = dumped["first"]
        self.starts.load(dumped["starts"])
        self._trusted = self._first + self.starts.count
        self._kept = self.starts.count
        self.runs.load(dumped["runs"])

    def statistics(self) -> dict[str, int]:
        return {**self.members.statistics(), "starts": int(self.starts.count)}

    def check_invariants(self) -> None:
        self.members.check_invariants()
        self.starts.check_invariants()
        self.runs.check_invariants()
        self.template.ranking.check_invariants({handle: point for handle, point, _ in self.members.each()})
