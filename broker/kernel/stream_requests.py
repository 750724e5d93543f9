"""What clients ask of streams: to declare one, to set its time back. What a stream may be is broker.events'."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import final

from ..events import LimitExceeded
from ..wire import AddStream, Done, ResetTime, TimeReset
from .engine_port import EnginePort, EngineResult
from .inputs_and_effects import Send
from .limits import Limits
from .listing import contradiction, stream_definition
from .receipts import Receipts
from .records import Record, StreamDeclared
from .records import TimeWasReset as TimeResetRecord
from .requests import Requests
from .sessions import Session


@final
class StreamRequests:
    """`limits` may be exchanged. `tell`: what is to be sent of results that a change of a stream gives."""

    __slots__ = ("_matcher", "_record", "_taken", "_tell", "limits")

    def __init__(
        self,
        matcher: EnginePort,
        limits: Limits,
        taken: Receipts,
        record: Callable[[Record], None],
        tell: Callable[[Iterable[Iterable[EngineResult]]], list[Send]],
    ) -> None:
        self._matcher = matcher
        self._taken = taken
        self._record = record
        self._tell = tell
        self.limits = limits

    def requests(self) -> Requests:
        """What this carries out."""
        return {AddStream: self._declare, ResetTime: self._reset_time}

    def _declare(self, key: bytes, session: Session, request: AddStream, now: int) -> list[Send]:
        """Declare a stream, unless an equal one is there."""
        matcher, user = self._matcher, session.account.user
        wanted = stream_definition(request)
        existing = matcher.streams.get(wanted.name)
        if existing is None or not user.knows(wanted.name):
            user.check("declare", wanted.name)
        if existing is None:
            if len(matcher.streams) >= self.limits.streams:
                raise LimitExceeded(f"streams: this broker takes {self.limits.streams:,} streams")
            attributes = wanted.schema.declared()
            matcher.add_stream(wanted.name, attributes, key=wanted.key, disorder=wanted.disorder)
            definition = wanted.name, attributes, wanted.key, wanted.disorder, wanted.lateness, wanted.speculation
            self._record(StreamDeclared(*definition))
        elif existing != wanted:
            raise contradiction(existing, wanted)
        return [Send(key, Done(request.correlation))]

    def _reset_time(self, key: bytes, session: Session, request: ResetTime, now: int) -> list[Send]:
        """Set a stream's newest time back to that of the other streams, as one of its times was none.

        Whoever reads the stream loses what has begun, so this is an administrator's.
        """
        session.account.user.check_admin(f"stream {request.stream!r}")
        newest = self._taken.newest_but(request.stream)
        results = self._matcher.reset_time(request.stream, None if newest is None else newest[0])
        self._taken.reset_time(request.stream)
        self._record(TimeResetRecord(request.stream, None if newest is None else newest[0]))
        return [Send(key, TimeReset(request.correlation, *(newest or (None, None)))), *self._tell(results)]
