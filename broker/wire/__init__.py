"""The protocol: messages, their bytes, limits and version. Not here: what client and broker do with them.

One message is one ZeroMQ frame: a msgpack array `[type, correlation, field, ...]`. The sender of a request chooses a
correlation greater than 0, and the answer repeats it; unsolicited messages carry 0. Results travel as bytes that are
encoded once, for any number of clients.
"""

from __future__ import annotations

from .administration_messages import Administer, Inspect, Inspected
from .change_messages import DeclareGap, Punctuate, Retract, Update
from .codec import decode, decode_result, encode, encode_result
from .cursor_messages import Acknowledge, DeadLetter, DeadLetters, Forget, ListDeadLetters, Refuse, Settle
from .errors import Busy, Expired, PermissionDenied, WireError
from .forecast_messages import AskProbability, ProbabilityReport
from .limits import BATCH_EVENTS_MAX, ENVELOPE_BYTES, FRAME_BYTES_MAX, RESULT_BYTES_MAX, TEXT_BYTES_MAX, VERSION
from .messages import ROW_OF, Message, Numbered, Timed
from .reason_messages import AskReasons, Reasons
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
from .slowness import WHEN_SLOW, WhenSlow, check_when_slow
from .stream_messages import (
    AddStream,
    DescribeStream,
    ListStreams,
    Publish,
    Published,
    Refusal,
    ResetTime,
    StreamEntry,
    Streams,
    TimeReset,
)
from .subscription_messages import (
    Credit,
    Ended,
    ListSubscriptions,
    Notifications,
    Subscribe,
    Subscribed,
    SubscribedMany,
    SubscribeMany,
    SubscriptionEntry,
    SubscriptionOutcome,
    SubscriptionRequest,
    Subscriptions,
    Unsubscribe,
)
