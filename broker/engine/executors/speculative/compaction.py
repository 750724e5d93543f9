"""Compaction: the nodes of the blocks that are still there move to the front of new columns, and so do their links.

Blocks that lie in one place, because all runs ignored an event, still do afterwards. Hot. Not here: when (speculation).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ..packed import Integers, roomy
from .arena import NONE, Arena, Records, zeros
from .changes import Changes
from .timeline import Timeline


@final
class Compaction:
    """One compaction of an arena: its nodes move to `moved`, which has the same layout, and then the two change
    columns."""

    def __init__(self, arena: Arena, moved: Arena) -> None:
        self.arena = arena
        self.moved = moved
        moved.count = 0
        self.copies: list[Records] = []  # runs that wait, and results
        self._from: i64 = -1  # the block that was moved last, and where it is now
        self._count: i64 = 0
        self._to: i64 = 0
        moved.append(arena, 0, 1)

    def line(self, timeline: Timeline) -> None:
        """Move the blocks of one timeline. O(its events and nodes)."""
        if timeline.runs is not None and timeline.runs.count > 0:
            self.copies.append(timeline.runs)
        timeline.kept = self._block(timeline.kept, timeline.cleaned)
        entries = timeline.entries
        i: i64
        for i in range(len(entries)):
            entry = entries[i]
            entry.first = self._block(entry.first, entry.count)

    def _block(self, first: i64, count: i64) -> i64:
        if count == 0:
            return 0
        if first == self._from and count == self._count:
            return self._to
        self._from, self._count = first, count
        self._to = self.moved.append(self.arena, first, count)
        return self._to

    def finish(self, changes: Changes) -> None:
        """Move the links, and let the arena have the new columns. O(links)."""
        arena, moved = self.arena, self.moved
        words, numbers, objects, room = arena.words, arena.numbers, arena.objects, arena.room
        arena.words, arena.numbers, arena.objects = moved.words, moved.numbers, moved.objects
        arena.count, arena.room = moved.count, moved.room
        moved.words, moved.numbers, moved.objects, moved.room = words, numbers, objects, room
        self.copies += [changes, arena]
        self._links()
        if changes.left > 0:  # some are shown, and more will be
            changes.links = arena.links

    def _links(self) -> None:
        """Mark the links that nodes and copies lead to, and close the gaps; a link is behind those before it."""
        arena = self.arena
        links = arena.links
        moved = self.moved
        if len(moved.links) < arena.linked:
            moved.links = roomy(moved.links, arena.linked)
        places = moved.links
        i: i64
        for i in range(arena.linked):
            places[i] = NONE
        stride, link = arena.layout.stride, arena.layout.link
        for records in self.copies:
            for i in range(records.count):
                mark(links, places, records.words[i * stride + link])
        kept = zeros(2 * arena.linked)  # changes that are not read yet have the old ones
        to: i64 = 0
        for i in range(arena.linked):
            if places[i] == NONE:
                continue
            before = links[2 * i]
            kept[2 * to] = before if before < 0 else places[before]
            kept[2 * to + 1] = links[2 * i + 1]
            places[i] = to
            to += 1
        arena.linked = to
        arena.links = kept
        for records in self.copies:
            for i in range(records.count):
                relink(records.words, i * stride + link, places)


def mark(links: Integers, places: Integers, link: i64) -> None:
    while link >= 0 and places[link] == NONE:
        places[link] = 0
        link = links[2 * link]


def relink(words: Integers, at: i64, places: Integers) -> None:
    if words[at] >= 0:
        words[at] = places[words[at]]
