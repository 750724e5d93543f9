"""The points of members by handle, for groups that look for their members in several places.

Here: these columns. Hot. Not here: the search for members that an event satisfies (members).
"""

from __future__ import annotations

from typing import final

from mypy_extensions import i64

from .columns import Floats, Integers, floats, integers, with_room, with_room_for_integers


@final
class MemberPoints:
    """`points`: `d` coordinates each; `since`: the number of the event from which on events count for the member."""

    def __init__(self, d: i64) -> None:
        self.d: i64 = d
        self.points: Floats = floats()
        self.since: Integers = integers()

    def put(self, handle: int, point: list[float], since: int) -> None:
        """Note a member. O(coordinates), amortised."""
        at: i64 = handle
        self.since = with_room_for_integers(self.since, at + 1)
        self.since[at] = since
        at *= self.d
        self.points = with_room(self.points, at + self.d)
        for value in point:
            self.points[at] = value
            at += 1
