"""Law: the SDK: what a Python program needs to publish events, to subscribe to patterns, and to be told of matches.

    from client import Client

    with Client("tcp://127.0.0.1:5570") as client:
        client.add_stream("Stock", {"name": "string", "price": "float"})
        with client.subscribe("jumps", query="SELECT * FROM Stock NEXT{$2.name = $1.name} Stock") as subscription:
            client.publish("Stock", {"name": "IBM", "price": 101.5}, time=5)
            for notification in subscription: ...

The protocol without a socket is session; blocking puts a socket under it, and an asyncio client would stand beside.
"""

from __future__ import annotations

from .blocking import DEFAULT_ADDRESS, Client
from .errors import (
    ConnectionLost,
    DefinitionError,
    EventError,
    ForetellError,
    LateEvent,
    LimitExceeded,
    ProtocolError,
    QueryError,
    RequestTimeout,
    UnknownStream,
    UnknownSubscription,
    Unsupported,
)
from .notification import Notification
from .publisher import Publisher
from .receipt import Receipt, Refusal
from .subscription import Subscription

__all__ = [
    "DEFAULT_ADDRESS",
    "Client",
    "ConnectionLost",
    "DefinitionError",
    "EventError",
    "ForetellError",
    "LateEvent",
    "LimitExceeded",
    "Notification",
    "ProtocolError",
    "Publisher",
    "QueryError",
    "Receipt",
    "Refusal",
    "RequestTimeout",
    "Subscription",
    "UnknownStream",
    "UnknownSubscription",
    "Unsupported",
]
