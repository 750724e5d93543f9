"""The one table of messages between client and broker, a row each.

Here: all messages, as one type and one table. Not here: the class of a message and its row (the file of its topic), the
encoding (codec.py), the handling of requests (broker.kernel.requests).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from . import (
    administration_messages,
    change_messages,
    cursor_messages,
    forecast_messages,
    reason_messages,
    session_messages,
    stream_messages,
    subscription_messages,
)
from .administration_messages import Administer, Inspect, Inspected
from .change_messages import DeclareGap, Punctuate, Retract, Update
from .cursor_messages import Acknowledge, DeadLetters, Forget, ListDeadLetters, Refuse, Settle
from .forecast_messages import AskProbability, ProbabilityReport
from .reason_messages import AskReasons, Reasons
from .row import MessageRow
from .session_messages import (
    Closing,
    Done,
    Failure,
    Goodbye,
    Hello,
    Ping,
    Pong,
    Probe,
    Statistics,
    StatisticsReport,
    Welcome,
)
from .stream_messages import AddStream, DescribeStream, ListStreams, Publish, Published, ResetTime, Streams, TimeReset
from .subscription_messages import (
    Credit,
    Ended,
    ListSubscriptions,
    Notifications,
    Subscribe,
    Subscribed,
    SubscribedMany,
    SubscribeMany,
    Subscriptions,
    Unsubscribe,
)

Message: TypeAlias = (
    Hello
    | Goodbye
    | Ping
    | AddStream
    | Publish
    | Subscribe
    | Unsubscribe
    | Credit
    | DescribeStream
    | ListStreams
    | ListSubscriptions
    | Statistics
    | Acknowledge
    | Forget
    | Refuse
    | ListDeadLetters
    | Settle
    | ResetTime
    | AskProbability
    | SubscribeMany
    | Punctuate
    | Retract
    | Update
    | DeclareGap
    | Inspect
    | Administer
    | AskReasons
    | Welcome
    | Done
    | Pong
    | Published
    | Subscribed
    | Streams
    | Subscriptions
    | StatisticsReport
    | Failure
    | DeadLetters
    | TimeReset
    | ProbabilityReport
    | SubscribedMany
    | Inspected
    | Reasons
    | Notifications
    | Probe
    | Closing
    | Ended
)

Numbered: TypeAlias = Publish | Punctuate | Retract | Update | DeclareGap
"""Requests that a publisher numbers, so that the broker recognises a repetition."""

Timed: TypeAlias = Numbered | Subscribe | SubscribeMany
"""Requests that may have a deadline."""

TABLE: Final[Mapping[int, MessageRow]] = {
    row.number: row
    for row in sorted(
        (
            *session_messages.ROWS,
            *stream_messages.ROWS,
            *subscription_messages.ROWS,
            *cursor_messages.ROWS,
            *forecast_messages.ROWS,
            *change_messages.ROWS,
            *administration_messages.ROWS,
            *reason_messages.ROWS,
        ),
        key=lambda row: row.number,
    )
}
"""The rows by number, in order: requests from 1 on, answers from 32 on, unsolicited messages from 64 on."""

ROW_OF: Final[Mapping[type[Message], MessageRow]] = {row.message: row for row in TABLE.values()}
