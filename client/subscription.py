"""A subscription as its reader holds it: iteration, one result at a time, closing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Self, final

from broker.wire import Subscribed

from .notification import Notification


class Source(Protocol):
    """What a subscription asks of its client."""

    def next_notification(self, name: str, timeout: float | None) -> Notification | None: ...

    def acknowledge(self, name: str, position: int | None = None, incarnation: int | None = None) -> None: ...

    def unsubscribe(self, name: str) -> None: ...

    def release(self, name: str) -> None: ...


@final
class Subscription:
    """Notifications of one name, in order, each once. A context manager that unsubscribes, and an iterator that blocks.

    `attached`: the subscription existed in the broker before, so that matches may contain events from before.
    `durability`: of a durable one, what its cursor survives, in the words of a receipt; of others None.
    """

    __slots__ = ("_closed", "_source", "attached", "durability", "name")

    def __init__(self, source: Source, name: str, answer: Subscribed) -> None:
        self._source = source
        self._closed = False
        self.name = name
        self.attached = answer.attached
        self.durability = answer.durability

    def next(self, timeout: float | None = None) -> Notification | None:
        """The next notification, waited for as long as it takes or for `timeout` seconds; then None.

        None also when unsubscribed. Raises ConnectionLost and SlowConsumer, but only after what has come before.
        """
        return None if self._closed else self._source.next_notification(self.name, timeout)

    def poll(self) -> Notification | None:
        """The next notification if it is here already."""
        return self.next(0.0)

    def acknowledge(self, position: int | None = None) -> None:
        """Of a durable one: up to here, or to what was read last, everything is done with and does not come again.

        Waits until that is as safe as `durability` says. Raises as `Client.acknowledge`.
        """
        self._source.acknowledge(self.name, position)

    def close(self) -> None:
        """Unsubscribe. What has not been read is discarded, but by a cursor. Does nothing the second time."""
        if not self._closed:
            self._closed = True
            self._source.unsubscribe(self.name)

    def __iter__(self) -> Iterator[Notification]:
        return self

    def __next__(self) -> Notification:
        notification = self.next()
        if notification is None:
            raise StopIteration
        return notification

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
            return
        # What ended the block is more important than whether the broker still hears of it.
        self._closed = True
        self._source.release(self.name)
