"""A negation at the end: `a, b, ~n` WITHIN w of a, or with more steps. Pairs of the first and the last event, which may
have events in between, wait until time has passed the deadline of their start: then they are matches, unless something
that is forbidden behind them has come in between.

Another cell (next_match) completes the pairs. They are kept with their start, because starts are in the order of their
deadlines. What kills is only noted, with its text, in the order of time: a due pair asks whether the newest such event
that concerns its member is later than its last event. Times are compared, not positions. What comes at the time of the
last event does not kill, what comes at the deadline does (notes on Kleene runs, 5).

The host calls `advance` for a time before it passes an event of that time, at the latest when time has passed `due`.

Here: what waits, and when it is told. Hot. Not here: which pairs there are, and what lies with a text (next_match).
"""

from __future__ import annotations

from typing import Any, final

from mypy_extensions import i64

from ....events.instant import FOREVER
from ....events.schema import Row
from .blocks import FIELDS, LATE, MatchBlocks
from .cell import GroupCell
from .members import Members
from .next_match import NextMatchCell
from .next_match_template import NextMatchTemplate
from .pending_pairs import NONE, PendingPairs


@final
class LatePairsCell(GroupCell):
    """`waiting`: the cell that completes pairs, with the same members; `found`: scratch for what an event completes
    there; `within`: how long after its start a pair is due; `between`: how many events it has between its first and its
    last one. `alive`: whether the first pair of the oldest start is known to be a match so far."""

    def __init__(self, template: NextMatchTemplate, members: Members) -> None:
        super().__init__(members)
        self.template = template
        self.waiting = NextMatchCell(template, members)
        self.within: i64 = template.within
        self.between: i64 = len(template.further)
        self.pending = PendingPairs(self.between)
        self.found = template.completed
        self.alive = False

    def take(self, row: Row, time: i64, event: i64, out: MatchBlocks) -> None:
        """Process an event. As in the cell that completes pairs, and O(1) for each of these."""
        self.advance(time, out)
        waiting, found = self.waiting, self.found
        found.clear()
        waiting.take(row, time, event, found)
        if found.upto > 0:
            self._hang(time, event)
            self.noted = event
        elif waiting.noted > self.noted:
            self.noted = waiting.noted
        if waiting.forbade == event:
            self.alive = False

    def _hang(self, time: i64, event: i64) -> None:
        """Keep the pairs in `found`, which an event has completed, with their starts. O(pairs), and log starts for
        each."""
        found, pending, within, beginnings = self.found, self.pending, self.within, self.waiting.logs.begins
        block: i64 = 0
        while block < found.upto:
            place, first, count = found.blocks[block + 3], found.blocks[block + 5], found.blocks[block + 6]
            block += FIELDS
            handle = found.members[place]
            pending.add_all(beginnings.of(handle).starts, within, found.paths, first, count, handle, event, time)

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
        """Whether a pair is no match: something has killed it, or its member has left. O(blocks of what kills)."""
        pairs, place, template = self.pending.pairs, pair * self.pending.each_pair, self.template
        handle = pairs[place]
        return handle == NONE or template.forbidden(self.waiting.logs, template.steps, handle, pairs[place + 2], True)

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
            for handle, event, time, *between in pairs:
                self.pending.add(start, deadline, handle, event, time, between)
        self.alive = False

    def check_invariants(self) -> None:
        self.waiting.check_invariants()
        self.pending.check_invariants()
