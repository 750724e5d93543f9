"""The type of the kernel's table of handlers, by type of message.

Each topic (streams, reading, subscribing, cursors, sessions) lists its handlers in a method `requests`, and Kernel
joins them. The row of a message (broker.wire.messages) has the rest: its answer, whether it may be handled while a
batch is in work, and what happens to it when the journal has no room for a record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..wire import Message
from .inputs_and_effects import Send
from .sessions import Session

Handler: TypeAlias = Callable[[bytes, Session, Any, int], list[Send]]
"""Takes a session's key, the session, the request and the wall clock in microseconds; returns the messages to send.
Raises ForetellErrors, and then changes nothing."""

Requests: TypeAlias = Mapping[type[Message], Handler]
