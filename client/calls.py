"""The calls of the SDK, as generators of requests.

A call yields requests as `Session.request` makes them, receives the answer to each through `send`, and returns its
result. The blocking client and the asyncio client run the same calls, one waiting, one awaiting.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar, final

from broker import __version__
from broker.events import (
    DefinitionError,
    Duration,
    LateEvent,
    Schema,
    StreamDefinition,
    TimeUnit,
    checked_subscription_name,
    row_from_mapping,
    shown,
    stream_durations,
)
from broker.events.validation import LATE_HINT
from broker.language.names import language_meant
from broker.language.subscription import SubscriptionDefinition
from broker.wire import (
    VERSION,
    AddStream,
    AskProbability,
    DescribeStream,
    Done,
    Failure,
    Goodbye,
    Hello,
    ListStreams,
    ListSubscriptions,
    Message,
    Ping,
    Pong,
    ProbabilityReport,
    Publish,
    Published,
    ResetTime,
    Statistics,
    StatisticsReport,
    StreamEntry,
    Streams,
    Subscribe,
    Subscribed,
    SubscribedMany,
    SubscriptionEntry,
    Subscriptions,
    TimeReset,
    Unsubscribe,
    Welcome,
    WhenSlow,
    check_when_slow,
)
from broker.wire.limits import CREDITS_MAX

from . import subscribe_many
from .arguments import checked_durable, checked_forecast, checked_text
from .batches import check_batch, column_rows, merged, parts, whole_numbers
from .durable import Durable
from .errors import ForetellError, ProtocolError, UnknownSubscription, remote_error
from .probability import Probability, reported
from .receipt import Receipt, warn_of_refused
from .session import Session
from .times import Time, Times, batch_times, event_time
from .tracing import NO_SPANS, PublishSpans

SOFTWARE: Final = f"foretell client {__version__}"

_Result = TypeVar("_Result")
_Answer = TypeVar("_Answer", bound=Message)

Call: TypeAlias = Generator[tuple[int, bytes], Message, _Result]


def hello(session: Session, correlation: int) -> Message:
    """The first request of every session, new or resumed."""
    return Hello(correlation, VERSION, SOFTWARE, session.token)


def expected(answer: Message, kind: type[_Answer]) -> _Answer:
    """The answer, checked for its kind. Raises the error that a Failure describes; ProtocolError for another kind."""
    if isinstance(answer, Failure):
        raise remote_error(answer)
    if type(answer) is not kind:
        raise ProtocolError(f"expected {kind.__name__} as the answer, found {type(answer).__name__}")
    return answer


def run(call: Call[_Result], exchange: Callable[[int, bytes], Message]) -> _Result:
    """Run a call. `exchange` sends a request, waits for its answer, and raises ForetellError if there is none."""
    try:
        request = next(call)
        while True:
            try:
                answer = exchange(*request)
            except ForetellError as error:
                request = call.throw(error)
            else:
                request = call.send(answer)
    except StopIteration as end:
        result: _Result = end.value
        return result


@final
class Calls:
    """The calls over one session. Definitions of streams are cached; a change by others adds attributes that may be
    null, or ends the stream."""

    __slots__ = ("_session", "_streams", "spans")

    def __init__(self, session: Session, spans: PublishSpans = NO_SPANS) -> None:
        self._session = session
        self.spans = spans
        self._streams: dict[str, StreamDefinition] = {}

    # ---- the session ----

    def open(self) -> Call[Welcome]:
        """Say HELLO."""
        return self._ask(partial(hello, self._session), Welcome)

    def close(self) -> Call[Done]:
        """Say goodbye."""
        return self._ask(Goodbye, Done)

    def ping(self) -> Call[Pong]:
        """Ask for a sign of life."""
        return self._ask(Ping, Pong)

    # ---- streams and events ----

    def add_stream(
        self,
        name: str,
        attributes: Mapping[str, str],
        key: str | None,
        disorder: str,
        lateness: Duration | None,
        speculation: Duration | None,
        idle: Duration | None = None,
        time_unit: TimeUnit | None = None,
        sequence: str | None = None,
    ) -> Call[None]:
        """Declare a stream."""
        schema = Schema.declare(attributes)
        order = disorder, *stream_durations(name, lateness, speculation, idle), time_unit
        stream = StreamDefinition(name, schema, key, *order, sequence=sequence)  # type: ignore[arg-type]  # judged there
        request = AddStream(0, name, stream.schema.declared(), key, *order, sequence)
        yield from self._ask(lambda number: replace(request, correlation=number), Done)
        self._session.declared[name] = request
        self._streams[name] = stream

    def forget_definition(self, stream: str, added: Mapping[str, str] | None = None) -> None:
        """Ask for a stream's definition again when it is needed. After a loss it is declared with what was `added`,
        and not at all if it was deleted."""
        self._streams.pop(stream, None)
        declared = self._session.declared.pop(stream, None)
        if declared is not None and added is not None:
            attributes = {**declared.attributes, **added}
            self._session.declared[stream] = replace(declared, attributes=attributes)

    def publish(
        self,
        stream: str,
        data: Mapping[str, Any],
        time: Time | None,
        id: int | None,
        start: Time | None,
    ) -> Call[Receipt]:
        """Publish one event."""
        definition = yield from self.definition(stream)
        row = row_from_mapping(definition, data)
        times = event_time(self._session, definition, time)
        starts = event_time(self._session, definition, start)
        ids = None if id is None else (id,)
        check_batch(definition, times, (row,), ids, starts)
        with self.spans.publishing(stream, 1) as trace:
            batch = partial(Publish, stream=stream, times=times, rows=(row,), ids=ids, starts=starts, trace=trace)
            answer = yield from self._ask(batch, Published)
            if answer.refused:
                refusal = answer.refused[0]
                hint = LATE_HINT if refusal.code == LateEvent.code and definition.disorder == "arrival" else ""
                raise remote_error(Failure(0, refusal.code, f"stream {stream!r}: {refusal.reason}{hint}"))
        return Receipt(answer.count, answer.newest, answer.first_id, (), answer.durability, answer.held_back)

    def publish_batch(
        self,
        stream: str,
        times: Times | None,
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None,
        starts: Times | None,
    ) -> Call[Receipt]:
        """Publish a batch in as many messages as it needs; each is answered before the next is sent."""
        definition = yield from self.definition(stream)
        times = batch_times(self._session, definition, times)
        return (yield from self._publish(definition, times, rows, ids, starts))

    def publish_columns(
        self, stream: str, columns: Any, times: Times | None, ids: Any, starts: Times | None
    ) -> Call[Receipt]:
        """The same for a column an attribute."""
        definition = yield from self.definition(stream)
        times = batch_times(self._session, definition, times)
        rows = column_rows(definition, columns, times)
        return (yield from self._publish(definition, times, rows, whole_numbers(ids), starts))

    def _publish(
        self,
        stream: StreamDefinition,
        times: Sequence[int] | None,
        rows: Sequence[tuple[Any, ...]],
        ids: Sequence[int] | None,
        starts: Times | None,
    ) -> Call[Receipt]:
        starts = batch_times(self._session, stream, starts)
        rows = check_batch(stream, times, rows, ids, starts)
        answers: list[tuple[int, Published]] = []
        with self.spans.publishing(stream.name, len(rows)) as trace:
            for first, _, request in parts(self._session.request, stream.name, times, rows, ids, starts, trace):
                try:
                    answers.append((first, expected((yield request), Published)))
                except ForetellError as error:
                    if first:
                        error.args = (f"{error} (from row {first} of the batch on; the rows before were sent)",)
                    raise
        receipt = merged(answers)
        warn_of_refused(self._session.warned, stream.name, (receipt,))
        return receipt

    def reset_time(self, stream: str) -> Call[tuple[int, str] | None]:
        """Reset the newest time; the new value and the stream that has it."""
        answer = yield from self._ask(partial(ResetTime, stream=stream), TimeReset)
        return None if answer.newest is None or answer.stream is None else (answer.newest, answer.stream)

    def definition(self, name: str) -> Call[StreamDefinition]:
        """The broker's definition of a stream; the broker is asked once."""
        checked_text("stream", name)
        known = self._streams.get(name)
        if known is None:
            streams = yield from self._ask(lambda number: DescribeStream(number, name), Streams)
            known = self._streams[name] = _stream(streams.entries[0])
        return known

    def set_time_unit(self, stream: str, unit: TimeUnit) -> Call[None]:
        """Declare the unit of this client's times of a stream."""
        definition = yield from self.definition(stream)
        self._streams[stream] = replace(definition, time_unit=unit)

    # ---- subscriptions ----

    def prepare(
        self,
        name: str,
        language: str,
        query: str | None,
        lineage: bool | None,
        report: str | None,
        forecast: Mapping[str, Any] | None,
        window: int,
        durable: str | Durable | None = None,
        when_slow: WhenSlow | None = None,
        results: str | None = None,
    ) -> Subscribe:
        """Check the options, open the inbox, and return the request. Raises DefinitionError."""
        if query is None and type(language) is str and " " in language.strip():
            language, query = language_meant(language), language  # a query in the place of the language
        checked_forecast(name, forecast)
        checked_durable(name, durable)
        options = None if forecast is None else dict(forecast)
        if type(window) is not int or not 1 <= window <= CREDITS_MAX:
            raise DefinitionError(f"subscription {name!r}: expected a window of 1 to {CREDITS_MAX:,}, found {window!r}")
        reading = Durable(durable) if isinstance(durable, str) else durable
        cursor = {} if reading is None else reading.fields()
        check_when_slow(name, cursor.get("durable"), when_slow)
        if query is None:
            checked_subscription_name(name)
        else:
            SubscriptionDefinition(name, language, query, lineage, report, options, results)
        if self._session.has_inbox(name):
            raise subscribe_many.subscribed_already(name)
        self._session.open_inbox(name, window)
        return Subscribe(
            0, name, language, query, lineage, report, options, window, None, **cursor, when_slow=when_slow,
            results=results,
        )  # fmt: skip

    def subscribe(self, request: Subscribe) -> Call[Subscribed]:
        """Send a prepared request."""
        answer = yield from self._ask(lambda number: replace(request, correlation=number), Subscribed)
        inbox = self._session.inboxes[request.name]
        # A renewal continues behind the last position received; it does not replay from the start again.
        inbox.request = replace(request, replay=None, since=None)
        inbox.replays = request.replay is not None or request.since is not None
        return answer

    def prepare_many(
        self, definitions: Iterable[SubscriptionDefinition], window: int, when_slow: WhenSlow | None
    ) -> list[Subscribe | ForetellError]:
        """Check the options, open the inboxes, and return the request of each, or why it has none. Raises
        DefinitionError for what concerns all; then no inbox is open."""
        prepare = partial(self.prepare, window=window, when_slow=when_slow)
        return subscribe_many.prepared(prepare, self._session, definitions)

    def subscribe_many(self, prepared: Sequence[Subscribe | ForetellError]) -> Call[list[Subscribed | ForetellError]]:
        """Send prepared requests, in as few messages as they need; what became of each. The inboxes of those that the
        broker has refused are closed."""
        found: list[Subscribed | ForetellError] = []
        for part in subscribe_many.divided([each for each in prepared if isinstance(each, Subscribe)]):
            answer = yield from self._ask(subscribe_many.message(part), SubscribedMany)
            if [each.name for each in answer.outcomes] != [request.name for request in part]:
                raise ProtocolError("expected an outcome for each subscription that was asked for, found others")
            for request, each in zip(part, answer.outcomes):
                result = subscribe_many.outcome(each)
                found.append(result)
                if isinstance(result, ForetellError):
                    self._session.close_inbox(request.name)
                else:
                    self._session.inboxes[request.name].request = request
        told = iter(found)
        return [next(told) if isinstance(each, Subscribe) else each for each in prepared]

    def unsubscribe(self, name: str) -> Call[None]:
        """End a subscription."""
        checked_text("subscription", name)
        known = self._session.has_inbox(name)
        self._session.close_inbox(name)
        try:
            yield from self._ask(lambda number: Unsubscribe(number, name), Done)
        except UnknownSubscription:
            if not known:  # else it ended with a lost session
                raise

    def probability(self, name: str, key: object, within: int | str | None) -> Call[Probability]:
        """The probability of the next match of a key."""
        checked_subscription_name(name)
        values = () if key is None else tuple(key) if isinstance(key, list | tuple) else (key,)
        if within is not None and type(within) not in (int, str):
            raise DefinitionError(f"within: expected a number of events or a duration, found {shown(within)}")
        request = partial(AskProbability, name=name, key=values, within=within)
        answer = yield from self._ask(request, ProbabilityReport)
        return reported(answer.report)

    # ---- the broker ----

    def statistics(self) -> Call[dict[str, Any]]:
        """Groups of numbers by name, each number by name."""
        report = yield from self._ask(Statistics, StatisticsReport)
        return report.groups

    def streams(self) -> Call[list[StreamDefinition]]:
        """All pages of streams."""
        found: list[StreamDefinition] = []
        more = True
        while more:
            page = yield from self._ask(partial(ListStreams, after=found[-1].name if found else ""), Streams)
            found.extend(map(_stream, page.entries))
            more = page.more
        return found

    def subscriptions(self) -> Call[list[SubscriptionEntry]]:
        """All pages of subscriptions."""
        found: list[SubscriptionEntry] = []
        more = True
        while more:
            after = found[-1].name if found else ""
            page = yield from self._ask(partial(ListSubscriptions, after=after), Subscriptions)
            found.extend(page.entries)
            more = page.more
        return found

    def _ask(self, make: Callable[[int], Message], kind: type[_Answer]) -> Call[_Answer]:
        return expected((yield self._session.request(make)), kind)


def _stream(entry: StreamEntry) -> StreamDefinition:
    return replace(StreamDefinition.of(entry), added=entry.added)
