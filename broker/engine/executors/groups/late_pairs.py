"""Cells whose pairs wait until time has passed the deadline of their start: then they are matches, unless something
that is forbidden behind them has come in between.

Another cell completes the pairs, which may have events in between. They are kept with their start, because starts are
in the order of their deadlines.
What kills is only noted: a due pair asks whether it was killed. Times are compared, not positions. What comes at the
time of the last event does not kill, what comes at the deadline does (notes on Kleene runs, 5).

The host calls `advance` for a time before it passes an event of that time, at the latest when time has passed `due`.

Here: what waits, and when it is told. Hot. Not here: which pairs there are and what kills them (trailing, late_texts).
"""

from __future__ import annotations

from typing import Any

from mypy_extensions import i64

from ....events.instant import FOREVER
from .blocks import FIELDS, LATE, MatchBlocks
from .cell import GroupCell
from .pending_pairs import NONE, PendingPairs
from .starts import Starts


class LatePairsCell(GroupCell):
    """`waiting`: the cell that completes pairs, with the same members; `found`: scratch for what an event completes
    there; `within`: how long after its start a pair is due; `between`: how many events it has between its first and its
    last one. `alive`: whether the first pair of the oldest start is
    known to be a match so far; who notes something that kills sets it to False."""

    def __init__(self, waiting: GroupCell, within: i64, found: MatchBlocks, between: i64 = 0) -> None:
        super().__init__(waiting.members)
        self.waiting = waiting
        self.within: i64 = within
        self.between: i64 = between
        self.pending = PendingPairs(between)
        self.found = found
        self.alive = False

    # --- what each kind of cell knows ---------------------------------------------------------------------------

    def starts_of(self, handle: i64) -> Starts:
        """The starts of a member's pairs."""
        raise AssertionError

    def level(self, place: i64) -> float:
        """What `dies` is told of the member at a place of `found`."""
        return 0.0

    def dies(self, handle: i64, level: float, completed: i64) -> bool:
        """Whether something has killed a member's pairs that were completed at that time."""
        raise AssertionError

    # --- pairs --------------------------------------------------------------------------------------------------

    def hang(self, time: i64, event: i64) -> None:
        """Keep the pairs in `found`, which an event has completed, with their starts. O(pairs), and log starts for
        each."""
        found, pending, within = self.found, self.pending, self.within
        block: i64 = 0
        while block < found.upto:
            place, first, count = found.blocks[block + 3], found.blocks[block + 5], found.blocks[block + 6]
            block += FIELDS
            handle = found.members[place]
            starts, level = self.starts_of(handle), self.level(place)
            pending.add_all(starts, within, found.paths, first, count, handle, event, time, level)

    def forget(self, handle: int) -> None:
        """O(pairs)."""
        self.alive = False
        self.waiting.forget(handle)
        self.pending.forget(handle)

    def due(self) -> int:
        """The time after which `advance` has something to report. O(1), and once for each killed pair."""
        pending = self.pending
        while pending.upto > 0:
            if self.alive:
                return int(pending.deadline())
            pair = pending.pair()
            while pair != NONE and self._killed(pair):
                pending.drop()
                pair = pending.pair()
            self.alive = pair != NONE
            if not self.alive:
                pending.drop_start()  # nobody needs to be woken for it
        return FOREVER

    def _killed(self, pair: i64) -> bool:
        """Whether a pair is no match: something has killed it, or its member has left."""
        pairs, place = self.pending.pairs, pair * self.pending.each_pair
        return pairs[place] == NONE or self.dies(pairs[place], self.pending.levels[pair], pairs[place + 2])

    def first(self) -> int:
        return int(self.pending.start())

    def advance(self, time: i64, out: MatchBlocks) -> None:
        """Time has reached `time`, and no event of it has come: report the pairs past their deadline. O(pairs, log)."""
        while self.pending.upto > 0 and self.pending.deadline() < time:
            self.advance_first(out)

    def advance_first(self, out: MatchBlocks) -> None:
        """O(pairs), each with a question whether it was killed."""
        pending = self.pending
        pairs, each, pair = pending.pairs, pending.each_pair, pending.pair()
        before: i64 = NONE
        member, path = out.members_upto, out.paths_upto
        width = self.between + 2
        while pair != NONE:
            if not self._killed(pair):
                if not pending.alike(pair, before):  # neighbours with all events in common are one block
                    out.close(member, path, width, LATE)
                    member, path, before = out.members_upto, out.paths_upto, pair
                    pending.tell(pair, out)
                out.add_member(pairs[pair * each])
            pair = pairs[pair * each + 3]
        out.close(member, path, width, LATE)
        pending.drop_start()
        self.alive = False

    # --- for hosts and tests ------------------------------------------------------------------------------------

    def quiet(self, time: i64) -> bool:
        return self.pending.upto == 0 and self.waiting.quiet(time)

    def live(self, handle: int, point: list[float], since: int, time: i64) -> list[tuple[int, ...]]:
        """The member's starts; no event can continue a pair."""
        return self.waiting.live(handle, point, since, time)

    def oldest(self, event: i64) -> i64:
        pending = self.pending
        if pending.upto > 0:
            event = min(event, pending.start())
        return self.waiting.oldest(event)

    def used(self, events: set[int]) -> None:
        self.waiting.used(events)
        self.pending.used(events)

    def dump(self) -> dict[str, Any]:
        """The state for a snapshot, without the members, which the host saves."""
        return {"waiting": self.waiting.dump(), "pending": list(self.pending.each())}

    def load(self, dumped: dict[str, Any]) -> None:
        self.waiting.load(dumped["waiting"])
        self.pending = PendingPairs(self.between)
        for start, deadline, pairs in dumped["pending"]:
            for handle, event, time, level, *between in pairs:
                self.pending.add(start, deadline, handle, event, time, level, between)
        self.alive = False

    def statistics(self) -> dict[str, int]:
        return {**self.waiting.statistics(), "pairs": sum(len(pairs) for _, _, pairs in self.pending.each())}

    def check_invariants(self) -> None:
        self.waiting.check_invariants()
        self.pending.check_invariants()
