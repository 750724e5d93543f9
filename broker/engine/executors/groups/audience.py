"""The audience of a group, which reads the rows of numbers that the group writes for a batch.

A row is the blocks of one event, each with a header of BLOCK_FIELDS: kind and order, members, paths, numbers of a path,
numbers of all paths; then the members' handles, and the paths. Handles lead to targets. When a member leaves, its
handle stays valid until no result with it can be read any more.

Here: reading rows on access. Not here: writing rows (rows), blocks (blocks).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast, final

from mypy_extensions import i64, mypyc_attr

from ....algebra.computation import Computation
from ....events.schema import Row
from ...matches.completions import EPOCHS, HEADER, MACHINES, Audience, Completions, Events, served
from ...matches.match_graph import Found
from ...matches.sources import Assigned, Expansion, Item, Matched, MatchSource, PartialMatch
from ...program.target import Target
from ..common_runs import CommonMatches
from ..packed import Integers
from .blocks import (
    COMBINED,
    KIND_BITS,
    KINDS,
    LATE,
    REPEATED,
    RUN,
    TOO_MANY,
    combined,
    counted,
    repeated,
)
from .columns import integers_from
from .epoch_runs import EpochRuns
from .kept_events import EventPage
from .selection_template import SelectionTemplate

BLOCK_FIELDS: Final = 5
MANY: Final = 1 << 31  # more steps than a pattern has


@final
class GroupAudience(Audience):
    """The targets of a group.

    `counted`: all matches of a member at one event, which have one block, are one result. `members`: targets by handle;
    those in `gone` have left. `single`: each has one subscriber; `newest`: the latest time since which one is there.
    `outputs`: the computations of a match's values, which read slots; `slots`: for each slot the step whose event it
    has. `runs`: how runs over epochs are made, if times are epochs. `orders`: if steps have
    several orders, of each the operands in that order. `selection`: the operands, if one repeats.
    """

    def __init__(
        self,
        outputs: list[Computation],
        slots: list[int],
        counted: bool = False,
        runs: EpochRuns | None = None,
        orders: list[list[int]] | None = None,
        selection: SelectionTemplate | None = None,
    ) -> None:
        super().__init__([], counted, MACHINES if runs is None else EPOCHS)
        self.single = True
        self.newest: i64 = -(1 << 62)
        self.selection = selection
        self.orders: list[list[int]] = [] if orders is None else orders
        self.runs = runs
        self.members: dict[int, Target] = {}
        self.gone: dict[int, None] = {}
        self.outputs = outputs
        self.slots = slots

    def remaining(self) -> GroupAudience:
        """Another one, without those who have left. O(members)."""
        fresh = GroupAudience(
            self.outputs, self.slots, self.compressed, self.runs, self.orders, self.selection
        )  # fmt: skip
        fresh.single, fresh.newest = self.single, self.newest
        fresh.members = {known: target for known, target in self.members.items() if known not in self.gone}
        return fresh

    def everybody(self) -> list[Target]:
        return [target for handle, target in self.members.items() if handle not in self.gone]

    def served(self) -> list[int]:
        return [0, len(self.members) - len(self.gone)]

    def total(self, found: Completions, at: i64) -> int:
        """The number of results. O(1); O(matches) over epochs, if some may be older than a subscriber."""
        matches = found.numbers[at + 5]
        if self.runs is None:
            uncounted = found.numbers[at + 2] & 3 != 0
            return self.total_of_parts(found, at) if uncounted else int(matches)
        page, own = cast(EventPage, found.pages[found.numbers[at + 2] >> 2]), found.end_of(found.numbers[at])
        if self.single and self.newest < (own if page.count == 0 else page.time(0)):  # all runs are newer
            return int(matches)
        return sum([served(target, own if run is None else run.born) for target, run in self.ended(found, at)])

    def parts(self, found: Completions, at: i64, events: Events) -> list[tuple[Target, MatchSource | None]]:
        numbers = found.numbers
        page = found.pages[numbers[at + 2] >> 2]
        row, time, item = events(int(numbers[at]))
        begin = at + HEADER
        own = numbers[begin : begin + numbers[at + 4]]
        if isinstance(page, CommonMatches):
            return [
                (target, page.of(paths, numbers[at + 3], row, time, item)) for target, paths in self._common(own)
            ]
        return BlocksFound(self, cast(EventPage, page), own, row, time, item).parts()

    def _common(self, numbers: Integers) -> list[tuple[Target, Integers]]:
        """Each member of the blocks of an event with its matches of common runs. O(members x blocks)."""
        found: dict[int, list[int]] = {}
        place: i64 = 0
        while place < len(numbers):
            path = place + BLOCK_FIELDS + numbers[place + 1]
            after = path + numbers[place + 4]
            own = [int(numbers[at]) for at in range(path, after)]
            for each in range(place + BLOCK_FIELDS, path):
                found.setdefault(int(numbers[each]), []).extend(own)
            place = after
        return [(self.members[handle], integers_from(several)) for handle, several in found.items()]

    def ended(self, found: Completions, at: i64) -> list[tuple[Target, PartialMatch | None]]:
        numbers, runs, members = found.numbers, self.runs, self.members
        assert runs is not None
        page = cast(EventPage, found.pages[numbers[at + 2] >> 2])
        ended: list[tuple[Target, PartialMatch | None]] = []
        place = at + HEADER
        end = place + numbers[at + 4]
        each: i64
        while place < end:
            kind, count, width = numbers[place], numbers[place + 2], numbers[place + 3]
            handles = place + BLOCK_FIELDS
            path = handles + numbers[place + 1]
            for _ in range(count):
                run: PartialMatch | None = None
                if kind == RUN:
                    run = found.runs[numbers[path]]
                elif width > 0:
                    run = runs.run(page, numbers, path, width)
                for each in range(handles, handles + numbers[place + 1]):
                    ended.append((members[int(numbers[each])], run))
                path += width
            place = handles + numbers[place + 1] + numbers[place + 4]
        return ended

    def values(self, rows: list[Row]) -> Row:
        """The values of a match with these events, one for each step, and further ones of an operand that repeats."""
        if len(self.outputs) == 0:
            return ()
        selection = self.selection
        if selection is not None:
            known = selection.values(rows)
            return tuple([output.value((), (), known, 0, 0) for output in self.outputs])
        slots = tuple([rows[step] if step >= 0 else () for step in self.slots])
        return tuple([output.value((), (), slots, 0, 0) for output in self.outputs])


def lists_of(numbers: Integers, block: i64) -> list[list[int]]:
    """The lists of a COMBINED or REPEATED block."""
    place, lists = block + BLOCK_FIELDS + numbers[block + 1], []
    for _ in range(numbers[block + 3]):
        length = numbers[place]
        lists.append([int(numbers[i]) for i in range(place + 1, place + 1 + length)])
        place += 1 + length
    return lists


@final
@mypyc_attr(acyclic=True)
class BlocksFound:
    """The blocks of one event, which has these values, time and item."""

    def __init__(
        self, audience: GroupAudience, page: EventPage, numbers: Integers, row: Row, time: i64, item: Item
    ) -> None:
        self.audience = audience
        self.page = page
        self.numbers = numbers
        self.row = row
        self.time = time
        self.item = item

    def parts(self) -> list[tuple[Target, MatchSource | None]]:
        """The matches of each member. O(members)."""
        numbers = self.numbers
        found: list[tuple[Target, MatchSource | None]] = []
        place: i64 = 0
        while place < len(numbers):
            handle = place + BLOCK_FIELDS
            end = handle + numbers[place + 1]
            while handle < end:
                found.append((self.audience.members[int(numbers[handle])], PathsFound(self, place)))
                handle += 1
            place = end + numbers[place + 4]
        return found


@final
@mypyc_attr(acyclic=True)
class PathsFound(Found):
    """The matches of each member of a block."""

    __slots__ = ("blocks", "place")

    def __init__(self, blocks: BlocksFound, place: i64) -> None:
        self.blocks = blocks
        self.place = place

    def amount(self) -> int:
        numbers = self.blocks.numbers
        count = numbers[self.place + 2]
        return counted(lists_of(numbers, self.place)) if count == TOO_MANY else int(count)

    def one(self) -> Matched:
        """The latest match: of each step the latest event before those of later steps. O(numbers)."""
        if not self.blocks.audience.compressed:
            return next(self.all())
        numbers, place = self.blocks.numbers, self.place
        if numbers[place] & KINDS != COMBINED:
            last = place + BLOCK_FIELDS + numbers[place + 1] + numbers[place + 4] - numbers[place + 3]
            return self._matched([int(numbers[last + i]) for i in range(numbers[place + 3])], True)
        path: list[int] = []
        for each in reversed(lists_of(numbers, place)):
            path.insert(0, next(number for number in reversed(each) if not path or number < path[0]))
        return self._matched(path, True)

    def arbitrary(self) -> bool:
        return self.blocks.audience.compressed

    def expansion(self, names: tuple[str, ...]) -> Expansion | None:
        return None if self.blocks.audience.compressed else super().expansion(names)

    def all(self) -> Iterator[Matched]:
        """All matches. O(steps x log(events kept)) each."""
        numbers, place = self.blocks.numbers, self.place
        kind = numbers[place] & KINDS
        if kind == COMBINED:
            for path in combined(lists_of(numbers, place)):
                yield self._matched(list(path), True)
            return
        if kind == REPEATED:
            for path in repeated(lists_of(numbers, place)):
                yield self._matched(list(path), True, int(numbers[place + 3]) - 2)
            return
        width = numbers[place + 3]
        at = place + BLOCK_FIELDS + numbers[place + 1]
        for _ in range(numbers[place + 2]):
            yield self._matched([int(numbers[i]) for i in range(at, at + width)], kind != LATE)
            at += width

    def _matched(self, path: list[int], completed: bool, repeats: int = MANY) -> Matched:
        """The match with these events and the current one, unless time completed it. `repeats`: the step that has all
        further events."""
        blocks = self.blocks
        page = blocks.page
        assigned: Assigned = []
        rows: list[Row] = []
        for number in path:
            at = page.place(number)
            assigned.append((min(len(rows), repeats), page.item(at), int(page.time(at))))
            rows.append(page.row(at))
        if completed:
            selection = blocks.audience.selection
            closing = repeats + 1 if selection is not None and selection.closes else repeats
            assigned.append((min(len(rows), closing), blocks.item, int(blocks.time)))
            rows.append(blocks.row)
        start, end = assigned[0][2], assigned[-1][2]
        orders = blocks.audience.orders
        if len(orders) > 0:
            operands = orders[blocks.numbers[self.place] >> KIND_BITS]
            assigned = sorted([(operands[step], item, at) for step, item, at in assigned], key=_operand)
        return Matched(assigned, start, end, blocks.audience.values(rows))


def _operand(taken: tuple[int, Item, int]) -> int:
    return taken[0]
