"""Stamps: prevent a union from reporting a member twice for one run or event. Not here: blocks, searches."""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from .blocks import MatchBlocks
from .columns import Integers, integers, with_room_for_integers


@final
class Stamps:
    """By handle, the last run that was reported to a member.

    O(greatest handle) memory, allocated if a union needs it.
    """

    def __init__(self) -> None:
        self._last: Integers = integers()
        self._stamp: i64 = 0

    def next(self) -> None:
        """Begin another run or event, which no member was reported."""
        self._stamp += 1

    def thin(self, out: MatchBlocks, begun: i64) -> None:
        """Of the members from `begun` on, keep those without a report. O(those members)."""
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
