"""The blocking client: one socket under one Session, and the calls of the SDK. It starts no thread.

One Client belongs to one thread, and to the process that opened it: as its socket does. A subscription does not keep a
program from doing something else for hours: ZeroMQ keeps the connection alive below, the broker keeps what comes in the
meantime within its limits, and says so where these were exceeded. While a call waits for notifications, it pings the
broker now and then, so that it learns of a broker that has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self, TypeVar, final

from broker.events import StreamDefinition
from broker.language.names import DEFAULT_LANGUAGE
from broker.wire import SubscriptionEntry, WhenSlow
from broker.wire.keys import Keys

from .authority import client_keys
from .calls import Call, Calls, run
from .connection import Connection
from .dead_letter import DeadLetter
from .durable import Durable
from .errors import ConnectionLost, ForetellError, RequestTimeout
from .flow import FlowEvent
from .notification import Notification
from .probability import Probability
from .publisher import WINDOW_MESSAGES, Publisher, checked_window
from .receipt import Receipt
from .reconnect_policy import Reconnect
from .session import WINDOW_NOTIFICATIONS
from .subscription import Subscription

DEFAULT_ADDRESS: Final = "tcp://127.0.0.1:5570"
TIMEOUT_SECONDS: Final = 10.0
GOODBYE_SECONDS: Final = 1.0

_Result = TypeVar("_Result")


@final
class Client:
    """A connection to a broker; a context manager. Opening it waits for the broker.

    `timeout` (seconds) bounds the wait for a connection and for each answer. `keys`: the file of this client's keys, or
    what was read from it. `reconnect`: after a loss the next call connects again, and subscriptions go on, with an
    `incomplete` where something may be missing; None: the client ends with its connection. `on_event` is told what
    happens in between, within the calls.

    Raises ConnectionLost where no broker answers at `address`, ProtocolError where it speaks another version,
    PermissionDenied where it does not know us. Every call raises ConnectionLost once the session is lost,
    RequestTimeout where no answer came, and otherwise what its own docstring says; `advice` tells what to make of it.
    """

    def __init__(
        self,
        address: str = DEFAULT_ADDRESS,
        timeout: float = TIMEOUT_SECONDS,
        keys: Keys | str | Path | None = None,
        reconnect: Reconnect | None = None,
        on_event: Callable[[FlowEvent], None] | None = None,
    ) -> None:
        self._connection = Connection(address, timeout, client_keys(keys), reconnect, on_event)
        self._calls = Calls(self._connection.session)
        try:
            self._run(self._calls.open())
        except RequestTimeout:
            self._connection.close()
            raise ConnectionLost(f"no broker answers at {address} within {timeout:g} s") from None
        except BaseException:
            self._connection.close()
            raise
        self._connection.opened = True

    # ---- streams and events ----

    def add_stream(
        self,
        name: str,
        attributes: Mapping[str, str],
        key: str | None = None,
        disorder: str = "arrival",
        lateness: int | None = None,
        speculation: int | None = None,
    ) -> None:
        """Declare a stream; an equal one may exist already. `attributes`: types by name, `"string?"` if nullable.

        Raises DefinitionError, also where the stream exists and is another; Unsupported.
        """
        self._run(self._calls.add_stream(name, attributes, key, disorder, lateness, speculation))

    def publish(
        self,
        stream: str,
        data: Mapping[str, Any],
        time: int | str | None = None,
        id: int | None = None,
        start: int | str | None = None,
    ) -> Receipt:
        """Publish one event and wait until the engine has taken it. Times are microseconds or ISO-8601.

        Without `time` the broker's clock is taken, without `id` the broker's number. Raises EventError, LateEvent,
        UnknownStream.
        """
        return self._run(self._calls.publish(stream, data, time, id, start))

    def publish_batch(
        self,
        stream: str,
        times: Sequence[int] | None,
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Sequence[int] | None = None,
    ) -> Receipt:
        """Publish a batch in columns: `rows` are tuples in schema order, `times`, `ids`, `starts` as long as they.

        A batch that does not fit a message is sent in several, one after the other. Late events are refused one by one
        and listed in the receipt; anything else that is wrong raises EventError before anything is sent. Raises
        UnknownStream; LimitExceeded for an event that fits no message, with the ones before it taken.
        """
        return self._run(self._calls.publish_batch(stream, times, rows, ids, starts))

    def publisher(
        self,
        stream: str,
        window: int = WINDOW_MESSAGES,
        on_receipt: Callable[[int, Receipt], None] | None = None,
    ) -> Publisher:
        """Publish many batches without waiting for each; a context manager, which waits for the last ones.

        At most `window` messages are under way. `on_receipt` is told each batch's number, from 0 on, and its receipt.
        Raises UnknownStream; DefinitionError for a window that is none. See Publisher.
        """
        checked_window(window)
        return Publisher(self._connection, self._run(self._calls.definition(stream)), window, on_receipt)

    # ---- subscriptions ----

    def subscribe(
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
        """Subscribe to a pattern, or attach to the one that has this name and the same text and options.

        Without `query`: attach to whatever has this name, and the options that are given. `report`, for P-ToPSS: "all"
        tells every tuple of events, "completions" one for each completing event and binding, with their number.
        `window`: how many notifications may wait on this side; the others wait in the broker. `durable`: a
        cursor, which outlives this client, and keeps what is found until it is acknowledged: its name, or with what
        else is wanted a Durable. `when_slow`: what becomes of results that find the broker's queue full: they are
        missed ("drop_newest", which is the default), the oldest are ("drop_oldest"), or the subscription ends
        ("disconnect") and reading it raises SlowConsumer. Raises QueryError with line and column, DefinitionError,
        UnknownSubscription, Unsupported, LimitExceeded, PermissionDenied; Busy where another client is attached to the
        cursor.
        """
        request = self._calls.prepare(name, language, query, lineage, report, forecast, window, durable, when_slow)
        try:
            answer = self._run(self._calls.subscribe(request))
        except BaseException:
            self.release(name)  # after a timeout the broker may have it, and an answer to this is dropped
            raise
        return Subscription(self, name, answer)

    def unsubscribe(self, name: str) -> None:
        """No further notifications; those that have not been read are discarded. Raises UnknownSubscription."""
        self._run(self._calls.unsubscribe(name))

    def release(self, name: str) -> None:
        """Unsubscribe without waiting for the answer, and without an error."""
        self._connection.session.close_inbox(name)
        self._connection.give_up(name)

    def next_notification(self, name: str, timeout: float | None = None) -> Notification | None:
        """The next notification of a subscription of this client, None after `timeout` seconds or without one."""
        found = self._connection.next_notification(name, timeout)
        return None if found is None else found.of(self)

    def acknowledge(self, name: str, position: int | None = None, incarnation: int | None = None) -> None:
        """Of a durable subscription: everything up to `position`, without one up to what was read last, is done with.

        `incarnation`, as a notification says it: of which cursor of its name that position is; without, of that of what
        was read last. UnknownSubscription where the cursor was forgotten and made anew.
        Raises UnknownSubscription where this client has none of this name, ProtocolError for a position to come.
        """
        self._run(self._calls.acknowledge(name, position, incarnation))

    def refuse(self, name: str, reason: str, position: int | None = None, incarnation: int | None = None) -> None:
        """Of a durable subscription: the result at `position`, without one what was read last, cannot be done with. It
        is set aside among the cursor's dead letters, and not delivered again.

        Raises as `acknowledge`; DefinitionError where that result is not one that is to be acknowledged.
        """
        self._run(self._calls.refuse(name, position, reason, incarnation))

    def reset_time(self, stream: str) -> tuple[int, str] | None:
        """Set the newest time of the broker back to that of the other streams, where a time of this one was none; what
        reads this one begins anew. The newest time from now on and the stream that has it, or None. Raises
        UnknownStream, and PermissionDenied to all but administrators.
        """
        return self._run(self._calls.reset_time(stream))

    def dead_letters(self, cursor: str) -> list[DeadLetter]:
        """What was set aside of a durable subscription, by positions. Raises UnknownSubscription, PermissionDenied."""
        return self._run(self._calls.dead_letters(cursor))

    def discard(self, cursor: str, *positions: int) -> None:
        """Dead letters go. Raises as `dead_letters`, and DefinitionError where one of these is none."""
        self._run(self._calls.settle(cursor, positions, False))

    def requeue(self, cursor: str, *positions: int) -> None:
        """Dead letters are delivered again, with their ids, at new positions. Raises as `discard`, and LimitExceeded
        where the cursor has no room.
        """
        self._run(self._calls.settle(cursor, positions, True))

    def forget(self, cursor: str) -> None:
        """Give up a durable subscription's cursor and what it keeps. Raises UnknownSubscription, PermissionDenied,
        Busy where another client is attached to it.
        """
        self._run(self._calls.forget(cursor))

    def probability(self, name: str, key: object = None, within: int | str | None = None) -> Probability:
        """How likely the next match of one key of a predictive subscription is, counted from the key's last event.

        `key`: its value, a list of several, or nothing where one chain serves the whole stream. `within`: a number of
        events or a duration; without, the subscription's own horizon. Raises UnknownSubscription, DefinitionError,
        PermissionDenied.
        """
        return self._run(self._calls.probability(name, key, within))

    # ---- the broker ----

    def ping(self) -> None:
        """Come back when the broker has answered."""
        self._run(self._calls.ping())

    def statistics(self) -> dict[str, Any]:
        """Numbers by name, in groups by name: of the broker and of its engine."""
        return self._run(self._calls.statistics())

    def streams(self) -> list[StreamDefinition]:
        """The declared streams, sorted by name."""
        return self._run(self._calls.streams())

    def subscriptions(self) -> list[SubscriptionEntry]:
        """The subscriptions in the broker, sorted by name."""
        return self._run(self._calls.subscriptions())

    def close(self) -> None:
        """Say goodbye, which releases the subscriptions, and close. Raises nothing; does nothing the second time."""
        if self._connection.usable:
            with suppress(ForetellError):  # a broker that does not answer finds out by itself
                run(self._calls.close(), self._connection.farewell)
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, call: Call[_Result]) -> _Result:
        return run(call, self._connection.exchange)
