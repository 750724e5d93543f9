"""Folds: a run takes every next event of its key as long as a condition holds, and reports wherever its end holds.

This is CEL's FOLD. The condition has no constants, or is one with a factor; the run reports at each event at which its
end condition holds.

A fold works like a chain, but the run stays. Its values bound the conditions of its members at the start and on the
events taken; the conditions at the end (counts, durations, sums) are evaluated anew at each event. `need` is the least
count among the members that the run's values leave, so that most events need no lookup. It may be too low, never too
high: joining and leaving do not update it, and a run's members are older than the run.

Here: the runs of a key. Not here: conditions (steps). A new run comes before those that continue, as in the engine.
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ....events.schema import Row
from .blocks import MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, Integers, filled, integers, put_integer
from .coordinates import narrowed
from .members import Members
from .steps import Remembered, StepClause, Stretch

START: Final = 0
FIRST: Final = 1
LINK: Final = 2  # the last event taken: an entry of the log
FIELDS: Final = 3
NONE: Final = -1


@final
class FoldTemplate:
    """`begin`, `take` and `end`: the conditions on the first event, each further one and the one that reports.

    `need`: the coordinate that bounds the register of COUNT from below, -1 if none does. `lineage`: whether paths have
    all events or only the first.
    """

    def __init__(
        self,
        d: int,
        begin: StepClause,
        take: StepClause,
        end: StepClause,
        registers: list[Remembered],
        need: int,
        lineage: bool,
    ) -> None:
        self.d: i64 = d
        self.begin = begin
        self.take = take
        self.end = end
        self.registers = registers
        self.need: i64 = need
        self.counter: i64 = -1
        self.lineage = lineage
        for bound in end.bounds:
            if bound.coordinate == need and need >= 0:
                self.counter = bound.register


@final
class FoldCell(GroupCell):
    """The runs of a key: values, registers and `need` of each, in two stretches that swap roles (chain)."""

    def __init__(self, template: FoldTemplate) -> None:
        super().__init__(Members(template.d))
        self.template = template
        self.now: i64 = -(1 << 62)
        each = template.d + len(template.registers) + 1
        self._waiting = Stretch(each, FIELDS)
        self._new = Stretch(each, FIELDS)
        self._x: Floats = filled(template.d, INFINITY)
        self._events: Integers = integers()  # the log: events, and the entry that each followed
        self._before: Integers = integers()
        self._logged: i64 = 0
        self._kept: i64 = 0  # entries after the last sweep

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. O(runs), and one lookup for each run that may report."""
        if time > self.now:
            self.now = time
            self._waiting, self._new = self._new, self._waiting
            self._new.count = 0
            if self._logged > 2 * self._kept + 64:
                self._sweep()
        self._begin(row, time, event)
        template, waiting, new, members = self.template, self._waiting, self._new, self.members
        d = template.d
        counted, need = d + template.counter, waiting.floats_each - 1
        shrinks = len(template.take.bounds) > 0
        numbers = waiting.integers
        i: i64
        for i in range(waiting.count):
            at = new.copy(waiting, i)
            values = new.floats
            place = i * FIELDS
            if not template.take.admits(row, values, at + d):
                continue
            if shrinks:
                if not narrowed(template.take.bounds, row, time, numbers[place + START], values, at + d, values, at):
                    continue
                if not members.possible(values, at):
                    continue
            j = at + d
            for register in template.registers:
                values[j] = register.taken(row, 0, values[j])
                j += 1
            old = new.count * FIELDS
            new.integers[old + START], new.integers[old + FIRST] = numbers[place + START], numbers[place + FIRST]
            new.integers[old + LINK] = self._log(event, numbers[place + LINK]) if template.lineage else NONE
            if template.need < 0 or values[at + counted] >= values[at + need]:
                self._report(row, time, at, old, out)
            new.count += 1

    def _begin(self, row: Row, time: i64, event: i64) -> None:
        template, new = self.template, self._new
        d = template.d
        at = new.open(d)
        values = new.floats
        if not narrowed(template.begin.bounds, row, time, time, values, at, values, at):
            return
        if not self.members.possible(values, at) or not template.begin.admits(row, values, at):
            return
        j = at + d
        for register in template.registers:
            values[j] = register.begun(row)
            j += 1
        need = INFINITY
        if template.need >= 0:
            need = self.members.nearest(values, at, template.need)
            if need == INFINITY:
                return
        values[j] = need
        place = new.count * FIELDS
        new.integers[place + START], new.integers[place + FIRST] = time, event
        new.integers[place + LINK] = self._log(event, NONE) if template.lineage else NONE
        new.count += 1

    def _report(self, row: Row, time: i64, at: i64, place: i64, out: MatchBlocks) -> None:
        """Report the members whose end condition holds for a run now."""
        template, new, x = self.template, self._new, self._x
        d = template.d
        j: i64
        for j in range(d):
            x[j] = new.floats[at + j]
        start = new.integers[place + START]
        if not template.end.admits(row, new.floats, at + d):
            return
        if not narrowed(template.end.bounds, row, time, start, new.floats, at + d, x, 0):
            return
        begun, path = out.members_upto, out.paths_upto
        if self.members.find(x, 0, new.integers[place + FIRST], out) == 0:
            return
        if not template.lineage:
            out.add_number(new.integers[place + FIRST])
            out.close(begun, path, 1)
            return
        link = self._before[new.integers[place + LINK]]  # the event itself ends every path
        while link != NONE:
            out.add_number(self._events[link])
            link = self._before[link]
        out.turn(path)
        out.close(begun, path, out.paths_upto - path)

    def _log(self, event: i64, before: i64) -> i64:
        at = self._logged
        self._events = put_integer(self._events, at, event)
        self._before = put_integer(self._before, at, before)
        self._logged = at + 1
        return at

    def _sweep(self) -> None:
        """Keep only the entries that runs refer to. O(log), when it has doubled."""
        kept: set[int] = set()
        for stretch in (self._waiting, self._new):
            for i in range(stretch.count):
                link = int(stretch.integers[i * FIELDS + LINK])
                while link != NONE and link not in kept:
                    kept.add(link)
                    link = int(self._before[link])
        moved = {NONE: NONE}
        for place, link in enumerate(sorted(kept)):
            moved[link] = place
            self._events[place], self._before[place] = self._events[link], moved[int(self._before[link])]
        for stretch in (self._waiting, self._new):
            for i in range(stretch.count):
                place = i * FIELDS + LINK
                stretch.integers[place] = moved[int(stretch.integers[place])]
        self._logged = self._kept = len(kept)

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        return self._new.count == 0

    def used(self, events: set[int]) -> None:
        events.update(int(self._events[i]) for i in range(self._logged))

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        log = [(int(self._events[i]), int(self._before[i])) for i in range(self._logged)]
        return {"now": int(self.now), "waiting": self._waiting.dump(), "new": self._new.dump(), "log": log}

    def load(self, dumped: dict[str, Any]) -> None:
        self.now = dumped["now"]
        self._waiting.load(dumped["waiting"])
        self._new.load(dumped["new"])
        self._logged = 0
        for event, before in dumped["log"]:
            self._log(event, before)
        self._kept = self._logged

    def statistics(self) -> dict[str, int]:
        runs = int(self._waiting.count + self._new.count)
        return {**self.members.statistics(), "runs": runs, "log": int(self._logged)}

    def check_invariants(self) -> None:
        self.members.check_invariants()
        for stretch in (self._waiting, self._new):
            for i in range(stretch.count):
                link = stretch.integers[i * FIELDS + LINK]
                assert NONE <= link < self._logged
                assert self.template.lineage == (link != NONE)
