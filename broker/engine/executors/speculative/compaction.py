"""Compaction: the nodes of the blocks that are still there move to the front of new columns, and so do their links.

Blocks that lie in one place, because all runs ignored an event, still do afterwards. Hot. Not here: when (speculation).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from ..packed import Integers
from .arena import NONE, Arena, Layout, unknowns
from .changes import Changes
from .timeline import Timeline


@final
class Compaction:
    """One compaction of an arena; `moved` to a new one with the same layout."""

    def __init__(self, arena: Arena) -> None:
        self.arena = arena
        self.moved = Arena(arena.layout)
        self._from: i64 = -1  # the block that was moved last, and where it is now
        self._count: i64 = 0
        self._to: i64 = 0
        self._move(0, 1)

    def line(self, timeline: Timeline) -> None:
        """Move the blocks of one timeline. O(its events and nodes)."""
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
        self._to = self._move(first, count)
        return self._to

    def _move(self, first: i64, count: i64) -> i64:
        """Copy nodes that follow each other to the end of the new arena."""
        before, after = self.arena, self.moved
        layout: Layout = before.layout
        to = after.top
        after.reserve(to + count)
        words, others = after.words, before.words
        stride = layout.stride
        i: i64
        for i in range(count * stride):
            words[to * stride + i] = others[first * stride + i]
        if layout.floats > 0:
            numbers, kept = after.numbers, before.numbers
            for i in range(count * layout.floats):
                numbers[to * layout.floats + i] = kept[first * layout.floats + i]
        for i in range(count * layout.objects):
            after.objects[to * layout.objects + i] = before.objects[first * layout.objects + i]
        after.top = to + count
        return to

    def finish(self, changes: Changes) -> None:
        """Move the links, and let the arena have the new columns. O(links)."""
        arena, moved = self.arena, self.moved
        arena.words, arena.numbers, arena.objects = moved.words, moved.numbers, moved.objects
        arena.top, arena.room = moved.top, moved.room
        self._links(changes)

    def _links(self, changes: Changes) -> None:
        """Mark the links that nodes and changes lead to, and close the gaps; a link is behind those before it."""
        arena = self.arena
        links = arena.links
        places = unknowns(arena.linked)
        stride, link = arena.layout.stride, arena.layout.link
        i: i64
        for i in range(arena.top):
            mark(links, places, arena.words[i * stride + link])
        for i in range(changes.count):
            mark(links, places, changes.words[i * stride + link])
        if arena.linked > 0:
            places[0] = 0  # that of runs without lineage
        to: i64 = 0
        for i in range(arena.linked):
            if places[i] == NONE:
                continue
            before = links[2 * i]
            links[2 * to] = before if before < 0 else places[before]
            links[2 * to + 1] = links[2 * i + 1]
            places[i] = to
            to += 1
        arena.linked = to
        for i in range(arena.top):
            relink(arena.words, i * stride + link, places)
        for i in range(changes.count):
            relink(changes.words, i * stride + link, places)


def mark(links: Integers, places: Integers, link: i64) -> None:
    while link >= 0 and places[link] == NONE:
        places[link] = 0
        link = links[2 * link]


def relink(words: Integers, at: i64, places: Integers) -> None:
    if words[at] >= 0:
        words[at] = places[words[at]]
