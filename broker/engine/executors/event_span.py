"""A span: events of one stream that a machine gets by one call, in order; all of a batch, those of one key, or one.

Here: the events and their links. Hot. Not here: finding the machines of an event (dispatch).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ...events.batch import Batch, batch_of_rows
from ...events.schema import Row
from ..matches.sources import Item
from .event_ids import NO_IDS, EventIds
from .packed import Integers, integers, integers_of, lengthened

NO_EVENT: Final = -1


@final
class EventSpan:
    """Events by their index in a batch. `following`: the one behind each, or NO_EVENT.

    `at`: the event that comes next, NO_EVENT behind the last one. `masks`: the inputs that each event satisfies.
    `position`: the count of events before the batch, in its lane; `places`: the number of each event in its partition,
    0 if it has none. `stream`: the number of their stream in the lane. `first`: the number that the batch's first event
    has among those of the results. `rows` and `items` are made when somebody reads them. `moved`: an event may have
    changed the machine's state. `symbols`: where the span has one event, the numbers of all conditions of machines
    that it satisfies.
    """

    def __init__(self, times: list[int], batch: Batch, ids: EventIds) -> None:
        self.times = times
        self.batch = batch
        self.ids = ids
        self.rows: list[Row] = []
        self.items: list[Item] = []
        self.following: Integers = lengthened(integers(), len(times))
        self.places: Integers = lengthened(integers(), len(times))
        self.masks: Integers = integers()
        self.position: i64 = 0
        self.stream: i64 = 0
        self.first: i64 = 0
        self.at: i64 = NO_EVENT
        self.moved = False
        self.symbols: list[int] = []

    def read(self) -> None:
        """Make the rows and the items. O(values) at the first call."""
        if len(self.rows) == 0:
            self.rows, self.items = self.batch.rows(), self.ids.all()

    def link_all(self) -> None:
        """Link all events, one behind the other. O(events)."""
        at: i64
        following = self.following
        for at in range(len(self.times)):
            following[at] = at + 1
        following[len(self.times) - 1] = NO_EVENT

    def go_to(self, at: i64) -> None:
        """Go on with this event of all, or behind the last one."""
        self.at = at if at < len(self.times) else NO_EVENT

    def after(self, time: i64) -> i64:
        """The first event of the batch later than a time, which must exist. O(log)."""
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


def span_of_one() -> EventSpan:
    """A span for one event after the other."""
    span = EventSpan([0], batch_of_rows([()]), NO_IDS)
    span.rows, span.items, span.masks = [()], [None], integers_of([0])
    span.following[0] = NO_EVENT
    return span
