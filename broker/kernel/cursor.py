"""Law: one durable subscription's cursor: what is kept of it, where it has come to, what is dropped when.

Positions are 1, 2, 3 and so on. What is not acknowledged is kept within `notifications` and `size`; beyond that the
oldest is dropped, which whoever reads next is told by the positions that are missing. What is acknowledged is kept,
too, at most `retain` of it and within the same `size`, so that it can be had again; it is the first to be dropped.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final, final

from ..wire import decode_result

KEPT_BYTES_EXTRA: Final = 48
"""What a kept result takes beside its bytes."""


@final
@dataclass(slots=True)
class Cursor:
    """`first` is the position of the oldest result that is kept, `acknowledged` that up to which everything is done.

    `incarnation` tells it from others that have had its name. `told`, which is no part of the state: up to which
    position something may have been delivered; everything that was found before a restart.
    """

    name: str
    subscription: str
    owner: str
    notifications: int
    size: int
    retain: int = 0
    incarnation: int = 0
    first: int = 1
    acknowledged: int = 0
    results: deque[bytes] = field(default_factory=deque)
    size_kept: int = 0
    told: int = 0

    @property
    def last(self) -> int:
        """The position of the newest result that was found, kept or not; 0 before the first."""
        return self.first + len(self.results) - 1

    @property
    def backlog(self) -> int:
        """How many results are kept that are not acknowledged."""
        return self.last - max(self.acknowledged, self.first - 1)

    def keep(self, result: bytes) -> None:
        """One more. O(1)."""
        self.results.append(result)
        self.size_kept += len(result) + KEPT_BYTES_EXTRA
        while len(self.results) > 1 and (self.backlog > self.notifications or self.size_kept > self.size):
            self._drop()

    def acknowledge(self, position: int) -> None:
        """Everything up to here is done. O(what is dropped)."""
        self.acknowledged = max(self.acknowledged, position)
        while self.acknowledged - self.first + 1 > self.retain:
            self._drop()

    def since(self, time: int) -> int:
        """The position of the oldest kept result that is not older than this time; the next one without. O(kept)."""
        for position, result in enumerate(self.results, self.first):
            line = decode_result(result)
            at = line.get("end", line.get("time", line.get("since")))
            if at is not None and at >= time:
                return position
        return self.last + 1

    def _drop(self) -> None:
        self.size_kept -= len(self.results.popleft()) + KEPT_BYTES_EXTRA
        self.first += 1

    def save(self) -> list[Any]:
        """Plain values, of which `restored` makes an equal one. O(kept results)."""
        made = [self.name, self.subscription, self.owner, self.notifications, self.size, self.retain, self.incarnation]
        return [*made, self.first, self.acknowledged, list(self.results)]

    def check_invariants(self) -> None:
        """For tests."""
        assert self.size_kept == sum(map(len, self.results)) + KEPT_BYTES_EXTRA * len(self.results)
        assert self.backlog <= max(1, self.notifications)
        assert len(self.results) <= 1 or self.size_kept <= self.size
        assert self.acknowledged - self.first + 1 <= self.retain
        assert self.acknowledged <= self.last
        assert self.told <= self.last


def restored(plain: list[Any]) -> Cursor:
    """What has said this of itself."""
    name, subscription, owner, notifications, size, retain, incarnation, first, acknowledged, results = plain
    cursor = Cursor(name, subscription, owner, notifications, size, retain, incarnation, first, acknowledged)
    cursor.results.extend(results)
    cursor.size_kept = sum(map(len, results)) + KEPT_BYTES_EXTRA * len(results)
    return cursor
