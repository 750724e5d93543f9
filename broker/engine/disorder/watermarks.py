"""When events are final: the promises of streams that no earlier event follows (AFA, 2.2).

The *mark* of a stream is the time before which it brings and withdraws no event any more: the newest punctuation of it
or of all streams, or `lateness` before its newest event, whichever is later. Streams without disorder have one mark
together, the time of their newest event. A stream takes part from its first event or punctuation on. An event is *safe*
once the marks of all that take part have passed it; what is safe stays safe.

Here: these times. Not here: the events (buffer).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

from ...events.instant import FOREVER
from ...events.stream import StreamDefinition

IN_ORDER: Final = ""
"""Instead of a name: all streams without disorder."""
NOTHING_PROMISED: Final = -FOREVER


@final
class Watermarks:
    """`safe`: no event before that time comes or is withdrawn. `promised`: the newest punctuation of all streams;
    `newest`: the time of the newest event; -FOREVER before any."""

    def __init__(self, streams: Mapping[str, StreamDefinition], safe: int) -> None:
        self.streams = streams
        self.safe = safe
        self.promised = safe
        self.newest = safe
        self.marks: dict[str, int] = {}
        self._others: tuple[str, int] | None = None  # a stream, and the least mark of all others

    def part(self, stream: str) -> str:
        """The name under which the mark of a stream is kept."""
        definition = self.streams.get(stream)
        return IN_ORDER if definition is None or definition.disorder == "arrival" else stream

    def floor(self, stream: str) -> int:
        """The time before which an event of the stream is late."""
        return max(self.safe, self.promised, self.marks.get(self.part(stream), NOTHING_PROMISED))

    def lag(self, stream: str) -> int:
        """How long before the newest event of the stream an event may come; FOREVER if any time before it."""
        definition = self.streams[stream]
        if definition.disorder == "arrival":
            return 0
        return FOREVER if definition.lateness is None else definition.lateness

    def note(self, part: str, time: int, lag: int) -> bool:
        """An event of the streams of that name has come. Returns whether more events are safe. O(streams) or less."""
        if time > self.newest:
            self.newest = time
        before = self.marks.get(part)
        mark = NOTHING_PROMISED if lag >= FOREVER else time - lag
        if before is not None and mark <= before:
            return False
        self.marks[part] = mark
        if before is None or self._others is None or self._others[0] != part:
            others = [other for name, other in self.marks.items() if name != part]
            self._others = (part, min(others, default=FOREVER))
        return self._advance(min(mark, self._others[1]))

    def promise(self, time: int, stream: str | None) -> bool:
        """A punctuation of one stream or of all. Returns whether more events are safe. O(streams)."""
        self._others = None
        if stream is None:
            self.promised = max(self.promised, time)
        else:
            part = self.part(stream)
            self.marks[part] = max(self.marks.get(part, NOTHING_PROMISED), time)
        return self._advance(min(self.marks.values(), default=NOTHING_PROMISED))

    def forget(self, stream: str, disorder: str) -> bool:
        """A stream has gone, and does not take part any more. Returns whether more events are safe. O(streams)."""
        if disorder != "arrival":
            self.marks.pop(stream, None)
        elif all(each.disorder != "arrival" for each in self.streams.values()):
            self.marks.pop(IN_ORDER, None)
        self._others = None
        return self._advance(min(self.marks.values(), default=NOTHING_PROMISED))

    def _advance(self, least: int) -> bool:
        safe = max(self.promised, least)
        if safe <= self.safe:
            return False
        self.safe = safe
        return True

    def behind(self, first: int) -> int | None:
        """How far the safe time is behind the newest event; None before any. `first`: the time of the first event that
        is not final, from which on nothing is if nothing was promised."""
        if self.newest == NOTHING_PROMISED:
            return None
        return max(0, self.newest - (first if self.safe == NOTHING_PROMISED else self.safe))

    def dump(self) -> Any:
        return [self.safe, self.promised, self.newest, list(self.marks.items())]

    def load(self, data: Any) -> None:
        self.safe, self.promised, self.newest, marks = data
        self.marks = dict(marks)
        self._others = None
