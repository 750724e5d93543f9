"""The streams that wait for each other, with their events that are not final.

Not here: which ones these are (related), their promises (watermarks), what becomes of their events (reordering).
"""

from __future__ import annotations

from typing import Any, Final, final

from ...events.instant import FOREVER
from ..dispatch.time_order import TimeOrder
from ..results import results_of_moment
from .buffer import ReorderBuffer

NOTHING_PROMISED: Final = -FOREVER


@final
class StreamOrder:
    """`late` are its streams with disorder, `punctual` those in order of arrival: without the former, nothing waits.

    `time`: how far it has come in the dispatcher. `safe`: no event before that time comes or is withdrawn; `before` is
    that before a promise. `floors`: of streams that have been in another order, what was safe there. `last`: the stream
    whose promise is the least. `ahead`: events that are too far ahead of the safe time for those that revise (AFA,
    5.3).
    """

    def __init__(self, time: TimeOrder) -> None:
        self.time = time
        self.late: dict[str, None] = {}
        self.punctual: dict[str, None] = {}
        self.safe = self.before = NOTHING_PROMISED
        self.floors: dict[str, int] = {}
        self.last: str | None = None
        self.buffer = ReorderBuffer()
        self.ahead = ReorderBuffer()

    def streams(self) -> list[str]:
        return [*self.late, *self.punctual]

    def follow(self, others: list[StreamOrder]) -> None:
        """Begin where that one is which has come least far, as the others' events before then have gone, and take what
        waits of its streams."""
        times = [other.time for other in others]
        self.time.now = _earliest([time.now for time in times])
        self.time.promised = _earliest([time.promised for time in times])
        self.time.results = max(times, key=_newest).results
        self.safe = min(other.safe for other in others)
        for other in others:
            self.adopt(other)

    def adopt(self, other: StreamOrder) -> None:
        """Take its streams' events, and what they must not fall back behind."""
        for stream in self.streams():
            if stream in other.late or stream in other.punctual:
                self.floors[stream] = max(other.safe, other.floors.get(stream, NOTHING_PROMISED))
        for own, buffer in ((self.buffer, other.buffer), (self.ahead, other.ahead)):
            own.adopt(buffer, self.streams())

    def dump(self) -> Any:
        """Plain data, without the events."""
        time = self.time
        tally = {} if time.results is None else time.results.tally_after(time.now)
        counts = [[*entry, count] for entry, count in tally.items()]
        return [self.safe, time.now, time.promised, counts, list(self.floors.items())]

    def load(self, data: Any, waiting: list[Any]) -> None:
        """The inverse; `waiting`: the events of both buffers."""
        self.safe, now, promised, tally, floors = data
        self.floors = dict(floors)
        self.time.now, self.time.promised = now, promised
        counts = {(name, branch, trace): count for name, branch, trace, count in tally}
        self.time.results = None if now is None else results_of_moment(now, counts)
        for buffer, events in zip((self.buffer, self.ahead), waiting, strict=True):
            buffer.load(events)


def _newest(time: TimeOrder) -> int:
    return NOTHING_PROMISED if time.now is None else time.now


def _earliest(times: list[int | None]) -> int | None:
    known = [time for time in times if time is not None]
    return min(known) if len(known) == len(times) else None
