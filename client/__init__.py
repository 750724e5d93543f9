"""The SDK: publish events, subscribe to patterns, receive matches and forecasts.

    from client import Client

    with Client("tcp://127.0.0.1:5570") as client:
        client.add_stream("Stock", {"name": "string", "price": "float"})
        with client.subscribe("jumps", query="SELECT * FROM Stock NEXT{$2.name = $1.name} Stock") as subscription:
            client.publish("Stock", {"name": "IBM", "price": 101.5}, time=5)
            for notification in subscription: ...

`client.aio` is the same for asyncio. session.py holds the protocol without a socket, calls.py the requests of each
call; blocking.py and aio.py connect both to a socket.
"""

from __future__ import annotations

from broker.language.subscription import SubscriptionDefinition
from broker.wire.keys import Keys

from .administration import CursorInfo, RecentEvent, SessionInfo
from .advice import Advice, Fault, Retry, advice
from .blocking import DEFAULT_ADDRESS, Client
from .dead_letter import DeadLetter
from .durable import Durable
from .errors import (
    Busy,
    ConnectionLost,
    DefinitionError,
    DuplicateEvent,
    EarlyEvent,
    EventError,
    Expired,
    ForetellError,
    LateEvent,
    LimitExceeded,
    PermissionDenied,
    ProtocolError,
    QueryError,
    RequestTimeout,
    SlowConsumer,
    UnknownEvent,
    UnknownStream,
    UnknownSubscription,
    Unsupported,
    WrongThread,
)
from .flow import FlowEvent, Happening
from .notification import Notification
from .probability import Probability
from .publisher import Publisher
from .receipt import Receipt, Refusal, RefusedWarning
from .reconnect_policy import Reconnect
from .subscription import Subscription

__all__ = [
    "DEFAULT_ADDRESS",
    "Advice",
    "Busy",
    "Client",
    "ConnectionLost",
    "CursorInfo",
    "DeadLetter",
    "DefinitionError",
    "DuplicateEvent",
    "Durable",
    "EarlyEvent",
    "EventError",
    "Expired",
    "Fault",
    "FlowEvent",
    "ForetellError",
    "Happening",
    "Keys",
    "LateEvent",
    "LimitExceeded",
    "Notification",
    "PermissionDenied",
    "Probability",
    "ProtocolError",
    "Publisher",
    "QueryError",
    "Receipt",
    "RecentEvent",
    "Reconnect",
    "Refusal",
    "RefusedWarning",
    "RequestTimeout",
    "Retry",
    "SessionInfo",
    "SlowConsumer",
    "Subscription",
    "SubscriptionDefinition",
    "UnknownEvent",
    "UnknownStream",
    "UnknownSubscription",
    "Unsupported",
    "WrongThread",
    "advice",
]
