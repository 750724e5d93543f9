"""The last events of each stream, for operators who look at a running broker. No match depends on them.

They are in memory only, and begin anew with the broker.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final, final

from .records import BatchTaken

RECENT_EVENTS_MAX: Final = 20
"""Events of a stream that are kept."""

RECENT_BYTES_MAX: Final = 8 * 1024 * 1024
"""Estimated memory of all kept events; beyond that the stream that was silent for longest loses its own."""

_VALUE_BYTES: Final = 32
_EVENT_BYTES: Final = 128

_Kept = tuple[int, int, tuple[Any, ...], int]  # id, time, values, estimated size


@final
class RecentEvents:
    """Events by stream, the stream that got some last at the end."""

    __slots__ = ("_size", "_streams")

    def __init__(self) -> None:
        self._streams: dict[str, deque[_Kept]] = {}
        self._size = 0

    def note(self, batch: BatchTaken) -> None:
        """Keep the last events of a batch. O(RECENT_EVENTS_MAX)."""
        kept = self._streams.pop(batch.stream, None)
        if kept is None:
            kept = deque()
        self._streams[batch.stream] = kept
        for at in range(max(0, len(batch.rows) - RECENT_EVENTS_MAX), len(batch.rows)):
            row = tuple(batch.rows[at])
            size = _EVENT_BYTES + sum([_VALUE_BYTES + (len(v) if isinstance(v, str) else 0) for v in row])
            kept.append((batch.ids[at], batch.times[at], row, size))
            self._size += size
            if len(kept) > RECENT_EVENTS_MAX:
                self._size -= kept.popleft()[3]
        while self._size > RECENT_BYTES_MAX and len(self._streams) > 1:
            oldest = next(iter(self._streams))
            self._size -= sum([each[3] for each in self._streams.pop(oldest)])

    def last(self, stream: str, names: Sequence[str], count: int) -> dict[str, dict[str, Any]]:
        """The last events of a stream by id, the oldest first; `names` are its attributes."""
        kept = list(self._streams.get(stream, ()))
        return {
            str(number): {"time": time, "data": dict(zip(names, row))}
            for number, time, row, _ in kept[max(0, len(kept) - count) :]
        }

    def check_invariants(self) -> None:
        """For tests."""
        assert self._size == sum(each[3] for kept in self._streams.values() for each in kept)
        assert all(len(kept) <= RECENT_EVENTS_MAX for kept in self._streams.values())
        assert self._size <= RECENT_BYTES_MAX or len(self._streams) <= 1
