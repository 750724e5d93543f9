"""A negation at the end: `a, c, ~n` WITHIN w of a.

A pair waits from its c until time has passed its deadline, a + w. It is a match if no n came in between that kills its
member.

Pairs are completed as by a wait, and are kept with their start, because starts are in the order of their deadlines.
An n only updates suffix maxima of its value: a due pair looks up the greatest value since its c. Times are compared,
not positions. An n at the time of c does not kill, one at the deadline does (notes on Kleene runs, 5).

The host calls `advance` for a time before it passes an event of that time, at the latest when time has passed `due`.
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.instant import FOREVER
from ....events.schema import Row
from .blocks import FIELDS, LATE, MatchBlocks
from .cell import GroupCell
from .columns import INFINITY, Floats, Integers, filled, floats, integers, put, put_integer
from .members import Members
from .pending_pairs import NONE, PAIR_EACH, PendingPairs
from .steps import StepClause
from .wait import WaitCell
from .wait_template import WaitTemplate


@final
class TrailingTemplate:
    """The pair as a wait of arrival with a common window, and the negation, with one bound."""

    def __init__(self, wait: WaitTemplate, kill: StepClause) -> None:
        assert wait.arrival
        assert wait.within >= 0
        assert wait.killed < 0
        self.wait = wait
        self.kill = kill
        self.killed: i64 = kill.bounds[0].coordinate
        self.pairs = MatchBlocks()  # scratch for one event of one cell
        self.x: Floats = filled(wait.d, INFINITY)


@final
class TrailingCell(GroupCell):
    """The pairs of a key by start, and the suffix maxima of the killing values."""

    def __init__(self, template: TrailingTemplate, members: Members | None = None) -> None:
        waiting = WaitCell(template.wait, members)
        waiting.keeps_points = True
        super().__init__(waiting.members)
        self.template = template
        self.waiting = waiting
        self._pending = PendingPairs()
        self._levels: Floats = floats()
        self._times: Integers = integers()
        self._height: i64 = 0
        self._alive = False  # whether the first pair of the oldest start is known to be a match so far

    def forget(self, handle: int) -> None:
        """O(pairs)."""
        self._alive = False
        self._pending.forget(handle)

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event of the key. As in a wait, and O(1) for each completed or due pair."""
        self.advance(time, out)
        pairs = self.template.pairs
        pairs.clear()
        self.waiting.see(row, time, event, pairs)
        if pairs.upto > 0:
            self._hang(time, event)
            self.noted = event
        self.waiting.start(row, time, event)
        if self.waiting.noted > self.noted:
            self.noted = self.waiting.noted
        if self._pending.upto > 0:
            self._kill(row, time)
        else:
            self._height = 0  # no pair needs the past values any more

    def _hang(self, time: i64, event: i64) -> None:
        """Keep the pairs that an event completed with their starts. O(pairs), and log starts for each."""
        pairs, starts, d = self.template.pairs, self.waiting.starts, self.template.wait.d
        within, killed, pending = self.template.wait.within, self.template.killed, self._pending
        block: i64 = 0
        while block < pairs.upto:
            member, first, count = pairs.blocks[block + 3], pairs.blocks[block + 5], pairs.blocks[block + 6]
            block += FIELDS
            level = self.waiting.points[member * d + killed]
            pending.add_all(starts, within, pairs.paths, first, count, pairs.members[member], event, time, level)

    def _kill(self, row: Row, time: i64) -> None:
        """Record the value by which an event kills."""
        kill, x, killed = self.template.kill, self.template.x, self.template.killed
        x[killed] = INFINITY
        if kill.narrows(row, time, time, x, 0, x, 0) and kill.admits(row):
            height = self._height
            while height > 0 and self._levels[height - 1] <= x[killed]:
                height -= 1
            self._levels = put(self._levels, height, x[killed])
            self._times = put_integer(self._times, height, time)
            self._height = height + 1
            self._alive = False

    def due(self) -> int:
        """The time after which `advance` has something to report. O(1), and once for each killed pair."""
        pending = self._pending
        while pending.upto > 0:
            if self._alive:
                return int(pending.deadline())
            pair = pending.pair()
            while pair != NONE and self._killed(pair):
                pending.drop()
                pair = pending.pair()
            self._alive = pair != NONE
            if not self._alive:
                pending.drop_start()  # nobody needs to be woken for it
        return FOREVER

    def advance(self, time: i64, out: MatchBlocks) -> None:
        """Time has reached `time`, and no event of it has come: report the pairs past their deadline. O(pairs, log)."""
        while self._pending.upto > 0 and self._pending.deadline() < time:
            self.advance_first(out)

    def first(self) -> int:
        return int(self._pending.start())

    def advance_first(self, out: MatchBlocks) -> None:
        """O(pairs, log)."""
        pending = self._pending
        pairs, own, start, pair = pending.pairs, pending.levels, pending.start(), pending.pair()
        levels, times, height = self._levels, self._times, self._height
        low: i64 = 0 if pair == NONE else self._after(pairs[pair * PAIR_EACH + 2])
        before: i64 = NONE
        member, path = out.members_upto, out.paths_upto
        while pair != NONE:
            place = pair * PAIR_EACH
            completed = pairs[place + 2]
            while low < height and times[low] <= completed:
                low += 1
            if pairs[place] != NONE and not (low < height and own[pair] <= levels[low]):
                if pairs[place + 1] != before:  # neighbours with both events in common are one block
                    out.close(member, path, 2, LATE)
                    member, path, before = out.members_upto, out.paths_upto, pairs[place + 1]
                    out.add_number(start)
                    out.add_number(before)
                out.add_member(pairs[place])
            pair = pairs[place + 3]
        out.close(member, path, 2, LATE)
        pending.drop_start()
        self._alive = False

    def _after(self, time: i64) -> i64:
        """The first value that was recorded after a time. O(log)."""
        low: i64 = 0
        high = self._height
        times = self._times
        while low < high:
            middle = (low + high) >> 1
            if times[middle] <= time:
                low = middle + 1
            else:
                high = middle
        return low

    def _killed(self, pair: i64) -> bool:
        """Whether a pair is no match: an event after it had a value that dominates its level, or its member has left.
        O(log)."""
        pairs, place = self._pending.pairs, pair * PAIR_EACH
        if pairs[place] == NONE:
            return True
        low = self._after(pairs[place + 2])
        return low < self._height and self._pending.levels[pair] <= self._levels[low]

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        return self._pending.upto == 0 and self.waiting.quiet(time)

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        """The member's starts; no event can continue a pair."""
        return self.waiting.live(handle, point, since, time)

    def oldest(self, event: i64) -> i64:
        pending = self._pending
        if pending.upto > 0:
            event = min(event, pending.start())
        return self.waiting.oldest(event)

    def used(self, events: set[int]) -> None:
        self.waiting.used(events)
        self._pending.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        kills = [(self._levels[i], int(self._times[i])) for i in range(self._height)]
        return {"waiting": self.waiting.dump(), "pending": list(self._pending.each()), "kills": kills}

    def load(self, dumped: dict[str, Any]) -> None:
        self.waiting.load(dumped["waiting"])
        self._pending = PendingPairs()
        for start, deadline, pairs in dumped["pending"]:
            for handle, event, time, level in pairs:
                self._pending.add(start, deadline, handle, event, time, level)
        for i, (level, time) in enumerate(dumped["kills"]):
            self._levels, self._times = put(self._levels, i, level), put_integer(self._times, i, time)
        self._height = len(dumped["kills"])
        self._alive = False

    def statistics(self) -> dict[str, int]:
        return {**self.waiting.statistics(), "pairs": sum(len(pairs) for _, _, pairs in self._pending.each())}

    def check_invariants(self) -> None:
        self.waiting.check_invariants()
        self._pending.check_invariants()
        for i in range(1, int(self._height)):
            assert self._levels[i - 1] > self._levels[i]
            assert self._times[i - 1] <= self._times[i]
