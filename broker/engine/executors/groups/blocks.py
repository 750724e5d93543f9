"""Match blocks: products of members and paths. Counting and forwarding one costs O(1); matches are made when read.

A path is the numbers of the events of a run, without the event that completes it. A block belongs to one event, and is
one of - PRODUCT: each of its members has a match with each of its paths; - COMBINED: one member, and a list of
numbers for each step before the last: a match takes one of each, ascending; - REPEATED: one member, and a list of
numbers for each step before the last and one of further events: a match takes those at one place of the lists, and of
the last list all that are behind them; - RUN: its members have a match with a run that knows its own events, at this
place of `runs`; - LATE: a product that time completed; the event is the first later one, and not part of the path. If
the runs are common ones (common_runs), a path is the number of one of their matches, and each part of the blocks has a
page, which are these.

The blocks of an event are in the order of the law, a subscription's matches oldest first (notes on columns, 4).

Here: writing blocks, and the combinations of lists. Hot. Not here: the meaning of a member (the host's handles).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, final

from mypy_extensions import i64

from ...matches.sources import PartialMatch
from ..common_runs import CommonMatches
from .columns import Floats, Integers, floats, integers, put_integer, with_room, with_room_for_integers

PRODUCT: Final = 0
COMBINED: Final = 1
LATE: Final = 2
RUN: Final = 3
REPEATED: Final = 4
KIND_BITS: Final = 3  # of a kind
KINDS: Final = 7

FIELDS: Final = 8  # event, order, kind, first member, members, first number of paths, paths, numbers a path
PART_FIELDS: Final = 3
TOO_MANY: Final = -1  # instead of a count: it is computed on access
LARGE: Final = 2.0**62


@final
class MatchBlocks:
    """The completions of a batch. A host sets `event` before it passes an event to a mechanism.

    `order`: which of the template's orders the steps of the next block's matches have. `pages`: of each part, if the
    runs are common ones; `parts`: of each the first block, how many matches come before it, and its `upto`.
    """

    def __init__(self) -> None:
        self.event: i64 = 0
        self.order: i64 = 0
        self.members: Integers = integers()
        self.members_upto: i64 = 0
        self.paths: Integers = integers()
        self.paths_upto: i64 = 0
        self.blocks: Integers = integers()
        self.upto: i64 = 0
        self.total: i64 = 0  # matches, without blocks of TOO_MANY
        self.pages: list[CommonMatches] = []
        self.parts: Integers = integers()
        self.runs: list[PartialMatch] = []
        self.hits: Floats = floats()  # the points that the last search found, each with its `since`
        self.hits_since: Integers = integers()

    def clear(self) -> None:
        """Drop all blocks. O(1)."""
        self.members_upto = self.paths_upto = self.upto = self.total = 0
        if len(self.pages) > 0:
            self.pages = []
        if len(self.runs) > 0:
            self.runs = []

    def room_for_members(self, count: i64) -> Integers:
        """The column of members with room for `count` more behind `members_upto`."""
        if len(self.members) < self.members_upto + count:
            self.members = with_room_for_integers(self.members, self.members_upto + count)
        return self.members

    def room_for_paths(self, count: i64) -> Integers:
        """The column of paths with room for `count` more numbers behind `paths_upto`."""
        if len(self.paths) < self.paths_upto + count:
            self.paths = with_room_for_integers(self.paths, self.paths_upto + count)
        return self.paths

    def add_hit(self, points: Floats, base: i64, d: i64, hit: i64, since: i64) -> None:
        """Keep a copy of a point that was found, which is there from `base` on."""
        if len(self.hits) < (hit + 1) * d:
            self.hits = with_room(self.hits, (hit + 1) * d)
        self.hits_since = put_integer(self.hits_since, hit, since)
        hits = self.hits
        j: i64
        for j in range(d):
            hits[hit * d + j] = points[base + j]

    def add_member(self, handle: i64) -> None:
        members = self.room_for_members(1)
        members[self.members_upto] = handle
        self.members_upto += 1

    def add_number(self, number: i64) -> None:
        paths = self.room_for_paths(1)
        paths[self.paths_upto] = number
        self.paths_upto += 1

    def close(self, member: i64, path: i64, width: i64, kind: i64 = PRODUCT) -> None:
        """Complete a product of the members and the paths that were written from these positions on."""
        members = self.members_upto - member
        count = (self.paths_upto - path) // width if width != 1 else self.paths_upto - path
        if members > 0 and count > 0:
            self._write(kind, member, members, path, count, width)
            self.total += members * count

    def close_one(self, member: i64, path: i64, count: i64, width: i64, kind: i64 = PRODUCT) -> None:
        """Complete a block: the member at that position has a match with each of `count` paths from `path` on."""
        self._write(kind, member, 1, path, count, width)
        self.total += count

    def close_alone(self, member: i64) -> None:
        """Complete a block: the members written from that position on match the event alone."""
        members = self.members_upto - member
        if members > 0:
            self._write(PRODUCT, member, members, self.paths_upto, 1, 0)
            self.total += members

    def close_run(self, member: i64, run: PartialMatch) -> None:
        """Complete a block: the members written from that position on have a match with a run."""
        members = self.members_upto - member
        self._write(RUN, member, members, len(self.runs), 1, 0)
        self.runs.append(run)
        self.total += members

    def close_combined(self, member: i64, path: i64, steps: i64, count: i64) -> None:
        """Complete a COMBINED block of that member and the lists from `path` on, each after its length."""
        self._write(COMBINED, member, count, path, 1, steps)
        if count != TOO_MANY:
            self.total += count

    def close_repeated(self, member: i64, path: i64, count: i64, lists: i64) -> None:
        """Complete a REPEATED block of that member with so many matches, and the lists from `path` on, each after its
        length."""
        self._write(REPEATED, member, 1, path, count, lists)
        self.total += count

    def _write(self, kind: i64, member: i64, members: i64, path: i64, count: i64, width: i64) -> None:
        at = self.upto
        if len(self.blocks) < at + FIELDS:
            self.blocks = with_room_for_integers(self.blocks, at + FIELDS)
        blocks = self.blocks
        blocks[at] = self.event
        blocks[at + 1] = self.order
        blocks[at + 2] = kind
        blocks[at + 3] = member
        blocks[at + 4] = members
        blocks[at + 5] = path
        blocks[at + 6] = count
        blocks[at + 7] = width
        self.upto = at + FIELDS

    def part(self, page: CommonMatches, upto: i64, block: i64, total: i64) -> None:
        """Give the blocks from `block` on, before which there are so many matches, a page of common runs."""
        at: i64 = PART_FIELDS * len(self.pages)
        parts = self.parts = with_room_for_integers(self.parts, at + PART_FIELDS)
        parts[at], parts[at + 1], parts[at + 2] = block, total, upto
        self.pages.append(page)


def combined(lists: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """One number of each list, ascending; in the order of the first numbers, then of the second, ..."""
    if not lists:
        yield ()
        return
    for first in lists[0]:
        for rest in combined(lists[1:]):
            if not rest or first < rest[0]:
                yield (first, *rest)


def repeated(lists: list[list[int]]) -> Iterator[tuple[int, ...]]:
    """The numbers at each place of all lists but the last, and behind them those of the last that are greater."""
    *firsts, further = lists
    at = 0
    for each in zip(*firsts):
        while at < len(further) and further[at] <= each[-1]:
            at += 1
        yield (*each, *further[at:])


def counted(lists: list[list[int]]) -> int:
    """The number of combinations that `combined` makes; exact. O(all lengths)."""
    before: list[tuple[int, int]] = [(-1, 1)]  # number, combinations that end there
    for each in lists:
        ways, at, found = 0, 0, []
        for number in each:
            while at < len(before) and before[at][0] < number:
                ways += before[at][1]
                at += 1
            found.append((number, ways))
        before = found
    return sum(ways for _, ways in before)
