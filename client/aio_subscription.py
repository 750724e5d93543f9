"""A subscription as a reader in asyncio holds it: iteration, one result at a time, closing."""

from __future__ import annotations

from contextlib import suppress
from typing import Protocol, Self, final

from broker.wire import Subscribed

from .aio_notification import Notification, Source
from .arguments import checked_seconds
from .errors import ConnectionLost, WrongThread


class Owner(Source, Protocol):
    """What a subscription needs of its client: the calls of `Client` of these names."""

    async def next_notification(self, name: str, timeout: float | None = None) -> Notification | None: ...

    async def unsubscribe(self, name: str) -> None: ...

    def release(self, name: str) -> None: ...

    def check_owner(self) -> None: ...


@final
class Subscription:
    """The notifications of one subscription, in order. An async context manager and an async iterator.

    `attached`, `durability` and `warnings` are those of the blocking client.
    """

    __slots__ = ("_client", "_closed", "attached", "durability", "name", "warnings")

    def __init__(self, client: Owner, name: str, answer: Subscribed) -> None:
        self._client = client
        self._closed = False
        self.name = name
        self.attached = answer.attached
        self.durability = answer.durability
        self.warnings = tuple(answer.warnings)

    async def next(self, timeout: float | None = None) -> Notification | None:
        """The next notification; None after `timeout` seconds, and once closed. Raises ConnectionLost, SlowConsumer."""
        if timeout is not None:
            checked_seconds("timeout", timeout)
        return None if self._closed else await self._client.next_notification(self.name, timeout)

    async def poll(self) -> Notification | None:
        """The next notification if it was received already; otherwise None."""
        return await self.next(0.0)

    async def acknowledge(self, position: int | None = None) -> None:
        """Acknowledge a durable subscription's results up to `position`, by default up to the one read last."""
        await self._client.acknowledge(self.name, position)

    def acknowledge_later(self, position: int | None = None) -> None:
        """Acknowledge without waiting, and without `await`; see `Client.acknowledge_later`."""
        self._client.acknowledge_later(self.name, position)

    async def close(self) -> None:
        """Unsubscribe. Unread results are discarded, except by a cursor. Does nothing the second time."""
        if not self._closed:
            self._client.check_owner()  # before it counts as closed for its owner
            self._closed = True
            await self._client.unsubscribe(self.name)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Notification:
        notification = await self.next()
        if notification is None:
            raise StopAsyncIteration
        return notification

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            await self.close()
        elif not self._closed:
            with suppress(WrongThread, ConnectionLost):  # what ended the block is more important
                self._client.check_owner()
                self._closed = True
                self._client.release(self.name)
