"""The last events of each stream, for operators who look at a running broker. No match depends on them.

They are in memory only, and begin anew with the broker. Taking a batch only keeps references to its end; a tick makes
rows of columns, counts and bounds what that holds, so that publishing does not pay for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, Final, final

from .records import BatchTaken

RECENT_EVENTS_MAX: Final = 20
"""Events of a stream that are kept."""

RECENT_BYTES_MAX: Final = 8 * 1024 * 1024
"""Estimated memory of all kept events; beyond that, the stream that was silent for longest loses its own at a tick."""

_VALUE_BYTES: Final = 32
_EVENT_BYTES: Final = 128

_Stretch = tuple[Sequence[int], Sequence[int], Sequence[Sequence[Any]]]  # ids, times and values of successive events


@final
class RecentEvents:
    """Events by stream. `_noted`: what has come since the last tick, a stretch a batch. `_kept`: what a tick has left,
    with its estimated size, the stream that got some last at the end."""

    __slots__ = ("_kept", "_noted", "_size")

    def __init__(self) -> None:
        self._noted: dict[str, list[_Stretch]] = {}
        self._kept: dict[str, tuple[_Stretch, int]] = {}
        self._size = 0

    def note(self, batch: BatchTaken) -> None:
        """Keep the last events of a batch. O(RECENT_EVENTS_MAX), amortised."""
        noted = self._noted.get(batch.stream)
        if noted is None:
            noted = self._noted[batch.stream] = []
        first = max(0, len(batch.rows) - RECENT_EVENTS_MAX)
        rows = batch.rows[first:]
        if len(rows) == RECENT_EVENTS_MAX:
            noted.clear()  # those before are not the last any more; of this batch all columns stay until a tick
        else:
            rows = list(rows)
        noted.append((batch.ids[first:], batch.times[first:], rows))
        if len(noted) > 2 * RECENT_EVENTS_MAX:
            del noted[:-RECENT_EVENTS_MAX]

    def tick(self) -> None:
        """Leave of each stream no more than its last events, and of all no more than the memory. O(what was noted)."""
        for stream in self._noted:
            last = self._last(stream)
            size = sum(map(_size, last[2]))
            self._size += size - self._kept.pop(stream, (last, 0))[1]
            self._kept[stream] = last, size
        self._noted = {}
        while self._size > RECENT_BYTES_MAX and len(self._kept) > 1:
            self._size -= self._kept.pop(next(iter(self._kept)))[1]

    def last(self, stream: str, names: Sequence[str], count: int) -> dict[str, dict[str, Any]]:
        """The last events of a stream by id, the oldest first; `names` are its attributes, of which events lack those
        that came later."""
        ids, times, rows = self._last(stream)
        first = max(0, len(ids) - count)
        return {
            str(number): {"time": time, "data": dict(zip_longest(names, row))}
            for number, time, row in zip(ids[first:], times[first:], rows[first:], strict=True)
        }

    def forget(self, stream: str) -> None:
        """Forget a stream that has gone."""
        self._noted.pop(stream, None)
        kept = self._kept.pop(stream, None)
        if kept is not None:
            self._size -= kept[1]

    def _last(self, stream: str) -> _Stretch:
        kept = self._kept.get(stream)
        ids: list[int] = []
        times: list[int] = []
        rows: list[Sequence[Any]] = []
        for more in [*([] if kept is None else [kept[0]]), *self._noted.get(stream, [])]:
            ids += more[0]
            times += more[1]
            rows += more[2]
        return ids[-RECENT_EVENTS_MAX:], times[-RECENT_EVENTS_MAX:], rows[-RECENT_EVENTS_MAX:]

    def check_invariants(self) -> None:
        """For tests."""
        assert self._size == sum(size for _, size in self._kept.values())
        assert all(size == sum(map(_size, rows)) for (_, _, rows), size in self._kept.values())
        for (ids, times, rows), _ in self._kept.values():
            assert len(ids) == len(times) == len(rows) <= RECENT_EVENTS_MAX
        assert all(len(noted) <= 2 * RECENT_EVENTS_MAX for noted in self._noted.values())
        assert self._size <= RECENT_BYTES_MAX or len(self._kept) <= 1


def _size(row: Sequence[Any]) -> int:
    return _EVENT_BYTES + sum([_VALUE_BYTES + (len(value) if isinstance(value, str) else 0) for value in row])
