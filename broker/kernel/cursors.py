"""All cursors: durable subscriptions with their results in order of position.

This is part of the state that is a fold over the records: which cursors there are, what they keep and how far they
have got comes back after a crash, with the same positions and ids, and depends on no configuration that may have
changed in between. Who is attached to a cursor is no part of it.

A cursor that was forgotten and made anew is another one, which its incarnation tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, Final, final

from ..engine.shares import MADE_AT_ONCE_MAX, Share, taken_out
from ..events import DefinitionError
from .cursor import Cursor, cursor_key, restored
from .delivery import encoded, incomplete
from .engine_port import EngineResult
from .records import CursorAdded, CursorMoved, CursorSetAside, DeadLettersSettled

LIMIT: Final = "durable_notifications"
"""The limit that an `incomplete` names which stands for results that were dropped."""

RETAINED: Final = "durable_retained"
"""The same for results that are asked for again, were acknowledged, and are not kept any more."""

DELIVERIES: Final = "deliveries_max"
"""The limit that an `incomplete` names in the place of a result that was delivered too often, and its reason."""


def drawn(secret: bytes) -> int:
    """The incarnation before the first one of a broker without a journal."""
    return int.from_bytes(blake2b(b"cursors", key=secret, digest_size=6).digest(), "big")


@final
class Cursors:
    """Part of the kernel's state; by key, and by the subscription that they are of.

    Each user has names of its own, so that nobody meets a name that somebody else has taken.

    `made`: the newest incarnation. Without a journal a broker begins with a number that no other one has begun with.
    """

    __slots__ = ("_made", "_named", "_of")

    def __init__(self, made: int = 0) -> None:
        self._made = made
        self._named: dict[str, Cursor] = {}
        self._of: dict[str, dict[str, Cursor]] = {}

    def __len__(self) -> int:
        return len(self._named)

    def __iter__(self) -> Iterator[Cursor]:
        return iter(self._named.values())

    def find(self, name: str, owner: str | None = None) -> Cursor | None:
        """The cursor of this name that this user owns; None where there is none.

        Without an owner the name may be a key, or the only one of its kind: O(cursors).
        """
        if owner is not None:
            return self._named.get(cursor_key(name, owner))
        known = self._named.get(name)
        if known is None:
            bearing = [each for each in self if each.name == name]
            return bearing[0] if len(bearing) == 1 else None
        return known

    def of(self, subscription: str) -> Iterable[Cursor]:
        """Those that keep what this subscription finds. O(1)."""
        known = self._of.get(subscription)
        return () if known is None else known.values()

    # ---- what records do ----

    def add(self, record: CursorAdded) -> Cursor:
        """Raises DefinitionError where there is one of this name."""
        if self.find(record.cursor, record.owner) is not None:
            raise DefinitionError(f"cursor {record.cursor!r} exists")
        self._made += 1
        limits = record.notifications, record.size, record.retain, record.letters
        cursor = Cursor(record.cursor, record.subscription, record.owner, *limits, self._made)
        self._enter(cursor)
        return cursor

    def move(self, record: CursorMoved) -> None:
        """Acknowledge, or forget. Raises DefinitionError where that cannot be."""
        cursor = self.find(record.cursor)
        if cursor is None or (record.position is not None and record.position > cursor.last):
            raise DefinitionError(f"cursor {record.cursor!r}: expected one that has position {record.position}")
        if record.position is not None:
            cursor.acknowledge(record.position)
            return
        del self._named[cursor.key]
        group = self._of[cursor.subscription]
        del group[cursor.key]
        if not group:
            del self._of[cursor.subscription]

    def set_aside(self, record: CursorSetAside) -> None:
        """A result becomes a dead letter. Raises DefinitionError where that cannot be."""
        self._known(record.cursor).set_aside(record.position, record.reason, record.time, record.deliveries)

    def settle(self, record: DeadLettersSettled) -> None:
        """Dead letters go. Raises DefinitionError where that cannot be."""
        self._known(record.cursor).settle(record.positions, record.again)

    def _known(self, name: str) -> Cursor:
        cursor = self.find(name)
        if cursor is None:
            raise DefinitionError(f"cursor {name!r} is not known")
        return cursor

    def find_all(self, results: Iterable[EngineResult]) -> None:
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
        return [self._made, [cursor.save() for cursor in self]]

    def restore(self, plain: Sequence[Any]) -> None:
        """Take the place of what has said this of itself."""
        self._made, cursors = plain
        self._named, self._of = {}, {}
        for each in cursors:
            self._enter(restored(each))

    def statistics(self) -> dict[str, int]:
        """Of all cursors together. O(cursors)."""
        return {
            "cursors": len(self),
            "cursors_backlog": sum(cursor.backlog for cursor in self),
            "cursors_kept": sum(len(cursor.results) for cursor in self),
            "cursors_kept_bytes": sum(cursor.size_kept for cursor in self),
            "dead_letters": sum(len(cursor.letters) for cursor in self),
            "dead_letters_bytes": sum(cursor.letters.size for cursor in self),
            "dead_letters_dropped": sum(cursor.letters.dropped for cursor in self),
        }

    def check_invariants(self) -> None:
        """For tests."""
        for key, cursor in self._named.items():
            assert cursor.key == key
            assert self._of[cursor.subscription][key] is cursor
            assert cursor.incarnation <= self._made
            cursor.check_invariants()
        assert sum(map(len, self._of.values())) == len(self)
        assert all(self._of.values())

    def _enter(self, cursor: Cursor) -> None:
        self._named[cursor.key] = cursor
        self._of.setdefault(cursor.subscription, {})[cursor.key] = cursor
