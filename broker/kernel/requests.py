"""How the kernel finds who carries a request out: a table by the type of message, put together from the topics.

A topic (streams, reading, subscribing, cursors, sessions) names its requests in a method `requests`. What else there is
to know of a request stands in its row of the table of messages (broker.wire.messages): its answer, whether it may be
taken while a batch is in work, what becomes of it without room for a record.
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
