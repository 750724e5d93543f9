"""History: `a, b, c` with skip_till_next_match, where c and a have the same condition, and no event is both a and b.

The condition of c and a is on coordinate 0.

A member completes at c if c holds for it and a b has come since l, the last event that held before. The event l depends
only on the member's constant p. It is a step function of p, and its steps are the stack of suffix maxima. So an event
of value x makes one lookup for each step that it reaches: members with u < p <= min(x, step), whose b is dominated by
the greatest value since. Their starts are read off backwards from l up to the first b; the b after l is the middle
event of all.

The cell stores the key's events of one window, and nothing for runs, starts or members. Every event is an epoch.

Here: one key. Not here: constants of their own at c, more steps (next_match).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, Integers, filled, filled_integers, floats, integers, put, put_integer
from .members import Members
from .starts import NONE, Starts
from .steps import StepClause

SWEEP_MIN: Final = 32


@final
class HistoryTemplate:
    """`first`: of a, with coordinate 0 and perhaps more; `middle`: of b, one bound; `last`: of c, coordinate 0 alone.

    The window is `within` for all, or each member's own coordinate `window`; one of both must be set.
    """

    def __init__(
        self, d: int, first: StepClause, middle: StepClause, last: StepClause, *, within: int = NONE, window: int = NONE
    ) -> None:
        assert within >= 0 or window >= 0, "what is kept must have an end"
        assert [bound.coordinate for bound in last.bounds] == [0]
        self.d: i64 = d
        self.first = first
        self.middle = middle
        self.last = last
        self.between: i64 = middle.bounds[0].coordinate
        self.within: i64 = within
        self.window: i64 = window
        self.x: Floats = filled(d, INFINITY)  # scratch for one event of one cell
        self.b: Integers = filled_integers(1, 0)


@final
class HistoryCell(GroupCell):
    """The stack: `_levels` (x of an event), `_most` (the greatest value of b after it), `_upto` (the end, in `entries`,
    of what it may begin). An entry is an event that may begin, or be b."""

    def __init__(self, template: HistoryTemplate, members: Members | None = None) -> None:
        super().__init__(Members(template.d) if members is None else members)
        self.template = template
        self.entries = Starts(template.d, template.between, template.window)
        self._levels: Floats = floats()
        self._most: Floats = floats()
        self._upto: Integers = integers()
        self._bottom: i64 = 0
        self._height: i64 = 0
        self._head: i64 = 0
        self._kept: i64 = 0

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key.

        O(steps that it reaches, amortised 1), one lookup each, and the members found.
        """
        template, levels, most = self.template, self._levels, self._most
        self._forget(time)
        values = template.x
        values[0] = INFINITY
        last = template.last
        holds = last.narrows(row, time, time, values, 0, values, 0) and last.admits(row)
        x = values[0] if holds else -INFINITY
        reached = -INFINITY
        least = -INFINITY  # the greatest value of b since the step
        height = self._height
        while height > self._bottom:
            top = height - 1
            level = levels[top]
            least = max(least, most[top])
            upto = min(level, x)
            if reached < upto and least > -INFINITY:
                self._ask(reached, upto, least, top, time, out)
            if level > x:
                break
            reached = level
            height = top
        self._height = height
        self._enter(row, time, event, x, least)

    def _ask(self, above: float, upto: float, most: float, top: i64, time: i64, out: MatchBlocks) -> None:
        """The members of one step, with their starts and the middle event."""
        template, members, entries, x = self.template, self.members, self.entries, self.template.x
        d = template.d
        j: i64
        for j in range(d):
            x[j] = INFINITY
        x[0] = upto
        x[template.between] = most
        begun = out.members_upto
        found = members.find_points(above, x, 0, out)
        end = self._upto[top]
        hit: i64
        for hit in range(found):
            path = out.paths_upto
            at = hit * d
            count = entries.walk(out.hits, at, out.hits_since[hit], self._head, end, time, out)
            if count > 0:
                template.b[0] = entries.first_kill(out.hits[at + template.between], end)
                out.extend(path, count, template.b)
                out.close_one(begun + hit, path, count, 2)

    def _enter(self, row: Row, time: i64, event: i64, x: float, least: float) -> None:
        """Add the event as an entry and as a step; `least`: the greatest value of b since the step below."""
        template, entries, members = self.template, self.entries, self.members
        d, between = template.d, template.between
        at = entries.open()
        values = entries.values
        begins = template.first.narrows(row, time, time, values, at, values, at)
        begins = begins and members.possible(values, at) and template.first.admits(row)
        if not begins:
            j: i64
            for j in range(at, at + d):
                values[j] = -INFINITY
        values[at + between] = INFINITY
        middle = template.middle
        if not middle.narrows(row, time, time, values, at, values, at) or not middle.admits(row):
            values[at + between] = -INFINITY
        b = values[at + between]
        if begins or b >= members.root[between]:
            entries.keep(time, event)
            self.noted = event
        if self._height > self._bottom:
            self._most[self._height - 1] = max(least, b)
        if x >= members.root[0]:
            self._levels = put(self._levels, self._height, x)
            self._most = put(self._most, self._height, -INFINITY)
            self._upto = put_integer(self._upto, self._height, entries.count)
            self._height += 1

    def _forget(self, time: i64) -> None:
        """Skip the events that no window holds; drop them when they are as many as the rest."""
        template, entries = self.template, self.entries
        longest = -float(template.within) if template.within >= 0 else self.members.root[template.window]
        self._head = entries.passed(time, longest, self._head, entries.count)
        while self._bottom < self._height and self._upto[self._bottom] <= self._head:
            self._bottom += 1
        if entries.count > 2 * self._kept + SWEEP_MIN:
            bottom, cut = self._bottom, entries.drop_first(self._head)
            i: i64
            for i in range(bottom, self._height):
                self._levels[i - bottom], self._most[i - bottom] = self._levels[i], self._most[i]
                self._upto[i - bottom] = self._upto[i] - cut
            self._bottom, self._height, self._head = 0, self._height - bottom, self._head - cut
            self._kept = entries.count - self._head

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        template, entries = self.template, self.entries
        longest = -float(template.within) if template.within >= 0 else self.members.root[template.window]
        return entries.since_time(time, longest, self._head, entries.count) == entries.count

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        entries, d, between = self.entries, self.template.d, self.template.between
        top = self._height - 1
        while top >= self._bottom and self._levels[top] < point[0]:
            top -= 1
        last = self._upto[top] if top >= self._bottom else self._head  # earlier entries have met the last step
        found: list[tuple[int, ...]] = []
        middle = -1
        for at in range(int(entries.count) - 1, int(self._head) - 1, -1):
            values = [entries.values[at * d + j] for j in range(d)]
            starts = all(point[j] <= values[j] for j in range(d) if j not in (between, self.template.window))
            if starts and entries.events[at] >= since and float(entries.times[at] - time) >= self._oldest(point):
                event = int(entries.events[at])
                if middle < 0:
                    found.append((event,))
                elif middle >= last:
                    found.append((event, int(entries.events[middle])))
            if point[between] <= values[between]:
                middle = at
        return found[::-1]

    def _oldest(self, point: list[float]) -> float:
        return point[self.template.window] if self.template.window >= 0 else -float(self.template.within)

    def used(self, events: set[int]) -> None:
        self.entries.used(events)

    def oldest(self, event: i64) -> i64:
        return self.entries.oldest(event)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        stack = [
            (self._levels[i], self._most[i], int(self._upto[i])) for i in range(int(self._bottom), int(self._height))
        ]
        return {"stack": stack, "head": int(self._head), "entries": self.entries.dump()}

    def load(self, dumped: dict[str, Any]) -> None:
        self._levels, self._most, self._upto = floats(), floats(), integers()
        for i, (level, most, upto) in enumerate(dumped["stack"]):
            self._levels, self._most = put(self._levels, i, level), put(self._most, i, most)
            self._upto = put_integer(self._upto, i, upto)
        self._bottom, self._height, self._head = 0, len(dumped["stack"]), dumped["head"]
        self.entries.load(dumped["entries"])
        self._kept = self.entries.count

    def check_invariants(self) -> None:
        self.members.check_invariants()
        self.entries.check_invariants()
        for i in range(int(self._bottom) + 1, int(self._height)):
            assert self._levels[i - 1] > self._levels[i], "steps are suffix maxima"
            assert self._upto[i - 1] <= self._upto[i]
