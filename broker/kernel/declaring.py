"""Law: how a client's stream comes into the engine; what a stream may be is broker.events'."""

from __future__ import annotations

from collections.abc import Callable

from ..events import LimitExceeded
from ..wire import AddStream, Done
from .limits import Limits
from .listing import contradiction, stream_definition
from .matcher import Matcher
from .permissions import User
from .records import Record, StreamDeclared


def declare(matcher: Matcher, limits: Limits, user: User, request: AddStream, record: Callable[[Record], None]) -> Done:
    """Declare a stream, unless an equal one is there. Raises ForetellErrors, having changed nothing."""
    wanted = stream_definition(request)
    existing = matcher.streams.get(wanted.name)
    if existing is None or not user.knows(wanted.name):
        user.check("declare", wanted.name)
    if existing is not None:
        if existing != wanted:
            raise contradiction(existing, wanted)
        return Done(request.correlation)
    if len(matcher.streams) >= limits.streams:
        raise LimitExceeded(f"streams: this broker takes {limits.streams:,} streams")
    attributes = wanted.schema.declared()
    matcher.add_stream(wanted.name, attributes, key=wanted.key, disorder=wanted.disorder)
    definition = wanted.name, attributes, wanted.key, wanted.disorder, wanted.lateness, wanted.speculation
    record(StreamDeclared(*definition))
    return Done(request.correlation)
