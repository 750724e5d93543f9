"""The type of the table in which the kernel finds the handler of a request, by the type of message.

Each topic (streams, reading, subscribing, cursors, sessions) names its handlers in a method `requests`; Kernel joins
them. The row of a message (broker.wire.messages) says the rest: its answer, whether it may be handled while a batch is
in work, what becomes of it without room for a record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..wire import Message
from .inputs_and_effects import Send
from .sessions import Session

Handler: TypeAlias = Callable[[bytes, Session, Any, int], list[Send]]
"""The key of a session, the session, the request, the wall clock; what is to be sent. Raises ForetellErrors, having
changed nothing."""

Requests: TypeAlias = Mapping[type[Message], Handler]
