"""Skipping till the next match, whatever a step compares: several constants, earlier events of the run, alternatives.

A *cohort* stands for the runs of all members that have the same events; each coordinate has the least value that these
had. An event that satisfies the next step for some of its members takes these along, and the others wait: the values of
the event are a *box*, and a member has moved on if a box of its cohort contains its point. So a cohort's runs are the
members inside its values and outside of its boxes, and a member has one run for each first event.

Where one constant decides, the mechanisms wait and items need fewer lookups; where a member waits for the same events
with all its runs, next match stores one number a member.

Where a step compares one number of the event with an unknown constant, or with one and a number of the run, the greater
number is met by all that a lesser one is met by. Runs that have waited longer have seen a greater one, so only the
newest cohorts are looked at.

Epochs: an event does not see runs whose newest event ends at its begin or later, and the boxes of an epoch count from
the next one on. With `arrival` each event is an epoch of its own.

Here: one key. Hot. Not here: a cohort (cohort), the conditions (steps).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import MatchBlocks
from .cell import GroupCell
from .cohort import Cohort
from .columns import INFINITY, NAN, Floats, filled, floats_from
from .coordinates import EXACT
from .kept_events import KeptEvents
from .members import Members
from .steps import ChainTemplate, EarlierRows, StepClause

SWEEP_MIN: Final = 64


@final
class SkipTillCell(GroupCell):
    """The cohorts of a key: by the step that they wait for, in the order of their newest events, then of those before.

    `now`: the epoch of its last event.
    """

    def __init__(
        self, template: ChainTemplate, arrival: bool, members: Members | None = None, events: KeptEvents | None = None
    ) -> None:
        super().__init__(Members(template.d) if members is None else members)
        self.template = template
        self.arrival = arrival
        self.now: i64 = -(1 << 62)
        self._events = KeptEvents() if events is None else events
        self._waiting: list[list[Cohort]] = [[] for _ in template.steps]  # none waits for the first step
        self._unsettled: list[Cohort] = []  # for which `now` has something
        self._values: Floats = filled(template.d, INFINITY)  # scratch: a cohort's after an event
        self._found = MatchBlocks()  # scratch: members that move on
        self._count: i64 = 0
        self._kept: i64 = 0  # cohorts after the last sweep

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. O(cohorts that it may move x their boxes), and the members found."""
        template = self.template
        if time > self.now or self.arrival:
            self.close_epoch()
            self.now = time
        if self._count > 0:
            if template.window >= 0:
                self._expire(time)
            depth = int(template.length) - 1
            while depth > 0:
                cohorts = self._waiting[depth]
                if len(cohorts) > 0:
                    asked = [each for each in template.steps[depth] if self._concerns(each, row)]
                    if len(asked) > 0:
                        self._move(cohorts, asked, depth, row, time, event, out)
                depth -= 1
        self._begin(row, time, event)
        if self._count > 2 * self._kept + SWEEP_MIN:
            self._sweep(time)

    def _concerns(self, clause: StepClause, row: Row) -> bool:
        """Whether an event may satisfy a clause for some run of some member."""
        return not clause.exceeds(row, self.members) and clause.admits(row)

    def close_epoch(self) -> None:
        """Let count what the epoch has for cohorts."""
        if len(self._unsettled) > 0:
            for cohort in self._unsettled:
                cohort.settle(self.template.d)
            self._unsettled = []
        self.now = -(1 << 62)

    def _begin(self, row: Row, time: i64, event: i64) -> None:
        template, members = self.template, self.members
        before: Cohort | None = None
        for clause in template.steps[0]:
            if clause.misses(row, members):
                continue
            values = self._values
            j: i64
            for j in range(template.d):
                values[j] = INFINITY
            if not clause.narrows(row, time, time, values, 0, values, 0):
                continue
            if not members.possible(values, 0) or not clause.admits(row):
                continue
            cohort = Cohort(time if self.arrival else self.began, time, values, template.d)
            cohort.events.append(int(event))
            for register in template.registers:
                cohort.remember(register.begun(row))
            if before is not None:  # another alternative has begun the runs of its members
                cohort.leave_out(before, 0, template.d)
                cohort.add_box(before.values, template.d)
                cohort.settle(template.d)
            before = cohort
            self._wait(cohort, 1)

    def _wait(self, cohort: Cohort, depth: int) -> None:
        """Let a cohort wait for a step, behind those that wait for it."""
        self._waiting[depth].append(cohort)
        self._count += 1
        self.noted = cohort.events[-1]

    def _move(
        self,
        cohorts: list[Cohort],
        asked: list[StepClause],
        depth: int,
        row: Row,
        time: i64,
        event: i64,
        out: MatchBlocks,
    ) -> None:
        """Move the runs that wait for a step, or complete them. `asked`: the clauses that the event may satisfy."""
        template, members, values, d = self.template, self.members, self._values, self.template.d
        last, arrival = depth + 1 == template.length, self.arrival
        j: i64
        at = 0
        value = NAN
        ascends = template.ascending[depth]
        if ascends is not None:
            value = ascends.given(row)
            if -EXACT < value < EXACT:
                at = _first_reached(cohorts, value)
            elif value != value:
                return
            else:
                ascends = None  # floats do not tell such integers apart
        while at < len(cohorts):
            cohort = cohorts[at]
            at += 1
            if not arrival and self.began <= cohort.taken:
                continue
            if ascends is not None:
                self._note(cohort)
                if value > cohort.newest:
                    cohort.newest = value
            newest = cohort.count
            for clause in asked:
                compares = clause.compares
                if compares is not None and not self._holds(compares, row, cohort):
                    continue
                if len(clause.earlier) > 0:
                    clause.runs_with([self._events.row(each) for each in cohort.events])
                for j in range(d):
                    values[j] = cohort.values[j]
                if not clause.narrows(row, time, cohort.start, cohort.registers, 0, values, 0):
                    continue
                if not members.possible(values, 0) or (ascends is None and cohort.has_left(values, 0, newest, d)):
                    continue
                if last:
                    moved = self._tell(cohort, newest, out)
                else:
                    moved = self._go_on(cohort, newest, depth, row, time, event)
                if moved or (arrival and ascends is None):  # where it has no member now, it has none later
                    if template.window >= 0:  # whose window is over has no later match either
                        values[template.window] = INFINITY
                    cohort.add_box(values, d)
            if cohort.count > newest:
                self._note(cohort)
            if arrival:
                cohort.settle(d)

    def _note(self, cohort: Cohort) -> None:
        """Remember that the epoch has something for a cohort that does not count yet."""
        if not self.arrival and not cohort.noted:
            cohort.noted = True
            self._unsettled.append(cohort)

    def _holds(self, compares: EarlierRows, row: Row, cohort: Cohort) -> bool:
        """Whether a condition on earlier events holds for a cohort. O(events of the run x log(events kept))."""
        return compares.among(row, [self._events.row(event) for event in cohort.events])

    def _tell(self, cohort: Cohort, newest: i64, out: MatchBlocks) -> bool:
        """Write a match of each member of a cohort inside the values that are written; returns whether there is one."""
        begun, path = out.members_upto, out.paths_upto
        if self._find(cohort, newest, out) == 0:
            return False
        for event in cohort.events:
            out.add_number(event)
        out.close(begun, path, len(cohort.events))
        return True

    def _go_on(self, cohort: Cohort, newest: i64, depth: int, row: Row, time: i64, event: i64) -> bool:
        """Make the cohort of the members inside the values that are written; returns whether there is a member."""
        template, values, found = self.template, self._values, self._found
        window = template.window
        found.clear()
        if window >= 0:
            values[window] = float(cohort.start - time)
        some = self._find(cohort, newest, found) > 0
        if window >= 0:
            values[window] = INFINITY
        if not some:
            return False
        fresh = Cohort(cohort.start, time, values, template.d)
        fresh.events.extend(cohort.events)
        fresh.events.append(int(event))
        for register, before in zip(template.registers, cohort.registers):
            fresh.remember(register.taken(row, depth, before))
        fresh.leave_out(cohort, newest, template.d)
        fresh.settle(template.d)
        self._wait(fresh, depth + 1)
        return True

    def _find(self, cohort: Cohort, newest: i64, out: MatchBlocks) -> i64:
        """Write the members of a cohort inside the values that are written. O(members inside x boxes)."""
        members, values, d = self.members, self._values, self.template.d
        first: i64 = cohort.events[0]
        if cohort.count == 0:
            return members.find(values, 0, first, out)
        begun = out.members_upto
        found = members.find_points(values, 0, out)
        kept = begun
        hit: i64
        for hit in range(found):
            if out.hits_since[hit] <= first and not cohort.has_left(out.hits, hit * d, newest, d):
                out.members[kept] = out.members[begun + hit]
                kept += 1
        out.members_upto = kept
        return kept - begun

    # --- keeping ------------------------------------------------------------------------------------------------

    def _expire(self, time: i64) -> None:
        """Drop the first runs that are out of every window; a sweep drops others."""
        longest = self.members.root[self.template.window]
        for cohorts in self._waiting:
            old = 0
            while old < len(cohorts) and float(cohorts[old].start - time) < longest:
                old += 1
            if old > 0:
                del cohorts[:old]
                self._count -= old

    def _sweep(self, time: i64) -> None:
        """Keep the cohorts in which a member still waits. O(cohorts x members x boxes)."""
        template, values = self.template, self._values
        count = 0
        j: i64
        for depth in range(1, int(template.length)):
            wanted: list[Cohort] = []
            for cohort in self._waiting[depth]:
                for j in range(template.d):
                    values[j] = cohort.values[j]
                if template.window >= 0:
                    values[template.window] = float(cohort.start - time)
                self._found.clear()
                if self._find(cohort, cohort.count, self._found) > 0:
                    wanted.append(cohort)
            self._waiting[depth] = wanted
            count += len(wanted)
        self._count = self._kept = count

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        window = self.template.window
        if window < 0:
            return self._count == 0
        bound = self.members.root[window]
        return not any(float(cohort.start - time) >= bound for waiting in self._waiting for cohort in waiting)

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        """The runs of a member, with those that an event of `time` has moved and others of that time may still see."""
        d, window, own = self.template.d, self.template.window, floats_from(point)
        found: list[tuple[int, ...]] = []
        for waiting in self._waiting:
            for cohort in waiting:
                inside = cohort.events[0] >= since and all(own[j] <= cohort.values[j] for j in range(d))
                if window >= 0 and float(cohort.start - time) < own[window]:
                    continue
                newest = cohort.count if self.now == time and not self.arrival else 0
                if inside and not cohort.has_left(own, 0, newest, d):
                    found.append(tuple(cohort.events))
        return sorted(found)

    def used(self, events: set[int]) -> None:
        for waiting in self._waiting:
            for cohort in waiting:
                events.update(cohort.events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {
            "now": int(self.now),
            "cohorts": [[cohort.dump() for cohort in waiting] for waiting in self._waiting],
        }

    def load(self, dumped: dict[str, Any]) -> None:
        self.now, d = dumped["now"], self.template.d
        self._waiting = [[Cohort.loaded(each, d) for each in waiting] for waiting in dumped["cohorts"]]
        self._unsettled = [cohort for waiting in self._waiting for cohort in waiting if cohort.noted]
        self._count = self._kept = sum(map(len, self._waiting))

    def check_invariants(self) -> None:
        self.members.check_invariants()
        assert self._count == sum(map(len, self._waiting))
        for depth, waiting in enumerate(self._waiting):
            backwards = [cohort.events[::-1] for cohort in waiting]
            assert backwards == sorted(backwards)
            assert all(len(cohort.events) == depth for cohort in waiting)
            assert all(cohort.settled <= cohort.count for cohort in waiting)


def _first_reached(cohorts: list[Cohort], value: float) -> int:
    """Behind which of these, whose greatest values descend, none asks for more than the value. O(those behind)."""
    at = len(cohorts)
    while at > 0 and cohorts[at - 1].greatest < value:
        at -= 1
    return at
