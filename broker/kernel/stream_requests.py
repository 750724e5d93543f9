"""Carries out requests about streams: declare, change, delete, set time back. Not here: valid definitions (events)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from typing import final

from ..events import DefinitionError, LimitExceeded, StreamDefinition
from ..wire import AddStream, Done, ResetTime, TimeReset
from ..wire.limits import MAP_LENGTH_MAX
from .answers import contradiction
from .engine_port import EnginePort, EngineResult
from .inputs_and_effects import Send
from .intake import Intake
from .limits import Limits
from .permissions import User
from .records import AttributeAdded, Record, StreamDeclared, StreamRemoved
from .records import TimeWasReset as TimeResetRecord
from .requests import Requests
from .sessions import Session


@final
class StreamRequests:
    """The handlers. `limits` may be replaced. `intake` has the newest times, and sends the results of resetting one.
    `configured`: the names of the configuration's streams, which stay as they are."""

    __slots__ = ("_configured", "_engine", "_intake", "_record", "limits")

    def __init__(
        self,
        engine: EnginePort,
        limits: Limits,
        intake: Intake,
        record: Callable[[Record], None],
        configured: Container[str] = (),
    ) -> None:
        self._engine = engine
        self._intake = intake
        self._record = record
        self._configured = configured
        self.limits = limits

    def requests(self) -> Requests:
        """The requests of this topic."""
        return {AddStream: self._declare, ResetTime: self._reset_time}

    def _declare(self, key: bytes, session: Session, request: AddStream, now: int) -> list[Send]:
        """Declare a stream, unless an equal one exists."""
        engine, user = self._engine, session.account.user
        wanted = StreamDefinition.of(request)
        existing = engine.streams.get(wanted.name)
        if existing is None or not user.knows(wanted.name):
            user.check("declare", wanted.name)
        if existing is None:
            if len(engine.streams) >= self.limits.streams:
                raise LimitExceeded(f"streams: this broker accepts at most {self.limits.streams:,} streams")
            engine.add_stream(*wanted.arguments())
            self._record(StreamDeclared(*wanted.arguments()))
        elif not existing.includes(wanted):
            raise contradiction(existing, wanted)
        elif existing.time_unit is None and wanted.time_unit is not None and user.may("declare", wanted.name):
            stamped = replace(existing, time_unit=wanted.time_unit)
            engine.add_stream(*stamped.arguments())
            self._record(StreamDeclared(*stamped.arguments()))
        return [Send(key, Done(request.correlation))]

    def delete(self, user: User, name: str) -> Iterable[EngineResult]:
        """Delete a stream that no subscription reads; the results of those that waited for its events."""
        user.check_admin(f"stream {name!r}")
        engine, intake = self._engine, self._intake
        self._check_changeable(name)
        stream = engine.streams.get(name)
        results = engine.remove_stream(name)
        assert stream is not None, "the engine refuses to remove an unknown one"
        intake.clock.forget(stream)
        intake.receipts.forget_stream(name)
        intake.recent.forget(name)
        intake.noting.refused.forget(name)
        self._record(StreamRemoved(name))
        return results

    def add_attribute(self, user: User, name: str, attribute: str, kind: str) -> None:
        """Add an attribute to a stream. Who may declare the stream may do that, and an administrator."""
        if not user.admin:
            user.check("declare", name)
        self._check_changeable(name)
        declared = self._engine.streams.get(name)
        if declared is not None and len(declared.schema) >= MAP_LENGTH_MAX:
            raise LimitExceeded(f"MAP_LENGTH_MAX: stream {name!r}: expected at most {MAP_LENGTH_MAX:,} attributes")
        self._engine.add_attribute(name, attribute, kind)
        self._record(AttributeAdded(name, attribute, kind))

    def _check_changeable(self, name: str) -> None:
        if name in self._configured:
            raise DefinitionError(f"stream {name!r} belongs to the broker's configuration")

    def _reset_time(self, key: bytes, session: Session, request: ResetTime, now: int) -> list[Send]:
        """Set the newest time back to that of the other streams, after this stream had a wrong time.

        Subscriptions that read the stream lose their partial matches, so only an administrator may do it.
        """
        session.account.user.check_admin(f"stream {request.stream!r}")
        newest = self._intake.receipts.newest_but(request.stream)
        results = self._engine.reset_time(request.stream, None if newest is None else newest[0])
        self._intake.clock.forget(self._engine.streams[request.stream])
        self._intake.receipts.forget_stream(request.stream)
        self._record(TimeResetRecord(request.stream, None if newest is None else newest[0]))
        return [Send(key, TimeReset(request.correlation, *(newest or (None, None)))), *self._intake.distribute(results)]
