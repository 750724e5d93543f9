"""Repetitions: patterns of SASE+ in which an operand takes one event after another, with runs that members share.

No constant of a member changes what a run does: it only decides whose matches the run has. So the runs are those of one
pattern without these constants (common_runs), and a match asks once whose it is. Its values are those of its first
event, and those that the end of an operand and the last event show.

Where only one constant differs, members are in its order, and a match belongs to the first ones up to its value, or to
the last ones: two machine words, however many they are. A factor's order depends on the sign of what it multiplies.

Here: whose matches they are. Not here: runs (kleene, through common_runs), the constants of a line
(broker.automaton.analyses.kleene_template).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from ..common_runs import CommonPattern
from ..matches import Assigned
from .blocks import PREFIX, SUFFIX, MatchBlocks, RankedMembers
from .cell import GroupCell
from .columns import INFINITY, Floats, filled, floats, floats_from, integers, put, put_integer
from .coordinates import FACTOR, CoordinateBound, narrowed, number_of
from .members import Members
from .starts import Starts
from .steps import StepClause

SWEEP_MIN: Final = 128


@final
class Ranking:
    """Members by their one coordinate. `held`: unread results have the column, so that a change makes a copy."""

    def __init__(self) -> None:
        self.levels: Floats = floats()
        self.count: i64 = 0
        self.column = RankedMembers(integers())
        self.held = False

    def put(self, handle: i64, level: float) -> None:
        """Add a member. O(members) moves of machine words."""
        at = self.upto(level)
        n = self.count
        self.levels = put(self.levels, n, level)
        self.count = n + 1
        self._own(n)
        column = self.column
        column.handles = put_integer(column.handles, n, handle)
        column.count = n + 1
        handles, levels, j = column.handles, self.levels, n
        while j > at:
            handles[j] = handles[j - 1]
            levels[j] = levels[j - 1]
            j -= 1
        handles[at] = handle
        levels[at] = level

    def remove(self, handle: i64) -> None:
        """Remove a member. O(members)."""
        n = self.count
        at: i64 = 0
        while self.column.handles[at] != handle:
            at += 1
        self.count = n - 1
        self._own(n)
        handles, levels = self.column.handles, self.levels
        self.column.count = n - 1
        while at < n - 1:
            handles[at] = handles[at + 1]
            levels[at] = levels[at + 1]
            at += 1

    def upto(self, value: float) -> i64:
        """The number of members whose coordinate is at most that. O(log)."""
        levels = self.levels
        low: i64 = 0
        high = self.count
        while low < high:
            middle = (low + high) >> 1
            if levels[middle] <= value:
                low = middle + 1
            else:
                high = middle
        return low

    def below(self, value: float) -> i64:
        """The number of members whose coordinate is less. O(log)."""
        levels = self.levels
        low: i64 = 0
        high = self.count
        while low < high:
            middle = (low + high) >> 1
            if levels[middle] < value:
                low = middle + 1
            else:
                high = middle
        return low

    def _own(self, count: i64) -> None:
        if self.held:
            fresh = integers()
            j: i64
            for j in range(count):
                fresh = put_integer(fresh, j, self.column.handles[j])
            self.column, self.held = RankedMembers(fresh), False


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
        bounds = [*begin.bounds, *compared]
        self.factor = len(bounds) == 1 and bounds[0].source == FACTOR
        self.ranking: Ranking | None = Ranking() if d == 1 or self.factor else None
        self.least: Floats = filled(d, INFINITY)
        self.single: i64 = -1  # the handle of the only member, and since when it counts
        self.since: i64 = 0
        self.plain = len(compared) == 0  # a match has the values of its first event
        self.version: i64 = 0  # of the members
        self._changed = True

    def joined(self, handle: int, point: list[float]) -> None:
        """A member has joined."""
        self._changed = True
        if self.ranking is not None:
            self.ranking.put(handle, point[0])

    def left(self, handle: int) -> None:
        """A member has left."""
        self._changed = True
        if self.ranking is not None:
            self.ranking.remove(handle)

    def refresh(self, members: Members) -> None:
        """Tell the runs of the least coordinates if members have changed. O(1), or O(d)."""
        if not self._changed:
            return
        self._changed = False
        self.version += 1
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
            if not members.possible(x, 0):
                continue
            path = out.paths_upto
            first = starts.events[start]
            if ranking is not None and members.newest <= first:
                out.add_number(runs.ended[i])
                self._rank(ranking, path, out)
                continue
            begun = out.members_upto
            if members.find(x, 0, first, out) > 0:
                out.add_number(runs.ended[i])
                out.close(begun, path, 1)
        if ranking is not None:
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

    def _rank(self, ranking: Ranking, path: i64, out: MatchBlocks) -> None:
        """Complete a block of the members that the values dominate. O(log members)."""
        x = self._x
        upto = ranking.upto(x[0])
        below: i64 = ranking.below(-x[1]) if self.template.factor else 0
        if below == 0:
            if upto > 0:
                out.close_ranked(PREFIX, upto, path)
        elif upto == ranking.count:
            if below < upto:
                out.close_ranked(SUFFIX, upto - below, path)
        elif below < upto:
            begun = out.members_upto
            at: i64
            for at in range(below, upto):
                out.add_member(ranking.column.handles[at])
            out.close(begun, path, 1)

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

    def assigned(self, point: list[float], since: int, time: i64) -> list[Assigned] | None:
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
        ranking = self.template.ranking
        if ranking is not None:
            known = sorted(point[0] for _, point, _ in self.members.each())
            assert [ranking.levels[at] for at in range(ranking.count)] == known
