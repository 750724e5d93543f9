"""Carries out requests that promise, withdraw and change: punctuations, retractions and updates.

Each is admitted, recognised as a repetition, recorded and answered as a batch is, and what it causes is distributed as
the results of a batch are. Not here: what it means (the engine), punctuations by the clock (clock_punctuation.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from ..events import LARGEST, EarlyEvent, EventError, ForetellError, unknown_event
from ..wire import DeclareGap, Numbered, PermissionDenied, Published, Punctuate, Refusal, Retract, Update
from .admission import Admission
from .clock_guard import ClockGuard
from .engine_port import EnginePort, EngineResult
from .inputs_and_effects import Send
from .intake import Intake
from .permissions import User
from .records import GapDeclared, Punctuated, Retracted, Updated
from .requests import Requests
from .sessions import Session


@final
class ChangeRequests:
    """The handlers."""

    __slots__ = ("_admission", "_clock_guard", "_engine", "_intake")

    def __init__(self, engine: EnginePort, admission: Admission, intake: Intake, clock_guard: ClockGuard) -> None:
        self._engine = engine
        self._admission = admission
        self._intake = intake
        self._clock_guard = clock_guard

    def requests(self) -> Requests:
        """The requests of this topic."""
        return {
            Punctuate: self._punctuate,
            DeclareGap: self._declare_gap,
            Retract: self._retract,
            Update: self._update,
        }

    def _punctuate(self, key: bytes, session: Session, request: Punctuate, now: int) -> list[Send]:
        """Who may publish on a stream may promise that nothing earlier follows on it."""
        user, stream = session.account.user, request.stream
        if stream is not None:
            user.check("publish", stream)
            self._admission.check_known(user, stream, self._engine.streams)
        elif not all(user.may("publish", each) for each in self._engine.streams):
            raise PermissionDenied(f"a punctuation of all streams: user {user.name!r} may not publish on each of them")
        publisher, known = self._intake.repeated(session.account, request, now)
        if known is not None:
            return [Send(key, known)]
        if not -LARGEST <= request.time <= LARGEST:
            raise EventError(f"expected a punctuation at most 2**61 microseconds from 1970, found {request.time}")
        latest = self._clock_guard.latest(self._engine.now)
        if latest is not None and request.time > latest:
            raise EarlyEvent(f"expected a punctuation up to {latest} (ahead_max), found {request.time}")
        results = self._engine.punctuate(request.time, request.stream, request.where)
        record = Punctuated(request.time, request.stream, request.where, publisher, request.number)
        return self._done(key, request, record, [results])

    def _declare_gap(self, key: bytes, session: Session, request: DeclareGap, now: int) -> list[Send]:
        """Who may publish on a stream may say which of its numbers do not come."""
        user, stream = session.account.user, request.stream
        user.check("publish", stream)
        self._admission.check_known(user, stream, self._engine.streams)
        publisher, known = self._intake.repeated(session.account, request, now)
        if known is not None:
            return [Send(key, known)]
        results = self._engine.declare_gap(stream, request.first, request.last)
        record = GapDeclared(stream, request.first, request.last, publisher, request.number)
        return self._done(key, request, record, [results])

    def _retract(self, key: bytes, session: Session, request: Retract, now: int) -> list[Send]:
        """Who may publish on a stream may withdraw its events. One that cannot be is refused alone."""
        account = session.account
        publisher, known = self._intake.repeated(account, request, now)
        if known is not None:
            return [Send(key, known)]
        account.check_rate(now)
        account.spend(len(request.ids), now)
        withdrawn: list[int] = []
        refused: list[tuple[int, str, str]] = []
        results: list[Iterable[EngineResult]] = []
        for index, number in enumerate(request.ids):
            try:
                results.append(self._engine.retract(number) if self._may_retract(account.user, number) else ())
            except ForetellError as error:
                refused.append((index, error.code, str(error)))
            else:
                withdrawn.append(number)
        if not withdrawn:  # nothing has changed, so a repetition gets the same answer
            newest = self._engine.now
            published = Published(0, 0, newest, None, tuple([Refusal(*each) for each in refused]))
            return [Send(key, self._intake.promised(request, published))]
        return self._done(key, request, Retracted(withdrawn, publisher, request.number, refused), results)

    def _may_retract(self, user: User, number: int) -> bool:
        """True; raises what an unknown event does for one of a stream on which the user may not publish."""
        stream = self._engine.stream_of(number)
        if stream is not None and not user.may("publish", stream):
            raise unknown_event(number)
        return True

    def _update(self, key: bytes, session: Session, request: Update, now: int) -> list[Send]:
        """Who may have a subscription may change it, for all who are attached to it."""
        engine = self._engine
        self._admission.check_existing(session.account.user, request.name, engine.subscriptions)
        publisher, known = self._intake.repeated(session.account, request, now)
        if known is not None:
            return [Send(key, known)]
        arcs = request.insert, request.delete, request.start, request.end
        results = engine.update(request.name, *arcs)
        return self._done(key, request, Updated(request.name, *arcs, publisher, request.number), [results])

    def _done(
        self,
        key: bytes,
        request: Numbered,
        record: Punctuated | Retracted | Updated | GapDeclared,
        results: Iterable[Iterable[EngineResult]],
    ) -> list[Send]:
        published = self._intake.note_change(record)
        return [Send(key, self._intake.promised(request, published)), *self._intake.distribute(results)]
