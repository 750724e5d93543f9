"""When events are final: the promises of streams that no earlier event follows (AFA, 2.2).

The *mark* of a stream is the time before which it brings and withdraws no event any more: the newest punctuation of it
or of all streams, or `lateness` before its newest event, whichever is later; for a stream without disorder, the time of
the newest event of all such streams. A stream takes part from its first event or punctuation on. An event is *safe*
once the marks of all streams of its order that take part have passed it; what is safe stays safe.

Here: these times. Not here: the events (buffer), which streams share an order (related).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, final

from ...events.instant import FOREVER
from ...events.stream import StreamDefinition
from .stream_order import NOTHING_PROMISED, StreamOrder

IN_ORDER: Final = ""
"""Instead of a name: all streams without disorder."""


@final
class Watermarks:
    """`marks`: by stream, what it has promised; `arrived`: of streams without disorder, their newest event, and under
    IN_ORDER that of all. `promised`: the newest punctuation of all streams; `newest`: the time of the newest event;
    -FOREVER before any."""

    def __init__(self, streams: Mapping[str, StreamDefinition], order_of: Callable[[str], StreamOrder]) -> None:
        self.streams = streams
        self.order_of = order_of
        self.promised = NOTHING_PROMISED
        self.newest = NOTHING_PROMISED
        self.marks: dict[str, int] = {}
        self.arrived: dict[str, int] = {}

    def floor(self, stream: str) -> int:
        """The time before which an event of the stream is late."""
        order = self.order_of(stream)
        own = max(self.promised, order.safe, self.marks.get(stream, NOTHING_PROMISED))
        if stream in order.punctual:
            own = max(own, self.arrived.get(IN_ORDER, NOTHING_PROMISED))
        return max(own, order.floors.get(stream, NOTHING_PROMISED))

    def safe(self, stream: str) -> int:
        """No event before that time comes, or is withdrawn, of the streams in the order of this one."""
        return self.order_of(stream).safe

    def lag(self, stream: str) -> int:
        """How long before the newest event of the stream an event may come; FOREVER if any time before it."""
        definition = self.streams[stream]
        if definition.disorder == "arrival":
            return 0
        return FOREVER if definition.lateness is None else definition.lateness

    def begin(self, stream: str) -> None:
        """A stream has got an event, whatever it says, and takes part."""
        order = self.order_of(stream)
        if stream in order.late and stream not in self.marks:
            self.marks[stream], order.last = NOTHING_PROMISED, None

    def note(self, stream: str, time: int) -> bool:
        """An event of a stream has come. Returns whether more may be safe in its order. O(1)."""
        self.newest = max(self.newest, time)
        order = self.order_of(stream)
        if stream in order.punctual:
            begun = stream in self.arrived
            self.arrived[stream] = self.arrived[IN_ORDER] = time
            return not begun or order.last is None or order.last in order.punctual
        lag, before = self.lag(stream), self.marks.get(stream, NOTHING_PROMISED)
        mark = NOTHING_PROMISED if lag >= FOREVER else time - lag
        if mark <= before:
            return False
        self.marks[stream] = mark
        return order.last in (None, stream)

    def promise(self, time: int, stream: str | None) -> None:
        """A punctuation of one stream or of all."""
        if stream is None:
            self.promised = max(self.promised, time)
        else:
            self.marks[stream] = max(self.marks.get(stream, NOTHING_PROMISED), time)

    def advance(self, order: StreamOrder) -> bool:
        """Take the marks of an order. Returns whether more events are safe in it. O(its streams)."""
        least, order.last = self._least(order)
        safe = max(self.promised, least)
        if safe <= order.safe:
            return False
        order.safe = safe
        return True

    def _least(self, order: StreamOrder) -> tuple[int, str | None]:
        """The least mark of the streams that take part, and the first stream that has it."""
        marks, arrived = self.marks, self.arrived
        least, last = FOREVER, None
        begun = 0
        for stream in order.late:
            mark = marks.get(stream)
            begun += mark is not None
            if mark is not None and mark < least:
                least, last = mark, stream
        own = [stream for stream in order.punctual if stream in arrived or stream in marks]
        if own:
            # The events of all such streams come in one order; but one with disorder that has not begun, waits for none
            # but its own.
            whose = (IN_ORDER,) if begun == len(order.late) else own
            newest = max([arrived.get(stream, NOTHING_PROMISED) for stream in whose])
            for stream in own:
                mark = max(newest, marks.get(stream, NOTHING_PROMISED))
                if mark < least:
                    least, last = mark, stream
        return (NOTHING_PROMISED if last is None else least), last

    def forget(self, stream: str) -> None:
        """A stream has gone, and does not take part any more."""
        self.marks.pop(stream, None)
        self.arrived.pop(stream, None)

    def behind(self, order: StreamOrder) -> int | None:
        """How far what is safe in an order is behind the newest event; None before any."""
        if self.newest == NOTHING_PROMISED:
            return None
        return max(0, self.newest - (order.buffer.first() if order.safe == NOTHING_PROMISED else order.safe))

    def dump(self) -> Any:
        return [self.promised, self.newest, list(self.marks.items()), list(self.arrived.items())]

    def load(self, data: Any) -> None:
        self.promised, self.newest, marks, arrived = data
        self.marks, self.arrived = dict(marks), dict(arrived)
