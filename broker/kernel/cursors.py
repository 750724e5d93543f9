"""Law: what durable subscriptions keep: results in order with their positions, until they are acknowledged or dropped.

This is part of the state that is a fold over the records: which cursors there are, what they keep and how far they
have got comes back after a crash, with the same positions and ids, and depends on no configuration that may have
changed in between. Who is attached to a cursor is no part of it.

The positions of a cursor are 1, 2, 3 and so on. It keeps at most so many results as it was made for; beyond that the
oldest is dropped, which whoever reads next is told by the positions that are missing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from ..engine.shares import MADE_AT_ONCE_MAX, Share, taken_out
from ..events import DefinitionError
from .delivery import encoded, incomplete
from .matcher import Result
from .records import CursorAdded, CursorMoved

KEPT_BYTES_EXTRA: Final = 48
"""What a kept result takes beside its bytes."""

LIMIT: Final = "durable_notifications"
"""The limit that an `incomplete` names which stands for results that were dropped."""


@final
@dataclass(slots=True)
class Cursor:
    """`first` is the position of the oldest result that is kept, `acknowledged` that up to which everything is done.

    `told`: up to which position something may have been delivered; everything that was found before a restart.
    """

    name: str
    subscription: str
    owner: str
    notifications: int
    size: int
    first: int = 1
    acknowledged: int = 0
    results: deque[bytes] = field(default_factory=deque)
    size_kept: int = 0
    told: int = 0

    @property
    def last(self) -> int:
        """The position of the newest result that was found, kept or not; 0 before the first."""
        return self.first + len(self.results) - 1

    def keep(self, result: bytes) -> None:
        """One more. O(1)."""
        self.results.append(result)
        self.size_kept += len(result) + KEPT_BYTES_EXTRA
        while len(self.results) > 1 and (len(self.results) > self.notifications or self.size_kept > self.size):
            self._drop()

    def acknowledge(self, position: int) -> None:
        """Everything up to here is done, and not kept any more."""
        self.acknowledged = max(self.acknowledged, position)
        while self.results and self.first <= position:
            self._drop()

    def _drop(self) -> None:
        self.size_kept -= len(self.results.popleft()) + KEPT_BYTES_EXTRA
        self.first += 1


@final
class Cursors:
    """Part of the kernel's state; by name, and by the subscription that they are of."""

    __slots__ = ("_named", "_of")

    def __init__(self) -> None:
        self._named: dict[str, Cursor] = {}
        self._of: dict[str, dict[str, Cursor]] = {}

    def __len__(self) -> int:
        return len(self._named)

    def __iter__(self) -> Iterator[Cursor]:
        return iter(self._named.values())

    def find(self, name: str) -> Cursor | None:
        """The cursor of this name."""
        return self._named.get(name)

    def of(self, subscription: str) -> Iterable[Cursor]:
        """Those that keep what this subscription finds. O(1)."""
        known = self._of.get(subscription)
        return () if known is None else known.values()

    # ---- what records do ----

    def add(self, record: CursorAdded) -> Cursor:
        """Raises DefinitionError where there is one of this name."""
        if record.cursor in self._named:
            raise DefinitionError(f"cursor {record.cursor!r} exists")
        cursor = Cursor(record.cursor, record.subscription, record.owner, record.notifications, record.size)
        self._enter(cursor)
        return cursor

    def move(self, record: CursorMoved) -> None:
        """Acknowledge, or forget. Raises DefinitionError where that cannot be."""
        cursor = self._named.get(record.cursor)
        if cursor is None or (record.position is not None and record.position > cursor.last):
            raise DefinitionError(f"cursor {record.cursor!r}: expected one that has position {record.position}")
        if record.position is not None:
            cursor.acknowledge(record.position)
            return
        del self._named[cursor.name]
        group = self._of[cursor.subscription]
        del group[cursor.name]
        if not group:
            del self._of[cursor.subscription]

    def find_all(self, results: Iterable[Result]) -> None:
        """What a batch has found, where nobody else is told of it. O(results) if there are cursors."""
        if not self._named:
            return
        self.found_too_many(taken_out(results))
        for result in results:
            group = self._of.get(result.subscription)
            if group is not None:
                line = encoded(result)[0]
                for cursor in group.values():
                    cursor.keep(line)

    def found_too_many(self, shares: Iterable[Share]) -> None:
        """The results of a share are made if a cursor keeps so many, or if they might not have become a share; else
        one `incomplete` is kept in their place. So it is the same however a batch is divided.
        """
        for share in shares:
            for cursor in self.of(share.subscription):
                if share.count is None or share.count > max(cursor.notifications, MADE_AT_ONCE_MAX):
                    cursor.keep(incomplete(share.subscription, LIMIT, share.time, share.count))
                    continue
                for result in share.results:
                    cursor.keep(encoded(result)[0])

    # ---- the whole ----

    def restarted(self) -> None:
        """Nobody knows any more what was delivered."""
        for cursor in self:
            cursor.told = cursor.last

    def save(self) -> list[Any]:
        """Plain values that `restore` takes. O(kept results)."""
        return [
            [c.name, c.subscription, c.owner, c.notifications, c.size, c.first, c.acknowledged, list(c.results)]
            for c in self
        ]

    def restore(self, plain: Sequence[Sequence[Any]]) -> None:
        """Take the place of what has said this of itself."""
        self._named, self._of = {}, {}
        for name, subscription, owner, notifications, size, first, acknowledged, results in plain:
            kept = sum(map(len, results)) + KEPT_BYTES_EXTRA * len(results)
            results = deque(results)
            self._enter(Cursor(name, subscription, owner, notifications, size, first, acknowledged, results, kept))

    def statistics(self) -> dict[str, int]:
        """Of all cursors together. O(cursors)."""
        return {
            "cursors": len(self),
            "cursors_kept": sum(len(cursor.results) for cursor in self),
            "cursors_kept_bytes": sum(cursor.size_kept for cursor in self),
        }

    def check_invariants(self) -> None:
        """For tests."""
        for name, cursor in self._named.items():
            assert cursor.name == name
            assert self._of[cursor.subscription][name] is cursor
            assert cursor.size_kept == sum(map(len, cursor.results)) + KEPT_BYTES_EXTRA * len(cursor.results)
            assert len(cursor.results) <= max(1, cursor.notifications)
            assert cursor.acknowledged < cursor.first
            assert cursor.told <= cursor.last
        assert sum(map(len, self._of.values())) == len(self)
        assert all(self._of.values())

    def _enter(self, cursor: Cursor) -> None:
        self._named[cursor.name] = cursor
        self._of.setdefault(cursor.subscription, {})[cursor.name] = cursor
