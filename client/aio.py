"""The asyncio client: the blocking client's calls under the same names, each awaited; it starts no thread.

    from client.aio import Client

    async with Client("tcp://127.0.0.1:5570") as client:
        await client.add_stream("Stock", {"name": "string", "price": "float"})
        async with await client.subscribe("jumps", query="...") as subscription:
            await client.publish("Stock", {"name": "IBM", "price": 101.5}, time=5)
            async for notification in subscription: ...

Several tasks can make requests at once, and the broker processes them in the order in which they were made. To publish
batches without waiting for each, start tasks or use `publish_batches`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeVar, final

from broker.events import Disorder, Duration, TimeUnit
from broker.language.names import DEFAULT_LANGUAGE, LanguageName
from broker.language.subscription import Report, SubscriptionDefinition
from broker.language.subscription import Results as ResultsWhen
from broker.wire import Subscribe, Subscribed, WhenSlow
from broker.wire.keys import Keys

from .aio_batches import Columns, published
from .aio_connection import AioConnection
from .aio_notification import Notification as Notification
from .aio_operating import Operating
from .aio_subscription import Subscription as Subscription
from .arguments import checked_seconds, checked_text
from .authority import client_keys
from .blocking import DEFAULT_ADDRESS, TIMEOUT_SECONDS
from .calls import Call, Calls
from .change_calls import ChangeCalls
from .cursor_calls import CursorCalls
from .dead_letter import DeadLetter
from .durable import Durable
from .errors import ConnectionLost, ForetellError, RequestTimeout, WrongThread
from .flow import FlowEvent
from .held_batches import checked_message_events
from .probability import Probability
from .publisher import WINDOW_MESSAGES, checked_window
from .receipt import Receipt
from .reconnect_policy import Reconnect
from .session import WINDOW_NOTIFICATIONS
from .times import Time, Times
from .tracing import PublishSpans

_Result = TypeVar("_Result")


@final
class Client(Operating):
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
        tracer: Any = None,
    ) -> None:
        checked_text("address", address)
        checked_seconds("timeout", timeout)
        self._address = address
        self._timeout = timeout
        self._keys = client_keys(keys)
        self._reconnect = reconnect
        self._on_event = on_event
        self._spans = PublishSpans(tracer)
        self._opened: tuple[AioConnection, Calls] | None = None

    async def open(self) -> Self:
        """Connect, and wait for the broker. Raises ConnectionLost, ProtocolError, PermissionDenied; WrongThread if
        another loop has opened it and not closed it."""
        if self._opened is not None and self._opened[0].usable:
            self.check_owner()
        connection = AioConnection(self._address, self._timeout, self._keys, self._reconnect, self._on_event)
        self._opened = connection, Calls(connection.session, self._spans)
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
        disorder: Disorder = "arrival",
        lateness: Duration | None = None,
        speculation: Duration | None = None,
        idle: Duration | None = None,
        time_unit: TimeUnit | None = None,
        sequence: str | None = None,
    ) -> None:
        """Declare a stream; an equal one may exist already. Raises DefinitionError, Unsupported."""
        order = disorder, lateness, speculation, idle, time_unit, sequence
        await self._run(self._calls.add_stream(name, attributes, key, *order))

    async def set_time_unit(self, stream: str, unit: TimeUnit) -> None:
        """Declare the unit of the numbers that this client gives as times of a stream, by default microseconds: s, ms,
        us, ns or iso. The broker does not know it. Raises UnknownStream, DefinitionError.
        """
        await self._run(self._calls.set_time_unit(stream, unit))

    async def publish(
        self,
        stream: str,
        data: Mapping[str, Any],
        time: Time | None = None,
        id: int | None = None,
        start: Time | None = None,
    ) -> Receipt:
        """Publish one event; returns when the engine has accepted it. Raises as the blocking client does."""
        return await self._run(self._calls.publish(stream, data, time, id, start))

    async def publish_batch(
        self,
        stream: str,
        times: Times | None,
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Times | None = None,
    ) -> Receipt:
        """Publish a batch in columns. Raises as the blocking client does."""
        return await self._run(self._calls.publish_batch(stream, times, rows, ids, starts))

    async def publish_columns(
        self, stream: str, columns: Any, times: Times | None = None, ids: Any = None, starts: Times | None = None
    ) -> Receipt:
        """Publish a batch of which each attribute is a column. Raises as the blocking client does."""
        return await self._run(self._calls.publish_columns(stream, columns, times, ids, starts))

    async def publish_batches(
        self, stream: str, batches: Iterable[Columns], window: int = WINDOW_MESSAGES, message_events: int = 0
    ) -> AsyncGenerator[Receipt, None]:
        """Publish many batches, at most `window` of them in flight, and yield their receipts in order.

        With `message_events`, smaller batches travel in one message, until they have so many events together; the
        window then counts messages. An error concerns the batch after the last receipt, or one of its message; of those
        behind it, up to a window may be accepted.
        """
        checked_window(window)
        checked_message_events(message_events)
        definition = await self._run(self._calls.definition(stream))
        found = published(self._connection, self._spans, definition, batches, window, message_events)
        async with aclosing(found) as receipts:
            async for receipt in receipts:
                yield receipt

    async def punctuate(
        self, time: int | str | datetime, stream: str | None = None, where: str | None = None
    ) -> Receipt:
        """Promise that no earlier event follows. Arguments and errors are as in the blocking client."""
        return await self._run(self._changes.punctuate(time, stream, where))

    async def declare_gap(self, stream: str, first: int, last: int | None = None) -> Receipt:
        """Promise that these numbers of a stream do not come. Raises as the blocking client does."""
        return await self._run(self._changes.declare_gap(stream, first, last))

    async def retract(self, id: int) -> Receipt:
        """Withdraw an event. Raises as the blocking client does."""
        return await self._run(self._changes.retract(id))

    # ---- subscriptions ----

    async def subscribe(
        self,
        name: str,
        language: LanguageName = DEFAULT_LANGUAGE,
        query: str | None = None,
        lineage: bool | None = None,
        report: Report | None = None,
        forecast: Mapping[str, Any] | None = None,
        window: int = WINDOW_NOTIFICATIONS,
        durable: str | Durable | None = None,
        when_slow: WhenSlow | None = None,
        results: ResultsWhen | None = None,
    ) -> Subscription:
        """Subscribe to a pattern, or attach to a subscription. Arguments and errors are as in the blocking client."""
        request = self._calls.prepare(
            name, language, query, lineage, report, forecast, window, durable, when_slow, results
        )
        try:
            answer = await self._run(self._calls.subscribe(request))
        except BaseException:
            self.release(name)
            raise
        return Subscription(self, name, answer)

    async def subscribe_many(
        self,
        definitions: Iterable[SubscriptionDefinition],
        window: int = WINDOW_NOTIFICATIONS,
        when_slow: WhenSlow | None = None,
    ) -> list[Subscription | ForetellError]:
        """Subscribe to many patterns with few requests. Arguments and errors are as in the blocking client."""
        prepared = self._calls.prepare_many(definitions, window, when_slow)
        try:
            answers = await self._run(self._calls.subscribe_many(prepared))
        except BaseException:
            for each in prepared:
                if isinstance(each, Subscribe):
                    self.release(each.name)
            raise
        return [Subscription(self, each.name, each) if isinstance(each, Subscribed) else each for each in answers]

    async def update(
        self,
        name: str,
        insert: Sequence[str] = (),
        delete: Sequence[str] = (),
        start: int | str | datetime | None = None,
        end: int | str | datetime | None = None,
    ) -> Receipt:
        """Change the arcs of a subscription. Arguments and errors are as in the blocking client."""
        return await self._run(self._changes.update(name, insert, delete, start, end))

    async def unsubscribe(self, name: str) -> None:
        """End a subscription and discard its unread notifications. Raises UnknownSubscription."""
        call = self._calls.unsubscribe(name)
        self._connection.wake(name)
        await self._run(call)

    def release(self, name: str) -> None:
        """Unsubscribe without waiting for the answer, and without an error."""
        self._connection.session.close_inbox(name)
        self._connection.wake(name)
        self._connection.drop_subscription(name)

    async def next_notification(self, name: str, timeout: float | None = None) -> Notification | None:
        """The next notification of a subscription; None after `timeout` seconds, and if this client has none."""
        found = await self._connection.next_notification(name, timeout)
        return None if found is None else Notification(found.line(), found.incarnation).of(self)

    async def acknowledge(self, name: str, position: int | None = None, incarnation: int | None = None) -> None:
        """Acknowledge a durable subscription's results up to `position`, by default up to the one read last.

        `incarnation`, from a notification: the cursor that the position belongs to; by default that of the result read
        last. Raises UnknownSubscription if this client has no such subscription, or if the cursor was forgotten and
        created anew; ProtocolError for a position that was not delivered yet.
        """
        await self._run(self._cursors.acknowledge(name, position, incarnation))

    def acknowledge_later(self, name: str, position: int | None = None, incarnation: int | None = None) -> None:
        """Acknowledge as `acknowledge` does, without waiting: the request is sent now or with the next call.

        Acknowledgements are ordered and cumulative. Unanswered ones are sent again after a reconnect. A refusal is
        reported as the FlowEvent UNACKNOWLEDGED and raised by the next call for this subscription. Raises
        UnknownSubscription if this client has no such durable subscription.
        """
        try:
            self._cursors.acknowledge_later(name, position, incarnation)
        finally:
            self._connection.send_later()

    async def refuse(self, name: str, reason: str, position: int | None = None, incarnation: int | None = None) -> None:
        """Set a durable subscription's result aside as a dead letter: at `position`, by default the one read last.

        It is not delivered again. Raises as `acknowledge`; DefinitionError if that result does not await
        acknowledgement.
        """
        await self._run(self._cursors.refuse(name, position, reason, incarnation))

    async def reset_time(self, stream: str) -> tuple[int, str] | None:
        """Set the broker's newest time back to that of the other streams, after this one published a wrong time.

        Subscriptions that read the stream begin anew. Returns the new newest time, in microseconds, and the stream that
        has it, or None. Raises UnknownStream; PermissionDenied for all but administrators.
        """
        return await self._run(self._calls.reset_time(stream))

    async def dead_letters(self, cursor: str) -> list[DeadLetter]:
        """The dead letters of a cursor, sorted by position. Raises UnknownSubscription, PermissionDenied."""
        return await self._run(self._cursors.dead_letters(cursor))

    async def discard(self, cursor: str, *positions: int) -> None:
        """Delete dead letters. Raises as `dead_letters`, and DefinitionError for a position without a dead letter."""
        await self._run(self._cursors.settle(cursor, positions, False))

    async def requeue(self, cursor: str, *positions: int) -> None:
        """Deliver dead letters again, with their ids, at new positions.

        Raises as `discard`, and LimitExceeded if the cursor has no room.
        """
        await self._run(self._cursors.settle(cursor, positions, True))

    async def forget(self, cursor: str) -> None:
        """Delete a durable subscription's cursor and the results it keeps. Raises UnknownSubscription,
        PermissionDenied; Busy if another client is attached to it."""
        await self._run(self._cursors.forget(cursor))

    async def probability(self, name: str, key: object = None, within: int | str | None = None) -> Probability:
        """The probability of the next match of a key of a predictive subscription, from the key's last event on.

        `key`: its value, a list if it has several, None if one chain serves the whole stream. `within`: a number of
        events or a duration; by default the subscription's own horizon. Raises UnknownSubscription, DefinitionError,
        PermissionDenied.
        """
        return await self._run(self._calls.probability(name, key, within))

    # ---- the broker ----

    async def ping(self) -> None:
        """Wait until the broker answers."""
        await self._run(self._calls.ping())

    async def close(self) -> None:
        """Say goodbye, which releases the subscriptions, and close. Does nothing the second time, nor in a process that
        was forked off. Raises WrongThread in another loop; nothing else.
        """
        if self._opened is None or self._opened[0].owner.inherited:
            return
        connection, calls = self._opened
        connection.owner.check()
        if connection.usable:
            with suppress(ForetellError):  # a broker that does not answer notices by itself
                await _drive(calls.close(), connection.say_goodbye)
        await connection.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    def check_owner(self) -> None:
        """Raise WrongThread or ConnectionLost unless this loop in this process has opened the client."""
        self._present()

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with nullcontext() if kind is None else suppress(WrongThread):  # what ended the block is more important
            await self.close()

    def _present(self) -> tuple[AioConnection, Calls]:
        """The connection and the calls, for their owner."""
        if self._opened is None:
            raise ConnectionLost("this client is not open: use `async with`, or `await client.open()`")
        self._opened[0].owner.check()
        return self._opened

    @property
    def _connection(self) -> AioConnection:
        return self._present()[0]

    @property
    def _changes(self) -> ChangeCalls:
        return ChangeCalls(self._connection.session)

    @property
    def _calls(self) -> Calls:
        return self._present()[1]

    @property
    def _cursors(self) -> CursorCalls:
        return CursorCalls(self._connection.session)

    async def _run(self, call: Call[_Result]) -> _Result:
        return await _drive(call, self._connection.exchange)


async def _drive(call: Call[_Result], exchange: Callable[[int, bytes], Any]) -> _Result:
    """Run a call as `calls.run` does, with an exchange that is awaited."""
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
