"""Chains: every next event of the key moves a run or ends it; any number of steps, with constants at any of them.

These are CEL's NEXT on the key, and SASE+ with strict or partition contiguity, also of events that are found by a text
each (text_members).

A *cohort* stands for the runs of all members that began at one event and reached the same step. It has the step, the
events, and for each coordinate the least value that its events had. A member has this run iff its values dominate the
member's point: the events move all members' runs alike, and a member that fails one step fails all later steps. So only
the last step looks up members, and a cohort that dominates no member is dropped. At a step with several clauses a
cohort becomes one cohort for each clause; those of one run stay neighbours, and the end reports a member once for each
run.

Epochs: a time is an epoch of the key. An event does not see runs that its epoch has begun; other events of the epoch
still see a run that it has moved. Two stretches swap roles for this. With `arrival` each event is an epoch of its own.
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import Integers
from .kept_events import KeptEvents
from .members import Members
from .stamps import Stamps
from .steps import PARTITION, SKIP, STRICT, ChainTemplate, StepClause, Stretch
from .watching import MemberWatch

# The integers of a cohort; its events follow.
DEPTH: Final = 0
START: Final = 1
RUN: Final = 2
POSITION: Final = 3  # of the last event of the run, in the stream and in the partition
PLACE: Final = 4
TAKEN: Final = 5  # the end of that event
TOUCHED: Final = 6  # whether an event of `now` affects the run, or with `arrival` the current one a run that skips
EVENTS: Final = 7


@final
class ChainCell(GroupCell):
    """The cohorts of a key. `now`: the epoch of its last event. `watch`: is told where runs wait, if somebody asks."""

    def __init__(
        self,
        template: ChainTemplate,
        arrival: bool = False,
        stamps: Stamps | None = None,
        members: Members | None = None,
        events: KeptEvents | None = None,
    ) -> None:
        super().__init__(Members(template.d) if members is None else members)
        self._events = events
        self.template = template
        self.arrival = arrival
        self.now: i64 = -(1 << 62)
        self.watch: MemberWatch | None = None
        self._stamps = Stamps() if stamps is None else stamps
        self._runs: i64 = 0
        self._untouched: i64 = 0  # how many waiting ones
        self._seen = [True] * len(template.sees)
        self._skips = arrival and SKIP in template.stays
        each = template.d + len(template.registers)
        self._waiting = Stretch(each, EVENTS + template.length)  # from epochs before `now`
        self._new = Stretch(each, EVENTS + template.length)  # from `now`

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. O(cohorts), and one lookup for each cohort that may end."""
        if time > self.now or self.arrival:
            self._turn(time)
        template, waiting = self.template, self._waiting
        if not self.arrival:
            self._begin(row, time, event)
        last = template.length - 1
        run: i64 = -1
        numbers = waiting.integers
        i: i64
        if template.passes and not self._seen_by_some(row):
            return
        if self._skips:
            self._pass_by(row, time)
        for i in range(waiting.count):
            place = i * waiting.integers_each
            if numbers[place + RUN] != run:  # not a sibling of the previous cohort
                run = numbers[place + RUN]
                self._runs += 1
                self._stamps.next()
            depth = numbers[place + DEPTH]
            stay = template.stays[depth]
            if not self.arrival:
                if self.began <= numbers[place + TAKEN]:
                    continue  # it overlaps the run's events, and does not exist for it
                if template.passes and not self._sees(depth, row, place):
                    continue
                if stay == SKIP and not self._met(depth, row, place):
                    continue  # it waits where it is, before the runs that this epoch begins
                if numbers[place + TOUCHED] == 0:
                    numbers[place + TOUCHED] = 1
                    self._untouched -= 1
                    if self.watch is not None:
                        self._leave(self.watch, i)
            if stay == STRICT and numbers[place + POSITION] + 1 != self.position:
                continue
            if stay == PARTITION and numbers[place + PLACE] + 1 != self.place:
                continue
            if stay == SKIP and numbers[place + TOUCHED] == 0:
                continue
            for clause in template.steps[depth]:
                if not self._stays(clause, i, row, time, depth == last):
                    continue
                if depth < last:
                    self._move(i, row, event)
                else:
                    self._tell(self._new.count * self._new.floats_each, numbers, place, row, out)
        if self.arrival:
            self._begin(row, time, event)

    def _turn(self, time: i64) -> None:
        """Begin another epoch. Runs that no event of the last one affected continue to wait.

        O(new runs), and O(runs) if the last epoch has affected only some.
        """
        i: i64
        waiting, new = self._waiting, self._new
        if 0 < self._untouched == waiting.count:
            for i in range(new.count):
                waiting.add(new, i)
            new, waiting = waiting, new
        elif self._untouched > 0:
            both = Stretch(new.floats_each, new.integers_each)
            for i in range(waiting.count):
                if waiting.integers[i * waiting.integers_each + TOUCHED] == 0:
                    both.add(waiting, i)
            for i in range(new.count):
                both.add(new, i)
            new = both
        self.now = time
        self._waiting, self._new = new, waiting
        self._new.count = 0
        self._untouched = 0 if self.arrival else new.count

    def _seen_by_some(self, row: Row) -> bool:
        """Whether some waiting run may see the event, by what it is asked alone; sets that for each step."""
        some = False
        for depth, clause in enumerate(self.template.sees):
            seen = clause is None or clause.admits(row)
            self._seen[depth] = seen
            some = some or (seen and depth > 0)
        return some

    def _sees(self, depth: i64, row: Row, place: i64) -> bool:
        """Whether the run whose integers are there, and which waits for that step, sees the event."""
        clause = self.template.sees[depth]
        return clause is None or (self._seen[depth] and self._compared(clause, row, place))

    def close_epoch(self) -> None:
        self.now = -(1 << 62)

    def _begin(self, row: Row, time: i64, event: i64) -> None:
        new, template = self._new, self.template
        self._runs += 1
        if template.texts is not None and not template.texts.wants(0, row):
            return
        for clause in template.steps[0]:
            if clause.misses(row, self.members):
                continue
            at = new.open(template.d)
            if not clause.narrows(row, time, time, new.floats, at, new.floats, at):
                continue
            if not self.members.possible(new.floats, at) or not clause.admits(row):
                continue
            j = at + template.d
            for register in template.registers:
                new.floats[j] = register.begun(row)
                j += 1
            place = new.count * new.integers_each
            numbers = new.integers
            start = time if self.arrival else self.began
            numbers[place + DEPTH], numbers[place + START], numbers[place + RUN] = 1, start, self._runs
            numbers[place + TAKEN], numbers[place + TOUCHED] = time, 0
            numbers[place + POSITION], numbers[place + PLACE] = self.position, self.place
            numbers[place + EVENTS] = event
            new.count += 1
            self.noted = event
            if self.watch is not None:
                self.watch.entered(1, time, start, new.floats, at, event)

    def _pass_by(self, row: Row, time: i64) -> None:
        """Let the runs that ignore the event by a rule without constants wait on, those inside their window, and mark
        the others. They come before those that the event moves: who waits for a step is in the order of its newest
        events. O(runs)."""
        new, waiting, template = self._new, self._waiting, self.template
        window = template.window
        i: i64
        j: i64
        for i in range(waiting.count):
            numbers, old = waiting.integers, i * waiting.integers_each
            depth = numbers[old + DEPTH]
            if template.stays[depth] != SKIP:
                continue
            if self._met(depth, row, old):
                numbers[old + TOUCHED] = 1
                continue
            if window >= 0 and float(numbers[old + START] - time) < self.members.root[window]:
                continue
            new.copy(waiting, i)
            place = new.count * new.integers_each
            for j in range(EVENTS + depth):
                new.integers[place + j] = numbers[old + j]
            new.count += 1

    def _met(self, depth: i64, row: Row, old: i64) -> bool:
        """Whether an event meets a step that skips, which has no constants, for the run whose integers are there."""
        clauses = self.template.steps[depth]
        return any(clause.admits(row) and self._compared(clause, row, old) for clause in clauses)

    def _compared(self, clause: StepClause, row: Row, old: i64) -> bool:
        """Whether a clause's conditions on earlier events hold for the run whose integers are there."""
        compares = clause.compares
        if compares is None or self._events is None:
            return True
        return compares.holds(row, self._events, self._waiting.integers, old + EVENTS)

    def _stays(self, clause: StepClause, row_number: i64, row: Row, time: i64, ends: bool) -> bool:
        """Write a cohort's values after an event behind the new cohorts; returns whether they may dominate a member.

        `ends`: members are looked up anyway.
        """
        new, waiting, template = self._new, self._waiting, self.template
        texts = template.texts
        if texts is not None:
            if not texts.wants(waiting.integers[row_number * waiting.integers_each + DEPTH], row):
                return False
            ends = False  # its members are looked up by all texts, which takes longer
        if clause.misses(row, self.members):
            return False
        at = new.copy(waiting, row_number)
        start = waiting.integers[row_number * waiting.integers_each + START]
        registers = at + template.d
        if not clause.admits(row):
            return False
        if not self._compared(clause, row, row_number * waiting.integers_each):
            return False
        if len(clause.earlier) > 0 and self._events is not None:
            numbers = waiting.integers
            first = row_number * waiting.integers_each + EVENTS
            depth = numbers[row_number * waiting.integers_each + DEPTH]
            clause.runs_with([self._events.row(numbers[place]) for place in range(first, first + depth)])
        if not clause.narrows(row, time, start, new.floats, registers, new.floats, at):
            return False
        return ends or self.members.possible(new.floats, at)

    def _move(self, row_number: i64, row: Row, event: i64) -> None:
        """Move a cohort, whose values are written, one step on."""
        new, waiting, template = self._new, self._waiting, self.template
        place, old = new.count * new.integers_each, row_number * waiting.integers_each
        numbers, before = new.integers, waiting.integers
        depth = before[old + DEPTH]
        j: i64
        for j in range(EVENTS + depth):
            numbers[place + j] = before[old + j]
        numbers[place + DEPTH] = depth + 1
        numbers[place + EVENTS + depth] = event
        numbers[place + RUN] = self._runs
        numbers[place + POSITION], numbers[place + PLACE] = self.position, self.place
        numbers[place + TAKEN], numbers[place + TOUCHED] = self.now, 0
        j = new.count * new.floats_each + template.d
        for register in template.registers:
            new.floats[j] = register.taken(row, depth, new.floats[j])
            j += 1
        new.count += 1
        self.noted = event
        if self.watch is not None:
            first = numbers[place + EVENTS]
            at = (new.count - 1) * new.floats_each
            self.watch.entered(depth + 1, self._born(first), numbers[place + START], new.floats, at, first)

    def _taken(self, numbers: Integers, place: i64) -> list[Row]:
        """The events of the run whose integers are there. O(steps x log(events kept))."""
        assert self._events is not None, "the group keeps the events of its runs"
        return [self._events.row(numbers[place + EVENTS + j]) for j in range(numbers[place + DEPTH])]

    def _leave(self, watch: MemberWatch, row_number: i64) -> None:
        """Tell that a waiting cohort has been affected."""
        waiting = self._waiting
        numbers, place = waiting.integers, row_number * waiting.integers_each
        first = numbers[place + EVENTS]
        at = row_number * waiting.floats_each
        watch.left(numbers[place + DEPTH], self._born(first), numbers[place + START], waiting.floats, at, first)

    def _born(self, first: i64) -> i64:
        """The epoch in which a run began, by its first event."""
        assert self._events is not None, "the group keeps the events of its runs"
        page = self._events.page
        return page.time(page.place(first))

    def drop(self) -> None:
        """Tell that all waiting cohorts have gone, before they are."""
        watch = self.watch
        if watch is None:
            return
        self._turn(self.now)
        i: i64
        for i in range(self._waiting.count):
            self._leave(watch, i)

    def _tell(self, at: i64, numbers: Integers, place: i64, row: Row, out: MatchBlocks) -> None:
        """Report matches of a run to the members whose points the values from `at` on dominate."""
        begun, path = out.members_upto, out.paths_upto
        first, texts = numbers[place + EVENTS], self.template.texts
        members: Members | None = self.members
        if texts is not None:
            members = texts.of([*self._taken(numbers, place), row])
        if members is None or members.find(self._new.floats, at, first, out) == 0:
            return
        if self.watch is not None:
            self.watch.matched(self._born(first), out.members, begun, out.members_upto)
        if self.template.unions:
            self._stamps.thin(out, begun)
        events = self.template.length - 1
        paths = out.room_for_paths(events)
        j: i64
        for j in range(events):
            paths[path + j] = numbers[place + EVENTS + j]
        out.paths_upto = path + events
        out.close(begun, path, events)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        """The runs of a member. Runs that contiguity rules out may still be among them, and those that an event of
        `time` has moved or ended, which others of that time may still see."""
        found: list[tuple[int, ...]] = []
        window, texts = self.template.window, self.template.texts
        waits = [] if self.arrival else [(self._waiting, i) for i in range(self._waiting.count)]
        for new, i in (*waits, *((self._new, i) for i in range(self._new.count))):
            place, at = i * new.integers_each, i * new.floats_each
            if new is self._waiting and new.integers[place + TOUCHED] != 0 and self.now < time:
                continue
            if window >= 0 and float(new.integers[place + START] - time) < point[window]:
                continue
            depth = int(new.integers[place + DEPTH])
            events = tuple([int(new.integers[place + EVENTS + j]) for j in range(depth)])
            if events[0] >= since and all(point[j] <= new.floats[at + j] for j in range(self.template.d)):
                if texts is None or texts.fits(handle, self._taken(new.integers, place)):
                    found.append(events)
        return list(dict.fromkeys(found))

    def waiting(self) -> list[tuple[int, int, tuple[int, ...]]]:
        """The waiting runs: handle, step, events. One lookup for each cohort."""
        found: list[tuple[int, int, tuple[int, ...]]] = []
        new = self._new
        for i in range(new.count):
            place = i * new.integers_each
            events = tuple(int(n) for n in new.integers[place + EVENTS : place + EVENTS + new.integers[place + DEPTH]])
            who = MatchBlocks()
            self.members.find(new.floats, i * new.floats_each, events[0], who)
            found += [(int(who.members[j]), len(events), events) for j in range(who.members_upto)]
        return list(dict.fromkeys(found))

    def quiet(self, time: i64) -> bool:
        window, new = self.template.window, self._new
        if not self.arrival:
            waits = self._waiting.count > 0 and (time <= self.now or self._untouched > 0)
            return new.count == 0 and not waits
        if new.count == 0 or window < 0:
            return new.count == 0
        bound = self.members.root[window]
        return not any(
            float(new.integers[i * new.integers_each + START] - time) >= bound for i in range(int(new.count))
        )

    def used(self, events: set[int]) -> None:
        for stretch in (self._waiting, self._new):
            for i in range(stretch.count):
                place = i * stretch.integers_each
                depth = int(stretch.integers[place + DEPTH])
                events.update(int(stretch.integers[place + EVENTS + j]) for j in range(depth))

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {
            "now": int(self.now), "runs": int(self._runs), "untouched": int(self._untouched),
            "waiting": self._waiting.dump(), "new": self._new.dump(),
        }  # fmt: skip

    def load(self, dumped: dict[str, Any]) -> None:
        self.now, self._runs, self._untouched = dumped["now"], dumped["runs"], dumped["untouched"]
        self._waiting.load(dumped["waiting"])
        self._new.load(dumped["new"])

    def check_invariants(self) -> None:
        self.members.check_invariants()
        if self.template.texts is not None:
            self.template.texts.check_invariants(int(self.members.count))
        for stretch in (self._waiting, self._new):
            for i in range(stretch.count):
                depth = stretch.integers[i * stretch.integers_each + DEPTH]
                assert 0 < depth < self.template.length
