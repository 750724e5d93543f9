"""Unlike keys: a start at one key, the next event of another one completes or ends it (`X`, then `Y`).

A start stands once, at its own key. Each key Y knows the keys X from which members wait for it, in packed columns:
where X's newest start is noted, and the least corner of the pair's members. An event of Y passes over all X that had no
start since Y's last epoch or whom it cannot satisfy; of the others it asks the pair's members for each such start.

Epochs are Y's: an event sees the starts before its time, and not before Y's epoch before, which has ended those.

Here: the starts of X and the waiting of Y, for two steps. Not here: equal keys (chain), guards that let events pass.
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from broker.engine.executors.groups.blocks import MatchBlocks
from broker.engine.executors.groups.columns import (
    INFINITY,
    Floats,
    Integers,
    filled,
    floats,
    integers,
    put_integer,
    with_room,
)
from broker.engine.executors.groups.coordinates import narrowed
from broker.engine.executors.groups.members import Members
from broker.engine.executors.groups.starts import Starts
from broker.engine.executors.groups.steps import StepClause
from broker.events.schema import Row

LONG_AGO: Final = -(1 << 62)
SWEEP_MIN: Final = 128


@final
class UnlikeTemplate:
    def __init__(self, d: int, begin: StepClause, end: StepClause) -> None:
        self.d: i64 = d
        self.begin = begin
        self.end = end


@final
class UnlikeGroup:
    """What all keys of the group share: of each key that starts the time of its newest start, and its cell."""

    def __init__(self, template: UnlikeTemplate) -> None:
        self.template = template
        self.newest: Integers = integers()
        self.sources: list[StartCell] = []


@final
class StartCell:
    """The starts of a key, for all keys that wait for it. `root`: never above the least corner of its pairs."""

    def __init__(self, group: UnlikeGroup) -> None:
        self.group = group
        self.number: i64 = len(group.sources)
        group.sources.append(self)
        group.newest = put_integer(group.newest, self.number, LONG_AGO)
        self.starts = Starts(group.template.d)
        self.root: Floats = filled(group.template.d, INFINITY)
        self.waiting: list[WaitingCell] = []
        self._kept: i64 = 0

    def take(self, row: Row, time: i64, event: i64) -> None:
        """An event of the key, as a start; the host hands it to the key's WaitingCell before."""
        template, starts = self.group.template, self.starts
        at = starts.open()
        values = starts.values
        if not narrowed(template.begin.bounds, row, time, time, values, at, values, at):
            return
        j: i64
        for j in range(template.d):
            if not self.root[j] <= values[at + j]:
                return
        if template.begin.admits(row):
            starts.keep(time, event)
            self.group.newest[self.number] = time
            if starts.count > 2 * self._kept + SWEEP_MIN:
                self._sweep()

    def _sweep(self) -> None:
        """Drop the starts that every key which waits has ended. O(starts + keys), when they have doubled."""
        oldest = min((cell.before for cell in self.waiting), default=LONG_AGO)
        first = self.starts.since_time(oldest, 0.0, 0, self.starts.count)
        self.starts.retain([i >= first for i in range(self.starts.count)])
        self._kept = self.starts.count


@final
class WaitingCell:
    """The members that wait for a key, by the key that starts them. `before`: the key's epoch before `now`."""

    def __init__(self, group: UnlikeGroup) -> None:
        self.group = group
        self.now: i64 = LONG_AGO
        self.before: i64 = LONG_AGO
        self._sources: Integers = integers()  # of each pair the number of the key that starts
        self._roots: Floats = floats()
        self._pairs: list[Members] = []
        self._x: Floats = filled(group.template.d, INFINITY)
        self._y: Floats = filled(group.template.d, INFINITY)

    def join(self, source: StartCell, handle: int, point: list[float], since: int) -> None:
        """A member whose runs begin at that key. O(keys + pages)."""
        at = self._pair(source)
        d = self.group.template.d
        if at < 0:
            at = len(self._pairs)
            self._pairs.append(Members(d))
            self._sources = put_integer(self._sources, at, source.number)
            self._roots = with_room(self._roots, (at + 1) * d)
            source.waiting.append(self)
        members = self._pairs[at]
        members.put(handle, point, since)
        j: i64
        for j in range(d):
            self._roots[at * d + j] = members.root[j]
            if members.root[j] < source.root[j]:
                source.root[j] = members.root[j]

    def leave(self, source: StartCell, handle: int, point: list[float]) -> None:
        """The member goes; a pair without members asks nothing."""
        at = self._pair(source)
        if at < 0:
            raise KeyError(handle)
        members, d = self._pairs[at], self.group.template.d
        members.remove(handle, point)
        j: i64
        for j in range(d):
            self._roots[at * d + j] = members.root[j]

    def _pair(self, source: StartCell) -> i64:
        at: i64
        for at in range(len(self._pairs)):
            if self._sources[at] == source.number:
                return at
        return -1

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """An event of the key. O(keys that start), and a question for each start since the epoch before."""
        if time > self.now:
            self.before, self.now = self.now, time
        group, y, roots = self.group, self._y, self._roots
        d = group.template.d
        j: i64
        for j in range(d):
            y[j] = INFINITY
        end = group.template.end
        if not narrowed(end.bounds, row, time, time, y, 0, y, 0) or not end.admits(row):
            return
        sources, newest, before = self._sources, group.newest, self.before
        pair: i64
        for pair in range(len(self._pairs)):
            if newest[sources[pair]] < before:
                continue
            base = pair * d
            j = 0
            while j < d and roots[base + j] <= y[j]:
                j += 1
            if j == d:
                self._ask(pair, time, out)

    def _ask(self, pair: i64, time: i64, out: MatchBlocks) -> None:
        """The members of a pair, for each start that waits."""
        starts, members = self.group.sources[self._sources[pair]].starts, self._pairs[pair]
        x, y, d = self._x, self._y, self.group.template.d
        i = starts.since_time(self.before, 0.0, 0, starts.count)
        while i < starts.count and starts.times[i] < time:
            j: i64
            for j in range(d):
                value = starts.values[i * d + j]
                x[j] = min(y[j], value)
            begun, path = out.members_upto, out.paths_upto
            if members.find(x, 0, starts.events[i], out) > 0:
                out.add_number(starts.events[i])
                out.close(begun, path, 1)
            i += 1

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def dump(self) -> dict[str, object]:
        """What a snapshot keeps of a key that waits; starts and members are others'."""
        return {"now": int(self.now), "before": int(self.before)}

    def load(self, dumped: dict[str, Any]) -> None:
        self.now, self.before = dumped["now"], dumped["before"]

    def statistics(self) -> dict[str, int]:
        return {"pairs": len(self._pairs), "members": sum(int(each.count) for each in self._pairs)}

    def check_invariants(self) -> None:
        d = self.group.template.d
        for at, members in enumerate(self._pairs):
            members.check_invariants()
            for j in range(d):
                assert self._roots[at * d + j] == members.root[j]
