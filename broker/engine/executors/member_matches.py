"""Matches of groups over epochs in a batch, as numbers: a block for each event and run, with the members that have it.

Blocks become targets and runs when somebody reads results; counting them costs nothing.

Here: writing blocks, and their runs. Hot. Not here: what results make of them (epoch_matches), members (groups).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ...events.schema import Row
from ..index.intervals import Intervals
from ..program.target import Target
from .matches import Item, PartialMatch
from .packed import Integers, integers, lengthened, put_integer, roomy

FIELDS: Final = 6  # event, roster, first member, members, first event of the path or number of the run, events
RUN: Final = -1  # instead of a count of events: the run is an object
ALONE: Final = 0  # the event matches alone


class Roster:
    """The members of a group by handle; they stay readable while results refer to them.

    `single`: each member has one subscriber; `feeding`: a member makes a stream. `newest`: the latest time since which
    a member's subscriber is there.
    """

    def __init__(self) -> None:
        self.single = True
        self.feeding = False
        self.newest: i64 = -(1 << 62)

    def target(self, handle: int) -> Target:
        """The target of a member."""
        raise AssertionError

    def run(self, path: EventPath, first: i64, count: i64) -> PartialMatch:
        """The run that has taken these events of a path. O(events)."""
        raise AssertionError


@final
class Ends(Roster):
    """The targets of one place by number. The list must not change."""

    def __init__(self, targets: list[Target]) -> None:
        super().__init__()
        self.targets = targets
        for target in targets:
            if target.others is not None:
                self.single = False
            elif target.first is not None and target.first.since > self.newest:
                self.newest = target.first.since

    def target(self, handle: int) -> Target:
        return self.targets[handle]


def ends_of(members: Intervals[Target]) -> Ends:
    """Those of the members of a family, as they are now. O(members) after a change, else O(1)."""
    kept = members.kept
    if isinstance(kept, Ends):
        return kept
    made = members.kept = Ends(members.lent())
    return made


@final
class EventPath:
    """Events in columns."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.items: list[Item] = []
        self.starts: Integers = integers()
        self.times: Integers = integers()

    def add(self, row: Row, item: Item, start: i64, time: i64) -> None:
        at: i64 = len(self.rows)
        self.starts = put_integer(self.starts, at, start)
        self.times = put_integer(self.times, at, time)
        self.rows.append(row)
        self.items.append(item)


@final
class MemberMatches:
    """Blocks up to `upto`, with `total` matches, of which `listed` have their members in the column. `counted`: each
    match is one result. Those below `by_key` are of machines that have seen all events before other parts of the
    program: of an event, they come last.

    `path`: the events of runs; write them before the block.
    """

    def __init__(self) -> None:
        self.upto: i64 = 0
        self.by_key: i64 = 0
        self.total: i64 = 0
        self.listed: i64 = 0
        self.counted = True
        self.blocks: Integers = integers()
        self.members: Integers = integers()
        self.path = EventPath()
        self.runs: list[PartialMatch] = []
        self.rosters: list[Roster] = []
        self._roster: Roster | None = None

    def reserve(self, blocks: i64, members: i64) -> None:
        """Have room for so many numbers of blocks, and members."""
        if len(self.blocks) < blocks:
            self.blocks = lengthened(self.blocks, blocks)
        if len(self.members) < members:
            self.members = lengthened(self.members, members)

    def add(
        self, event: i64, roster: Roster, born: i64, members: Integers, first: i64, count: i64, path: i64, width: i64
    ) -> None:
        """Add a block: `count` members from a place of a column have a match that began at `born`. O(members)."""
        begin = self.listed
        if len(self.members) < begin + count:
            self.members = roomy(self.members, begin + count)
        own = self.members
        j: i64
        for j in range(count):
            own[begin + j] = members[first + j]
        self.listed = begin + count
        if self._roster is not roster:
            self._roster = roster
            self.rosters.append(roster)
        if born <= roster.newest or not roster.single:
            self.counted = False
        at = self.upto
        if len(self.blocks) < at + FIELDS:
            self.blocks = roomy(self.blocks, at + FIELDS)
        blocks = self.blocks
        blocks[at] = event
        blocks[at + 1] = len(self.rosters) - 1
        blocks[at + 2] = begin
        blocks[at + 3] = count
        blocks[at + 4] = path
        blocks[at + 5] = width
        self.total += count
        self.upto = at + FIELDS

    def targets(self, block: i64) -> list[Target]:
        """The targets of a block's members, in their order. O(members)."""
        blocks, roster = self.blocks, self.rosters[self.blocks[block + 1]]
        members, first = self.members, blocks[block + 2]
        found: list[Target] = []
        j: i64
        for j in range(first, first + blocks[block + 3]):
            found.append(roster.target(int(members[j])))
        return found

    def arrange(self) -> None:
        """Put the blocks in the order of their events; those of one event keep theirs, but for `by_key`.
        O(blocks log blocks)."""
        blocks = self.blocks
        arranged = blocks[:]
        to: i64 = 0
        j: i64
        for place in sorted(range(0, int(self.upto), FIELDS), key=self._order_of):
            for j in range(FIELDS):
                arranged[to + j] = blocks[place + j]
            to += FIELDS
        self.blocks = arranged
        self.by_key = 0

    def _order_of(self, place: int) -> int:
        return 2 * int(self.blocks[place]) + (1 if place < self.by_key else 0)

    def run(self, block: i64) -> PartialMatch | None:
        """The run of a block; None if its event matches alone."""
        at, width = self.blocks[block + 4], self.blocks[block + 5]
        if width == ALONE:
            return None
        if width == RUN:
            return self.runs[at]
        return self.rosters[self.blocks[block + 1]].run(self.path, at, width)
