"""Chains that look back: an event that could end matches is compared with the events before it, and no run is kept.

Every next event of the key moves a run or ends it, so the events of a match are in consecutive epochs of the key, or
are its last events where each is an epoch of its own. The last step is tested first. A value below every member's
constant ends the search, mostly at the first or second event; what the last events leave is one lookup. O(1) an event
if no events are simultaneous; otherwise as many paths as a chain has runs.

Here: the search on a trail. Hot. Not here: runs as cohorts, which everything else needs (chain), and when a group
changes from one to the other (following).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ....algebra.predicate import All, holds
from ....events.schema import Row
from ..member_matches import MemberMatches
from ..trail import KeyTrail
from .audience import GroupAudience
from .blocks import MatchBlocks
from .columns import INFINITY, Floats, Integers, filled, filled_integers, floats_from, integers_from
from .coordinates import CoordinateBound, narrowed, number, number_of
from .members import Members
from .steps import NEXT, PARTITION, ChainTemplate, EarlierRows

NO_ROW: Final[Row] = ()


@final
class LookStep:
    """A step: bounds on attributes of its event, and conditions that also read the other events, tested at the end."""

    def __init__(self, bounds: list[CoordinateBound], compares: EarlierRows | None) -> None:
        self.alone = [bound for bound in bounds if bound.of_event]
        self.others = [bound for bound in bounds if not bound.of_event]
        self.compares = compares


@final
class Lookback:
    """The search for one template, which all its groups share. `members`: those of the group that searches."""

    def __init__(self, template: ChainTemplate) -> None:
        self.template = template
        self.members = Members(template.d)
        self.length: i64 = template.length
        self.d: i64 = template.d
        clauses = [step[0] for step in template.steps]
        self._steps = [LookStep(clause.bounds, clause.compares) for clause in clauses]
        self._late = any(step.others or step.compares is not None for step in self._steps)
        begins = [0]  # by step where its bounds on the event alone begin, in the columns behind
        asked: list[int] = []  # of each bound the attribute, -1 for a term, and the coordinate
        signs: list[float] = []
        self._alone: list[CoordinateBound] = []
        for step in self._steps:
            for bound in step.alone:
                asked += [int(bound.attribute), int(bound.coordinate)]
                signs.append(bound.sign)
                self._alone.append(bound)
            begins.append(len(signs))
        self._begins: Integers = integers_from(begins)
        self._asked: Integers = integers_from(asked)
        self._signs: Floats = floats_from(signs)
        self._guards: list[All | None] = [clause.guard for clause in clauses]
        self._guarded = any(guard is not None for guard in self._guards)
        self._x: Floats = filled(template.d * len(template.steps), INFINITY)  # by step: the least values from it on
        self._registers: Floats = filled(max(1, len(template.registers)), 0.0)
        self._path = filled_integers(len(template.steps), 0)  # numbers of events in the trail
        self._rows: list[Row] = [NO_ROW] * len(template.steps)
        self._out = MatchBlocks()

    def take(
        self, members: Members, trail: KeyTrail, number: i64, event: i64, audience: GroupAudience, found: MemberMatches
    ) -> None:
        """Write the matches that the trail's newest event completes for these members.

        `number`: the event's number for the members; `event`: its number in the batch.
        """
        self.members = members
        last = self.length - 1
        x, d = self._x, self.d
        base = last * d
        j: i64
        for j in range(d):
            x[base + j] = INFINITY
        if self._fits(last, trail.row, base):
            self._rows[last] = trail.row
            self._back(trail, last - 1, trail.begun, number, event, audience, found)

    def ends(self, members: Members, trail: KeyTrail, number: i64, out: MatchBlocks) -> bool:
        """Write the match that the trail's last events are, each an epoch of its own, for these members; whether some
        have it. `number`: the newest event's number for the members. O(steps), and a lookup."""
        self.members = members
        x, d = self._x, self.d
        step = self.length - 1
        at = trail.number
        least, mask = trail.least(), trail.mask
        row = trail.row
        base = step * d
        j: i64
        for j in range(base, base + d):
            x[j] = INFINITY
        while self._fits(step, row, base):
            self._rows[step] = row
            self._path[step] = at
            if step == 0:
                break
            step -= 1
            at -= 1
            if at < least:
                return False
            row = trail.rows[at & mask]
            base -= d
            for j in range(base, base + d):
                x[j] = x[j + d]
        else:
            return False
        if self._late and not self._agrees(trail, trail.times[at & mask]):
            return False
        before = self.length - 1
        begun, path = out.members_upto, out.paths_upto
        if members.find(x, 0, number - before, out) == 0:
            return False
        for j in range(number - before, number):
            out.add_number(j)
        out.close(begun, path, before)
        return True

    def _fits(self, step: i64, row: Row, at: i64) -> bool:
        """Lower the values to those of an event at a step; False if no member has it there."""
        x, root, asked, begins = self._x, self.members.root, self._asked, self._begins
        bound, end = begins[step], begins[step + 1]
        while bound < end:
            attribute = asked[2 * bound]
            if attribute >= 0:
                given = row[attribute]
                value = self._signs[bound] * (given if isinstance(given, float) else number_of(given))
            else:
                value = self._alone[bound].given(row)
            coordinate = asked[2 * bound + 1]
            if not root[coordinate] <= value:
                return False
            if value < x[at + coordinate]:
                x[at + coordinate] = value
            bound += 1
        if not self._guarded:
            return True
        guard = self._guards[step]
        return guard is None or holds(guard, row, NO_ROW, (), 0, 0)

    def _back(
        self, trail: KeyTrail, step: i64, before: i64, number: i64, event: i64, audience: GroupAudience,
        found: MemberMatches,
    ) -> None:  # fmt: skip
        """Try the events of the epoch before the event `before` at a step."""
        least = trail.least()
        newest = before - 1
        if newest < least:
            return
        mask = trail.mask
        begun = trail.first[newest & mask]
        if begun < least:
            begun = least
        x, d = self._x, self.d
        base = step * d
        j: i64
        n: i64
        for n in range(begun, newest + 1):
            row = trail.rows[n & mask]
            for j in range(d):
                x[base + j] = x[base + d + j]
            if not self._fits(step, row, base):
                continue
            self._rows[step] = row
            self._path[step] = n
            if step > 0:
                self._back(trail, step - 1, begun, number, event, audience, found)
            else:
                self._end(trail, number, event, audience, found)

    def _end(
        self, trail: KeyTrail, number: i64, event: i64, audience: GroupAudience, found: MemberMatches
    ) -> None:  # fmt: skip
        """Write the match of the path for the members whose constants it satisfies."""
        mask, begun = trail.mask, self._path[0]
        born = trail.times[begun & mask]
        if self._late and not self._agrees(trail, born):
            return
        out = self._out
        out.members_upto = 0
        count = self.members.find(self._x, 0, number - (trail.number - begun), out)
        if count == 0:
            return
        path = found.path
        first: i64 = len(path.rows)
        step: i64
        for step in range(self.length - 1):
            at = self._path[step] & mask
            time = trail.times[at]
            path.add(trail.rows[at], trail.items[at], time, time)
        found.add(event, audience, born, out.members, 0, count, first, self.length - 1)

    def _agrees(self, trail: KeyTrail, start: i64) -> bool:
        """Test what the steps ask of several events, and lower the values to theirs."""
        registers, rows = self._registers, self._rows
        for at, register in enumerate(self.template.registers):
            registers[at] = number(rows[register.step], register.attribute)
        last = self.length - 1
        step: i64
        for step in range(self.length):
            asked = self._steps[step]
            if asked.compares is not None and not asked.compares.among(rows[step], rows):
                return False
            if len(asked.others) > 0:
                self.template.steps[step][0].runs_with(rows)
                time = trail.time if step == last else trail.times[self._path[step] & trail.mask]
                if not narrowed(asked.others, rows[step], time, start, registers, 0, self._x, 0):
                    return False
        return True


def lookback(template: object, arrival: bool = False) -> Lookback | None:
    """The search for a template; None if its runs may wait for longer than an epoch, or take different ways. `arrival`:
    each event of a partition is an epoch of its own."""
    if not isinstance(template, ChainTemplate) or template.unions or template.passes:
        return None
    if any(stay != (PARTITION if arrival else NEXT) for stay in template.stays[1:]):
        return None
    return None if template.window >= 0 and not arrival else Lookback(template)
