"""All cursors: durable subscriptions with their results in order of position.

Cursors are part of the state that is a fold over the records. After a crash the cursors, their results and their
positions are restored, with the same positions and ids, whatever configuration has changed in between. Not here: which
client is attached to a cursor (attachments.py).

A cursor that was forgotten and created anew is a different one; its incarnation tells them apart.
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
from .records import CursorAdded, CursorMoved, CursorPlaced, CursorSetAside, DeadLettersSettled

LIMIT: Final = "durable_notifications"
"""The limit named by an `incomplete` for dropped results."""

RETAINED: Final = "durable_retained"
"""The limit named by an `incomplete` for acknowledged results that a replay asks for and that are not kept any more."""

DELIVERIES: Final = "deliveries_max"
"""The limit named by an `incomplete` for a result that was delivered too often, and the reason of its dead letter."""


def first_incarnation(secret: bytes) -> int:
    """The number that incarnations start from in a broker without a journal, derived from its secret."""
    return int.from_bytes(blake2b(b"cursors", key=secret, digest_size=6).digest(), "big")


@final
class Cursors:
    """The cursors by key and by subscription. Part of the kernel's state.

    Each user has its own namespace, so users cannot take names from each other. `made`: the newest incarnation. Without
    a journal each start of a broker begins with another number.
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
        """The cursor of this name and owner; None if there is none. O(1).

        Without an owner the name may be a key, or a name that only one cursor has: O(cursors).
        """
        if owner is not None:
            return self._named.get(cursor_key(name, owner))
        known = self._named.get(name)
        if known is None:
            bearing = [each for each in self if each.name == name]
            return bearing[0] if len(bearing) == 1 else None
        return known

    def of(self, subscription: str) -> Iterable[Cursor]:
        """The cursors of a subscription. O(1)."""
        known = self._of.get(subscription)
        return () if known is None else known.values()

    # ---- applying records ----

    def add(self, record: CursorAdded) -> Cursor:
        """Create a cursor. Raises DefinitionError if the name is taken."""
        if self.find(record.cursor, record.owner) is not None:
            raise DefinitionError(f"cursor {record.cursor!r} exists")
        self._made += 1
        limits = record.notifications, record.size, record.retain, record.letters
        cursor = Cursor(record.cursor, record.subscription, record.owner, *limits, self._made)
        self._enter(cursor)
        return cursor

    def move(self, record: CursorMoved) -> None:
        """Acknowledge up to a position, or delete the cursor. Raises DefinitionError for an unknown one."""
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

    def place(self, record: CursorPlaced) -> None:
        """Move a cursor to a position. Raises DefinitionError if it is unknown, or does not keep what follows."""
        self._known(record.cursor).place(record.position)

    def set_aside(self, record: CursorSetAside) -> None:
        """Make a result a dead letter. Raises DefinitionError if it does not await acknowledgement."""
        self._known(record.cursor).set_aside(record.position, record.reason, record.time, record.deliveries)

    def settle(self, record: DeadLettersSettled) -> None:
        """Delete dead letters, or keep them as new results. Raises DefinitionError for a position without one."""
        self._known(record.cursor).settle(record.positions, record.again)

    def _known(self, name: str) -> Cursor:
        cursor = self.find(name)
        if cursor is None:
            raise DefinitionError(f"cursor {name!r} is not known")
        return cursor

    def keep_all(self, results: Iterable[EngineResult]) -> None:
        """Keep the results of a replayed batch, which has no other receivers. O(results) if there are cursors."""
        if not self._named:
            return
        self.keep_shares(taken_out(results))
        for result in results:
            group = self._of.get(result.subscription)
            if group is not None:
                line = encoded(result)[0]
                for cursor in group.values():
                    cursor.keep(line)

    def keep_shares(self, shares: Iterable[Share]) -> None:
        """Keep the results of shares, or one `incomplete` for a share that is larger than a cursor.

        Results that another division of the batch would not have made a share (MADE_AT_ONCE_MAX) are always kept, so
        that the state does not depend on how a batch was divided.
        """
        for share in shares:
            for cursor in self.of(share.subscription):
                if share.count is None or share.count > max(cursor.notifications, MADE_AT_ONCE_MAX):
                    cursor.keep(incomplete(share.subscription, LIMIT, share.time, share.count))
                    continue
                for result in share.results:
                    cursor.keep(encoded(result)[0])

    # ---- the whole ----

    def forget_deliveries(self) -> None:
        """Assume, after a restart, that all results may have been delivered."""
        for cursor in self:
            cursor.possibly_delivered = cursor.last

    def save(self) -> list[Any]:
        """Plain values that `restore` takes. O(kept results)."""
        return [self._made, [cursor.save() for cursor in self]]

    def restore(self, plain: Sequence[Any]) -> None:
        """Replace the cursors by those that `save` described."""
        self._made, cursors = plain
        self._named, self._of = {}, {}
        for each in cursors:
            self._enter(restored(each))

    def statistics(self) -> dict[str, int]:
        """Totals over all cursors. O(cursors)."""
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
