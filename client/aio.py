"""The asyncio client: the blocking client's calls under the same names, each awaited; one loop, no thread.

    from client.aio import Client

    async with Client("tcp://127.0.0.1:5570") as client:
        await client.add_stream("Stock", {"name": "string", "price": "float"})
        async with await client.subscribe("jumps", query="...") as subscription:
            await client.publish("Stock", {"name": "IBM", "price": 101.5}, time=5)
            async for notification in subscription: ...

Requests of several tasks are under way at once, and the broker takes them in the order in which they were made: so
batches are published without waiting for each by starting tasks, or with `publish_batches`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar, final

from broker.events import StreamDefinition
from broker.language.names import DEFAULT_LANGUAGE
from broker.wire import Message, Published, Subscribed, SubscriptionEntry, WhenSlow
from broker.wire.keys import Keys

from .aio_connection import AioConnection
from .authority import client_keys
from .batches import check_batch, merged, parts
from .blocking import DEFAULT_ADDRESS, TIMEOUT_SECONDS
from .calls import Call, Calls, expected
from .dead_letter import DeadLetter
from .durable import Durable
from .errors import ConnectionLost, ForetellError, RequestTimeout
from .flow import FlowEvent
from .notification import Notification
from .probability import Probability
from .publisher import WINDOW_MESSAGES, checked_window
from .receipt import Receipt
from .reconnect_policy import Reconnect
from .session import WINDOW_NOTIFICATIONS

_Result = TypeVar("_Result")

Columns = tuple[Sequence[int] | None, Sequence[tuple[Any, ...]]]
"""A batch: times and rows."""


@final
class Client:
    """A connection to a broker; an async context manager, or `await client.open()` and `await client.close()`.

    The arguments and errors are those of `client.Client`; `on_event` is called by the loop.
    """

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        timeout: float = TIMEOUT_SECONDS,
        keys: Keys | str | Path | None = None,
        reconnect: Reconnect | None = None,
        on_event: Callable[[FlowEvent], None] | None = None,
    ) -> None:
        self._address = address
        self._timeout = timeout
        self._keys = client_keys(keys)
        self._reconnect = reconnect
        self._on_event = on_event
        self._opened: tuple[AioConnection, Calls] | None = None

    async def open(self) -> Self:
        """Connect, and wait for the broker. Raises ConnectionLost, ProtocolError, PermissionDenied."""
        connection = AioConnection(self._address, self._timeout, self._keys, self._reconnect, self._on_event)
        self._opened = connection, Calls(connection.session)
        try:
            await self._run(self._calls.open())
        except RequestTimeout:
            await connection.close()
            raise ConnectionLost(f"no broker answers at {self._address} within {self._timeout:g} s") from None
        except BaseException:
            await connection.close()
            raise
        connection.opened = True
        return self

    # ---- streams and events ----

    async def add_stream(
        self,
        name: str,
        attributes: Mapping[str, str],
        key: str | None = None,
        disorder: str = "arrival",
        lateness: int | None = None,
        speculation: int | None = None,
    ) -> None:
        """Declare a stream; an equal one may exist already. Raises DefinitionError, Unsupported."""
        await self._run(self._calls.add_stream(name, attributes, key, disorder, lateness, speculation))

    async def publish(
        self,
        stream: str,
        data: Mapping[str, Any],
        time: int | str | None = None,
        id: int | None = None,
        start: int | str | None = None,
    ) -> Receipt:
        """Publish one event, until the engine has taken it. Raises EventError, LateEvent, UnknownStream."""
        return await self._run(self._calls.publish(stream, data, time, id, start))

    async def publish_batch(
        self,
        stream: str,
        times: Sequence[int] | None,
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> Receipt:
        """Publish a batch in columns. Raises EventError, UnknownStream, LimitExceeded as the blocking client does."""
        return await self._run(self._calls.publish_batch(stream, times, rows, ids, starts))

    async def publish_batches(
        self, stream: str, batches: Iterable[Columns], window: int = WINDOW_MESSAGES
    ) -> AsyncIterator[Receipt]:
        """Publish many batches, at most `window` of them under way; their receipts, in order.

        After an error the batches before have their receipts; of those behind, up to a window may have been taken.
        """
        checked_window(window)
        definition = await self._run(self._calls.definition(stream))
        connection = self._connection
        flying: deque[list[tuple[int, asyncio.Task[Message]]]] = deque()
        try:
            for times, rows in batches:
                checked = check_batch(definition, times, rows, None, None)
                messages = parts(connection.session.request, stream, times, checked, None, None)
                # Tasks start in the order in which they are made, and that is the order of what they send.
                flying.append([(first, asyncio.create_task(connection.exchange(*made))) for first, _, made in messages])
                while len(flying) >= min(window, connection.session.batches):
                    yield await _receipt(flying.popleft())
            while flying:
                yield await _receipt(flying.popleft())
        finally:
            left = [task for batch in flying for _, task in batch]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    # ---- subscriptions ----

    async def subscribe(
        self,
        name: str,
        language: str = DEFAULT_LANGUAGE,
        query: str | None = None,
        lineage: bool | None = None,
        report: str | None = None,
        forecast: Mapping[str, Any] | None = None,
        window: int = WINDOW_NOTIFICATIONS,
        durable: str | Durable | None = None,
        when_slow: WhenSlow | None = None,
    ) -> Subscription:
        """Subscribe to a pattern, or attach to the one that has this name. Arguments and errors as with the other."""
        request = self._calls.prepare(name, language, query, lineage, report, forecast, window, durable, when_slow)
        try:
            answer = await self._run(self._calls.subscribe(request))
        except BaseException:
            self.release(name)
            raise
        return Subscription(self, name, answer)

    async def unsubscribe(self, name: str) -> None:
        """No further notifications; those that have not been read are discarded. Raises UnknownSubscription."""
        call = self._calls.unsubscribe(name)
        self._connection.wake(name)
        await self._run(call)

    def release(self, name: str) -> None:
        """Unsubscribe without waiting for the answer, and without an error."""
        self._connection.session.close_inbox(name)
        self._connection.wake(name)
        self._connection.give_up(name)

    async def next_notification(self, name: str, timeout: float | None = None) -> Notification | None:
        """The next notification of a subscription of this client, None after `timeout` seconds or without one."""
        found = await self._connection.next_notification(name, timeout)
        return None if found is None else found.of(self)

    async def acknowledge(self, name: str, position: int | None = None, incarnation: int | None = None) -> None:
        """Of a durable subscription: everything up to `position`, without one up to what was read last, is done with.

        `incarnation`, as a notification says it: of which cursor of its name that position is; without, of that of what
        was read last. UnknownSubscription where the cursor was forgotten and made anew.
        Raises UnknownSubscription where this client has none of this name, ProtocolError for a position to come.
        """
        await self._run(self._calls.acknowledge(name, position, incarnation))

    async def refuse(self, name: str, reason: str, position: int | None = None, incarnation: int | None = None) -> None:
        """Of a durable subscription: the result at `position`, without one what was read last, cannot be done with. It
        is set aside among the cursor's dead letters, and not delivered again.

        Raises as `acknowledge`; DefinitionError where that result is not one that is to be acknowledged.
        """
        await self._run(self._calls.refuse(name, position, reason, incarnation))

    async def reset_time(self, stream: str) -> tuple[int, str] | None:
        """Set the newest time of the broker back to that of the other streams, where a time of this one was none; what
        reads this one begins anew. The newest time from now on and the stream that has it, or None. Raises
        UnknownStream, and PermissionDenied to all but administrators.
        """
        return await self._run(self._calls.reset_time(stream))

    async def dead_letters(self, cursor: str) -> list[DeadLetter]:
        """What was set aside of a durable subscription, by positions. Raises UnknownSubscription, PermissionDenied."""
        return await self._run(self._calls.dead_letters(cursor))

    async def discard(self, cursor: str, *positions: int) -> None:
        """Dead letters go. Raises as `dead_letters`, and DefinitionError where one of these is none."""
        await self._run(self._calls.settle(cursor, positions, False))

    async def requeue(self, cursor: str, *positions: int) -> None:
        """Dead letters are delivered again, with their ids, at new positions. Raises as `discard`, and LimitExceeded
        where the cursor has no room.
        """
        await self._run(self._calls.settle(cursor, positions, True))

    async def forget(self, cursor: str) -> None:
        """Give up a durable subscription's cursor and what it keeps. Raises UnknownSubscription, PermissionDenied,
        Busy where another client is attached to it.
        """
        await self._run(self._calls.forget(cursor))

    async def probability(self, name: str, key: object = None, within: int | str | None = None) -> Probability:
        """How likely the next match of one key of a predictive subscription is, counted from the key's last event.

        `key`: its value, a list of several, or nothing where one chain serves the whole stream. `within`: a number of
        events or a duration; without, the subscription's own horizon. Raises UnknownSubscription, DefinitionError,
        PermissionDenied.
        """
        return await self._run(self._calls.probability(name, key, within))

    # ---- the broker ----

    async def ping(self) -> None:
        """Come back when the broker has answered."""
        await self._run(self._calls.ping())

    async def statistics(self) -> dict[str, Any]:
        """Numbers by name, in groups by name: of the broker and of its engine."""
        return await self._run(self._calls.statistics())

    async def streams(self) -> list[StreamDefinition]:
        """The declared streams, sorted by name."""
        return await self._run(self._calls.streams())

    async def subscriptions(self) -> list[SubscriptionEntry]:
        """The subscriptions in the broker, sorted by name."""
        return await self._run(self._calls.subscriptions())

    async def close(self) -> None:
        """Say goodbye, which releases the subscriptions, and close. Raises nothing; does nothing the second time."""
        if self._opened is None:
            return
        connection, calls = self._opened
        if connection.usable:
            with suppress(ForetellError):  # a broker that does not answer finds out by itself
                await _drive(calls.close(), connection.farewell)
        await connection.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def _connection(self) -> AioConnection:
        if self._opened is None:
            raise ConnectionLost("this client was not opened: use `async with`, or `await client.open()`")
        return self._opened[0]

    @property
    def _calls(self) -> Calls:
        if self._opened is None:
            raise ConnectionLost("this client was not opened: use `async with`, or `await client.open()`")
        return self._opened[1]

    async def _run(self, call: Call[_Result]) -> _Result:
        return await _drive(call, self._connection.exchange)


async def _drive(call: Call[_Result], exchange: Callable[[int, bytes], Any]) -> _Result:
    """What `calls.run` does, with an exchange that is awaited."""
    try:
        request = next(call)
        while True:
            try:
                answer = await exchange(*request)
            except ForetellError as error:
                request = call.throw(error)
            else:
                request = call.send(answer)
    except StopIteration as end:
        result: _Result = end.value
        return result


async def _receipt(messages: Iterable[tuple[int, asyncio.Task[Message]]]) -> Receipt:
    return merged([(first, expected(await task, Published)) for first, task in messages])


@final
class Subscription:
    """Notifications of one name, in order, each once. An async context manager and an async iterator."""

    __slots__ = ("_client", "_closed", "attached", "durability", "name")

    def __init__(self, client: Client, name: str, answer: Subscribed) -> None:
        self._client = client
        self._closed = False
        self.name = name
        self.attached = answer.attached
        self.durability = answer.durability

    async def next(self, timeout: float | None = None) -> Notification | None:
        """The next notification, None after `timeout` seconds, or once this is closed. Raises ConnectionLost."""
        return None if self._closed else await self._client.next_notification(self.name, timeout)

    async def poll(self) -> Notification | None:
        """The next notification if it is here already."""
        return await self.next(0.0)

    async def acknowledge(self, position: int | None = None) -> None:
        """Of a durable one: up to here, or to what was read last, everything is done with and does not come again."""
        await self._client.acknowledge(self.name, position)

    async def close(self) -> None:
        """Unsubscribe. What has not been read is discarded, but by a cursor. Does nothing the second time."""
        if not self._closed:
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
            self._closed = True
            self._client.release(self.name)
