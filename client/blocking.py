"""The blocking client: one socket, one Session, and the calls of the SDK. It starts no thread.

A Client belongs to one thread and to the process that opened it, as its socket does. With a subscription open, a
program may do something else for hours: ZeroMQ keeps the connection alive, and the broker keeps results within its
limits and reports when these were exceeded. A call that waits for notifications pings the broker now and then, to
notice when it has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self, TypeVar, final

from broker.events import Disorder, Duration, TimeUnit
from broker.language.names import DEFAULT_LANGUAGE, LanguageName
from broker.language.subscription import Report, SubscriptionDefinition
from broker.language.subscription import Results as ResultsWhen
from broker.wire import Subscribe, Subscribed, WhenSlow
from broker.wire.keys import Keys

from .arguments import checked_seconds, checked_text
from .authority import client_keys
from .calls import Call, Calls, run
from .change_calls import ChangeCalls
from .connection import Connection
from .cursor_calls import CursorCalls
from .dead_letter import DeadLetter
from .durable import Durable
from .errors import ConnectionLost, ForetellError, RequestTimeout, WrongThread
from .flow import FlowEvent
from .held_batches import checked_message_events
from .notification import Notification
from .operating import Operating
from .probability import Probability
from .publisher import WINDOW_MESSAGES, Publisher, checked_window
from .receipt import Receipt
from .reconnect_policy import Reconnect
from .session import WINDOW_NOTIFICATIONS
from .subscription import Subscription
from .times import Time, Times
from .tracing import PublishSpans

DEFAULT_ADDRESS: Final = "tcp://127.0.0.1:5570"
TIMEOUT_SECONDS: Final = 10.0
GOODBYE_SECONDS: Final = 1.0

_Result = TypeVar("_Result")


@final
class Client(Operating):
    """A connection to a broker; a context manager. Opening it waits for the broker.

    `timeout` (seconds) bounds the wait for a connection and for each answer. `keys`: the file of this client's keys, or
    the Keys read from it. `reconnect`: after a loss the next call connects again, and subscriptions continue, with an
    `incomplete` where results may be missing; None: the client ends with its connection. `on_event` is called, within
    the calls, with each event of the connection. `tracer`: an OpenTelemetry tracer, by which each published batch is a
    span; the broker's span of the batch, where it traces, is a child of it.

    Raises ConnectionLost if no broker answers at `address`, ProtocolError if it has another version of the protocol,
    PermissionDenied if it does not know the client's key. Every call raises ConnectionLost once the session is lost,
    RequestTimeout if no answer came, and the errors that its own docstring names; `advice` says what to do about them.
    Every call, also of its subscriptions, publishers and notifications, raises WrongThread in another thread and
    ConnectionLost in a process that was forked off, and changes nothing then.
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
        spans = PublishSpans(tracer)
        self._opened = Connection(address, timeout, client_keys(keys), reconnect, on_event)
        self._made = Calls(self._opened.session, spans)
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
        disorder: Disorder = "arrival",
        lateness: Duration | None = None,
        speculation: Duration | None = None,
        idle: Duration | None = None,
        time_unit: TimeUnit | None = None,
        sequence: str | None = None,
    ) -> None:
        """Declare a stream; an equal one may exist already. `attributes`: types by name, `"string?"` if nullable.

        `lateness`, `speculation`, `idle`: microseconds, text such as `5 s`, or timedelta. `time_unit`: of the numbers
        that this client gives as times of the stream, by default microseconds; the broker does not know it. Raises
        DefinitionError, also if the stream exists with another definition; Unsupported.
        """
        order = disorder, lateness, speculation, idle, time_unit, sequence
        self._run(self._calls.add_stream(name, attributes, key, *order))

    def set_time_unit(self, stream: str, unit: TimeUnit) -> None:
        """Declare the unit of the numbers that this client gives as times of a stream, by default microseconds: s, ms,
        us, ns or iso. The broker does not know it. Raises UnknownStream, DefinitionError.
        """
        self._run(self._calls.set_time_unit(stream, unit))

    def publish(
        self,
        stream: str,
        data: Mapping[str, Any],
        time: Time | None = None,
        id: int | None = None,
        start: Time | None = None,
    ) -> Receipt:
        """Publish one event and wait until the engine has accepted it. A time is a number in the stream's `time_unit`,
        ISO-8601 text, an aware datetime, or a time of numpy or pandas.

        Without `time` the broker takes its clock, without `id` it numbers the event. Raises EventError, LateEvent,
        EarlyEvent, UnknownStream.
        """
        return self._run(self._calls.publish(stream, data, time, id, start))

    def publish_batch(
        self,
        stream: str,
        times: Times | None,
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None = None,
        starts: Times | None = None,
    ) -> Receipt:
        """Publish a batch in columns: `rows` are tuples in schema order; `times`, `ids`, `starts` have their length.
        Times are as for `publish`; they may be an array of numpy or a column of pandas.

        A batch that does not fit a message is sent in several, one after the other. Events that are too late or too
        early are refused one by one and listed in the receipt, whose `raise_for_refused` raises for them; if all of a
        batch are, a RefusedWarning is given, once for a stream. Any other error raises EventError before anything is
        sent. Raises UnknownStream; LimitExceeded for an event that fits no message, after those before it were
        accepted.
        """
        return self._run(self._calls.publish_batch(stream, times, rows, ids, starts))

    def publish_columns(
        self, stream: str, columns: Any, times: Times | None = None, ids: Any = None, starts: Times | None = None
    ) -> Receipt:
        """Publish a batch of which each attribute is a column, by name, or a record batch of Arrow, as the engine's
        `publish_columns` takes them. They travel as packed columns, and the broker matches them as such: it makes no
        object for a number or for a repeated text. Otherwise as `publish_batch` does.
        """
        return self._run(self._calls.publish_columns(stream, columns, times, ids, starts))

    def publisher(
        self,
        stream: str,
        window: int = WINDOW_MESSAGES,
        on_receipt: Callable[[int, Receipt], None] | None = None,
        message_events: int = 0,
    ) -> Publisher:
        """Publish many batches without waiting for each; a context manager, which waits for the last ones.

        At most `window` messages are in flight. `on_receipt` is called with each batch's number, from 0 on, and its
        receipt. With `message_events`, smaller batches wait until they have so many events together, and travel in one
        message. Raises UnknownStream; DefinitionError for an invalid number. See Publisher.
        """
        checked_window(window)
        checked_message_events(message_events)
        definition = self._run(self._calls.definition(stream))
        return Publisher(self._connection, definition, window, on_receipt, self._calls.spans, message_events)

    def punctuate(self, time: int | str | datetime, stream: str | None = None, where: str | None = None) -> Receipt:
        """Promise that no event before `time` follows, on one stream or on any; with `where`, none that satisfies it.

        Results that have waited for it follow as notifications. `time`: microseconds, ISO-8601 or a datetime. Raises
        LateEvent, EarlyEvent, UnknownStream, PermissionDenied, Unsupported.
        """
        return self._run(self._changes.punctuate(time, stream, where))

    def declare_gap(self, stream: str, first: int, last: int | None = None) -> Receipt:
        """Promise that the events of a stream with these `sequence` numbers do not come: from `first` to `last`, or
        `first` alone. Raises EventError if one has come or the stream has no numbers, UnknownStream, PermissionDenied.
        """
        return self._run(self._changes.declare_gap(stream, first, last))

    def retract(self, id: int) -> Receipt:
        """Withdraw an event. Results that it was part of are withdrawn by notifications of the kind `retraction`.

        Raises EventError for an id that is unknown or final, PermissionDenied, Unsupported.
        """
        return self._run(self._changes.retract(id))

    # ---- subscriptions ----

    def subscribe(
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
        """Subscribe to a pattern, or attach to the subscription with this name and the same text and options.

        Without `query`: attach to the existing subscription with this name and the given options. `report`, for
        P-ToPSS: "all" reports every tuple of events, "completions" one for each completing event and binding, with
        their number. `window`: how many notifications may wait on this side; the others wait in the broker.

        `durable`: the name of a cursor, or a Durable with options. A cursor outlives this client and keeps results
        until they are acknowledged. `when_slow`: what happens to results when the broker's queue is full: the new ones
        are dropped ("drop_newest", the default), the oldest are ("drop_oldest"), or the subscription ends
        ("disconnect") and reading it raises SlowConsumer. `results`: "final" reports a result only when nothing can
        withdraw it any more.

        Raises QueryError with line and column, DefinitionError, UnknownSubscription, Unsupported, LimitExceeded,
        PermissionDenied; Busy if another client is attached to the cursor.
        """
        request = self._calls.prepare(
            name, language, query, lineage, report, forecast, window, durable, when_slow, results
        )
        try:
            answer = self._run(self._calls.subscribe(request))
        except BaseException:
            self.release(name)  # after a timeout the broker may have subscribed the client nevertheless
            raise
        return Subscription(self, name, answer)

    def subscribe_many(
        self,
        definitions: Iterable[SubscriptionDefinition],
        window: int = WINDOW_NOTIFICATIONS,
        when_slow: WhenSlow | None = None,
    ) -> list[Subscription | ForetellError]:
        """Subscribe to many patterns with few requests; what became of each, in their order.

        Each is judged as `subscribe` does: an error in the place of a subscription says why that one was refused, and
        nothing of the others; also where this client, or the list before it, has its name. `window` and `when_slow`: as
        in `subscribe`, for each. Raises DefinitionError if these are wrong; then, and after any other error that it
        raises, none is in force.
        """
        prepared = self._calls.prepare_many(definitions, window, when_slow)
        try:
            answers = self._run(self._calls.subscribe_many(prepared))
        except BaseException:
            for each in prepared:
                if isinstance(each, Subscribe):
                    self.release(each.name)
            raise
        return [Subscription(self, each.name, each) if isinstance(each, Subscribed) else each for each in answers]

    def update(
        self,
        name: str,
        insert: Sequence[str] = (),
        delete: Sequence[str] = (),
        start: int | str | datetime | None = None,
        end: int | str | datetime | None = None,
    ) -> Receipt:
        """Change the arcs of a subscription, for all who are attached to it: all of it, or nothing.

        `insert`: texts of arcs; `delete`: names of arcs. `start`, `end`: the times of the events for which this holds;
        by default all events from now on. Raises QueryError, DefinitionError, UnknownSubscription, PermissionDenied.
        """
        return self._run(self._changes.update(name, insert, delete, start, end))

    def unsubscribe(self, name: str) -> None:
        """End a subscription and discard its unread notifications. Raises UnknownSubscription."""
        self._run(self._calls.unsubscribe(name))

    def release(self, name: str) -> None:
        """Unsubscribe without waiting for the answer, and without an error."""
        self._connection.session.close_inbox(name)
        self._connection.drop_subscription(name)

    def next_notification(self, name: str, timeout: float | None = None) -> Notification | None:
        """The next notification of a subscription; None after `timeout` seconds, and if this client has none."""
        found = self._connection.next_notification(name, timeout)
        return None if found is None else found.of(self)

    def acknowledge(self, name: str, position: int | None = None, incarnation: int | None = None) -> None:
        """Acknowledge a durable subscription's results up to `position`, by default up to the one read last.

        `incarnation`, from a notification: the cursor that the position belongs to; by default that of the result read
        last. Raises UnknownSubscription if this client has no such subscription, or if the cursor was forgotten and
        created anew; ProtocolError for a position that was not delivered yet.
        """
        self._run(self._cursors.acknowledge(name, position, incarnation))

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

    def refuse(self, name: str, reason: str, position: int | None = None, incarnation: int | None = None) -> None:
        """Set a durable subscription's result aside as a dead letter: at `position`, by default the one read last.

        It is not delivered again. Raises as `acknowledge`; DefinitionError if that result does not await
        acknowledgement.
        """
        self._run(self._cursors.refuse(name, position, reason, incarnation))

    def reset_time(self, stream: str) -> tuple[int, str] | None:
        """Set the broker's newest time back to that of the other streams, after this one published a wrong time.

        Subscriptions that read the stream begin anew. Returns the new newest time, in microseconds, and the stream that
        has it, or None. Raises UnknownStream; PermissionDenied for all but administrators.
        """
        return self._run(self._calls.reset_time(stream))

    def dead_letters(self, cursor: str) -> list[DeadLetter]:
        """The dead letters of a cursor, sorted by position. Raises UnknownSubscription, PermissionDenied."""
        return self._run(self._cursors.dead_letters(cursor))

    def discard(self, cursor: str, *positions: int) -> None:
        """Delete dead letters. Raises as `dead_letters`, and DefinitionError for a position without a dead letter."""
        self._run(self._cursors.settle(cursor, positions, False))

    def requeue(self, cursor: str, *positions: int) -> None:
        """Deliver dead letters again, with their ids, at new positions.

        Raises as `discard`, and LimitExceeded if the cursor has no room.
        """
        self._run(self._cursors.settle(cursor, positions, True))

    def forget(self, cursor: str) -> None:
        """Delete a durable subscription's cursor and the results it keeps.

        Raises UnknownSubscription, PermissionDenied; Busy if another client is attached to it.
        """
        self._run(self._cursors.forget(cursor))

    def probability(self, name: str, key: object = None, within: int | str | None = None) -> Probability:
        """The probability of the next match of a key of a predictive subscription, from the key's last event on.

        `key`: its value, a list if it has several, None if one chain serves the whole stream. `within`: a number of
        events or a duration; by default the subscription's own horizon. Raises UnknownSubscription, DefinitionError,
        PermissionDenied.
        """
        return self._run(self._calls.probability(name, key, within))

    # ---- the broker ----

    def ping(self) -> None:
        """Wait until the broker answers."""
        self._run(self._calls.ping())

    def close(self) -> None:
        """Say goodbye, which releases the subscriptions, and close. Does nothing the second time, nor in a process that
        was forked off. Raises WrongThread, unless the thread that opened the client has ended; nothing else.
        """
        connection = self._opened
        if connection.owner.inherited:
            return
        if not connection.owner.ended:
            connection.owner.check()
        if connection.usable:
            with suppress(ForetellError):  # a broker that does not answer notices by itself
                run(self._made.close(), connection.say_goodbye)
        connection.close()

    def check_owner(self) -> None:
        """Raise WrongThread or ConnectionLost unless this thread of this process has opened the client."""
        self._opened.owner.check()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with nullcontext() if kind is None else suppress(WrongThread):  # what ended the block is more important
            self.close()

    @property
    def _connection(self) -> Connection:
        self._opened.owner.check()
        return self._opened

    @property
    def _calls(self) -> Calls:
        self._opened.owner.check()
        return self._made

    @property
    def _changes(self) -> ChangeCalls:
        return ChangeCalls(self._connection.session)

    @property
    def _cursors(self) -> CursorCalls:
        return CursorCalls(self._connection.session)

    def _run(self, call: Call[_Result]) -> _Result:
        return run(call, self._connection.exchange)
