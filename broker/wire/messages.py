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
from .administration_messages import AdministrationMessage
from .change_messages import ChangeMessage, DeclareGap, Punctuate, Retract, Update
from .cursor_messages import CursorMessage
from .forecast_messages import ForecastMessage
from .reason_messages import ReasonMessage
from .row import MessageRow
from .session_messages import SessionMessage
from .stream_messages import Publish, StreamMessage
from .subscription_messages import Subscribe, SubscribeMany, SubscriptionMessage

Message: TypeAlias = (
    SessionMessage
    | StreamMessage
    | SubscriptionMessage
    | CursorMessage
    | ForecastMessage
    | ChangeMessage
    | AdministrationMessage
    | ReasonMessage
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
