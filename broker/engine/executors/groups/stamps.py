"""Stamps: what keeps a union from telling a member of one run, or one event, twice. Not here: blocks, questions."""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from .blocks import MatchBlocks
from .columns import Integers, integers, with_room_for_integers


@final
class Stamps:
    """By handle, the last run that a member was told of. O(greatest handle) memory, made where a union needs it."""

    def __init__(self) -> None:
        self._last: Integers = integers()
        self._stamp: i64 = 0

    def next(self) -> None:
        """Another run, or event: nobody was told of it."""
        self._stamp += 1

    def thin(self, out: MatchBlocks, begun: i64) -> None:
        """Of the members behind there keep those that were not told. O(them)."""
        members, kept, stamp = out.members, begun, self._stamp
        i: i64
        for i in range(begun, out.members_upto):
            handle = members[i]
            if handle >= len(self._last):
                self._last = with_room_for_integers(self._last, handle + 1)
            if self._last[handle] != stamp:
                self._last[handle] = stamp
                members[kept] = handle
                kept += 1
        out.members_upto = kept
