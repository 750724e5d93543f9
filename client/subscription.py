"""A subscription as its reader holds it: iteration, one result at a time, closing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Protocol, Self, final

from broker.wire import Subscribed

from .arguments import checked_seconds
from .errors import ConnectionLost, WrongThread
from .notification import Notification


class Source(Protocol):
    """What a subscription needs of its client."""

    def check_owner(self) -> None: ...

    def next_notification(self, name: str, timeout: float | None) -> Notification | None: ...

    def acknowledge(self, name: str, position: int | None = None, incarnation: int | None = None) -> None: ...

    def acknowledge_later(self, name: str, position: int | None = None, incarnation: int | None = None) -> None: ...

    def unsubscribe(self, name: str) -> None: ...

    def release(self, name: str) -> None: ...


@final
class Subscription:
    """The notifications of one subscription, in order. A context manager that unsubscribes, and a blocking iterator.

    `attached`: the subscription existed in the broker already, so matches may contain earlier events. `durability`:
    what the cursor of a durable subscription survives, as in a receipt; None for others. `warnings`: what is right in
    its text, but probably not meant, each with its line and column, and streams for which results wait.
    """

    __slots__ = ("_closed", "_source", "attached", "durability", "name", "warnings")

    def __init__(self, source: Source, name: str, answer: Subscribed) -> None:
        self._source = source
        self._closed = False
        self.name = name
        self.attached = answer.attached
        self.durability = answer.durability
        self.warnings = tuple(answer.warnings)

    def next(self, timeout: float | None = None) -> Notification | None:
        """The next notification; waits without limit, or for `timeout` seconds and then returns None.

        None also once closed. Raises ConnectionLost and SlowConsumer, but only after all received notifications.
        """
        if timeout is not None:
            checked_seconds("timeout", timeout)
        return None if self._closed else self._source.next_notification(self.name, timeout)

    def poll(self) -> Notification | None:
        """The next notification if it was received already, without waiting; otherwise None."""
        return self.next(0.0)

    def acknowledge(self, position: int | None = None) -> None:
        """Acknowledge a durable subscription's results up to `position`, by default up to the one read last.

        They are not delivered again. Waits until that is as safe as `durability` says. Raises as `Client.acknowledge`.
        """
        self._source.acknowledge(self.name, position)

    def acknowledge_later(self, position: int | None = None) -> None:
        """Acknowledge without waiting; see `Client.acknowledge_later`."""
        self._source.acknowledge_later(self.name, position)

    def close(self) -> None:
        """Unsubscribe. Unread results are discarded, except by a cursor. Does nothing the second time."""
        if not self._closed:
            self._source.check_owner()  # before it counts as closed for its owner
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
        # The exception that ended the block is more important than an error of unsubscribing.
        with suppress(WrongThread, ConnectionLost):
            self._source.check_owner()
            self._closed = True
            self._source.release(self.name)
