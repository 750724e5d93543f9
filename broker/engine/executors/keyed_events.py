"""A batch in the order of its keys: the events of each key are linked, so that a machine can process them together.

Here: the batch and its links. Hot. Not here: finding the machines of a key (dispatch.keyed).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ...events.schema import Row
from .matches import Item
from .packed import Integers, integers, roomy

NO_EVENT: Final = -1


@final
class KeyedEvents:
    """The events of a batch by their index. `following`: the next event of the same key, or NO_EVENT.

    `at`: the event that a machine has come to. `position`: the count of events before the batch, in its lane; `places`:
    the number of each event in its partition, 0 if it has none.
    """

    def __init__(self, times: list[int], rows: list[Row], items: list[Item], starts: list[int]) -> None:
        self.times = times
        self.rows = rows
        self.items = items
        self.starts = starts
        self.following: Integers = roomy(integers(), len(times))
        self.places: Integers = roomy(integers(), len(times))
        self.position: i64 = 0
        self.at: i64 = NO_EVENT

    def after(self, time: i64) -> i64:
        """The first event later than a time, which must exist. O(log)."""
        times = self.times
        low: i64 = 0
        high: i64 = len(times) - 1
        while low < high:
            middle = (low + high) >> 1
            if times[middle] > time:
                high = middle
            else:
                low = middle + 1
        return low
