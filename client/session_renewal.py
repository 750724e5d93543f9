"""The requests by which a client gets its session back on another connection, and their answers.

All of it is said at once, HELLO first: the broker answers in order, so that one way there and back is enough. Streams
that this client has declared are declared again, as another broker may be there; an equal one may exist. Of a
subscription so much is asked for as its inbox has room for, and if the broker still has the session, from where it had
come to. What the broker does not take any more ends that inbox and nothing else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeAlias, final

from broker.wire import AddStream, Failure, Message, Subscribe, Unsubscribe, Welcome

from .errors import ProtocolError, remote_error
from .flow import FlowEvent, Happening
from .session import Inbox, Session

HELD_ATTEMPTS_MAX: Final = 10
"""How often a session is begun for a cursor that another client is attached to, until that one has it for good."""

_Request: TypeAlias = AddStream | Subscribe | Unsubscribe


@final
class Renewal:
    """One attempt. `frames` are to be sent, in order; then `done` is asked as answers come."""

    __slots__ = ("_session", "_steps", "frames")

    def __init__(self, session: Session, hello: Callable[[int], Message]) -> None:
        self._session = session
        self._steps: deque[tuple[int, _Request | None]] = deque()
        self.frames: list[bytes] = []
        session.begin_anew()
        self._say(hello, None)
        for declaration in session.declared.values():
            self._say(partial(_numbered, declaration), declaration)
        for name in session.dropped:
            self._say(partial(Unsubscribe, name=name), Unsubscribe(0, name))
        for inbox in session.inboxes.values():
            if inbox.request is not None and inbox.refused is None:
                room = max(1, inbox.window - len(inbox.notifications))
                received = inbox.expected - 1 if inbox.token == session.token else 0
                again = replace(inbox.request, credits=room, received=received, **_place(inbox))
                self._say(partial(_numbered, again), again)

    def done(self) -> bool:
        """Whether everything is answered. Raises what the broker says of the HELLO, and that somebody is attached to a
        cursor; the rest is told in `happened`.
        """
        session = self._session
        while self._steps:
            correlation, request = self._steps[0]
            answer = session.answer(correlation)
            if answer is None:
                return False
            self._steps.popleft()
            match request:
                case None if isinstance(answer, Failure):
                    raise remote_error(answer)
                case None if not isinstance(answer, Welcome):
                    raise ProtocolError(f"expected Welcome as the answer, found {type(answer).__name__}")
                case Unsubscribe(name=name):
                    session.dropped.pop(name, None)  # whatever the broker says: it has it no more
                case Subscribe(name=name, durable=str()) if isinstance(answer, Failure) and self._held(name, answer):
                    raise remote_error(answer)
                case AddStream() | Subscribe() if isinstance(answer, Failure):
                    self._refused(request, answer)
        return True

    def _say(self, make: Callable[[int], Message], request: _Request | None) -> None:
        correlation, frame = self._session.request(make)
        self._steps.append((correlation, request))
        self.frames.append(frame)

    def _held(self, name: str, failure: Failure) -> bool:
        """Whether to come again for a cursor. Who is attached to it may be an attempt of ours that has failed, and the
        broker looks whether that is still there.
        """
        inbox = self._session.inboxes.get(name)
        if failure.code != "busy" or inbox is None or inbox.held >= HELD_ATTEMPTS_MAX:
            return False
        inbox.held += 1
        return True

    def _refused(self, request: AddStream | Subscribe, failure: Failure) -> None:
        error = remote_error(failure)
        self._session.happened.append(FlowEvent(Happening.REFUSED, str(error), request.name))
        if isinstance(request, AddStream):
            del self._session.declared[request.name]
        elif request.name in self._session.inboxes:
            self._session.inboxes[request.name].refused = error


def _place(inbox: Inbox) -> dict[str, Any]:
    """Where a cursor is to go on. Behind what has come; also where that is before what was acknowledged."""
    if inbox.position is None:
        return {}
    if inbox.replays:
        return {"incarnation": inbox.incarnation, "replay": inbox.position + 1}
    return {"incarnation": inbox.incarnation, "after": inbox.position}


def _numbered(request: AddStream | Subscribe, correlation: int) -> Message:
    return replace(request, correlation=correlation)
