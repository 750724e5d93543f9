"""Selections: an operand repeats under `skip_till_next_match`, and members differ in which events it takes.

`SEQ(S+ a[], S b)` with `a[i].price > 110 AND b.price < 108`. An event is taken for what it is alone. So a member's runs
need not be kept: each event that may be the first of the operand is one, it has taken every later one that satisfies
the member's constants, and any event of the window may be the last, as it ends matches without stopping runs. Operands
before it wait for their next match. The cost depends on the output: an event that may be the last finds the members
that it satisfies and whose first events the window may have, and reads the events of each off the logs. What it
compares with the event that was taken last has one answer for nearly all runs.

Here: one key. Not here: the events of its window (logged), runs that all members share (repeating).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ....events.instant import FOREVER
from ....events.schema import Row
from ...matches.sources import Assigned
from .beginnings import TextLog
from .blocks import MatchBlocks
from .columns import INFINITY, Floats, floats_from
from .kept_events import KeptEvents
from .logged import LoggedCell
from .members import Members
from .selection_template import SelectionTemplate
from .starts import NONE


@final
class SelectionCell(LoggedCell):
    """A log for the first events of each operand up to the one that repeats, and one for its further events.

    `_stride`: of one member how far the lists of its runs are apart.
    """

    def __init__(self, template: SelectionTemplate, members: Members, events: KeptEvents) -> None:
        d, window = template.d, template.window
        logs = [TextLog(clause, d, window, True, members.root) for clause in template.asked]
        super().__init__(members, logs, len(logs))
        self.template = template
        self.events = events
        self._beginnings = [log.only for log in logs if log.only is not None]
        self._logs = [each.starts for each in self._beginnings]
        self._stride: i64 = 1
        self._newest: i64 = NONE  # the event that nearly all runs have taken last, if it decides, and what it decides
        self._ends = True

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. O(blocks of the window), and for each member found O(blocks and its events)."""
        template = self.template
        steps, d = template.steps, template.d
        for beginning in self._beginnings:
            beginning.passed(time)
        hit: i64
        found = self._found(row, time, NONE if template.closes else steps, steps, out)
        begun = out.members_upto - found
        for hit in range(found):
            self._complete(begun + hit, hit * d, out.hits_since[hit], row, time, out)
        if not template.closes:
            found = self._found(row, time, steps - 1, steps - 1, out)
            begun = out.members_upto - found
            for hit in range(found):
                self._begin(begun + hit, hit * d, out.hits_since[hit], row, time, event, out)
        for beginning in self._beginnings:
            if beginning.begin(row, time, event):
                self.noted = event
                if beginning.grown():
                    beginning.drop(beginning.starts.head)

    def _found(self, row: Row, time: i64, log: i64, before: i64, out: MatchBlocks) -> i64:
        """Find the members for whom an event may end a match that is also one of that log, if not NONE, and for which
        the logs up to `before` may have events; returns their number."""
        template, x = self.template, self.template.x
        closing = template.closing
        step: i64
        j: i64
        for step in range(before):
            if self._logs[step].head == self._logs[step].count:
                return 0
        for j in range(template.d):
            x[j] = INFINITY
        if not (closing.narrows(row, time, time, x, 0, x, 0) and closing.admits(row)):
            return 0
        if log != NONE:
            asked = template.asked[log]
            if not (asked.narrows(row, time, time, x, 0, x, 0) and asked.admits(row)):
                return 0
        x[template.window] = 0.0
        for step in range(before):
            waits = self._beginnings[step]
            waits.lower(x, template.top, waits.starts.head, waits.starts.count)
        return self.members.find_points(x, 0, out)

    def _complete(self, member: i64, at: i64, since: i64, row: Row, time: i64, out: MatchBlocks) -> None:
        """Write the matches of a member whose runs the event ends, having taken it before if it is no event of its own.
        `member`: the place of its handle; `at`: that of its point."""
        template, points, path = self.template, out.hits, out.paths_upto
        steps = template.steps
        takes = self._logs[steps]
        newest: i64 = NONE
        ends = True
        if template.compared is not None and template.once:
            newest = takes.newest_for(points, at, since - 1, False) if template.closes else FOREVER
            if newest >= since:
                last = row if newest == FOREVER else self.events.row(newest)
                ends = template.ends(template.last(last), points, at, row, time)
                if not ends and not template.closes:
                    return
                if not ends and steps == 1:
                    since = newest + 1
        self._newest, self._ends = newest, ends
        runs = self._chained(steps, at, since, time, out)
        if runs > 0:
            place = out.paths_upto
            out.add_number(0)
            first = out.paths[place - self._stride + 1]
            count = takes.walk(points, at, first + 1, takes.head, takes.count, time, out)
            kept = runs
            if template.compared is not None or len(template.lengths) > 0:
                kept = self._ended(path, runs, place, count, at, row, time, out)
            if kept > 0:
                self._close(path, kept, place, count, out)
                out.close_repeated(member, path, kept, steps + 1)
                return
        out.paths_upto = path

    def _chained(self, steps: i64, at: i64, since: i64, time: i64, out: MatchBlocks) -> i64:
        """Write lists of the first events of so many operands, by the runs that have taken them of the member whose
        point is at `at`, each `_stride` behind the one before, its length first; returns the number of runs."""
        first, points, path = self._logs[0], out.hits, out.paths_upto
        out.add_number(0)
        runs = first.walk(points, at, since, first.head, first.count, time, out)
        stride = self._stride = runs + 1
        out.paths_upto = path + steps * stride
        paths = out.room_for_paths(0)
        i: i64
        step: i64
        for step in range(1, steps):
            log, base = self._logs[step], path + step * stride + 1
            number: i64 = NONE
            i = 0
            while i < runs:
                before = paths[base - stride + i]
                if number <= before:
                    number = log.next_for(points, at, before)
                if number == NONE:  # nor has any later run one
                    runs = i
                else:
                    paths[base + i] = number
                    i += 1
        return runs

    def _close(self, path: i64, runs: i64, place: i64, count: i64, out: MatchBlocks) -> None:
        """Close up the lists, of which only so many runs are left. `place`: that of the list of `count` further events,
        of which those behind the first run stay."""
        paths, stride, to = out.paths, self._stride, path
        first = paths[place - stride + 1]
        base = path
        i: i64
        while base < place:
            paths[to] = runs
            if to < base:
                for i in range(1, runs + 1):
                    paths[to + i] = paths[base + i]
            to += runs + 1
            base += stride
        begun = place + 1
        end = begun + count
        while begun < end and paths[begun] <= first:
            begun += 1
        paths[to] = end - begun
        to += 1
        if to < begun:
            for i in range(end - begun):
                paths[to + i] = paths[begun + i]
        out.paths_upto = to + end - begun

    def _begin(self, member: i64, at: i64, since: i64, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Write the matches of a member which the event ends as the first one of the operand."""
        template, points, path = self.template, out.hits, out.paths_upto
        before = template.steps - 1
        least, most = template.lengths_for(points, at)
        if since > event or least > 1 or most < 1:
            return
        if before == 0:
            if template.ends(template.counted(template.begun([row]), 1), points, at, row, time):
                out.close_one(member, path, 1, 0)
            return
        runs = self._chained(before, at, since, time, out)
        last, stride, begun = self._logs[before], self._stride, out.paths_upto
        i: i64
        step: i64
        for i in range(runs):
            at_run = path + 1 + i
            if last.next_for(points, at, out.paths[at_run + (before - 1) * stride]) != NONE:
                continue  # it has gone on
            if template.compared is not None:
                rows = self._rows(at_run, before, out)
                if not template.ends(template.counted(template.begun([*rows, row]), 1), points, at, row, time):
                    continue
            for step in range(before):
                out.add_number(out.paths[at_run + step * stride])
        count = (out.paths_upto - begun) // before
        if count > 0:
            out.close_one(member, begun, count, before)
        else:
            out.paths_upto = path

    def _ended(
        self, path: i64, runs: i64, place: i64, count: i64, at: i64, row: Row, time: i64, out: MatchBlocks
    ) -> i64:
        """Keep the runs that the event ends, by what it is compared with; returns their number. `place`: that of the
        list of `count` further events."""
        template, paths, points, stride = self.template, out.paths, out.hits, self._stride
        newest, ends = self._newest, self._ends
        asks = template.compared is not None
        own: i64 = 1 if template.closes else 2
        least, most = template.lengths_for(points, at)
        kept: i64 = 0
        begun, end = place + 1, place + 1 + count
        i: i64
        base: i64
        for i in range(runs):
            first = paths[place - stride + 1 + i]
            while begun < end and paths[begun] <= first:
                begun += 1
            length = end - begun + own
            if length < least:  # later runs have no more
                return kept
            if length > most:
                continue
            if asks:
                if first < newest:
                    if not ends:
                        continue
                elif not self._run_ends(path + 1 + i, begun, end, points, at, row, time, out):
                    continue
            if kept < i:
                base = path + 1
                while base < place:
                    paths[base + kept] = paths[base + i]
                    base += stride
            kept += 1
        return kept

    def _run_ends(
        self, at_run: i64, begun: i64, end: i64, points: Floats, at: i64, row: Row, time: i64, out: MatchBlocks
    ) -> bool:
        """Whether the event ends a run whose first events are there, and the further ones from `begun` to `end`."""
        template = self.template
        slots = template.begun(self._rows(at_run, template.steps, out))
        length = end - begun + 1
        if not template.closes:
            slots = template.taken(slots, row)
            length += 1
        elif begun < end:
            slots = template.taken(slots, self.events.row(out.paths[end - 1]))
        return template.ends(template.counted(slots, int(length)), points, at, row, time)

    def _rows(self, at_run: i64, steps: i64, out: MatchBlocks) -> list[Row]:
        """The first events of so many operands of a run."""
        rows: list[Row] = []
        step: i64
        for step in range(steps):
            rows.append(self.events.row(out.paths[at_run + step * self._stride]))
        return rows

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def assigned(self, handle: int, point: list[float], since: int, time: i64) -> list[Assigned] | None:
        """The runs of a member with that point. O(runs and their events)."""
        steps, own = int(self.template.steps), floats_from(point)
        first, takes = self._logs[0], self._logs[steps]
        found: list[Assigned] = []
        for path in first.waiting(point, since, first.head, first.count, time):
            chain = list(path)
            while len(chain) < steps and chain[-1] != NONE:
                step = len(chain)
                chain.append(int(self._logs[step].next_for(own, 0, chain[-1])))
            taken = [(step, number) for step, number in enumerate(chain) if number != NONE]
            if len(taken) == steps:
                further = takes.waiting(point, chain[-1] + 1, takes.head, takes.count, time)
                taken += [(steps - 1, number) for (number,) in further]
            found.append([self._assigned(step, number) for step, number in taken])
        return found

    def _assigned(self, step: int, number: int) -> tuple[int, object, int]:
        page = self.events.page
        at = page.place(number)
        return step, page.item(at), int(page.time(at))
