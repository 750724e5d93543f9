"""Every message that may be on the wire, as hypothesis strategies."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from broker.events import Schema, StreamDefinition
from broker.events.column_checks import event_columns
from broker.events.event_columns import EventColumns
from broker.wire import (
    VERSION,
    Acknowledge,
    AddStream,
    Administer,
    AskProbability,
    AskReasons,
    Closing,
    Credit,
    DeadLetter,
    DeadLetters,
    DeclareGap,
    DescribeStream,
    Done,
    Ended,
    Failure,
    Forget,
    Goodbye,
    Hello,
    Inspect,
    Inspected,
    ListDeadLetters,
    ListStreams,
    ListSubscriptions,
    Message,
    Notifications,
    Ping,
    Pong,
    ProbabilityReport,
    Probe,
    Publish,
    Published,
    Punctuate,
    Reasons,
    Refusal,
    Refuse,
    ResetTime,
    Retract,
    Settle,
    Statistics,
    StatisticsReport,
    StreamEntry,
    Streams,
    Subscribe,
    Subscribed,
    SubscribedMany,
    SubscribeMany,
    SubscriptionEntry,
    SubscriptionOutcome,
    SubscriptionRequest,
    Subscriptions,
    TimeReset,
    Unsubscribe,
    Update,
    Welcome,
)

counts = st.integers(0, 2**63 - 1)
integers = st.integers(-(2**63), 2**63 - 1)
texts = st.text(st.characters(codec="utf-8"), max_size=12)
values = st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | texts
options = st.dictionaries(texts, values | st.lists(values, max_size=3).map(tuple), max_size=3)
_optional_count = st.none() | counts
_optional_text = st.none() | texts
_credits = st.integers(1, 1_000_000)
_attributes = st.dictionaries(texts, texts, max_size=4)


_VALUES: Any = {"int": integers, "float": st.floats(allow_nan=False, allow_infinity=False), "string": texts}
_VALUES["bool"] = st.booleans()


def event_columns_of(size: int) -> st.SearchStrategy[EventColumns]:
    """So many events in columns of any types, with nulls or without."""

    @st.composite
    def columns(draw: st.DrawFn) -> EventColumns:
        attributes, given = {}, {}
        for at, kind in enumerate(draw(st.lists(st.sampled_from(sorted(_VALUES)), max_size=4))):
            value = _VALUES[kind] if draw(st.booleans()) else st.none() | _VALUES[kind]
            attributes[f"a{at}"] = f"{kind}?"
            given[f"a{at}"] = draw(st.lists(value, min_size=size, max_size=size))
        made = event_columns(StreamDefinition("S", Schema.declare(attributes)), given, size)
        assert isinstance(made, EventColumns)
        return made

    return columns()


@st.composite
def _packed_batches(draw: st.DrawFn, size: int) -> Publish:
    each = st.none() | st.lists(integers, min_size=size, max_size=size)
    columns = (draw(each), draw(event_columns_of(size)), draw(each), draw(each))
    message = (draw(_optional_text), draw(_optional_count), draw(_optional_count))
    return Publish(draw(counts), draw(texts), *columns, *message)


@st.composite
def batches(draw: st.DrawFn) -> Publish:
    size = draw(st.integers(0, 5) | st.integers(6, 20))

    def column() -> st.SearchStrategy[tuple[int, ...] | None]:
        return st.none() | st.lists(integers, min_size=size, max_size=size).map(tuple)

    if draw(st.booleans()):
        return draw(_packed_batches(size))
    # Times and rows are judged by whoever takes the events: on the wire they may be anything.
    times = column() | st.lists(values, min_size=size, max_size=size).map(tuple)
    row = st.lists(values, max_size=3).map(tuple) | values
    rows = st.lists(row, min_size=size, max_size=size).map(tuple)
    message = (draw(_optional_text), draw(_optional_count), draw(_optional_count), draw(_optional_text))
    columns: Any = (draw(times), draw(rows), draw(column()), draw(column()), *message)
    return Publish(draw(counts), draw(texts), *columns)


def _several(strategy: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(strategy, max_size=3).map(tuple)


_durations = (_optional_count, _optional_count, _optional_count)
_stream_fields = (texts, _attributes, _optional_text, texts, *_durations, _optional_text)
_refusals = _several(st.builds(Refusal, counts, texts, texts))
_streams = _several(st.builds(StreamEntry, *_stream_fields, counts, _optional_text))
_texts = _several(texts)
_updates = _several(st.tuples(_texts, _texts, integers, integers))
_subscriptions = _several(st.builds(SubscriptionEntry, texts, texts, texts, counts, counts, options, counts, _updates))
_numbered = (_optional_text, _optional_count, _optional_count)
_optional_integer = st.none() | integers
_letters = _several(st.builds(DeadLetter, counts, st.binary(max_size=8), texts, integers, counts))
_forecast = st.none() | options
_flag = st.none() | st.booleans()
_wanted = _several(
    st.builds(SubscriptionRequest, texts, texts, _optional_text, _flag, _optional_text, _forecast, _optional_text)
)
_outcomes = _several(
    st.builds(
        SubscriptionOutcome,
        texts,
        st.booleans(),
        _optional_text,
        texts,
        _optional_count,
        _optional_count,
        _optional_text,
        _optional_count,
        _texts,
    )
)
_token = st.none() | st.binary(max_size=64)

messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(Hello, counts, st.just(VERSION), texts, _token),
    st.builds(Goodbye, counts),
    st.builds(Ping, counts),
    st.builds(AddStream, counts, *_stream_fields, _optional_text),
    batches(),
    st.builds(
        Subscribe,
        counts,
        texts,
        texts,
        _optional_text,
        _flag,
        _optional_text,
        _forecast,
        _credits,
        _optional_count,
        _optional_text,
        _optional_count,
        _optional_count,
        _optional_count,
        _optional_count,
        st.none() | integers,
        _optional_count,
        _optional_count,
        _optional_text,
        _optional_count,
        _optional_text,
    ),
    st.builds(Punctuate, counts, integers, _optional_text, _optional_text, *_numbered),
    st.builds(Retract, counts, _several(integers), *_numbered),
    st.builds(Update, counts, texts, _texts, _texts, _optional_integer, _optional_integer, *_numbered),
    st.builds(DeclareGap, counts, texts, integers, integers, *_numbered),
    st.builds(
        AskReasons,
        counts,
        _optional_text,
        _optional_text,
        st.lists(values, max_size=3).map(tuple),
        st.lists(integers, max_size=3).map(tuple),
        _optional_integer,
    ),
    st.builds(Reasons, counts, options),
    st.builds(Inspect, counts, texts, texts, texts, counts),
    st.builds(Administer, counts, texts, texts, _optional_count, options),
    st.builds(Inspected, counts, options, st.booleans()),
    st.builds(SubscribeMany, counts, _wanted, _credits, _optional_text, _optional_count),
    st.builds(SubscribedMany, counts, _outcomes),
    st.builds(Unsubscribe, counts, texts),
    st.builds(Credit, counts, texts, _credits),
    st.builds(DescribeStream, counts, texts),
    st.builds(ListStreams, counts, texts),
    st.builds(ResetTime, counts, texts),
    st.builds(TimeReset, counts, st.none() | integers, _optional_text),
    st.builds(ListSubscriptions, counts, texts),
    st.builds(AskProbability, counts, texts, _several(values), st.none() | counts | texts),
    st.builds(ProbabilityReport, counts, options),
    st.builds(Statistics, counts),
    st.builds(Acknowledge, counts, texts, counts, _optional_count),
    st.builds(Forget, counts, texts),
    st.builds(Refuse, counts, texts, counts, texts, _optional_count),
    st.builds(ListDeadLetters, counts, texts, counts),
    st.builds(Settle, counts, texts, _several(integers), st.booleans()),
    st.builds(DeadLetters, counts, _letters, st.booleans(), counts),
    st.builds(Welcome, counts, counts, texts, counts, _token, counts, counts),
    st.builds(Done, counts),
    st.builds(Pong, counts),
    st.builds(Published, counts, counts, *[_optional_integer] * 2, _refusals, texts, _optional_text),
    st.builds(Subscribed, counts, texts, st.booleans(), st.booleans(), _optional_text, *[_optional_count] * 2, _texts),
    st.builds(Streams, counts, _streams, st.booleans()),
    st.builds(Subscriptions, counts, _subscriptions, st.booleans()),
    st.builds(StatisticsReport, counts, options),
    st.builds(
        Failure,
        counts,
        texts,
        texts,
        _optional_count,
        _optional_count,
        _optional_text,
        _optional_count,
        _optional_count,
    ),
    st.builds(Notifications, counts, texts, counts, _several(st.binary(max_size=8)), _optional_count, st.booleans()),
    st.builds(Probe, counts),
    st.builds(Closing, counts, texts),
    st.builds(Ended, counts, texts, texts, texts),
)
