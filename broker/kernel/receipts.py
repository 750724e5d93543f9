"""Receipts of batches by publisher and number, by which a repeated batch is recognised; and the newest times.

A publisher that does not know whether its message arrived sends it again with the same number. It gets the receipt of
the first time, and the broker accepts no event twice. This holds after a crash, too, because receipts are part of the
restored state. They depend on the records alone, never on configuration.

The table is bounded and shared fairly between users, and between the publishers of a user. When it is full, the user
with the most bytes loses the oldest receipt of its largest publisher, so that a user within its share loses nothing to
others. The names of publishers are shared in the same way: the user with the most names loses the publisher that was
silent for longest. A number whose receipt may have been dropped is refused, because the broker cannot know its outcome.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Final, final

from ..events import LimitExceeded
from ..wire import Published, Refusal
from .records import BatchTaken, GapDeclared, Punctuated, Retracted, Updated

PUBLISHER_RECEIPTS_MAX: Final = 1_024
"""Receipts of one publisher: twice as many as a client may have in flight."""

RECEIPTS_BYTES_MAX: Final = 64 * 1024 * 1024
"""Bytes of the receipts of all publishers, as estimated by RECEIPT_BYTES and REFUSAL_BYTES."""

PUBLISHERS_MAX: Final = 65_536
"""Publishers of all users whose names are kept, some 500 bytes each."""

RECEIPT_BYTES: Final = 256
REFUSAL_BYTES: Final = 128

_STALE_MIN: Final = 64
"""How many outdated entries the heap of sizes may have before it is rebuilt."""


@final
class _Publisher:
    """Receipts by number, the oldest first; `dropped`: the greatest number whose receipt was dropped."""

    __slots__ = ("dropped", "receipts", "size")

    def __init__(self, dropped: int = -1) -> None:
        self.receipts: dict[int, Published] = {}
        self.dropped = dropped
        self.size = 0

    def keep(self, number: int, published: Published) -> None:
        self.receipts[number] = published
        self.size += _size(published)

    def drop(self) -> int:
        """Drop the oldest receipt; its size."""
        number = next(iter(self.receipts))
        size = _size(self.receipts.pop(number))
        self.size -= size
        self.dropped = max(self.dropped, number)
        return size


@final
class _UserReceipts:
    """One user's publishers, the one that was silent for longest first.

    `forgotten`: the greatest number of any publisher that was dropped.
    """

    __slots__ = ("_sizes", "forgotten", "publishers", "size")

    def __init__(self, forgotten: int = -1) -> None:
        self.publishers: dict[str, _Publisher] = {}
        self.forgotten = forgotten
        self.size = 0
        self._sizes: list[tuple[int, str]] = []  # a heap, the largest first; `largest` skips outdated entries

    def changed(self, name: str, by: int) -> None:
        """Note a change in the size of a publisher's receipts."""
        self.size += by
        if len(self._sizes) > _STALE_MIN + 4 * len(self.publishers):
            self._sizes = [(-each.size, of) for of, each in self.publishers.items()]
            heapify(self._sizes)
        else:
            heappush(self._sizes, (-self.publishers[name].size, name))

    def largest(self) -> str:
        """The publisher with the largest receipts, of equal ones the first by name. Amortised O(log publishers).

        There must be a publisher.
        """
        while True:
            size, name = self._sizes[0]
            known = self.publishers.get(name)
            if known is not None and known.size == -size:
                return name
            heappop(self._sizes)

    def forget(self) -> int:
        """Drop the publisher that was silent for longest; the size of its receipts."""
        gone = self.publishers.pop(next(iter(self.publishers)))
        self.forgotten = max(self.forgotten, gone.dropped, *gone.receipts)
        self.size -= gone.size
        return gone.size


@final
class Receipts:
    """The receipts of all publishers. Part of the kernel's state. O(users) for each message.

    `events`: the number of accepted events; events without an id are numbered from it. `clocked`: whether the broker's
    clock has stamped all events of a stream.
    """

    __slots__ = ("_bytes", "_bytes_max", "_known", "_known_max", "_newest", "_shares", "clocked", "events")

    def __init__(self, bytes_max: int = RECEIPTS_BYTES_MAX, publishers_max: int = PUBLISHERS_MAX) -> None:
        self._bytes_max = bytes_max
        self._known_max = publishers_max
        self.events = 0
        self._newest: dict[str, int] = {}  # the newest time of each stream
        self.clocked: dict[str, bool] = {}
        self._shares: dict[str, _UserReceipts] = {}
        self._bytes = 0
        self._known = 0

    def receipt(self, publisher: str, number: int) -> Published | None:
        """The earlier answer to this message; None if it is new. `publisher`: `USER/NAME`.

        Raises LimitExceeded if the broker does not know any more.
        """
        user, _, name = publisher.partition("/")
        share = self._shares.get(user)
        if share is None:
            return None
        known = share.publishers.get(name)
        if known is None:
            if number <= share.forgotten:
                raise LimitExceeded(
                    f"message {number}: this broker keeps at most {self._known_max:,} publishers, has dropped some of "
                    f"user {user!r} with numbers up to {share.forgotten}, and does not know any more whether it has "
                    "accepted this message"
                )
            return None
        found = known.receipts.get(number)
        if found is None and number <= known.dropped:
            raise LimitExceeded(
                f"message {number}: this broker keeps the newest {PUBLISHER_RECEIPTS_MAX:,} receipts of a publisher, "
                "fewer if they are large, and does not know any more whether it has accepted this message"
            )
        return found

    def note(self, batch: BatchTaken, newest: int | None) -> Published:
        """Note an accepted batch; its answer, without a correlation. `newest`: the engine's newest time after it."""
        count = len(batch.rows)
        self.events += count
        if count:
            self._newest[batch.stream] = batch.times[-1]
        refused = tuple([Refusal(*each) for each in batch.refused])
        published = Published(0, count, newest, batch.ids[0] if count else None, refused)
        if batch.client is not None and batch.message is not None:
            self._keep(batch.client, batch.message, published)
        return published

    def note_change(self, change: Punctuated | Retracted | Updated | GapDeclared, newest: int | None) -> Published:
        """Note a change that was carried out; its answer, as that of a batch."""
        of = (len(change.ids), change.refused) if isinstance(change, Retracted) else (0, ())
        published = Published(0, of[0], newest, None, tuple([Refusal(*each) for each in of[1]]))
        if change.client is not None and change.message is not None:
            self._keep(change.client, change.message, published)
        return published

    @property
    def used(self) -> Iterable[str]:
        """The streams that have a newest time."""
        return self._newest

    def newest_but(self, stream: str) -> tuple[int, str] | None:
        """The newest time of all other streams, and the stream that has it: of equal ones the first. O(streams)."""
        others = [(-time, name) for name, time in self._newest.items() if name != stream]
        if not others:
            return None
        time, name = min(others)
        return -time, name

    def forget_stream(self, stream: str) -> None:
        """Forget the newest time of a stream, because it was wrong or the stream has gone."""
        self._newest.pop(stream, None)
        self.clocked.pop(stream, None)

    def _keep(self, publisher: str, number: int, published: Published) -> None:
        user, _, name = publisher.partition("/")
        share = self._shares.get(user)
        if share is None:
            share = self._shares[user] = _UserReceipts()
        known = share.publishers.pop(name, None)
        if known is None:
            known = _Publisher(share.forgotten)  # it may be one that was dropped
            self._known += 1
        share.publishers[name] = known
        known.keep(number, published)
        self._changed(share, name, _size(published))
        if len(known.receipts) > PUBLISHER_RECEIPTS_MAX:
            self._changed(share, name, -known.drop())
        while self._bytes > self._bytes_max:
            share = max(self._shares.values(), key=lambda each: each.size)
            name = share.largest()
            self._changed(share, name, -share.publishers[name].drop())
        while self._known > self._known_max:
            self._bytes -= max(self._shares.values(), key=lambda each: len(each.publishers)).forget()
            self._known -= 1

    def _changed(self, share: _UserReceipts, name: str, by: int) -> None:
        share.changed(name, by)
        self._bytes += by

    def save(self) -> list[Any]:
        """Plain values that `restore` takes. O(receipts)."""
        shares = [_plain(user, share) for user, share in self._shares.items()]
        more = [self.clocked] if self.clocked else []  # earlier versions wrote the others only
        return [self.events, self._newest, shares, *more]

    def restore(self, plain: Sequence[Any]) -> None:
        """Replace the state by the one that `save` described."""
        self.events, newest, shares, *more = plain
        self.clocked = dict(more[0]) if more else {}
        self._newest = dict(newest)
        self._shares = {user: _user_receipts(forgotten, publishers) for user, forgotten, publishers in shares}
        self._bytes = sum(share.size for share in self._shares.values())
        self._known = sum(len(share.publishers) for share in self._shares.values())

    def statistics(self) -> dict[str, int]:
        """The size of the table."""
        return {"events": self.events, "publishers": self._known, "receipts_bytes": self._bytes}

    def check_invariants(self) -> None:
        """For tests."""
        shares = self._shares.values()
        assert self._bytes == sum(share.size for share in shares) <= self._bytes_max
        assert self._known == sum(len(share.publishers) for share in shares) <= self._known_max
        for share in shares:
            publishers = share.publishers
            assert share.size == sum(each.size for each in publishers.values())
            for each in publishers.values():
                assert each.size == sum(map(_size, each.receipts.values()))
                assert len(each.receipts) <= PUBLISHER_RECEIPTS_MAX
            if publishers:
                assert share.largest() == min(publishers, key=lambda name: (-publishers[name].size, name))


def _size(published: Published) -> int:
    return RECEIPT_BYTES + sum(REFUSAL_BYTES + len(each.reason) for each in published.refused)


def _plain(user: str, share: _UserReceipts) -> list[Any]:
    publishers = [[name, each.dropped, _receipts(each)] for name, each in share.publishers.items()]
    return [user, share.forgotten, publishers]


def _receipts(publisher: _Publisher) -> list[list[Any]]:
    return [
        [number, each.count, each.newest, each.first_id, [[one.index, one.code, one.reason] for one in each.refused]]
        for number, each in publisher.receipts.items()
    ]


def _user_receipts(forgotten: int, publishers: Sequence[Sequence[Any]]) -> _UserReceipts:
    share = _UserReceipts(forgotten)
    for name, dropped, receipts in publishers:
        publisher = share.publishers[name] = _Publisher(dropped)
        for number, count, newest, first, refused in receipts:
            publisher.keep(number, Published(0, count, newest, first, tuple([Refusal(*each) for each in refused])))
        share.changed(name, publisher.size)
    return share
