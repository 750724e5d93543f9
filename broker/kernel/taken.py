"""Law: what was taken of publishers: how many events, and the receipts by which a repeated message is known again.

A publisher that does not know whether its message came through says it again, with the same number. It gets the
receipt that it would have got, and nothing is taken twice: also after a crash, as this is part of the state that comes
back. It depends on the records alone, never on a configuration that may have changed in between.

The table is bounded. Each publisher has its newest receipts, and when all of them are too many, the publisher that has
said nothing for longest is forgotten. A number so low that its receipt may have been dropped is refused, not guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from ..events import LimitExceeded
from ..wire import Published, Refusal
from .records import Batch

PUBLISHER_RECEIPTS_MAX: Final = 1_024
"""Of one publisher: twice as many as a client may have under way."""

RECEIPTS_BYTES_MAX: Final = 64 * 1024 * 1024
"""Of all publishers, as estimated by RECEIPT_BYTES, REFUSAL_BYTES and PUBLISHER_BYTES."""

PUBLISHER_BYTES: Final = 512
RECEIPT_BYTES: Final = 256
REFUSAL_BYTES: Final = 128


@final
@dataclass(slots=True)
class _Publisher:
    """Receipts by number, the oldest first; `dropped`: the greatest number of those that are not kept any more."""

    receipts: dict[int, Published] = field(default_factory=dict)
    dropped: int = -1


@final
class Taken:
    """Part of the kernel's state. `events` taken so far number those without an id. O(1) for each message."""

    __slots__ = ("_bytes", "_bytes_max", "_publishers", "events")

    def __init__(self, bytes_max: int = RECEIPTS_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self.events = 0
        self._publishers: dict[str, _Publisher] = {}  # who has published last is last
        self._bytes = 0

    def receipt(self, publisher: str, number: int) -> Published | None:
        """What this message was answered, if it was taken. Raises LimitExceeded where that is not known any more."""
        known = self._publishers.get(publisher)
        if known is None:
            return None
        found = known.receipts.get(number)
        if found is None and number <= known.dropped:
            raise LimitExceeded(
                f"message {number}: this broker keeps the newest {PUBLISHER_RECEIPTS_MAX:,} receipts of a publisher, "
                "and does not know any more whether it was taken"
            )
        return found

    def note(self, batch: Batch, newest: int | None) -> Published:
        """This was taken, and `newest` was the newest time then; the answer, without a correlation."""
        count = len(batch.rows)
        self.events += count
        refused = tuple([Refusal(*each) for each in batch.refused])
        published = Published(0, count, newest, batch.ids[0] if count else None, refused)
        if batch.client is not None and batch.message is not None:
            self._keep(batch.client, batch.message, published)
        return published

    def _keep(self, publisher: str, number: int, published: Published) -> None:
        known = self._publishers.pop(publisher, None)
        if known is None:
            known = _Publisher()
            self._bytes += PUBLISHER_BYTES
        self._publishers[publisher] = known
        known.receipts[number] = published
        self._bytes += _size(published)
        if len(known.receipts) > PUBLISHER_RECEIPTS_MAX:
            self._drop(known)
        while self._bytes > self._bytes_max:
            oldest = next(iter(self._publishers))
            if oldest != publisher:
                gone = self._publishers.pop(oldest)
                self._bytes -= PUBLISHER_BYTES + sum(map(_size, gone.receipts.values()))
            elif len(known.receipts) > 1:
                self._drop(known)
            else:
                return

    def _drop(self, publisher: _Publisher) -> None:
        number = next(iter(publisher.receipts))
        self._bytes -= _size(publisher.receipts.pop(number))
        publisher.dropped = max(publisher.dropped, number)

    def save(self) -> list[Any]:
        """Plain values that `restore` takes. O(receipts)."""
        return [self.events, [_plain(name, each) for name, each in self._publishers.items()]]

    def restore(self, plain: Sequence[Any]) -> None:
        """Take the place of what has said this of itself."""
        self.events, publishers = plain
        self._publishers = {name: _publisher(dropped, receipts) for name, dropped, receipts in publishers}
        self._bytes = self._weight()

    def statistics(self) -> dict[str, int]:
        """Of the table."""
        return {"events": self.events, "publishers": len(self._publishers), "receipts_bytes": self._bytes}

    def check_invariants(self) -> None:
        """For tests."""
        assert self._bytes == self._weight()
        for each in self._publishers.values():
            assert 0 < len(each.receipts) <= PUBLISHER_RECEIPTS_MAX

    def _weight(self) -> int:
        publishers = self._publishers.values()
        return sum(PUBLISHER_BYTES + sum(map(_size, each.receipts.values())) for each in publishers)


def _size(published: Published) -> int:
    return RECEIPT_BYTES + sum(REFUSAL_BYTES + len(each.reason) for each in published.refused)


def _plain(name: str, publisher: _Publisher) -> list[Any]:
    receipts = [
        [number, each.count, each.newest, each.first_id, [[one.index, one.code, one.reason] for one in each.refused]]
        for number, each in publisher.receipts.items()
    ]
    return [name, publisher.dropped, receipts]


def _publisher(dropped: int, receipts: Sequence[Sequence[Any]]) -> _Publisher:
    kept = {
        number: Published(0, count, newest, first, tuple([Refusal(*each) for each in refused]))
        for number, count, newest, first, refused in receipts
    }
    return _Publisher(kept, dropped)
