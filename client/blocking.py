"""Law: the client that blocks: one socket under one Session, and the calls of the SDK. It starts no thread.

One Client belongs to one thread, and to the process that opened it: as its socket does. A subscription does not keep a
program from doing something else for hours: ZeroMQ keeps the connection alive below, the broker keeps what comes in the
meantime within its limits, and says so where these were exceeded. While a call waits for notifications, it pings the
broker now and then, so that it learns of a broker that has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Self, TypeVar, final

from broker import __version__
from broker.events import (
    DefinitionError,
    LateEvent,
    Schema,
    StreamDefinition,
    checked_subscription_name,
    parse_instant,
    row_from_mapping,
)
from broker.language.subscription import SubscriptionDefinition
from broker.wire import (
    VERSION,
    AddStream,
    DescribeStream,
    Done,
    Goodbye,
    Hello,
    ListStreams,
    ListSubscriptions,
    Message,
    Ping,
    Pong,
    Publish,
    Published,
    Statistics,
    StatisticsReport,
    StreamEntry,
    Streams,
    Subscribe,
    Subscribed,
    SubscriptionEntry,
    Subscriptions,
    Unsubscribe,
    Welcome,
)
from broker.wire.limits import CREDITS_MAX

from .batches import check_batch, merged, parts
from .connection import Connection, expected
from .errors import ConnectionLost, ForetellError, RequestTimeout
from .notification import Notification
from .publisher import WINDOW_MESSAGES, WINDOW_MESSAGES_MAX, Publisher
from .receipt import Receipt
from .session import WINDOW_NOTIFICATIONS
from .subscription import Subscription

DEFAULT_ADDRESS: Final = "tcp://127.0.0.1:5570"
TIMEOUT_SECONDS: Final = 10.0
GOODBYE_SECONDS: Final = 1.0

_Answer = TypeVar("_Answer", bound=Message)


@final
class Client:
    """A connection to a broker; a context manager. Opening it waits for the broker.

    `timeout` (seconds) bounds the wait for a connection and for each answer. Raises ConnectionLost where no broker
    answers at `address`, ProtocolError where it speaks another version. Every call raises ConnectionLost once the
    session is lost, RequestTimeout where no answer came, and otherwise what its own docstring says.
    """

    def __init__(self, address: str = DEFAULT_ADDRESS, timeout: float = TIMEOUT_SECONDS) -> None:
        self._streams: dict[str, StreamDefinition] = {}
        self._connection = Connection(address, timeout)
        try:
            self._ask(lambda number: Hello(number, VERSION, f"foretell client {__version__}"), Welcome)
        except RequestTimeout:
            self._connection.close()
            raise ConnectionLost(f"no broker answers at {address} within {timeout:g} s") from None
        except BaseException:
            self._connection.close()
            raise

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
        stream = StreamDefinition(
            name,
            Schema.declare(attributes),
            key,
            disorder,  # type: ignore[arg-type]  # the definition itself refuses other words
            lateness,
            speculation,
        )
        declared = stream.schema.declared()
        self._ask(lambda number: AddStream(number, name, declared, key, disorder, lateness, speculation), Done)
        self._streams[name] = stream

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
        definition = self._definition(stream)
        row = row_from_mapping(definition, data)
        times = None if time is None else (parse_instant(time),)
        starts = None if start is None else (parse_instant(start),)
        ids = None if id is None else (id,)
        check_batch(definition, times, (row,), ids, starts)
        answer = self._ask(lambda number: Publish(number, stream, times, (row,), ids, starts), Published)
        if answer.refused:
            raise LateEvent(f"stream {stream!r}: {answer.refused[0].reason}")
        return Receipt(answer.count, answer.newest, answer.first_id)

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
        definition = self._definition(stream)
        rows = check_batch(definition, times, rows, ids, starts)
        answers: list[tuple[int, Published]] = []
        connection = self._connection
        for first, _, (correlation, frame) in parts(connection.session.request, stream, times, rows, ids, starts):
            try:
                answers.append((first, expected(connection.exchange(correlation, frame), Published)))
            except ForetellError as error:
                if first == 0:
                    raise
                raise type(error)(f"{error} (from row {first} of the batch on; the rows before were sent)") from None
        return merged(answers)

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
        if type(window) is not int or not 1 <= window <= WINDOW_MESSAGES_MAX:
            raise DefinitionError(f"expected a window of 1 to {WINDOW_MESSAGES_MAX:,} messages, found {window!r}")
        return Publisher(self._connection, self._definition(stream), window, on_receipt)

    def _definition(self, name: str) -> StreamDefinition:
        """What the broker knows of a stream; it never changes, so it is asked for once."""
        known = self._streams.get(name)
        if known is None:
            entry = self._ask(lambda number: DescribeStream(number, name), Streams).entries[0]
            known = self._streams[name] = _stream(entry)
        return known

    # ---- subscriptions ----

    def subscribe(
        self,
        name: str,
        language: str = "cayuga",
        query: str | None = None,
        lineage: bool | None = None,
        report: str | None = None,
        forecast: Mapping[str, Any] | None = None,
        window: int = WINDOW_NOTIFICATIONS,
    ) -> Subscription:
        """Subscribe to a pattern, or attach to the one that has this name and the same text and options.

        Without `query`: attach to whatever has this name, and the options that are given. `report`, for P-ToPSS: "all"
        tells every tuple of events, "completions" one for each completing event and binding, with their number.
        `window`: how many notifications may wait on this side; the others wait in the broker. Raises QueryError with
        line and column, DefinitionError, UnknownSubscription, Unsupported, LimitExceeded.
        """
        options = None if forecast is None else dict(forecast)
        if type(window) is not int or not 1 <= window <= CREDITS_MAX:
            raise DefinitionError(f"subscription {name!r}: expected a window of 1 to {CREDITS_MAX:,}, found {window!r}")
        if query is None:
            checked_subscription_name(name)
        else:
            SubscriptionDefinition(name, language, query, lineage, report, options)
        session = self._connection.session
        if session.has_inbox(name):
            raise DefinitionError(f"subscription {name!r}: this client has subscribed to it already")
        session.open_inbox(name, window)
        try:
            answer = self._ask(
                lambda number: Subscribe(number, name, language, query, lineage, report, options, window), Subscribed
            )
        except BaseException:
            self.release(name)  # after a timeout the broker may have it, and an answer to this is dropped
            raise
        return Subscription(self, name, answer.attached)

    def unsubscribe(self, name: str) -> None:
        """No further notifications; those that have not been read are discarded. Raises UnknownSubscription."""
        self._connection.session.close_inbox(name)
        self._ask(lambda number: Unsubscribe(number, name), Done)

    def release(self, name: str) -> None:
        """Unsubscribe without waiting for the answer, and without an error."""
        self._connection.session.close_inbox(name)
        self._connection.tell(lambda number: Unsubscribe(number, name))

    def next_notification(self, name: str, timeout: float | None = None) -> Notification | None:
        """The next notification of a subscription of this client, None after `timeout` seconds or without one."""
        return self._connection.next_notification(name, timeout)

    # ---- the broker ----

    def ping(self) -> None:
        """Come back when the broker has answered."""
        self._ask(Ping, Pong)

    def statistics(self) -> dict[str, Any]:
        """Numbers by name, in groups by name: of the broker and of its engine."""
        return self._ask(Statistics, StatisticsReport).groups

    def streams(self) -> list[StreamDefinition]:
        """The declared streams, sorted by name."""
        found: list[StreamDefinition] = []
        more = True
        while more:
            after = found[-1].name if found else ""
            page = self._ask(partial(ListStreams, after=after), Streams)
            found.extend(map(_stream, page.entries))
            more = page.more
        return found

    def subscriptions(self) -> list[SubscriptionEntry]:
        """The subscriptions in the broker, sorted by name."""
        found: list[SubscriptionEntry] = []
        more = True
        while more:
            after = found[-1].name if found else ""
            page = self._ask(partial(ListSubscriptions, after=after), Subscriptions)
            found.extend(page.entries)
            more = page.more
        return found

    def close(self) -> None:
        """Say goodbye, which releases the subscriptions, and close. Raises nothing; does nothing the second time."""
        if self._connection.usable:
            with suppress(ForetellError):  # a broker that does not answer finds out by itself
                self._connection.ask(Goodbye, GOODBYE_SECONDS)
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, make: Callable[[int], Message], kind: type[_Answer]) -> _Answer:
        return expected(self._connection.ask(make), kind)


def _stream(entry: StreamEntry) -> StreamDefinition:
    return StreamDefinition(
        entry.name,
        Schema.declare(entry.attributes),
        entry.key,
        entry.disorder,  # type: ignore[arg-type]  # the definition itself refuses other words
        entry.lateness,
        entry.speculation,
    )
