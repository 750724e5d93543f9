"""Arcs while updates are applied one after the other: the times that are left of each.

An update costs as much as the arcs that it changes, not as all that there have been, so that many are applied again in
time linear in their number. Here: that. Not here: what an update is (arc_updates), arcs as texts (languages).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, final

from sortedcontainers import SortedList

from .automaton import Arc


def pieces_without(arc: Arc, begin: int, end: int) -> tuple[Arc, ...]:
    """What is left of an arc that is not there for the events of [begin, end)."""
    if arc.end <= begin or arc.begin >= end:
        return (arc,)
    rests = (replace(arc, end=min(arc.end, begin)), replace(arc, begin=max(arc.begin, end)))
    return tuple([rest for rest in rests if rest.begin < rest.end])


@final
class ArcPieces:
    """`pieces`: what is left of each arc, in the order of the arcs, the earlier times of an arc before the later."""

    def __init__(self, arcs: Iterable[Arc]) -> None:
        self.pieces: list[list[Arc]] = []
        self._named: dict[str, Any] = {}  # by name, the numbers of arcs of which something is left, by their last ends
        for arc in arcs:
            self.insert(arc)

    def insert(self, arc: Arc) -> None:
        """Add an arc behind all others. O(log arcs of its name)."""
        if arc.name:
            self._named.setdefault(arc.name, SortedList()).add((arc.end, len(self.pieces)))
        self.pieces.append([arc])

    def delete(self, name: str, begin: int, end: int) -> None:
        """Let the arcs of that name be absent for the events of [begin, end).

        O(log pieces) for each of them that is there at `begin` or later, and O(pieces that change).
        """
        named = self._named.get(name)
        if named is None:
            return
        for ended, number in list(named.irange((begin + 1, -1))):
            pieces = self.pieces[number]
            first = bisect_right(pieces, begin, key=_end)
            upto = bisect_left(pieces, end, key=_begin)
            if first >= upto:
                continue
            pieces[first:upto] = [left for piece in pieces[first:upto] for left in pieces_without(piece, begin, end)]
            named.remove((ended, number))
            if pieces:
                named.add((pieces[-1].end, number))

    def arcs(self) -> tuple[Arc, ...]:
        """All that is left. O(that, and arcs)."""
        return tuple([piece for pieces in self.pieces for piece in pieces])


def _begin(arc: Arc) -> int:
    return arc.begin


def _end(arc: Arc) -> int:
    return arc.end
