"""The ids of a batch's events: as they were given, or numbers one after the other, of which nobody makes objects.

Here: that. Hot. Not here: checking ids (broker.events.validation).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from mypy_extensions import i64


@final
class EventIds:
    """`given`, or `count` ids from `first` on."""

    def __init__(self, first: i64, count: i64, given: list[int] | None = None) -> None:
        self._first = first
        self._count = count
        self._given = given

    def at(self, index: i64) -> i64:
        """The id of an event. O(1)."""
        given = self._given
        if given is None:  # as one expression it would make an object of the number
            return self._first + index
        return given[index]

    def item(self, index: i64) -> int:
        """The same as an object."""
        given = self._given
        return int(self._first + index) if given is None else given[index]

    def all(self) -> list[int]:
        """All ids, made at the first call. O(events)."""
        given = self._given
        if given is None:
            given = self._given = list(range(int(self._first), int(self._first + self._count)))
        return given


NO_IDS: Final = EventIds(0, 0)


def event_ids(ids: Sequence[int]) -> EventIds:
    """Those of a caller. O(events); O(1) for a range."""
    if isinstance(ids, range) and ids.step == 1:
        return EventIds(ids.start, len(ids))
    return EventIds(0, len(ids), list(ids))
